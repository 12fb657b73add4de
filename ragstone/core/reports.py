"""Reports of an ingest: its plan, progress and result."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ragstone.core.records import Decoded, Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class AddReport:
    """The result of an ingest.

    ``added``, ``updated``, ``unchanged`` and ``removed`` count documents; ``chunks`` and ``embedded`` count chunks and
    new vectors, and ``cached`` vectors that an embedding service had given before. ``decoded`` lists files with
    undecodable bytes or a guessed encoding. ``embedding_*`` count the calls of an embedding service, and ``cost`` is
    their price, as far as it is known. ``notices`` are messages for the user.
    """

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: tuple[Skipped, ...] = ()
    decoded: tuple[Decoded, ...] = ()
    chunks: int = 0
    embedded: int = 0
    cached: int = 0
    seconds: float = 0.0
    embedding_calls: int = 0
    embedding_tokens: int = 0
    embedding_retries: int = 0
    cost: float = 0.0
    notices: tuple[str, ...] = ()

    def plus(self, other: AddReport) -> AddReport:
        """Return the sum of two reports, without duplicate notices and files."""
        both = AddReport(**{part: getattr(self, part) + getattr(other, part) for part in self.__slots__})
        unique = dict.fromkeys
        return replace(both, notices=tuple(unique(both.notices)), decoded=tuple(unique(both.decoded)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The effect that a sync would have: ids of documents, and skipped sources."""

    added: tuple[str, ...]
    updated: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The durable state after a commit of an ingest.

    ``share`` is the share of files that were read, 0 to 1; it is 0 if their number is unknown.
    """

    committed: tuple[str, ...]
    documents: int
    chunks: int
    embedded: int
    share: float = 0.0
