"""Those who want to know how questions end, such as an evaluation of the user's own."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Lock

from ragstone.core.answers import Answered, Failed, Listener
from ragstone.core.errors import UsageError

LOGGER = logging.getLogger("ragstone.listeners")


class Listeners:
    """Calls every listener at the end of each question."""

    def __init__(self) -> None:
        self._all: tuple[Listener, ...] = ()
        self._lock = Lock()

    def add(self, listener: Listener) -> Callable[[], None]:
        """Add a listener, and return a function that removes it.

        Raises:
            UsageError: it is no function.
        """
        if not callable(listener):  # pyright: ignore[reportUnnecessaryComparison]  # programs may be untyped
            raise UsageError(f"cannot call a value of type {type(listener).__name__}; give a function of one argument")
        with self._lock:
            self._all = (*self._all, listener)

        def remove() -> None:
            with self._lock:
                self._all = tuple(one for one in self._all if one is not listener)

        return remove

    def tell(self, outcome: Answered | Failed) -> None:
        """Call every listener. What one of them raises is logged, because the question has its answer."""
        for listener in self._all:
            try:
                listener(outcome)
            except Exception:
                LOGGER.exception("ragstone: a listener failed")
