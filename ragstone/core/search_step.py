"""A search after the first one, as evidence and answers tell it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchStep:
    """A search after the first one, because that left something of the question open.

    ``searched`` is what was searched for, and ``found`` the title of the passage that led to it; empty for a part of
    the question. ``source`` and ``target`` are the ids of the chunk that led on, if one did, and of the one found.
    ``adds`` is the share of the question, by weight, that the target has and the source has not, 0 to 1. ``by_model``
    says that a language model planned it.
    """

    searched: str
    target: str
    found: str = ""
    source: str = ""
    adds: float = 0.0
    by_model: bool = False

    def __str__(self) -> str:
        return f"found {self.found}, then searched for {self.searched}" if self.found else f"searched: {self.searched}"
