"""What a chunk's size is counted in: characters, or tokens of the embedding model."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Protocol

from ragstone.chunk import units
from ragstone.contracts import Span


class Ruler(Protocol):
    """Measures stretches of one text."""

    def length(self, start: int, end: int) -> int:
        """How long the characters ``start`` to ``end`` are."""
        ...

    def back(self, end: int, length: int) -> int:
        """Where a stretch of at most ``length`` that ends at ``end`` may begin at the earliest."""
        ...

    def cut(self, start: int, end: int, size: int) -> Iterator[Span]:
        """The stretch in pieces of at most ``size``, with no regard to words."""
        ...


class Characters:
    """Counts characters, as Python does."""

    def __init__(self, text: str) -> None:
        self._text = text

    def length(self, start: int, end: int) -> int:
        return end - start

    def back(self, end: int, length: int) -> int:
        return end - length

    def cut(self, start: int, end: int, size: int) -> Iterator[Span]:
        return units.windows(self._text, start, end, size, 0)


class Tokens:
    """Counts tokens that begin within the stretch."""

    def __init__(self, text: str, tokens: Sequence[Span]) -> None:
        self._text = text
        self._starts = [token.start for token in tokens]

    def length(self, start: int, end: int) -> int:
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def back(self, end: int, length: int) -> int:
        # One past the start of the last token that no longer fits.
        first = bisect_left(self._starts, end) - length
        return 0 if first <= 0 else self._starts[first - 1] + 1

    def cut(self, start: int, end: int, size: int) -> Iterator[Span]:
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        edges = [start, *self._starts[first + size : last : size], end]
        # Characters that belong to no token make no piece of their own: they go with the token before.
        for here, there in pairwise(edges):
            if here < there:
                yield Span(start=here, end=there)
