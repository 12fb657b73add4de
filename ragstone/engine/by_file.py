"""Documents as people count them: by files. The rows of a table are documents of their own only for the search."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.core.access import both
from ragstone.core.catalog import CatalogReader, DocumentSummary
from ragstone.core.filters import Compare, Filter, In
from ragstone.core.frozen import frozen
from ragstone.core.naming import file_name, name_of
from ragstone.core.record import file_of, record_of
from ragstone.engine.by_name import ByName
from ragstone.engine.components import Components

_OF_ROWS = In(key="kind", values=("csv", "jsonl", "json"))
"""The kinds of files whose rows may be documents."""
_MOST_TABLES = 100
"""Tables whose rows are counted; those with the fewest rows are left out."""
_LOOKED_AT = 1000
"""Documents that are looked at for a list, of which many may be rows of one table."""


@frozen
class Files:
    """The files that documents are of: how many there are, and the rows in those that are tables.

    ``newest`` has one document of each of the files added or changed last, and ``names`` what the files are called.
    """

    count: int
    rows: int
    newest: tuple[DocumentSummary, ...]
    names: tuple[str, ...]


def files_of(version: Components, by_name: ByName, limit: int) -> Files:
    """Return the files of documents, and the newest of them.

    A file of articles counts as many documents as it has, because each of them can be read by itself.

    Args:
        version: of the knowledge base.
        by_name: the documents.
        limit: the number of files to name.
    """
    tables = tables_of(version.catalog, by_name.groups, by_name.where)
    listing = by_name.listing(_LOOKED_AT if tables else limit, order="newest")
    newest = dict[str, DocumentSummary]()
    for one in listing.documents:
        is_row = one.metadata.get("path") in tables
        newest.setdefault(file_of(one) if is_row else one.document_id, one)
    kept = [*newest.items()][:limit]
    rows = sum(tables.values())
    return Files(
        count=listing.total - rows + len(tables),
        rows=rows,
        newest=tuple(one for _, one in kept),
        names=tuple(name_of(one) if id == one.document_id else file_name(id) for id, one in kept),
    )


def tables_of(catalog: CatalogReader, groups: Sequence[str], where: Filter | None = None) -> dict[str, int]:
    """Return the number of rows of each table whose rows are documents, by its path.

    Args:
        catalog: of the knowledge base.
        groups: groups of the reader.
        where: filter on the documents.
    """
    of_rows, tables = both(where, _OF_ROWS), dict[str, int]()
    for path, count in catalog.common_values(groups, "path", _MOST_TABLES, where=of_rows):
        own = both(of_rows, Compare(key="path", op="=", value=path))
        some = catalog.listing(groups, "", "", 1, where=own, order="newest").documents
        chunks = catalog.first_chunks([one.document_id for one in some])
        if count > 1 and any(map(record_of, chunks.values())):
            tables[path] = count
    return tables
