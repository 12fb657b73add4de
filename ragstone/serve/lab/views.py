"""An answer as it grows, and two answers side by side: what stands in one and not in the other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ragstone.answers import Answer, Answered, Citation, EvidenceFound, SentenceClosed, TextWritten
from ragstone.contracts import Chunk, Hit
from ragstone.serve.lab.desk import Heard

_MARKERS = re.compile(r"\s*\[(?:(?:Web )?Source )?(?:\d+|\?)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What has been heard of an answer so far; ``first`` is when its first word came, ``last`` when it was whole."""

    hits: tuple[Hit, ...] | None = None
    text: str = ""
    sentences: tuple[SentenceClosed, ...] = ()
    answer: Answer | None = None
    first: float | None = None
    last: float | None = None
    error: str = ""

    def after(self, heard: Heard) -> View:
        """The same with one more event."""
        if heard.error:
            return replace(self, error=heard.error)
        match heard.event:
            case EvidenceFound(evidence=evidence):
                return replace(self, hits=evidence.hits)
            case TextWritten(text=text):
                first = heard.milliseconds if self.first is None else self.first
                return replace(self, text=self.text + text, first=first)
            case SentenceClosed() as sentence:
                return replace(self, sentences=(*self.sentences, sentence))
            case Answered(answer=answer):
                return replace(self, answer=answer, hits=answer.hits, last=heard.milliseconds)
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of an answer's text: a sentence with its proof, or what stands between (``support`` is None then).

    ``only`` says that the other side has no such sentence.
    """

    text: str
    support: float | None = None
    supported: bool = True
    only: bool = False


def pieces(answer: Answer, other: Answer | None) -> Iterator[Piece]:
    """The text of an answer, cut at its sentences."""
    theirs = None if other is None else {_bare(one.text) for one in _cut(other) if one.support is not None}
    for one in _cut(answer):
        only = theirs is not None and one.support is not None and _bare(one.text) not in theirs
        yield replace(one, only=only)


def _cut(answer: Answer) -> Iterator[Piece]:
    done = 0
    for statement in sorted(answer.statements, key=lambda one: one.start):
        if statement.start > done:
            yield Piece(text=answer.answer[done : statement.start])
        text = answer.answer[statement.start : statement.end]
        yield Piece(text=text, support=statement.support, supported=statement.supported)
        done = max(done, statement.end)
    if done < len(answer.answer):
        yield Piece(text=answer.answer[done:])


def _bare(text: str) -> str:
    """A sentence without its markers, whose numbers say nothing about it."""
    return " ".join(_MARKERS.sub("", text).split())


def is_alone(citation: Citation, others: Sequence[Citation]) -> bool:
    """Whether no other citation shares a character with this one."""
    return not any(
        one.document_id == citation.document_id and one.start < citation.end and citation.start < one.end
        for one in others
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A chunk of the evidence, and its place on each side, from 1."""

    chunk: Chunk
    places: tuple[int | None, ...]


def placed(sides: Sequence[Sequence[Hit]]) -> list[Placed]:
    """The chunks of all sides, those that stand high anywhere first."""
    ranks = [{hit.chunk.id: place for place, hit in enumerate(hits, start=1)} for hits in sides]
    chunks = {hit.chunk.id: hit.chunk for hits in sides for hit in hits}
    rows = [Placed(chunk=chunk, places=tuple(rank.get(id) for rank in ranks)) for id, chunk in chunks.items()]
    return sorted(rows, key=lambda row: min(place for place in row.places if place is not None))
