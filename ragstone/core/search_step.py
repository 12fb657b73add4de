"""A search after the first one, as evidence and answers report it."""

from __future__ import annotations

from ragstone.core.frozen import frozen


@frozen
class SearchStep:
    """A search after the first one, which left part of the question open.

    ``searched`` is the query, and ``found`` the title of the passage that led to it; ``found`` is empty for a part of
    the question. ``source`` and ``target`` are the ids of the chunk that led to the search, if any, and of the chunk
    that it found. ``adds`` is the share of the question, by weight, that the target has and the source lacks, 0 to 1.
    ``by_model`` says that a language model planned it.
    """

    searched: str
    target: str
    found: str = ""
    source: str = ""
    adds: float = 0.0
    by_model: bool = False

    def __str__(self) -> str:
        return f"found {self.found}, then searched for {self.searched}" if self.found else f"searched: {self.searched}"
