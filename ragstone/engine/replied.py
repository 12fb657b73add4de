"""Replies: answers from the catalog without a search, as evidence and draft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragstone.catalog.protocol import Catalog
from ragstone.core.answers import Draft
from ragstone.core.frozen import frozen
from ragstone.core.question import Question, Talk
from ragstone.core.records import Chunk, Evidence, Hit, Step
from ragstone.history.responses import Passage
from ragstone.respond.writing.overview import Planned


@frozen
class Replied:
    """A reply, and the documents it names as its evidence; ``planned`` if a model writes it."""

    evidence: Evidence
    draft: Draft
    planned: Planned | None = None


@frozen
class Message:
    """The question or remark, and the language of the reply."""

    question: Question
    talk: Talk
    language: str

    def reply(
        self,
        draft: Draft,
        hits: Sequence[Hit] = (),
        notices: tuple[str, ...] = (),
        *,
        missing: tuple[str, ...] = (),
        method: str = "catalog",
    ) -> Replied:
        """Return a reply with these hits as evidence.

        Args:
            draft: the reply.
            hits: the cited chunks.
            notices: for the asker.
            missing: steps of a search that failed.
            method: the method that found the hits.
        """
        evidence = Evidence(
            question=replace(self.question, language=self.language),
            hits=tuple(hits),
            method=method,
            missing=missing,
            notices=notices,
        )
        return Replied(evidence=evidence, draft=draft)


def hits_of_chunks(chunks: Sequence[Chunk]) -> list[Hit]:
    """Return chunks read from the catalog as hits, in their order."""
    return [
        Hit(chunk=chunk, score=1.0, why=(Step(stage="catalog", score=1.0, rank=rank),))
        for rank, chunk in enumerate(chunks, start=1)
    ]


def hits_of_document(catalog: Catalog, id: str) -> list[Hit]:
    """Return the chunks of a document as hits, in their order."""
    return hits_of_chunks(sorted(catalog.chunks_of([id]).values(), key=lambda chunk: chunk.start))


def hits_of_passages(catalog: Catalog, passages: Sequence[Passage]) -> list[Hit]:
    """Return the passages behind a stored answer as hits, without those that are no longer stored."""
    chunks = catalog.chunks_by_id([one.chunk_id for one in passages])
    return [Hit(chunk=chunks[one.chunk_id], score=one.score, why=one.why) for one in passages if one.chunk_id in chunks]
