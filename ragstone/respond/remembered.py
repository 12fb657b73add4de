"""What was made of some evidence a moment ago, for the next step of the same question."""

from __future__ import annotations

from typing import Generic, TypeVar

from ragstone.core.records import Evidence
from ragstone.core.request import Request

T = TypeVar("T")


class Remembered(Generic[T]):
    """The last result, found again for the same evidence and request; a question at the same time replaces it."""

    def __init__(self) -> None:
        self._last: tuple[Evidence, Request, T] | None = None

    def of(self, evidence: Evidence, request: Request) -> tuple[T] | None:
        """Return the result in a tuple; None if it was made of something else."""
        last = self._last
        return (last[2],) if last and last[0] is evidence and last[1] is request else None

    def keep(self, evidence: Evidence, request: Request, result: T) -> T:
        """Keep a result, and return it."""
        self._last = (evidence, request, result)
        return result
