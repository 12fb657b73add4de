"""The read side of a catalog: records of its state, and the protocols that indexes and searches use.

The catalog is the source of truth for documents, chunks and vectors. Indexes are derived from it and disposable.
Writing, copying and repairing use `ragstone.catalog.protocol`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from ragstone.core.filters import Filter
from ragstone.core.frozen import frozen
from ragstone.core.layout import Placed
from ragstone.core.records import Chunk, Document, Matches, Metadata

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.core.records import Vector

    Rows = NDArray[np.int64]

FIELDS = ("id", "title", "url", "source")
"""Filter fields that every document has. Metadata of the same name is found too."""


@frozen
class Counts:
    """The size of a catalog, and its last commit."""

    documents: int
    chunks: int
    vectors: int
    generation: int


@frozen
class Stamp:
    """A commit: its number and a random mark.

    A catalog restored from a backup repeats the numbers of commits and rows with other content; marks never repeat.
    The stamp without a mark stands before all commits.
    """

    generation: int = 0
    mark: str = ""


@frozen
class EngineStatus:
    """The state of an external index: the search leg it serves, its engine, and how many commits it is ``behind``.

    ``problem`` says why the engine does not answer; ``behind`` is then meaningless. ``unlike`` says which settings
    differ from those the engine's data was built with.
    """

    leg: str
    engine: str
    behind: int = 0
    problem: str = ""
    unlike: str = ""


@frozen
class Notes:
    """The bookkeeping of a catalog, apart from its documents.

    ``files`` are sources with their stamps, ``skipped`` sources with reasons, ``added`` ids with signatures and times.
    """

    files: tuple[tuple[str, str], ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    added: tuple[tuple[str, str, str], ...] = ()


@frozen
class Finding:
    """A fault that a check found.

    ``documents`` are the ids of those affected. ``remedy`` says what a person has to do; it is empty if `doctor` can
    repair the fault. ``mended`` says that it did.
    """

    part: str
    what: str
    documents: tuple[str, ...] = ()
    remedy: str = ""
    mended: bool = False


@frozen
class DocumentSummary:
    """A stored document without its text: the number of characters and of chunks, and when it was added or changed.

    ``added`` is a time in ISO 8601, UTC.
    """

    document_id: str
    title: str
    url: str
    source: str
    metadata: Metadata
    characters: int
    chunks: int
    added: str = ""


@frozen
class Listing:
    """A page of documents; ``total`` counts those on all pages, ``next`` is the id to continue ``after``.

    ``next`` is empty on the last page.
    """

    documents: tuple[DocumentSummary, ...]
    total: int
    next: str


ListingOrder = Literal["id", "newest", "oldest"]
"""The order of listed documents: by id, or by the commit that added or changed them, last or first."""

NO_MATCHES = Matches(rows=np.empty(0, dtype=np.int64), scores=np.empty(0, dtype=np.float32))


MAX_PAGE = 1000
"""Documents on a page of a listing, at most."""


class CatalogReader(Protocol):
    """Documents, chunks and vectors, to be read from any thread.

    A ``row`` is the number of a chunk, never used twice. Every method may raise `KnowledgeBaseError`.
    """

    def counts(self) -> Counts: ...

    def select(self, where: Filter) -> Rows:
        """Return the rows, ascending, of the chunks that match a filter by their own metadata or their document's."""
        ...

    def selected(self, where: Filter) -> Rows | None:
        """Return the rows of `select` if they are cached; None if the database would have to be asked."""
        ...

    def metadata_keys(self, groups: Sequence[str] | None = None) -> frozenset[str]:
        """Return the filter fields in use: metadata keys of documents and chunks, and `FIELDS`.

        Args:
            groups: groups of the reader, who learns only the keys of readable documents; None for the owner.
        """
        ...

    def chunks(self, rows: Sequence[int]) -> dict[int, Chunk]:
        """Return the chunks with these rows; one removed in the meantime is left out."""
        ...

    def chunks_by_id(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """Return the chunks with these ids; one removed in the meantime is left out."""
        ...

    def chunks_of(self, ids: Sequence[str]) -> dict[int, Chunk]:
        """Return the row and the chunk of every chunk in these documents."""
        ...

    def first_chunks(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """Return the first chunk of each of these documents by its id; one without text is left out."""
        ...

    def vectors(self, rows: Sequence[int]) -> dict[int, Vector]:
        """Return the vectors of the chunks with these rows."""
        ...

    def document(self, id: str, groups: Sequence[str] | None = None) -> Document:
        """Return a document by its id, or by a unique end of its id that starts at a ``/`` or ``#``.

        Args:
            id: the complete id, or its end.
            groups: groups of the reader, from whom all other documents are hidden; None for the owner.

        Raises:
            NotFound: no document matches, or more than one.
        """
        ...

    def layout(self, id: str) -> tuple[Placed, ...]:
        """Return the positions on the pages of the words of the document with this complete id.

        Reading a document does not load them. The result is empty if the document has none, or does not exist.
        """
        ...

    def documents(self) -> Iterator[Document]:
        """Yield every document, in the order of adding."""
        ...

    def listing(
        self,
        groups: Sequence[str] | None,
        wanted: str,
        after: str,
        limit: int,
        *,
        fields: Sequence[str] = FIELDS,
        where: Filter | None = None,
        order: ListingOrder = "id",
        exactly: bool = False,
    ) -> Listing:
        """Return documents in the order of their ids, or those added or changed last, or first.

        Args:
            groups: groups of the reader; None for everything.
            wanted: text within one of the fields, in any case; empty for all documents.
            after: id after which the page starts, in the order of ids.
            limit: maximum of documents on the page.
            fields: the members of `FIELDS` to search for the text; omit those that the reader does not see.
            where: filter on metadata.
            order: by id, or by when documents were committed; then there is no next page, and a document without
                text is left out.
            exactly: the text must equal a field, in any case, or the part after a slash.
        """
        ...

    def common_values(
        self, groups: Sequence[str] | None, key: str, limit: int, *, where: Filter | None = None
    ) -> list[tuple[str, int]]:
        """Return the most common texts under a metadata key of readable documents, with their counts.

        Args:
            groups: groups of the reader; None for everything.
            key: of the metadata.
            limit: maximum of texts.
            where: filter on metadata; None for all documents.
        """
        ...

    def sources(self, ids: Sequence[str]) -> dict[str, str]:
        """Map the complete id of each of these documents to its source; one that does not exist is left out."""
        ...

    def restricts(self, groups: Sequence[str]) -> bool:
        """Return whether readers in these groups might not be allowed to read every document."""
        ...

    def access_groups(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Map each of these documents that has access groups to its groups. An empty tuple means nobody."""
        ...


class ChangeLog(Protocol):
    """The commits of a catalog, and the chunks added and removed since any of them."""

    def generation(self) -> int:
        """Return the number of the last commit."""
        ...

    def stamp(self) -> Stamp:
        """Return the last commit."""
        ...

    def knows(self, stamp: Stamp) -> bool:
        """Return whether a commit belongs to this catalog's history, so that changes since then are known."""
        ...

    def snapshot(self) -> AbstractContextManager[Stamp]:
        """Hold one state of the catalog for several reads of this thread, and yield its last commit."""
        ...

    def removed_since(self, generation: int) -> list[int]:
        """Return the rows, ascending, of the chunks removed after a generation."""
        ...

    def changes_since(self, generation: int) -> int:
        """Count the chunks added after a generation that still exist, and those removed after it."""
        ...

    def rows_since(self, generation: int) -> Rows:
        """Return the rows, ascending, of the chunks added after a generation."""
        ...

    def vectors_since(self, generation: int, dimensions: int) -> Iterator[tuple[Rows, Vector]]:
        """Yield, in parts, rows (n,), ascending, and vectors (n, dimensions) of the chunks added after a generation."""
        ...

    def chunks_since(self, generation: int) -> Iterator[tuple[int, Chunk]]:
        """Yield row and chunk of everything added after a generation."""
        ...

    def sample_vectors(self, count: int, dimensions: int) -> Vector:
        """Return about ``count`` of the vectors (n, dimensions), evenly chosen; all if there are no more."""
        ...

    def ordered_signatures(self) -> Iterator[tuple[str, str, int]]:
        """Yield id, signature and number of every document, in the order of the ids."""
        ...


def selected(catalog: CatalogReader, where: Filter) -> Iterator[DocumentSummary]:
    """Yield the documents that match a filter, whoever may read them, in the order of their ids."""
    after = ""
    while True:
        page = catalog.listing(None, "", after, MAX_PAGE, where=where)
        yield from page.documents
        if not page.next:
            return
        after = page.next


class IndexedCatalog(CatalogReader, ChangeLog, Protocol):
    """The catalog as an index sees it."""
