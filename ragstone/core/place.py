"""Where a document lies, as words to find it by."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_NEAREST = 3
"""Folders and the file name, from the end of a path, that may say what a document is about."""
_NUMBERED = re.compile(r"[\da-fA-F]{8}|^[\W\d_]*$")
"""Names that say nothing: hashes, numbers of records."""


def place_of(path: object, title: str) -> str:
    """Return the nearest folders and the name of a file, as far as the title does not say them; empty without a path.

    Of several change logs, or price lists, only the path may tell whose they are.

    >>> place_of("helmet/CHANGELOG.md", "Changelog")
    'helmet'
    """
    if not isinstance(path, str):
        return ""
    place, known = PurePosixPath(path), title.casefold()
    parts = [*place.parent.parts, place.stem][-_NEAREST:]
    return "/".join(part for part in parts if part.casefold() not in known and not _NUMBERED.search(part))


def embedded_text(headed: str, *, path: object, title: str) -> str:
    """Return the text of a chunk to embed: as it is headed, but without its place.

    A path says which document it is, not what it means: vectors find the chunks less well with it. So a file that is
    moved or renamed keeps its vectors, too.
    """
    place = place_of(path, title)
    return headed.removeprefix(f"{place}\n") if place else headed
