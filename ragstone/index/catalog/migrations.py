"""The format of the catalog, and how an older one becomes the present one.

A published migration is never edited; a new format appends one. ``schema.sql`` is what they all lead to.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ragstone.errors import Damaged, KnowledgeBaseError


def _m002_checksums(db: sqlite3.Connection) -> None:
    """Vectors and what the knowledge base was built with get checksums; texts had theirs from the beginning."""
    db.create_function("crc32", 1, crc32, deterministic=True)
    for table, column in (("vectors", "value"), ("about", "built_with")):
        db.execute(f"ALTER TABLE {table} ADD COLUMN crc INTEGER NOT NULL DEFAULT 0")
        db.execute(f"UPDATE {table} SET crc = crc32({column})")  # noqa: S608


def _m003_facts_of_documents(db: sqlite3.Connection) -> None:
    """All facts of a document are found by an index; before, whoever removed one read the facts of all."""
    db.execute("DROP INDEX IF EXISTS facts_document")
    db.execute("CREATE INDEX facts_document ON facts (document, chunk)")


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_m002_checksums, _m003_facts_of_documents)
"""From format 1 to 2, from 2 to 3, and so on."""
FORMAT = 1 + len(MIGRATIONS)


def create(db: sqlite3.Connection, built_with: Mapping[str, Any]) -> None:
    """Fill an empty database; all of it or nothing."""
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    schema = (Path(__file__).parent / "schema.sql").read_text(encoding="utf-8")
    db.executescript(f"BEGIN IMMEDIATE; {schema} PRAGMA user_version={FORMAT};")
    text = json.dumps(built_with)
    db.execute("INSERT INTO about VALUES (1, ?, ?)", [text, crc32(text)])
    db.execute("INSERT INTO commits VALUES (0, ?)", [new_mark()])
    db.execute("COMMIT")


def migrate(db: sqlite3.Connection, path: Path) -> None:
    """Bring a database to the present format, in one transaction.

    Raises:
        Damaged: the file is not a catalog.
        KnowledgeBaseError: it was written by a newer Ragstone, or cannot be written.
    """
    if _version(db, path) == FORMAT:
        return
    try:
        db.execute("BEGIN IMMEDIATE")
        for migration in MIGRATIONS[_version(db, path) - 1 :]:  # asked again: another process may have been faster
            migration(db)
        db.execute(f"PRAGMA user_version={FORMAT}")
        db.execute("COMMIT")
    except sqlite3.Error as error:
        raise KnowledgeBaseError(
            f"{path} could not be brought to format {FORMAT}: {error}; it is as it was, and the next command tries"
            " again"
        ) from error


def new_mark() -> str:
    """What tells a commit from those that have the same number in another history."""
    return secrets.token_hex(8)


def _version(db: sqlite3.Connection, path: Path) -> int:
    ((version,),) = db.execute("PRAGMA user_version")
    if version < 1:
        raise Damaged(f"{path} is not a catalog; restore it from a backup: ragstone restore")
    if version > FORMAT:
        raise KnowledgeBaseError(
            f"{path} has format {version}; this Ragstone reads format {FORMAT}: install the newer Ragstone"
        )
    return version


def crc32(value: bytes | str) -> int:
    """The checksum of a value."""
    return zlib.crc32(value if isinstance(value, bytes) else value.encode())


def connect(path: Path) -> sqlite3.Connection:
    """A connection whose commits survive a power cut."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
    try:
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA fullfsync=ON")  # of macOS; elsewhere it changes nothing
        connection.execute("PRAGMA checkpoint_fullfsync=ON")
        connection.execute("PRAGMA foreign_keys=ON")
    except sqlite3.Error:
        connection.close()
        raise
    return connection
