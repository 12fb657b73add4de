"""Documents without their texts: pages of them, the newest ones, and which values of metadata they have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ragstone.catalog.rows import summary_from
from ragstone.core.access import READERS
from ragstone.core.catalog import Listing, ListingOrder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragstone.catalog.database import Database

MAX_LISTED = 1000
"""Documents on a page."""
_SUMMARY = "SELECT d.id, d.title, d.url, d.source, d.metadata, length(t.text), d.chunks, d.added_at"
_IS = "{0} = ? OR lower({0}) = ? OR lower({0}) LIKE ? ESCAPE '\\'"
"""The condition that a field is a text, or ends with it behind a slash."""
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
    rows: NDArray[np.int64] | None,
    order: ListingOrder,
    exactly: bool,
    count: Callable[[Sequence[str] | None], int],
) -> Listing:
    """Return a page of documents; `ragstone.core.catalog.CatalogReader.listing` describes it.

    Args:
        database: the catalog's tables.
        groups: groups of the reader; None for the owner.
        wanted: text within one of the fields.
        after: id after which the page starts, in the order of ids.
        limit: maximum of documents on the page.
        fields: to look for the text in.
        rows: chunks of the documents that a filter lets through; None for all.
        order: of the documents.
        exactly: the text is all of a field, or what follows its last slash; such documents are not counted beyond the
            page.
        count: returns the number of documents that groups may read.
    """
    dialect = database.dialect
    chosen, values = "TRUE", list[Any]()
    if rows is not None:
        chosen = f"{chosen} AND d.document IN (SELECT document FROM chunks WHERE row {dialect.in_values})"
        values = [dialect.values(rows.tolist())]
    if wanted and exactly:
        found = [(dialect.named(wanted, name), _IS.format(name)) for name in fields]
        each = [f"SELECT document FROM documents WHERE {named} AND ({same})" for (named, _), same in found]
        chosen = f"{chosen} AND d.document IN ({' UNION '.join(each)})"
        for (_, last), _ in found:
            values += [*last, wanted, wanted.lower(), f"%/{_escaped(wanted.lower())}"]
    elif wanted:
        # Databases fold the case of some letters only; for the others, common spellings are tried.
        forms = sorted({wanted, wanted.lower(), wanted.upper(), wanted.title(), wanted.capitalize()})
        containing, patterns = dialect.containing([f"%{_escaped(form)}%" for form in forms], fields)
        chosen, values = f"{chosen} AND {containing}", [*values, *patterns]
    behind, start = dialect.after(after)
    readable, names = dialect.readable(groups)
    limit = max(1, min(limit, MAX_LISTED))
    with database.snapshot():
        total = 0
        if chosen == "TRUE":
            total = count(groups)
        elif not exactly:
            visible, hidden = _visible(database, groups, "d.document")
            sql = f"SELECT count(*) FROM documents d WHERE {visible} AND {chosen}"
            ((total,),) = database.rows(sql, [*hidden, *values])
        if order == "id":
            sql = f"""
                {_SUMMARY} FROM documents d JOIN contents t USING (content)
                WHERE {behind} AND {readable} AND {chosen} ORDER BY {dialect.by_id} LIMIT ?
            """
            found = [summary_from(row) for row in database.rows(sql, [*start, *names, *values, limit + 1])]
        else:
            sql = f"""
                {_SUMMARY} FROM chunks c JOIN documents d USING (document) JOIN contents t USING (content)
                WHERE c.position = 0 AND {readable} AND {chosen} ORDER BY {_COMMITTED[order]} LIMIT ?
            """
            found = [summary_from(row) for row in database.rows(sql, [*names, *values, limit])]
    more = len(found) > limit
    total = max(total, len(found))
    return Listing(documents=tuple(found[:limit]), total=total, next=found[limit - 1].document_id if more else "")


def _escaped(text: str) -> str:
    """Return a text as a pattern for LIKE that matches it alone."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _visible(database: Database, groups: Sequence[str] | None, number: str) -> tuple[str, list[Any]]:
    """Return the condition on the numbers of documents that these groups may read, for a query that reads all.

    The documents that are hidden are found once. `Dialect.readable`, which looks up each document, suits a page.
    """
    if groups is None:
        return "TRUE", []
    dialect = database.dialect
    having, key = dialect.has_key(READERS)
    named = f"SELECT document FROM facts WHERE {having} AND chunk IS NULL"
    hidden = f"{named} EXCEPT {named} AND value {dialect.in_values}"
    return f"{number} NOT IN ({hidden})", [*key, *key, dialect.values(groups)]


def common_values(
    database: Database, groups: Sequence[str] | None, key: str, limit: int, *, rows: NDArray[np.int64] | None
) -> list[tuple[str, int]]:
    """Return the commonest texts that documents have under a key of their metadata, and how many have each.

    Args:
        database: the catalog's tables.
        groups: groups of the reader; None for the owner.
        key: of the metadata.
        limit: maximum of texts.
        rows: chunks of the documents that a filter lets through; None for all.
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
