"""What every index is to the engine, whoever made it: it follows the catalog, and is searched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ragstone.index.records import EngineStatus, Stamp
from ragstone.index.terms.scoring import Weighed
from ragstone.protocols import LexicalIndex, VectorIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragstone.contracts import Matches, Vector

    Rows = NDArray[np.int64]


class Following(Protocol):
    """An index made from the catalog. It can be thrown away at any time, and is made again."""

    @property
    def stamp(self) -> Stamp:
        """The commit of the catalog that it was last brought up to; the stamp before all where it holds nothing."""
        ...

    def follow(self, *, write: bool) -> None:
        """Take in what the catalog has and it has not.

        Args:
            write: whether anything that lasts may be changed; only for who holds the lock of the knowledge base.

        Raises:
            KnowledgeBaseError: its files could not be written.
            EngineError: the engine that holds it cannot be reached, or refuses.
        """
        ...


class FollowingVectors(Following, VectorIndex, Protocol):
    """Vectors, wherever they are."""

    def verify(self) -> None:
        """Look whether it is what was written.

        Raises:
            Damaged: it is not.
            EngineError: it cannot be asked.
        """
        ...


class FollowingKeywords(Following, LexicalIndex, Protocol):
    """Keyword search, wherever the terms are."""

    def ceiling(self, terms: Sequence[str]) -> float:
        """What a chunk would score that held these terms over and over; 0 where that cannot be told."""
        ...


@runtime_checkable
class Outside(Protocol):
    """An index in an engine of somebody else's making, which may be away, behind, or differ from the catalog."""

    @property
    def problem(self) -> str:
        """Why it is left alone for now; empty while it is not."""
        ...

    def status(self) -> EngineStatus:
        """How far it is. Never raises for an engine that is away: says so."""
        ...

    def follow(self, *, write: bool) -> None: ...

    def difference(self, *, mend: bool) -> tuple[Rows, Rows]:
        """Rows that it lacks, and rows that it has and should not; neither counts what it has yet to follow.

        Args:
            mend: put and delete these; only for who holds the lock.

        Raises:
            EngineError: it cannot be asked.
        """
        ...


class VectorStore(Protocol):
    """What an engine must do to hold vectors; `ragstone.index.following.followed_vectors` does everything else.

    Rows are ids, so that to put or to drop what was put or dropped before changes nothing. Of those who call, one at a
    time changes anything; any number may search meanwhile, in this process and in others. Every method may raise
    `EngineError`.
    """

    @property
    def name(self) -> str:
        """As the settings have it, and where it is."""
        ...

    @property
    def least(self) -> int:
        """So many changes are needed for `put` and `seal` to be worth it; until then they are kept in memory."""
        ...

    @property
    def refine(self) -> int:
        """So many times more rows are asked for than wanted, to be compared by the catalog's vectors; 1: exact."""
        ...

    @property
    def worn(self) -> bool:
        """Whether so much has changed since it began that it is better made anew."""
        ...

    def stamp(self) -> Stamp:
        """What was sealed last; the stamp before all where nothing is, or what is there is damaged."""
        ...

    def begin(self, sample: Vector) -> None:
        """Start anew, empty. Until `seal`, those who search see what was there before, or get an error.

        Args:
            sample: vectors (n, dimensions) such as will come, for engines that learn from them.
        """
        ...

    def drop(self, rows: Rows) -> None:
        """Take rows out of what is there, none perhaps: the first step of every change that `begin` does not begin."""
        ...

    def put(self, rows: Rows, vectors: Vector) -> None: ...

    def seal(self, stamp: Stamp) -> None:
        """Make what was put and dropped durable, and only then note the commit."""
        ...

    def publish(self) -> None:
        """Let others know which version is in use, where anybody may look, and clear away what none has any more."""
        ...

    def nearest(self, vector: Vector, k: int, allowed: Rows | None) -> Rows:
        """The ``k`` nearest, best first; of these rows only, ascending, where they are given.

        Fewer than ``k`` where it finds no more.
        """
        ...

    def rows(self) -> Rows:
        """All it holds, ascending; `Damaged` where it looks at its files and they are not what was written."""
        ...


class TermStore(Protocol):
    """What an engine must do to hold terms; `ragstone.index.following.followed_keywords` does everything else.

    As of a `VectorStore`: rows are ids, one changes at a time, every method may raise `EngineError`.
    """

    @property
    def name(self) -> str:
        """As the settings have it, and where it is."""
        ...

    @property
    def worn(self) -> bool:
        """Whether so much has changed since it began that it is better made anew."""
        ...

    def stamp(self) -> Stamp:
        """What was sealed last; the stamp before all where nothing is."""
        ...

    def begin(self) -> None:
        """Start anew, empty. Until `seal`, those who search see what was there before."""
        ...

    def drop(self, rows: Rows) -> None: ...

    def put(self, chunks: Sequence[tuple[int, list[str]]]) -> None:
        """Store rows with their terms, each as often as it occurs."""
        ...

    def seal(self, stamp: Stamp) -> None:
        """Make what was put and dropped durable, and only then note the commit."""
        ...

    def publish(self) -> None:
        """Let others know which version is in use, where anybody may look, and clear away what none has any more."""
        ...

    def best(self, terms: Iterable[Weighed], k: int, allowed: Rows | None) -> Matches:
        """The ``k`` best by BM25, best first; of these rows only, where they are given."""
        ...

    def rows(self) -> Rows:
        """All it holds, ascending."""
        ...
