"""What the database would read for what is done: whole tables, or only what an index finds."""

import sqlite3
from collections.abc import Callable

_SMALL = {"VIRTUAL", "sqlite_sequence"}
_KINDS = ("DELETE", "INSERT", "SELECT", "UPDATE")


def scanned(db: sqlite3.Connection, work: Callable[[], object]) -> list[str]:
    """Steps of the statements that this connection runs meanwhile which read a whole table, or a whole index."""
    ran: list[str] = []
    db.set_trace_callback(ran.append)
    work()
    db.set_trace_callback(None)
    plans = (db.execute(f"EXPLAIN QUERY PLAN {one}") for one in ran if one.lstrip().startswith(_KINDS))
    return [step for plan in plans for *_, step in plan if step.startswith("SCAN ") and not set(step.split()) & _SMALL]
