"""Whether anything reaches a reader that is for others: random documents of 50 groups, questions and readers.

Every document has a word of its own in its title and text, so that any trace of it can be found. Forty groups may read
about a hundredth of the documents each, ten a good part of them. Vectors are compared by codes, as in a large knowledge
base. Searches are also compared with those of a knowledge base that holds only what the reader may read.
"""

from __future__ import annotations

import json
import random
import re
import secrets
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.access_originals import wrongly_shown
from benchmarks.bases import Parts, opened, understood
from benchmarks.common import Options, Result, Table, main, percentile, progress, verdict
from benchmarks.ingest import WORDS
from ragstone import index
from ragstone.core.access import EVERYONE, OWNER, Reader
from ragstone.core.errors import NotFound
from ragstone.core.records import Document, Hit
from ragstone.core.request import Request
from ragstone.engine.experiments.memory import MemoizedEmbedder
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.serve import as_json
from ragstone.settings import IndexSettings

if TYPE_CHECKING:
    from ragstone.core.records import Vector

DOCUMENTS, SEARCHES, ASKED, COMPARED = 10_000, 10_000, 1_000, 20
QUICK = (600, 400, 100, 4)
NARROW = tuple(f"team-{number:02}" for number in range(40))
WIDE = tuple(f"office-{number}" for number in range(10))
QUESTIONS = 400
"""Fewer questions than searches, so that several readers ask each and caches are used."""
LEAST_RECALL = 0.95
SETTINGS = (
    "index.embedder=minilm",
    "index.exact_limit=200",
    "index.analyzer=plain",
    "acquire.metadata.enabled=false",
)
_OWN = re.compile(r"own[a-z]{9}")


@dataclass(slots=True, kw_only=True)
class Leaks:
    """Traces, in what readers got, of documents that are for others."""

    ids: int = 0
    words: int = 0
    counts: int = 0
    answers: int = 0
    files: int = 0

    @property
    def total(self) -> int:
        return self.ids + self.words + self.counts + self.answers + self.files


class World:
    """The documents, and who may read them by the rule itself instead of the code under test."""

    def __init__(self, count: int, chance: random.Random) -> None:
        self.chance = chance
        self.documents: dict[str, Document] = {}
        self.word_of: dict[str, str] = {}
        for number in range(count):
            own = "own" + "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=9))
            text = f"{' '.join(chance.choices(WORDS, k=24))}. The word is {own}."
            id = f"place/{own}.md"
            facts = {"readers": self._groups(number, count)}
            self.documents[id] = Document(id=id, title=f"About {own}", text=text, metadata=facts)
            self.word_of[own] = id

    def _groups(self, number: int, count: int) -> tuple[str, ...]:
        if number % 500 == 0:
            return (EVERYONE,)
        if number % 499 == 0:
            return ()
        if number < count * 0.4:
            return (NARROW[number % len(NARROW)],)
        return tuple(sorted(self.chance.sample(WIDE, self.chance.randint(1, 3))))

    def reader(self) -> Reader:
        """Return a reader with one team, or in half of the cases with any groups."""
        names = [self.chance.choice(NARROW)]
        if self.chance.random() < 0.5:
            names = self.chance.sample(NARROW + WIDE, self.chance.randint(0, 5))
        return Reader(name=f"reader {self.chance.randrange(500)}", groups=frozenset(names))

    def may(self, id: str, reader: Reader) -> bool:
        named = self.documents[id].metadata["readers"]
        return isinstance(named, tuple) and not {EVERYONE, *(reader.groups or ())}.isdisjoint(named)

    def readable(self, reader: Reader) -> list[str]:
        return [id for id in self.documents if self.may(id, reader)]

    def question(self) -> str:
        """Return a question with words of a document, often with its own word, spelled right or wrong."""
        document = self.chance.choice([*self.documents.values()])
        own = document.title.removeprefix("About ")
        words = self.chance.sample(document.text.split()[:20], 4)
        kind = self.chance.randrange(3)
        if kind == 0:
            return f"What is the word about {own}?"
        return f"where is {' '.join([*words, own[:-1]] if kind == 1 else words)}?"

    def foreign(self, text: str, question: str, reader: Reader) -> int:
        """Count the own words in a text, other than the question's, of documents that the reader may not read."""
        found = set(_OWN.findall(text)) - set(_OWN.findall(question))
        return sum(not self.may(self.word_of[word], reader) for word in found if word in self.word_of)


