"""Documents without their texts: pages of them, the newest ones, and their metadata values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.catalog.readable import naming, numbers
from ragstone.catalog.rows import summary_from
from ragstone.core.ascending import difference
from ragstone.core.catalog import DocumentSummary, Listing, ListingOrder, Stamp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.catalog.database import Database
    from ragstone.catalog.readable import ReadableDocuments

    Rows = NDArray[np.int64]

MAX_LISTED = 1000
"""Documents on a page."""
MOST_NAMED = 20_000
"""The most documents of a selection that a page names by their numbers."""
_SUMMARY = "SELECT d.id, d.title, d.url, d.source, d.metadata, length(t.text), d.chunks, d.added_at"
_IS = "{0} = ? OR lower({0}) = ? OR lower({0}) LIKE ? ESCAPE '\\'"
"""The condition that a field equals a text, or ends with it after a slash."""
_COMMITTED = {"newest": "c.generation DESC, c.row DESC", "oldest": "c.generation, c.row"}
"""The order in which documents were added or last changed: an index of their first chunks gives it."""


def listing(
    database: Database,
    groups: Sequence[str] | None,
    wanted: str,
    after: str,
    limit: int,
    *,
    fields: Sequence[str],
    rows: Rows | None,
    order: ListingOrder,
    exactly: bool,
    hidden: ReadableDocuments,
    stamp: Stamp,
) -> Listing:
    """Return a page of documents; `ragstone.core.catalog.CatalogReader.listing` describes it.

    Without a selection, documents are read page by page. If a text or a filter selects them, they are found once, by
    number.

    Args:
        database: the catalog's tables.
        groups: groups of the reader; None for everything.
        wanted: text within one of the fields.
        after: id after which the page starts, in the order of ids.
        limit: maximum of documents on the page.
        fields: the fields to search for the text.
        rows: chunks of the documents that match a filter; None for all.
        order: of the documents.
        exactly: the text equals a field, or its part after the last slash.
        hidden: knows which documents are hidden from a reader.
        stamp: the commit that the caller's snapshot shows.
    """
    dialect = database.dialect
    limit = max(1, min(limit, MAX_LISTED))
    number = "d.document" if order == "id" else "c.document"
    chosen, values = dialect.readable(groups)
    if rows is None and not wanted:
        total = hidden.readable(groups, stamp)
    else:
        selected, selecting = _selected(database, wanted, fields, rows, exactly=exactly)
        selection = numbers(database, f"SELECT d.document AS row FROM documents d WHERE {selected}", selecting)
        selection = difference(selection, hidden.of(groups, stamp))
        total = len(selection)
        if total <= MOST_NAMED:  # otherwise a page fills soon, and reading on is faster
            chosen, values = f"{number} {dialect.in_values}", [dialect.values(selection.tolist())]
        else:
            chosen, values = f"{chosen} AND {selected}", [*values, *selecting]
    page = _page(database, order, after, (chosen, values), limit + 1) if total else []
    more = order == "id" and len(page) > limit
    next = page[limit - 1].document_id if more else ""
    return Listing(documents=tuple(page[:limit]), total=total, next=next)


def first_rows(database: Database, where: str, values: Sequence[object]) -> Rows:
    """Return the rows, ascending, of the first chunks of the documents that an SQL condition selects."""
    sql = f"SELECT row FROM chunks WHERE position = 0 AND document IN (SELECT document FROM documents WHERE {where})"
    return numbers(database, sql, values)


def _selected(
    database: Database, wanted: str, fields: Sequence[str], rows: Rows | None, *, exactly: bool
) -> tuple[str, list[Any]]:
    """Return the condition on documents ``d`` with a text in their fields, or a chunk among some rows, or both."""
    dialect = database.dialect
    parts, values = list[str](), list[Any]()
    if rows is not None:
        parts.append(f"d.document IN (SELECT document FROM chunks WHERE row {dialect.in_values})")
        values.append(dialect.values(rows.tolist()))
    if wanted and exactly:
        found = [(dialect.named(wanted, name), _IS.format(name)) for name in fields]
        each = [f"SELECT document FROM documents WHERE {named} AND ({same})" for (named, _), same in found]
        parts.append(f"d.document IN ({' UNION '.join(each)})")
        for (_, last), _ in found:
            values += [*last, wanted, wanted.lower(), f"%/{_escaped(wanted.lower())}"]
    elif wanted:
        # Databases fold the case of some letters only; for the others, common spellings are tried.
        forms = sorted({wanted, wanted.lower(), wanted.upper(), wanted.title(), wanted.capitalize()})
        containing, patterns = dialect.containing([f"%{_escaped(form)}%" for form in forms], fields)
        parts.append(containing)
        values += patterns
    return " AND ".join(parts), values


def _page(
    database: Database, order: ListingOrder, after: str, chosen: tuple[str, list[Any]], limit: int
) -> list[DocumentSummary]:
    """Return the first documents in an order that satisfy a condition; in the order of ids, those after an id.

    Only their texts are read, to count characters.
    """
    condition, values = chosen
    if order == "id":
        behind, start = database.dialect.after(after)
        condition, values = f"{behind} AND {condition}", [*start, *values]
        source, ordered = "documents d", database.dialect.by_id
    else:
        condition = f"c.position = 0 AND {condition}"
        source, ordered = "chunks c JOIN documents d USING (document)", _COMMITTED[order]
    first = f"SELECT d.document FROM {source} WHERE {condition} ORDER BY {ordered} LIMIT ?"
    also = "" if order == "id" else "c.position = 0 AND"
    sql = f"""
        {_SUMMARY} FROM {source} JOIN contents t USING (content)
        WHERE {also} d.document IN ({first}) ORDER BY {ordered}
    """
    return [summary_from(row) for row in database.rows(sql, [*values, limit])]


def _escaped(text: str) -> str:
    """Return a LIKE pattern that matches only this text."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _visible(database: Database, groups: Sequence[str] | None, number: str) -> tuple[str, list[Any]]:
    """Return the condition on the numbers of documents that these groups may read, for a query that reads all.

    The documents that are hidden are found once. `Dialect.readable`, which looks up each document, suits a page.
    """
    if groups is None:
        return "TRUE", []
    (named, key), (own, values) = naming(database, groups)
    return f"{number} NOT IN ({named} EXCEPT {own})", [*key, *values]


def common_values(
    database: Database, groups: Sequence[str] | None, key: str, limit: int, *, rows: Rows | None
) -> list[tuple[str, int]]:
    """Return the most common texts under a metadata key, and the number of documents with each.

    Args:
        database: the catalog's tables.
        groups: groups of the reader; None for everything.
        key: of the metadata.
        limit: maximum of texts.
        rows: chunks of the documents that match a filter; None for all.
    """
    having, values = database.dialect.has_key(key)
    chosen, chunks = "TRUE", list[Any]()
    if rows is not None:
        chosen = f"facts.document IN (SELECT document FROM chunks WHERE row {database.dialect.in_values})"
        chunks = [database.dialect.values(rows.tolist())]
    visible, names = _visible(database, groups, "facts.document")
    sql = f"""
        SELECT value, count(*) AS documents FROM facts
        WHERE {having} AND {database.dialect.is_text} AND chunk IS NULL AND {visible} AND {chosen}
        GROUP BY value ORDER BY documents DESC, value LIMIT ?
    """
    return [(value, count) for value, count in database.rows(sql, [*values, *names, *chunks, limit]) if value]
