"""A part of a text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Span:
    """Characters ``start`` to ``end`` (exclusive) of a text, counted as Python counts them."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]
