"""The schedules of sources. Any server takes a due sync, and only one of them does."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from ragstone.core.frozen import frozen
from ragstone.history.journal import row_crc
from ragstone.history.store import JournalDatabase, JournalStore


@frozen
class Schedule:
    """A source with an interval in seconds, unless paused; the next sync is at ``due``, in seconds since 1970."""

    source: str
    every: float
    paused: bool
    due: float


class Schedules:
    """The schedules of a knowledge base, at most one per source."""

    def __init__(self, journal: JournalStore, clock: Callable[[], float] | None = None) -> None:
        """Take the journal, and a clock of seconds since 1970 other than that of the journal."""
        self._journal, self._clock = journal, clock or journal.clock

    def all(self) -> list[Schedule]:
        """Return every schedule, by source.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        with self._journal.reading() as db:
            return _rows(db) if db else []

    def set(self, source: str, every: float, *, paused: bool = False) -> Schedule:
        """Sync a source at an interval in seconds, first after that time.

        Raises:
            KnowledgeBaseError: it could not be stored.
        """
        one = Schedule(source=source, every=every, paused=paused, due=self._clock() + every)
        with self._journal.writing() as db:
            _put(db, one)
        return one

    def remove(self, source: str) -> None:
        """Delete the schedule of a source.

        Raises:
            KnowledgeBaseError: it could not be deleted.
        """
        with self._journal.writing() as db:
            db.execute("DELETE FROM schedules WHERE source = ?", [source])

    def take(self, sources: Collection[str]) -> list[Schedule]:
        """Return the schedules of these sources that are due, and move each to its next time.

        No other process gets them. Those of other sources are left to whoever may sync them.

        Raises:
            KnowledgeBaseError: the journal cannot be read or written.
        """
        now = self._clock()
        if not any(_is_due(one, now) for one in self.all() if one.source in sources):
            return []
        with self._journal.writing() as db:
            due = [one for one in _rows(db) if one.source in sources and _is_due(one, now)]
            for one in due:
                _put(db, replace(one, due=now + one.every))
        return due

    def give_back(self, taken: Schedule) -> None:
        """Make a schedule due again whose sync could not begin, unless it was changed meanwhile.

        Raises:
            KnowledgeBaseError: the journal cannot be written.
        """
        with self._journal.writing() as db:
            now = next((one for one in _rows(db) if one.source == taken.source), None)
            if now and (now.every, now.paused) == (taken.every, taken.paused):
                _put(db, taken)


def _is_due(one: Schedule, now: float) -> bool:
    return not one.paused and one.due <= now


def _rows(db: JournalDatabase) -> list[Schedule]:
    rows = db.execute("SELECT source, every, paused, due, crc FROM schedules ORDER BY source").fetchall()
    return [
        Schedule(source=source, every=every, paused=bool(paused), due=due)
        for source, every, paused, due, crc in rows
        if crc == row_crc(source, every, paused, due)  # doctor reports the others
    ]


def _put(db: JournalDatabase, one: Schedule) -> None:
    row = (one.source, float(one.every), int(one.paused), float(one.due))  # as a read returns them, for the checksum
    db.execute(
        "INSERT INTO schedules (source, every, paused, due, crc) VALUES (?, ?, ?, ?, ?) ON CONFLICT (source) DO UPDATE"
        " SET every = excluded.every, paused = excluded.paused, due = excluded.due, crc = excluded.crc",
        [*row, row_crc(*row)],
    )
