"""A part of a text, and its lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Span:
    """Characters ``start`` to ``end`` (exclusive) of a text, counted as Python counts them."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]

    def overlaps(self, other: Span) -> bool:
        """Return whether both have a character in common."""
        return self.start < other.end and other.start < self.end

    def holds(self, other: Span) -> bool:
        """Return whether all of another part lies within this one."""
        return self.start <= other.start and other.end <= self.end


def line_start(text: str, at: int) -> int:
    """Return the start of the line around a place of a text."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """Return the end of the line around a place of a text, before its line break."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def lines_of(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Yield the lines between two places of a text that are not blank, with their indentation."""
    at = start
    for line in text[start:end].splitlines(keepends=True):
        if line.strip():
            yield Span(start=at, end=at + len(line.rstrip()))
        at += len(line)
