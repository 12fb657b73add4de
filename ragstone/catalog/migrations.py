"""The format of the SQLite catalog, and its migrations.

A published migration is never edited; a new format appends one. ``schema.sql`` is the result of all of them.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ragstone.core.errors import Damaged, KnowledgeBaseError
from ragstone.storage.sqlite import crc32


def _m002_checksums(db: sqlite3.Connection) -> None:
    """Add checksums to vectors and settings; texts always had them."""
    db.create_function("crc32", 1, crc32, deterministic=True)
    for table, column in (("vectors", "value"), ("about", "built_with")):
        db.execute(f"ALTER TABLE {table} ADD COLUMN crc INTEGER NOT NULL DEFAULT 0")
        db.execute(f"UPDATE {table} SET crc = crc32({column})")


def _m003_facts_of_documents(db: sqlite3.Connection) -> None:
    """Index the facts by document, so that removing a document does not read all facts."""
    db.execute("DROP INDEX IF EXISTS facts_document")
    db.execute("CREATE INDEX facts_document ON facts (document, chunk)")


def _m004_layouts(db: sqlite3.Connection) -> None:
    """Add the positions of documents' words on their pages."""
    db.execute("""
        CREATE TABLE layouts (
            document INTEGER PRIMARY KEY REFERENCES documents,
            value    BLOB NOT NULL,
            crc      INTEGER NOT NULL
        )
    """)


def _m005_names(db: sqlite3.Connection) -> None:
    """Index the names of documents, so that a lookup by name does not read all."""
    for field in ("title", "id"):
        name = f"lower(substr({field}, length(rtrim({field}, replace({field}, '/', ''))) + 1))"
        db.execute(f"CREATE INDEX documents_{field}_name ON documents ({name})")


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    _m002_checksums,
    _m003_facts_of_documents,
    _m004_layouts,
    _m005_names,
)
"""Migrations from format 1 to 2, from 2 to 3, and so on."""
FORMAT = 1 + len(MIGRATIONS)


def create(db: sqlite3.Connection, built_with: Mapping[str, Any]) -> None:
    """Create the tables in an empty database, completely or not at all."""
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    schema = (Path(__file__).parent / "schema.sql").read_text(encoding="utf-8")
    db.executescript(f"BEGIN IMMEDIATE; {schema} PRAGMA user_version={FORMAT};")
    text = json.dumps(built_with)
    db.execute("INSERT INTO about VALUES (1, ?, ?)", [text, crc32(text)])
    db.execute("INSERT INTO commits VALUES (0, ?)", [new_mark()])
    db.execute("COMMIT")


def migrate(db: sqlite3.Connection, path: Path) -> None:
    """Migrate a database to the current format, in one transaction.

    Raises:
        Damaged: the file is not a catalog.
        KnowledgeBaseError: a newer Ragstone wrote it, or it cannot be written.
    """
    if _version(db, path) == FORMAT:
        return
    try:
        db.execute("BEGIN IMMEDIATE")
        for migration in MIGRATIONS[_version(db, path) - 1 :]:  # checked again: another process may have been faster
            migration(db)
        db.execute(f"PRAGMA user_version={FORMAT}")
        db.execute("COMMIT")
    except sqlite3.Error as error:
        raise KnowledgeBaseError(
            f"{path} could not be migrated to format {FORMAT}: {error}; it is unchanged, run the command again"
        ) from error


def new_mark() -> str:
    """Return a mark that tells a commit from those with the same number in another history."""
    return secrets.token_hex(8)


def _version(db: sqlite3.Connection, path: Path) -> int:
    ((version,),) = db.execute("PRAGMA user_version")
    if version < 1:
        raise Damaged(f"{path} is not a catalog; restore a backup: ragstone restore SOURCE --replace")
    if version > FORMAT:
        raise KnowledgeBaseError(
            f"{path} has format {version}; this Ragstone reads format {FORMAT}: install the newer Ragstone"
        )
    return version
