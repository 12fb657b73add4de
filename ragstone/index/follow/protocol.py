"""What an index is to the engine, and what an external engine must do to be one.

CONTRIBUTING.md says how to add a vector store.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ragstone.core.catalog import EngineStatus, Stamp
from ragstone.core.frozen import frozen
from ragstone.core.protocols import LexicalIndex, VectorIndex
from ragstone.index.keyword.scoring import Weighed
from ragstone.settings.services import ServiceSettings
from ragstone.storage.shelf import Shelf

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragstone.core.records import Matches, Vector

    Rows = NDArray[np.int64]


ROUNDED = 1e-3
"""Most that a component of a vector of length 1 may differ because an engine has rounded it."""


@frozen
class StoreContext:
    """What a store for vectors is built from.

    ``kind`` is the part of the setting after a colon, as in ``faiss:HNSW``. ``version`` is the folder of the version;
    files of the store belong there. An engine searches exactly up to ``exact_limit`` chunks.
    ``shelf`` has the names of its collections; by default, they are in files next to the version.
    """

    kind: str
    version: Path
    dimensions: int
    exact_limit: int
    services: ServiceSettings
    shelf: Shelf | None = None


@frozen(eq=False)
class Differences:
    """Rows of an engine that differ from the catalog, apart from those it has yet to sync; each ascending.

    The engine lacks ``missing``, should not have ``extra``, and holds something else for ``changed``. ``unlike`` says
    how all of it was made otherwise than the settings say.
    """

    missing: Rows
    extra: Rows
    changed: Rows
    unlike: str = ""

    def __len__(self) -> int:
        return len(self.missing) + len(self.extra) + len(self.changed) + bool(self.unlike)

    def __str__(self) -> str:
        parts = [
            (self.missing, "it lacks {count} {chunks}"),
            (self.extra, "it has {count} {chunks} that are gone"),
            (self.changed, "it holds {count} {chunks} with other content"),
        ]
        sentences = [
            text.format(count=f"{len(rows):,}", chunks="chunk" if len(rows) == 1 else "chunks")
            for rows, text in parts
            if len(rows)
        ]
        return "; ".join([*sentences, self.unlike] if self.unlike else sentences)


class SyncedIndex(Protocol):
    """An index built from the catalog. It can be thrown away at any time and is built again."""

    @property
    def stamp(self) -> Stamp:
        """The commit of the catalog it was last synced to; the stamp before all commits if it is empty."""
        ...

    def follow(self, *, write: bool) -> None:
        """Take in what the catalog has and this index lacks.

        Args:
            write: whether anything durable may be changed; only for the holder of the knowledge base's lock.

        Raises:
            KnowledgeBaseError: its files could not be written.
            EngineError: the engine that holds it cannot be reached, or refuses.
        """
        ...


class SyncedVectorIndex(SyncedIndex, VectorIndex, Protocol):
    """Vector search, wherever the vectors are."""

    def verify(self) -> None:
        """Check that it holds what was written.

        Raises:
            Damaged: it does not.
            EngineError: it cannot be asked.
        """
        ...


class SyncedKeywordIndex(SyncedIndex, LexicalIndex, Protocol):
    """Keyword search, wherever the terms are."""

    def ceiling(self, terms: Sequence[str]) -> float:
        """Return the score of a chunk that repeats these terms forever; 0 if unknown."""
        ...


@runtime_checkable
class ExternalIndex(Protocol):
    """An index in an external engine, which may be away, behind, or differ from the catalog."""

    @property
    def problem(self) -> str:
        """Why the engine is left alone for now; empty if it is not."""
        ...

    def status(self) -> EngineStatus:
        """Return how far it is; for an engine that is away, the status says so."""
        ...

    def follow(self, *, write: bool) -> None: ...

    def difference(self, *, mend: bool) -> Differences:
        """Compare all it holds with the catalog, row by row, by content.

        Args:
            mend: put and delete what differs; only for the holder of the lock.

        Raises:
            EngineError: it cannot be asked.
        """
        ...


class RowStore(Protocol):
    """What an engine must do to hold something for each row.

    Rows are ids: putting or dropping a row twice changes nothing. One caller at a time changes anything; any number may
    search meanwhile, in this process and in others. Every method may raise `EngineError`.
    """

    @property
    def name(self) -> str:
        """The engine as the settings name it, and its address."""
        ...

    @property
    def worn(self) -> bool:
        """Whether so much has changed that a new start is better."""
        ...

    def stamp(self) -> Stamp:
        """Return what was last sealed; the stamp before all commits if nothing was, or it is damaged."""
        ...

    def drop(self, rows: Rows) -> None:
        """Remove rows, perhaps none: the first step of every change that does not start with ``begin``.

        It also discards a ``begin`` that no `seal` has ended: the change continues what was last sealed.
        """
        ...

    def seal(self, stamp: Stamp) -> None:
        """Make the changes durable, and only then record the commit."""
        ...

    def publish(self) -> None:
        """Show others which version is in use, if the engine can, and delete what no version needs."""
        ...

    def rows(self) -> Rows:
        """Return all rows it holds, ascending; raise `Damaged` if it checks its files and they are damaged."""
        ...


@runtime_checkable
class Configured(Protocol):
    """A store whose settings apply when its rows begin, such as the number of shards."""

    def unlike(self) -> str:
        """Return how what it holds was made otherwise than the settings say; empty if it was not."""
        ...


class VectorStore(RowStore, Protocol):
    """What an engine must do to hold vectors; `SyncedVectors` does everything else.

    Name a function that takes the `StoreContext` and returns your own store in ``index.vectors``, as
    ``package.module:build``. `ragstone.testing.check_vector_store` checks it. examples/own/store.py is the smallest:

    >>> from own.store import build
    >>> from ragstone.testing import check_vector_store
    >>> check_vector_store(build)
    """

    @property
    def least(self) -> int:
        """The least number of changes worth a `put` and `seal`; fewer are kept in memory."""
        ...

    @property
    def refine(self) -> int:
        """How many times more rows to ask for than wanted, to be compared exactly; 1 if the engine is exact."""
        ...

    def begin(self, sample: Vector) -> None:
        """Start again, empty. Until `seal`, searches see what was there before, or get an error.

        Args:
            sample: vectors (n, dimensions) like those to come, for engines that train on them.
        """
        ...

    def put(self, rows: Rows, vectors: Vector) -> None:
        """Store rows with their vectors; a row that is there gets the new vector."""
        ...

    def nearest(self, vector: Vector, k: int, allowed: Rows | None) -> Rows:
        """Return the ``k`` nearest, best first, each once; fewer if it finds no more; only of ``allowed`` if given.

        There may be no rows, and ``k`` may exceed their number.
        """
        ...

    def differing(self, rows: Rows, vectors: Vector) -> Rows:
        """Return those of these rows that it holds with another vector; none if `rows` checks its files.

        Args:
            rows: all of which it has.
            vectors: what they should be, of length 1; see `unlike`.
        """
        ...


class TermStore(RowStore, Protocol):
    """What an engine must do to hold terms; `SyncedKeywords` does everything else."""

    def begin(self) -> None:
        """Start again, empty. Until `seal`, searches see what was there before."""
        ...

    def put(self, chunks: Sequence[tuple[int, list[str]]]) -> None:
        """Store rows with their terms, each as often as it occurs."""
        ...

    def best(self, terms: Iterable[Weighed], k: int, allowed: Rows | None) -> Matches:
        """Return the ``k`` best by BM25, best first; only of ``allowed``, if given."""
        ...

    def differing(self, chunks: Sequence[tuple[int, list[str]]]) -> Rows:
        """Return those of these rows, all of which it has, that it holds with other terms."""
        ...

    def recount(self) -> None:
        """Correct what it keeps about all rows together, in case somebody else has changed rows."""
        ...


def unlike(stored: Vector, wanted: Vector) -> NDArray[np.bool_]:
    """Return a mask of the vectors that are not what they should be, rounding aside; both (n, dimensions)."""
    import numpy as np

    return ~(np.abs(stored - wanted).max(axis=1, initial=0.0) <= ROUNDED)  # NaN differs
