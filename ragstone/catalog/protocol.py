"""The contract of a catalog, wherever it is stored.

`ragstone.core.catalog` has the parts that indexes and questions need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ragstone.core.catalog import Finding, IndexedCatalog, Notes
from ragstone.core.frozen import frozen
from ragstone.core.records import Chunk, Document, Finished, Skipped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragstone.core.records import Vector

    Rows = NDArray[np.int64]

IdOf = Callable[[str, int, str], str]
"""The id of a chunk, from its document's id, its position and its text."""


@frozen
class Prepared:
    """A document ready to be committed: its chunks, and for each the hash of the text that is embedded."""

    document: Document
    chunks: tuple[Chunk, ...]
    hashes: tuple[str, ...]


class CatalogWriter(Protocol):
    """Changes to the documents, and the queries of an ingest before them.

    One caller at a time writes, under the lock of the knowledge base. A change is stored completely or not at all, and
    is durable when the method returns.
    """

    def commit(
        self, prepared: Sequence[Prepared], vectors: Mapping[str, Vector], finished: Sequence[Finished] = ()
    ) -> int:
        """Store documents with their chunks, replacing those with the same ids, and return the generation.

        Args:
            prepared: the documents; each text has a stored vector already or one in ``vectors``.
            vectors: hash of an embedded text to its vector.
            finished: files that are completely stored with this commit.
        """
        ...

    def remove(self, ids: Sequence[str], finished: Sequence[Finished] = ()) -> int:
        """Remove documents with all data that no other document shares, and return the generation.

        Args:
            ids: the documents.
            finished: files that are completely stored once these documents are gone.

        Raises:
            NotFound: a document does not exist; then none is removed.
        """
        ...

    def withdraw(self, ids: Sequence[str]) -> None:
        """Hide attached documents, as far as they are stored, from everybody, at once and durably.

        They stay until they are removed. The caller need not hold the lock: no chunk and no vector changes.
        """
        ...

    def erase(self, ids: Sequence[str], sources: Sequence[str]) -> None:
        """Remove documents, as far as they are stored, so that no file of the database holds anything of them.

        The commits get new marks, so every index is built again instead of being brought up to date.

        Args:
            ids: the documents.
            sources: files whose state or faults are forgotten, too.

        Raises:
            KnowledgeBaseError: another process keeps reading an older state.
        """
        ...

    def note_skipped(self, skipped: Sequence[Skipped]) -> None:
        """Record sources that could not be read."""
        ...

    def forget_skipped(self, sources: Sequence[str]) -> None:
        """Delete the record of sources that no longer exist."""
        ...

    def skipped(self, root: str | None = None) -> list[Skipped]:
        """Return the sources that could not be read on the last try, within a file or folder or everywhere."""
        ...

    def built_with(self) -> dict[str, Any]:
        """Return the preset and index settings the knowledge base was built with."""
        ...

    def set_built_with(self, built_with: Mapping[str, Any]) -> None:
        """Record settings that were decided after the version was created."""
        ...

    def signatures(self, ids: Sequence[str]) -> dict[str, str]:
        """Map each of these documents that is stored to its signature."""
        ...

    def contains(self, ids: Sequence[str]) -> bool:
        """Return whether all of these documents are stored."""
        ...

    def embedded(self, hashes: Sequence[str]) -> set[str]:
        """Return which of these texts, by their hashes, already have a vector."""
        ...

    def stored_names(self, names: Sequence[str]) -> set[str]:
        """Return which names are the id or source of a stored document, or a folder or file that contains one."""
        ...

    def has_file(self, source: str, stamp: str) -> bool:
        """Return whether a file in this state is completely stored."""
        ...

    def file_stamps(self, sources: Sequence[str]) -> dict[str, str]:
        """Map each of these files that is completely stored to the state that it had."""
        ...

    def documents_under(self, root: str) -> list[tuple[str, str]]:
        """Return id and source of every document from a file or folder."""
        ...

    def first_rows_under(self, root: str) -> Rows:
        """Return the rows, ascending, of the first chunk of every document from a file or folder."""
        ...


class CatalogCopy(Protocol):
    """The data that versions and backups copy from each other."""

    def notes(self) -> Notes:
        """Return the data that reading the documents again would not reproduce."""
        ...

    def put_notes(self, notes: Notes) -> None:
        """Replace the notes by those of another version of the same documents."""
        ...

    def vectors_by_hash(self, hashes: Sequence[str]) -> dict[str, Vector]:
        """Return the stored vectors of texts, by the hash of the text."""
        ...

    def dump(self) -> Iterator[tuple[str, Iterator[Sequence[Any]]]]:
        """Yield every table with its rows; consistent only within a `snapshot`."""
        ...

    def fill(self, tables: Iterable[tuple[str, Iterable[Sequence[Any]]]]) -> None:
        """Store the `dump` of another catalog in this one, which must be empty."""
        ...

    def start_new_history(self) -> None:
        """Commit nothing, with a new mark, so that no index or cache takes a copy for its original."""
        ...


class CatalogRepair(Protocol):
    """Checks, and repairs of data that can be recomputed."""

    def verify(self, id_of: IdOf) -> list[Finding]:
        """Read everything and return the faults."""
        ...

    def reindex(self) -> None:
        """Rebuild the database's own indexes from its tables."""
        ...

    def put_vectors(self, vectors: Mapping[int, Vector]) -> None:
        """Replace the vectors of the chunks with these rows."""
        ...


class Catalog(IndexedCatalog, CatalogWriter, CatalogCopy, CatalogRepair, Protocol):
    """The whole contract. Reads come from any thread, writes from one at a time."""

    def close(self) -> None:
        """Close all connections."""
        ...
