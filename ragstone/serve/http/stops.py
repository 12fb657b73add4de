"""Tells research in progress that it should end, also if another process of the same host answers."""

from __future__ import annotations

import time

from ragstone.history.counts import Count, Counts, OwnCounts


class Stops:
    """Remembers which runs of research should end. A run is known by who asked and by the name that they gave it."""

    def __init__(self, counts: Counts | None = None) -> None:
        """Take what remembers the runs, by default this process alone."""
        self._counts = counts or OwnCounts()

    def stop(self, who: str, run: str) -> None:
        """Tell a run that it should end."""
        self._counts.change(("stopped", who, run), lambda _: Count(1.0, time.time()))

    def has_stopped(self, who: str, run: str) -> bool:
        """Return whether a run was told that it should end."""
        return self._counts.get(("stopped", who, run)) is not None

    def forget(self, who: str, run: str) -> None:
        """Forget a run that has ended, so that a later one of this name is not stopped."""
        self._counts.change(("stopped", who, run), lambda _: None)

    def close(self) -> None:
        """Close what remembers the runs."""
        self._counts.close()