async def measure(options: Options) -> Result:
    documents, searches, asked, compared = QUICK if options.quick else (DOCUMENTS, SEARCHES, ASKED, COMPARED)
    world, leaks = World(documents, random.Random(5)), Leaks()
    embedder = MemoizedEmbedder(index.build_embedder(IndexSettings(embedder="minilm")))
    questions = [world.question() for _ in range(QUESTIONS)]
    place = options.keep / f"access-{secrets.token_hex(4)}"
    with opened(place / "kb", SETTINGS, embedder=embedder) as engine:
        progress(f"access: adding {documents:,} documents")
        await engine.documents.add([*world.documents.values()])
        progress(f"access: {searches:,} searches")
        figures = await _search(engine, world, questions, searches, leaks)
        progress(f"access: {asked:,} questions")
        figures |= await _ask(engine, world, questions, asked, leaks)
        progress(f"access: {searches:,} requests for files")
        leaks.files = await wrongly_shown(engine, NARROW + WIDE, world.reader, world.chance, searches)
        progress("access: recall for readers of a hundredth")
        figures |= await _recall(engine, world, questions)
        progress("access: knowledge bases of one reader")
        figures |= await _compare(engine, world, questions, compared, embedder, place)
    shutil.rmtree(place)
    return summary(figures, leaks, documents)


async def _search(
    engine: KnowledgeBase, world: World, questions: Sequence[str], count: int, leaks: Leaks
) -> dict[str, float]:
    seconds: list[float] = []
    for _ in range(count):
        reader, question = world.reader(), world.chance.choice(questions)
        started = time.perf_counter()
        hits = await engine.search(question, 10, reader=reader)
        seconds.append(time.perf_counter() - started)
        _inspect(world, reader, question, hits, leaks)
        if world.chance.random() < 0.05:
            page = engine.documents.list(reader=reader, limit=5)
            leaks.counts += page.total != len(world.readable(reader))
            leaks.ids += sum(not world.may(one.document_id, reader) for one in page.documents)
            leaks.ids += _wrongly_opened(engine, world, reader)
    return {"searches": count, "search_p50_ms": round(1000 * percentile(seconds, 50), 1)}


def _inspect(world: World, reader: Reader, question: str, hits: Sequence[Hit], leaks: Leaks) -> None:
    leaks.ids += sum(not world.may(hit.chunk.document_id, reader) for hit in hits)
    shown = json.dumps([as_json.hit(hit, 1, explain=True) for hit in hits])
    leaks.words += world.foreign(shown, question, reader)


def _wrongly_opened(engine: KnowledgeBase, world: World, reader: Reader) -> int:
    """Return 1 if a random document opens, or its refusal shows that it exists, against the rule."""
    id = world.chance.choice([*world.documents])
    try:
        engine.documents.get(id, reader=reader)
    except NotFound as refusal:
        return int(str(refusal) != f"there is no document '{id}'" or world.may(id, reader))
    return int(not world.may(id, reader))


async def _ask(
    engine: KnowledgeBase, world: World, questions: Sequence[str], count: int, leaks: Leaks
) -> dict[str, float]:
    cached = answered = 0
    readers = [world.reader() for _ in range(25)]
    for _ in range(count):
        reader, question = world.chance.choice(readers), world.chance.choice(questions[:40])
        answer = await engine.ask(question, reader=reader)
        _inspect(world, reader, question, answer.hits, leaks)
        leaks.answers += world.foreign(json.dumps(as_json.answer(answer, explain=True)), question, reader)
        cached += bool(answer.usage.cached)
        answered += not answer.abstained
    return {"questions": count, "answered": answered, "partly_from_cache": cached}


