"""Rulers: the size of a chunk in characters, or in tokens of the embedding model."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import Protocol

from ragstone.chunk import units
from ragstone.core.protocols import Tokens as TokensOf
from ragstone.core.records import Span


class Ruler(Protocol):
    """A measure for parts of one text."""

    def length(self, start: int, end: int) -> int:
        """Return the length of the characters from ``start`` to ``end``."""
        ...

    def back(self, end: int, length: int) -> int:
        """Return the earliest start of a part that ends at ``end`` and measures at most ``length``."""
        ...

    def cut(self, start: int, end: int, size: int) -> Iterator[Span]:
        """Yield pieces that measure at most ``size``, regardless of words."""
        ...

    def part(self, start: int, end: int) -> Ruler:
        """Return the ruler of a part of the text, which counts positions from ``start``."""
        ...


class Characters:
    """A ruler that counts characters, as Python does."""

    def __init__(self, text: str) -> None:
        self._text = text

    def length(self, start: int, end: int) -> int:
        return end - start

    def back(self, end: int, length: int) -> int:
        return end - length

    def cut(self, start: int, end: int, size: int) -> Iterator[Span]:
        return units.windows(self._text, start, end, size, 0)

    def part(self, start: int, end: int) -> Ruler:
        return Characters(self._text[start:end])


PART = 1 << 18
"""Characters to tokenize at once: the tokens of a long text would take a gigabyte, and could not be interrupted."""


class Tokens:
    """A ruler that counts the tokens that begin within a part."""

    def __init__(self, text: str, tokens_of: TokensOf) -> None:
        self._text, self._tokens_of = text, tokens_of
        self._starts = [start + token.start for start, part in _parts(text) for token in tokens_of(part)]

    def length(self, start: int, end: int) -> int:
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def back(self, end: int, length: int) -> int:
        # One past the start of the last token that no longer fits.
        first = bisect_left(self._starts, end) - length
        return 0 if first <= 0 else self._starts[first - 1] + 1

    def cut(self, start: int, end: int, size: int) -> Iterator[Span]:
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        edges = [start, *self._starts[first + size : last : size], end]
        # Characters outside tokens form no piece of their own: they join the token before.
        for here, there in pairwise(edges):
            if here < there:
                yield Span(start=here, end=there)

    def part(self, start: int, end: int) -> Ruler:
        return Tokens(self._text[start:end], self._tokens_of)


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """Yield a text in parts with their starts, each cut behind a line, or else behind a word."""
    start = 0
    while start < len(text):
        end = start + PART
        if end < len(text):
            cut = text.rfind("\n", start, end)
            end = (cut if cut > start else text.rfind(" ", start, end)) + 1 or end
        yield start, text[start:end]
        start = end
