"""Numbers as files write them in attributes."""

from __future__ import annotations

from typing import TypeVar

D = TypeVar("D")


def whole(written: str | None, default: D, most: int = 99_999) -> int | D:
    """Return a whole number from 0 to ``most`` that is written in digits; the default for anything else."""
    if not written or not (written.isascii() and written.isdigit()) or len(written) > len(str(most)):
        return default
    return int(written) if int(written) <= most else default


def span(written: str | None) -> int:
    """Return how many rows or columns a cell spans, 1,000 at most, as in browsers."""
    return min(whole(written, 1, 999_999), 1000)
