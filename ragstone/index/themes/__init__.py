"""Themes: what a collection of documents is about, as clusters of the vectors of its chunks.

`clusters` divides vectors, `stored` keeps the themes of a selection of chunks in a file and brings them up to date.
"""

from ragstone.index.themes.clusters import Themes
from ragstone.index.themes.stored import StoredThemes

__all__ = ["StoredThemes", "Themes"]
