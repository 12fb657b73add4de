"""What documents there are, page by page, as one reader may know them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.access import READERS
from ragstone.contracts import Metadata
from ragstone.index.catalog.store import metadata_from_json

MOST = 1000
"""Documents on a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A stored document without its text: how many characters that has, and into how many chunks it was cut."""

    document_id: str
    title: str
    url: str
    source: str
    metadata: Metadata
    characters: int
    chunks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A page of documents; ``total`` is how many there are on all pages, ``next`` what the next page comes ``after``.

    Empty on the last page.
    """

    documents: tuple[Listed, ...]
    total: int
    next: str


def readable(groups: Sequence[str] | None) -> tuple[str, list[Any]]:
    """A condition on a document ``d`` that lets through what these groups may read, and its values."""
    if groups is None:
        return "TRUE", []
    # The plus keeps SQLite from the index by key: it would go through all that readers may read, for each document.
    names = "SELECT 1 FROM facts f WHERE f.document = d.document AND f.chunk IS NULL AND +f.key = ?"
    own = "AND f.value IN (SELECT value FROM json_each(?))"
    return f"(NOT EXISTS ({names}) OR EXISTS ({names} {own}))", [READERS, READERS, json.dumps(list(groups))]


def listing(
    rows: Callable[[str, Sequence[Any]], Iterator[Any]],
    groups: Sequence[str] | None,
    wanted: str,
    after: str,
    limit: int,
) -> Listing:
    """Documents in the order of their ids.

    Args:
        rows: asks the database.
        groups: of whoever asks; nothing for who may read everything.
        wanted: characters that the id, title, address or source has, in capitals or not; empty: any.
        after: id that the page begins behind.
        limit: documents on the page.
    """
    allowed, values = readable(groups)
    if wanted:
        # SQLite knows capitals of ASCII only; of other letters the usual ways of writing are tried.
        forms = sorted({wanted, wanted.lower(), wanted.upper(), wanted.title(), wanted.capitalize()})
        escaped = [form.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") for form in forms]
        like = "d.id LIKE w.value ESCAPE '\\' OR d.title LIKE w.value ESCAPE '\\'"
        like += " OR d.url LIKE w.value ESCAPE '\\' OR d.source LIKE w.value ESCAPE '\\'"
        allowed = f"{allowed} AND EXISTS (SELECT 1 FROM json_each(?) w WHERE {like})"  # noqa: S608
        values = [*values, json.dumps([f"%{form}%" for form in escaped])]
    ((total,),) = rows(f"SELECT count(*) FROM documents d WHERE {allowed}", values)  # noqa: S608
    limit = max(1, min(limit, MOST))
    sql = f"""
        SELECT d.id, d.title, d.url, d.source, d.metadata, length(t.text), d.chunks
        FROM documents d JOIN contents t USING (content)
        WHERE d.id > ? AND {allowed} ORDER BY d.id LIMIT ?
    """  # noqa: S608
    found = [listed(*row) for row in rows(sql, [after, *values, limit + 1])]
    more = len(found) > limit
    return Listing(documents=tuple(found[:limit]), total=total, next=found[limit - 1].document_id if more else "")


def listed(id: str, title: str, url: str, source: str, metadata: str, characters: int, chunks: int) -> Listed:
    """A row of the database as a record."""
    facts = metadata_from_json(metadata)
    return Listed(
        document_id=id, title=title, url=url, source=source, metadata=facts, characters=characters, chunks=chunks
    )
