"""The format of a database: how a file says which one it has, and how another one is refused."""

from __future__ import annotations

import sqlite3

from ragstone.core.errors import KnowledgeBaseError

APPLICATION = int.from_bytes(b"Rags")
"""The application id of a database of Ragstone. Databases of versions before 0.1.0 have none."""


def stamp(format: int) -> str:
    """Return the SQL that gives a new database its format."""
    return f"PRAGMA application_id={APPLICATION}; PRAGMA user_version={format};"


def require_format(db: sqlite3.Connection, name: object, format: int) -> None:
    """Refuse a database of another format, and leave it as it is.

    Raises:
        KnowledgeBaseError: another version of Ragstone wrote it.
        sqlite3.DatabaseError: it has no format at all.
    """
    ((application,),) = db.execute("PRAGMA application_id")
    ((version,),) = db.execute("PRAGMA user_version")
    if application == APPLICATION and version == format:
        return
    if version == 0:
        raise sqlite3.DatabaseError("no such format: it is empty, or another program wrote it")
    raise other_format(
        name, str(version) if application == APPLICATION else f"{version} of an unreleased version", format
    )


def other_format(name: object, found: str, format: int) -> KnowledgeBaseError:
    """Return the error about a database of another format."""
    return KnowledgeBaseError(
        f"{name} has format {found}; this Ragstone reads format {format}, and left it unchanged. Use the Ragstone that"
        " wrote it, or read its sources into a new knowledge base: ragstone add SOURCE --kb FOLDER"
    )
