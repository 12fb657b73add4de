"""The journal's tables: their SQL, their format, and the columns that a checksum covers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

FORMAT = 1


@cache
def schema() -> str:
    """Return the SQL that makes the tables, with the types of SQLite."""
    return (files("ragstone.history") / "journal.sql").read_text(encoding="utf-8")


SUMS: Mapping[str, tuple[str, ...]] = {
    "turns": ("session", "at", "question", "answer"),
    "names": ("session", "title", "pinned"),
    "keys": ("id", "name", "hash", "scopes", "groups", "limits", "made", "revoked"),
    "responses": ("id", "at", "reader", "question", "answer"),
    "feedback": ("response", "voice", "at", "vote", "reason", "correction"),
    "jobs": ("id", "at", "reader", "kind", "what", "state", "server", "tries", "ended", "result"),
    "policies": ("version", "at", "what"),
    "trials": ("trial", "at", "what"),
    "assignments": ("at", "response", "trial", "version", "probability", "acted", "kind", "voice"),
    "votes": ("at", "response", "voice", "vote", "seen"),
    "decisions": ("at", "what"),
    "users": ("name", "hash", "scopes", "groups", "made", "removed"),
    "sessions": ("hash", "name", "shown", "via", "scopes", "groups", "made", "until"),
    "shares": ("hash", "session", "newest", "made", "until"),
    "schedules": ("source", "every", "paused", "due"),
    "changed_settings": ("path", "value", "at"),
    "audit": ("at", "who", "act", "what"),
    "tokens": ("hash", "key", "visitor", "groups", "until"),
    "calls": ("day", "job", "purpose", "model", "prompt", "completion", "cost", "open"),
}
"""Tables whose rows have a checksum, and the columns that it covers."""