async def _recall(engine: KnowledgeBase, world: World, questions: Sequence[str]) -> dict[str, float]:
    """Return the share that vector search finds of the ten nearest documents of a team."""
    query = engine.settings.query.model_copy(update={"method": "vector"})
    rank = engine.settings.rank.model_copy(update={"reranker": "none", "diversify": "none"})
    vectors_alone = engine.under(lambda _: engine.settings.model_copy(update={"query": query, "rank": rank}))
    vectors, parts = _vectors(engine), Parts(engine)
    found: list[float] = []
    share: list[float] = []
    for number, question in enumerate(questions):
        reader = Reader.of(NARROW[number % len(NARROW)])
        readable = world.readable(reader)
        share.append(len(readable) / len(world.documents))
        (asked,) = await parts.embedder.embed(
            [understood(vectors_alone, question)], role="query", request=Request.by_owner()
        )
        distance = {id: -float(vectors[id] @ asked) for id in readable}
        near = sorted(readable, key=distance.__getitem__)[:10]
        hits = await vectors_alone.search(question, 10, reader=reader)
        found.append(len({hit.chunk.document_id for hit in hits} & set(near)) / len(near))
    return {"recall_at_10": round(float(np.mean(found)), 4), "may_read": round(float(np.mean(share)), 4)}


def _vectors(engine: KnowledgeBase) -> Mapping[str, Vector]:
    """Return the vector of each document; all have one chunk."""
    catalog = Parts(engine).catalog
    out: dict[str, Vector] = {}
    rows = [row for row, _ in catalog.chunks_since(0)]
    for start in range(0, len(rows), 1000):
        part = rows[start : start + 1000]
        chunks, vectors = catalog.chunks(part), catalog.vectors(part)
        out |= {chunk.document_id: vectors[row] for row, chunk in chunks.items()}
    return out


async def _compare(
    engine: KnowledgeBase, world: World, questions: Sequence[str], count: int, embedder: MemoizedEmbedder, place: Path
) -> dict[str, float]:
    """Return how a reader's searches differ from those of a knowledge base with nothing else in it."""
    same: list[float] = []
    first: list[float] = []
    apart: list[float] = []
    for number in range(count):
        reader = world.reader()
        with opened(place / f"only-{number}", SETTINGS, embedder=embedder) as alone:
            await alone.documents.add([world.documents[id] for id in world.readable(reader)])
            for question in world.chance.sample(list(questions), 20):
                here = {hit.chunk.document_id: hit.score for hit in await engine.search(question, 10, reader=reader)}
                there = {hit.chunk.document_id: hit.score for hit in await alone.search(question, 10, reader=OWNER)}
                same.append(len(here.keys() & there.keys()) / max(1, len(there)))
                first.append(float(next(iter(here), "") == next(iter(there), "")))
                apart += [abs(here[id] - there[id]) for id in here.keys() & there.keys()]
    return {
        "same_ids_as_alone": round(float(np.mean(same)), 4),
        "same_first_as_alone": round(float(np.mean(first)), 4),
        "score_difference_p50": round(percentile(apart, 50), 4),
        "score_difference_p95": round(percentile(apart, 95), 4),
    }


def summary(figures: Mapping[str, float], leaks: Leaks, documents: int) -> Result:
    """Return a row for each figure, and whether the targets are met."""
    rows = [
        ["ids or documents of others", str(leaks.ids)],
        ["words of others in evidence", str(leaks.words)],
        ["wrong counts", str(leaks.counts)],
        ["words of others in answers", str(leaks.answers)],
        ["files, pages or places of others", str(leaks.files)],
    ]
    names = ("recall_at_10", "may_read", "same_ids_as_alone", "same_first_as_alone")
    names += ("score_difference_p50", "score_difference_p95", "search_p50_ms")
    rows += [[name.replace("_", " "), f"{figures[name]:,.4g}"] for name in names]
    asked = f"{figures['searches']:,.0f} searches, {figures['questions']:,.0f} questions"
    title = f"{documents:,} documents, 50 groups; {asked}"
    recall = figures["recall_at_10"]
    return Result(
        figures={**figures, "leaks": leaks.total, "documents": documents, "recall_met": recall >= LEAST_RECALL},
        tables=[Table(title=title, columns=["figure", "value"], rows=rows)],
        notes=[
            f"Recall@10 for readers of {figures['may_read']:.1%}: {recall:.3f}; target {LEAST_RECALL}:"
            f" {verdict(recall >= LEAST_RECALL)}. Leaks: {leaks.total}; target 0: {verdict(not leaks.total)}."
        ],
    )


if __name__ == "__main__":
    main({"access": measure}, "access")
