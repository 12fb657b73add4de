"""Copies a journal, row by row, from one kind of database to another."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from functools import cache
from itertools import islice

from ragstone.history.journal_tables import schema
from ragstone.history.store import JournalDatabase

AT_ONCE = 200
"""Rows in one statement."""


@cache
def columns() -> Mapping[str, tuple[str, ...]]:
    """Return the columns of each table, in order."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(schema())
        tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        return {
            table: tuple(column for _, column, *_ in db.execute(f"PRAGMA table_info({table})"))
            for (table,) in tables.fetchall()
        }


def copy_rows(here: JournalDatabase, there: JournalDatabase) -> None:
    """Copy every row to a database that has the tables and no rows; both have the current format."""
    for table, names in columns().items():
        listed = ", ".join(names)
        rows = iter(here.execute(f"SELECT {listed} FROM {table}"))  # noqa: S608
        while part := list(islice(rows, AT_ONCE)):
            group = f"({', '.join('?' * len(names))})"
            sql = f"INSERT INTO {table} ({listed}) VALUES {', '.join([group] * len(part))}"  # noqa: S608
            there.execute(sql, [value for row in part for value in row])
