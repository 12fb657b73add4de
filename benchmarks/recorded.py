"""What search and the embedder say of questions, so that fitting and measuring read them again without any model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from benchmarks.bases import Parts, filled
from benchmarks.common import Options, progress
from benchmarks.question_sets import Asked, question_set
from ragstone import chunk
from ragstone.core.readings import Reading
from ragstone.core.records import Evidence, TokenMatches
from ragstone.core.request import Request
from ragstone.core.timing import Timings
from ragstone.engine.search import Search
from ragstone.index import build_passage_model
from ragstone.language import facts
from ragstone.question import Context, read
from ragstone.respond import build_answerer
from ragstone.respond.quoting.answerability import is_read
from ragstone.respond.quoting.extractive import ExtractiveAnswerer
from ragstone.respond.requirements.unmet import NOWHERE, lookup
from ragstone.settings import RespondSettings

_WORD = re.compile(r"\w+")
PASSAGES = 8
"""Chunks found for each question, in the order of relevance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A question and the evidence that search found for it.

    ``complete`` is False if the documents that answer were taken away. ``number`` counts the questions of the set.
    """

    source: str
    number: int
    asked: Asked
    evidence: Evidence
    complete: bool = True

    @property
    def answerable(self) -> bool:
        return self.asked.answerable and self.complete


@dataclass(slots=True)
class Recorded:
    """Evidence for the questions of a set, and everything the answerer needs to read it again without any model.

    It stands in for the matcher, the reader, the weigher and the word lists of a knowledge base.
    """

    fingerprint: str
    found: list[Found] = field(default_factory=list[Found])
    matches: dict[tuple[str, str], TokenMatches] = field(default_factory=dict[tuple[str, str], TokenMatches])
    readings: dict[tuple[str, str], Reading] = field(default_factory=dict[tuple[str, str], Reading])
    familiar: dict[str, float] = field(default_factory=dict[str, float])
    weights: dict[str, float] = field(default_factory=dict[str, float])
    words: dict[str, bool] = field(default_factory=dict[str, bool])

    async def match(self, question: str, texts: Sequence[str], request: Request) -> list[TokenMatches]:
        del request
        return [self.matches[question, text] for text in texts]

    def familiarity(self, text: str) -> float:
        return self.familiar[text]

    async def read(self, question: str, passages: Sequence[str], request: Request) -> list[Reading]:
        del request
        return [self.readings[question, passage] for passage in passages]

    def weigh(self, words: Sequence[str], request: Request) -> list[float]:
        del request
        return [self.weights[word] for word in words]

    def known(self, words: Sequence[str], request: Request) -> list[bool]:
        del request
        return [self.words[word] for word in words]

    def answerer(self, settings: RespondSettings, *, reads: bool = True) -> ExtractiveAnswerer:
        """Return an answerer that reads the recorded questions as the knowledge base did, or only compares words."""
        built = build_answerer(
            settings,
            matcher=self,
            sentences=chunk.sentences,
            weigh=self.weigh,
            occurs=self.known,
            embedder=self.fingerprint,
            reader=(lambda: self) if reads else None,
        )
        assert isinstance(built, ExtractiveAnswerer)
        return built

    def cases(self, *, without: bool) -> Iterator[Found]:
        """Yield each question, and if wanted a second time without the documents that answer it."""
        for one in self.found:
            right = one.asked.documents
            rest = replace(
                one.evidence, hits=tuple(hit for hit in one.evidence.hits if hit.chunk.document_id not in right)
            )
            if len(rest.hits) < len(one.evidence.hits) or not without:
                yield one
            if without and rest.hits:
                yield replace(one, evidence=rest, complete=False)


async def recorded(data: Path, keep: Path, name: str, embedder: str) -> Recorded:
    """Return what a set's questions find. A second time is fast, because ``keep`` holds the token vectors."""
    options, questions = Options(keep=keep, data=data), question_set(data, name)
    chosen = (
        f"index.embedder={embedder}",
        f"rank.top_k={PASSAGES}",
        "cache.megabytes=2400",  # passages are compared again and again
    )
    request = Request.by_owner()
    async with filled(options, questions.dataset, chosen) as engine:
        parts = Parts(engine)
        model, words, search, reader = parts.embedder, parts.words, Search(parts.version), build_passage_model()
        record = Recorded(fingerprint=model.fingerprint)
        for number, one in enumerate(questions.asked):
            found = await search.in_conversation(
                read(one.text, Context(before=one.before)), one.before, None, request, Timings()
            )
            found = replace(found, considered=())
            record.found.append(Found(source=questions.name, number=number, asked=one, evidence=found))
            text, texts = found.question.text, [hit.chunk.headed for hit in found.hits]
            for headed, match in zip(texts, await parts.matcher.match(text, texts, request), strict=True):
                small = replace(match, similarity=match.similarity.astype(np.float16))
                record.matches[text, headed] = small
            if is_read(model.fingerprint):
                texts += [hit.chunk.headed for hit in found.tables]
                record.familiar |= {one: reader.familiarity(one) for one in (text, *texts)}
                record.readings |= {
                    (text, headed): one
                    for headed, one in zip(texts, await reader.read(text, texts, request), strict=True)
                }
            named = {word for one in found.question.requirements for word in lookup(one)}
            asked = sorted({word.lower for word in facts.words(text)} | set(_WORD.findall(text)) | named | {NOWHERE})
            record.weights |= zip(asked, words.weigh(asked, request), strict=True)
            record.words |= zip(asked, words.known(asked, "", request), strict=True)
    progress(f"recorded: {len(record.found)} questions of {questions.name} with {embedder}")
    return record
