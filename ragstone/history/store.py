"""The contract of a journal, wherever it is stored.

The modules of this folder speak one SQL, which SQLite and PostgreSQL both understand: ``?`` or ``?1`` for a value,
``ON CONFLICT`` instead of ``OR REPLACE``, ``RETURNING`` for a new number, and a name for every subquery in ``FROM``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from ragstone.core.catalog import Finding

DAY = 86_400.0
"""Seconds."""


class Found(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class JournalDatabase(Protocol):
    """A connection to the tables of `ragstone.history.journal_tables`."""

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> Found: ...


class JournalStore(Protocol):
    """The tables, and one process's connections to them. Any thread may use it; writers wait for each other."""

    @property
    def folder(self) -> Path:
        """The folder of the knowledge base on this host."""
        ...

    @property
    def exists(self) -> bool:
        """Whether anything was ever written.

        Raises:
            KnowledgeBaseError: its server cannot be reached.
        """
        ...

    @property
    def is_local(self) -> bool:
        """Whether it is a file of this host, which is read in microseconds."""
        ...

    @property
    def clock(self) -> Callable[[], float]:
        """Returns seconds since 1970, the same for all hosts that use the journal: two hosts may differ by minutes."""
        ...

    def reading(self) -> AbstractContextManager[JournalDatabase | None]:
        """Yield the database for reading, or None if there is none yet.

        Raises:
            Damaged: it is damaged.
            KnowledgeBaseError: it cannot be read.
        """
        ...

    def writing(self) -> AbstractContextManager[JournalDatabase]:
        """Yield the database in a transaction, whose changes are durable at the end, all or none.

        No other writer, of any process or host, changes anything until the end.

        Raises:
            Damaged: it is damaged.
            KnowledgeBaseError: it cannot be written; nothing was.
        """
        ...

    def snapshot(self) -> AbstractContextManager[JournalDatabase | None]:
        """Yield the database in one state, whatever is written meanwhile, or None if there is none yet.

        Raises:
            Damaged, KnowledgeBaseError: as for `reading`.
        """
        ...

    def fill(self, rows: JournalDatabase) -> None:
        """Store every row of another journal, durably, all or none; this one has no rows.

        Raises:
            Damaged, KnowledgeBaseError: as for `writing`.
        """
        ...

    def forget_pages(self) -> None:
        """Remove the remains of deleted rows, as far as possible."""
        ...

    def compact(self) -> None:
        """Write every table anew, without the remains of deleted rows.

        Raises:
            Damaged, KnowledgeBaseError: as for `writing`.
        """
        ...

    def another(self) -> JournalStore:
        """Return the same journal for a caller that must not wait for the other users of this one."""
        ...

    def findings(self) -> list[Finding]:
        """Return its faults."""
        ...

    def close(self) -> None: ...


def day_of(seconds: float) -> str:
    """Return the day of UTC, by which budgets count, of seconds since 1970: ``2026-01-31``."""
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
