"""What the catalog tells of itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    documents: int
    chunks: int
    vectors: int
    generation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """A commit: its number, and a random mark.

    A catalog put back from a copy counts on from there, so numbers, of commits and of chunks, come again
    with another meaning; marks do not. The stamp without a mark stands before all commits.
    """

    generation: int = 0
    mark: str = ""
