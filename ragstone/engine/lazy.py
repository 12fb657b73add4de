"""Parts that are built on first use, and shared by all settings that would build the same."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar, cast

from ragstone.core.protocols import Closable

T = TypeVar("T")


class Lazy(Generic[T]):
    """A value that the first call builds, once, whichever thread makes it."""

    __slots__ = ("_build", "_lock", "_made")

    def __init__(self, build: Callable[[], T]) -> None:
        self._build, self._lock = build, threading.RLock()
        self._made: list[T] = []

    def __call__(self) -> T:
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._build())
        return self._made[0]

    @property
    def is_made(self) -> bool:
        """Whether the value has been built."""
        return bool(self._made)


class Pool:
    """Lazy parts, each stored under a name and all its dependencies.

    Two settings that give a part equal dependencies share it, so a model or an index in memory serves many settings.
    Parts that have a ``close`` are closed with the pool.
    """

    KEPT = 32
    """Variants of one part to keep; beyond that, the least recently used one is dropped."""

    def __init__(self) -> None:
        self._parts: dict[str, list[tuple[object, Lazy[object]]]] = {}
        self._lock = threading.Lock()

    def part(self, name: str, depends_on: object, build: Callable[[], T]) -> Lazy[T]:
        """Return the part of this name with equal dependencies; a new lazy one if there is none."""
        with self._lock:
            variants = self._parts.setdefault(name, [])
            at = next((i for i, (known, _) in enumerate(variants) if known == depends_on), None)
            variants.append((depends_on, Lazy[object](build)) if at is None else variants.pop(at))
            del variants[: -self.KEPT]
            return cast("Lazy[T]", variants[-1][1])

    def close(self) -> None:
        """Close the built parts, the last one first, and empty the pool."""
        with self._lock:
            parts, self._parts = self._parts, {}
        for variants in reversed(parts.values()):
            for _, part in variants:
                if part.is_made and isinstance(made := part(), Closable):
                    made.close()
