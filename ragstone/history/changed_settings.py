"""Settings of questions that administrators changed while servers run; every server takes them within a second."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import field

from ragstone.core.frozen import frozen
from ragstone.history.journal import row_crc
from ragstone.history.store import JournalStore

Value = str | int | float | bool


@frozen
class ChangedSetting:
    """A value that overrides the settings; it may hold a secret. ``at`` is in seconds since 1970."""

    path: str
    value: Value = field(repr=False)
    at: float


class ChangedSettings:
    """The changed settings of a knowledge base."""

    def __init__(self, journal: JournalStore, clock: Callable[[], float] | None = None) -> None:
        """Take the journal, and a clock of seconds since 1970 other than that of the journal."""
        self._journal, self._clock = journal, clock or journal.clock

    def all(self) -> Mapping[str, ChangedSetting]:
        """Return the changed settings by their paths.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        with self._journal.reading() as db:
            rows = db.execute("SELECT path, value, at, crc FROM changed_settings").fetchall() if db else []
        return {
            path: ChangedSetting(path=path, value=json.loads(value), at=at)
            for path, value, at, crc in rows
            if crc == row_crc(path, value, at)  # doctor reports the others
        }

    def set(self, path: str, value: Value) -> None:
        """Override a setting; the caller has checked the value.

        Raises:
            KnowledgeBaseError: it could not be stored.
        """
        row = (path, json.dumps(value), self._clock())
        with self._journal.writing() as db:
            db.execute(
                "INSERT INTO changed_settings (path, value, at, crc) VALUES (?, ?, ?, ?) ON CONFLICT (path) DO UPDATE"
                " SET value = excluded.value, at = excluded.at, crc = excluded.crc",
                [*row, row_crc(*row)],
            )

    def reset(self, path: str) -> None:
        """Remove the override of a setting.

        Raises:
            KnowledgeBaseError: it could not be deleted.
        """
        with self._journal.writing() as db:
            db.execute("DELETE FROM changed_settings WHERE path = ?", [path])
