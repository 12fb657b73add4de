"""Rows of a table as they are written, around the one that a document was made of."""

from __future__ import annotations

from pathlib import Path

from ragstone.acquire.readers import suffix_of
from ragstone.acquire.readers.decode import MEGABYTE, Unreadable
from ragstone.acquire.readers.parsed import File
from ragstone.acquire.readers.tables import table_files
from ragstone.core.errors import SourceError
from ragstone.settings import AcquireSettings

LARGEST_MB = 64
"""A row is looked for from the beginning of its table: in a second, in one of this size."""


def has_rows(path: Path) -> bool:
    """Return whether the rows of a file can be shown as they are written."""
    return suffix_of(path) in (".csv", ".tsv")


def rows_near(path: Path, name: str, id: str, settings: AcquireSettings, count: int) -> list[table_files.TableRow]:
    """Return the row that a document was made of, between up to ``count`` rows on either side.

    Args:
        path: of the file.
        name: what the ids of its rows begin with.
        id: of the document.
        settings: with which the file was read.
        count: of rows before it, and after it.

    Returns:
        The rows in their order; none if the file is too large or has no such row.

    Raises:
        SourceError: the file cannot be read.
    """
    file = File(path=path, name=name, source=name, suffix=suffix_of(path), settings=settings)
    try:
        if path.stat().st_size > LARGEST_MB * MEGABYTE:
            return []
        return table_files.rows_near(file, id, count)
    except (Unreadable, OSError) as error:
        raise SourceError(f"the rows of this table cannot be read: {error}") from error
