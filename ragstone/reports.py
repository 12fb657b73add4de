"""What is told of work on a knowledge base: what an ingest did, would do, and has done so far."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ragstone.contracts import Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class AddReport:
    """What an ingest did. Counts are documents, but for the chunks; ``notices`` are worth telling.

    ``embedding_calls``, ``embedding_tokens`` and ``embedding_retries`` are those of an embedding service.
    """

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: tuple[Skipped, ...] = ()
    chunks: int = 0
    embedded: int = 0
    seconds: float = 0.0
    embedding_calls: int = 0
    embedding_tokens: int = 0
    embedding_retries: int = 0
    notices: tuple[str, ...] = ()

    def plus(self, other: AddReport) -> AddReport:
        """Both together; what both have to tell is told once."""
        both = AddReport(**{part: getattr(self, part) + getattr(other, part) for part in self.__slots__})
        return replace(both, notices=tuple(dict.fromkeys(both.notices)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a sync would do: ids of documents, and what would be skipped."""

    added: tuple[str, ...]
    updated: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Sent after every commit of an ingest: what is counted here is durable.

    ``share`` is how much of the sources has been read, 0 to 1, by the number of files; 0 where that is not known.
    """

    committed: tuple[str, ...]
    documents: int
    chunks: int
    embedded: int
    share: float = 0.0
