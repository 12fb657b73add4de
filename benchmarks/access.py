"""Whether anything of what is for others reaches a reader: 50 groups, and documents, questions and readers at random.

Every document has a word of its own, in its title and its text, so that any trace of it in what a reader is told can
be found. Forty groups may read about a hundredth of the documents each, ten a good part of them. Vectors are kept as
codes, as in a large knowledge base. Searches are also compared with those in a knowledge base that holds nothing but
what the reader may read.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.common import Options, Result, Table, main, told
from benchmarks.sync import WORDS
from ragstone import index
from ragstone.access import EVERYONE, Reader
from ragstone.answers import Answer
from ragstone.contracts import Document, Hit
from ragstone.engine import Engine
from ragstone.errors import NotFound
from ragstone.experiment.memory import Remembering
from ragstone.sections import IndexSettings
from ragstone.serve import as_json

if TYPE_CHECKING:
    from ragstone.contracts import Vector

DOCUMENTS, SEARCHES, ASKED, COMPARED, REVOKED = 10_000, 10_000, 1_000, 20, 50
QUICK = (600, 400, 100, 4, 10)
NARROW = tuple(f"team-{number:02}" for number in range(40))
WIDE = tuple(f"office-{number}" for number in range(10))
QUESTIONS = 400
"""Different questions; more readers than that ask them, so that each is asked by several and caches are used."""
LEAST_RECALL = 0.95
SETTINGS = ("index.exact_limit=200", "index.analyzer=plain", "acquire.metadata.enabled=false")
_OWN = re.compile(r"own[a-z]{9}")


@dataclass(slots=True, kw_only=True)
class Leaks:
    """What was found in what a reader was told, of what is for others."""

    ids: int = 0
    words: int = 0
    counts: int = 0
    answers: int = 0

    @property
    def total(self) -> int:
        return self.ids + self.words + self.counts + self.answers


class World:
    """The documents and who may read them, told by the rule itself and not by the code that is looked at."""

    def __init__(self, count: int, chance: random.Random) -> None:
        self.chance = chance
        words = WORDS.split()
        self.documents: dict[str, Document] = {}
        self.word_of: dict[str, str] = {}
        for number in range(count):
            own = "own" + "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=9))
            text = f"{' '.join(chance.choices(words, k=24))}. The word is {own}."
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
        """One team in half of the cases, any groups in the other."""
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
        """Words of a document, and often its own word, right or mistyped."""
        document = self.chance.choice([*self.documents.values()])
        own = document.title.removeprefix("About ")
        words = self.chance.sample(document.text.split()[:20], 4)
        match self.chance.randrange(3):
            case 0:
                return f"What is the word about {own}?"
            case 1:
                words.append(own[:-1])
            case _:
                pass
        return f"where is {' '.join(words)}?"

    def foreign(self, text: str, question: str, reader: Reader) -> int:
        """Own words of documents in a text that the reader may not read, but for those of the question."""
        found = set(_OWN.findall(text)) - set(_OWN.findall(question))
        return sum(not self.may(self.word_of[word], reader) for word in found if word in self.word_of)


async def measure(options: Options) -> Result:
    documents, searches, asked, compared, revoked = (
        QUICK if options.quick else (DOCUMENTS, SEARCHES, ASKED, COMPARED, REVOKED)
    )
    chance = random.Random(5)
    world, leaks = World(documents, chance), Leaks()
    embedder = Remembering(index.build_embedder(IndexSettings(embedder="minilm")))
    questions = [world.question() for _ in range(QUESTIONS)]
    with TemporaryDirectory(prefix="ragstone-access-") as place:
        opened = Engine.open(
            Path(place) / "kb", (*SETTINGS, "index.embedder=minilm"), create=True, build_embedder=lambda *_: embedder
        )
        with closing(opened) as engine:
            told(f"access: adding {documents:,} documents")
            await engine.add([*world.documents.values()])
            told(f"access: {searches:,} searches")
            plain = await _searches(engine, world, questions, searches, leaks)
            told(f"access: {asked:,} questions")
            known = await _questions(engine, world, questions, asked, leaks)
            told("access: recall where a reader may see a hundredth")
            recall = await _recall(engine, world, questions)
            told("access: compared with knowledge bases of one reader")
            alike = await _alike(engine, world, questions, compared, embedder, Path(place))
            told("access: revoking")
            gone = await _revoked(engine, world, revoked)
    return summary({**plain, **known, **recall, **alike, **gone}, leaks, documents)


async def _searches(
    engine: Engine, world: World, questions: Sequence[str], count: int, leaks: Leaks
) -> dict[str, float]:
    seconds, listed = list[float](), list[float]()
    for _ in range(count):
        reader, question = world.reader(), world.chance.choice(questions)
        started = time.perf_counter()
        hits = await engine.search(question, 10, reader=reader)
        seconds.append(time.perf_counter() - started)
        _look(world, reader, question, hits, leaks)
        if world.chance.random() < 0.05:
            started = time.perf_counter()
            page = engine.listing(reader=reader, limit=5)
            listed.append(time.perf_counter() - started)
            readable = world.readable(reader)
            leaks.counts += page.total != len(readable)
            leaks.ids += sum(not world.may(one.document_id, reader) for one in page.documents)
            leaks.ids += _opened(engine, world, reader)
    took = {"search_p50_ms": seconds, "listing_p50_ms": listed}
    return {"searches": count, **{name: round(float(np.percentile(all, 50)) * 1000, 1) for name, all in took.items()}}


def _look(world: World, reader: Reader, question: str, hits: Sequence[Hit], leaks: Leaks) -> None:
    leaks.ids += sum(not world.may(hit.chunk.document_id, reader) for hit in hits)
    told = json.dumps([as_json.hit(hit, 1, explain=True) for hit in hits])
    leaks.words += world.foreign(told, question, reader)


def _opened(engine: Engine, world: World, reader: Reader) -> int:
    """Documents that could be opened, or whose being there could be told, and should not."""
    id = world.chance.choice([*world.documents])
    try:
        engine.document(id, reader=reader)
    except NotFound as refusal:
        return int(str(refusal) != f"there is no document '{id}'" or world.may(id, reader))
    return int(not world.may(id, reader))


async def _questions(
    engine: Engine, world: World, questions: Sequence[str], count: int, leaks: Leaks
) -> dict[str, float]:
    cached = answered = 0
    readers = [world.reader() for _ in range(25)]
    for _ in range(count):
        reader, question = world.chance.choice(readers), world.chance.choice(questions[:40])
        answer = await engine.ask(question, reader=reader)
        _look(world, reader, question, answer.hits, leaks)
        leaks.answers += world.foreign(_all_of(answer), question, reader)
        cached += bool(answer.usage.cached)
        answered += not answer.abstained
    return {"questions": count, "answered": answered, "partly_from_cache": cached}


def _all_of(answer: Answer) -> str:
    return json.dumps(as_json.answer(answer, explain=True))


async def _recall(engine: Engine, world: World, questions: Sequence[str]) -> dict[str, float]:
    """Of the ten nearest among what a team may read, by their vectors, so many are found."""
    query = engine.settings.query.model_copy(update={"method": "vector"})
    rank = engine.settings.rank.model_copy(update={"reranker": "none", "diversify": "none"})
    vectors_alone = engine.with_settings(engine.settings.model_copy(update={"query": query, "rank": rank}))
    vectors = _vectors(engine)
    found, share = list[float](), list[float]()
    for number, question in enumerate(questions):
        reader = Reader.of(NARROW[number % len(NARROW)])
        readable = world.readable(reader)
        share.append(len(readable) / len(world.documents))
        (asked,) = await engine._embedder.embed([vectors_alone.understand(question).text], role="query")
        near = sorted(readable, key=lambda id: -float(vectors[id] @ asked))[:10]
        hits = await vectors_alone.search(question, 10, reader=reader)
        found.append(len({hit.chunk.document_id for hit in hits} & set(near)) / len(near))
    return {"recall_at_10": round(float(np.mean(found)), 4), "may_see": round(float(np.mean(share)), 4)}


def _vectors(engine: Engine) -> Mapping[str, Vector]:
    """The vector of each document; they are one chunk each."""
    out: dict[str, Vector] = {}
    rows = [row for row, _ in engine._catalog.chunks_since(0)]
    for start in range(0, len(rows), 1000):
        part = rows[start : start + 1000]
        chunks, vectors = engine._catalog.chunks(part), engine._catalog.vectors(part)
        out |= {chunk.document_id: vectors[row] for row, chunk in chunks.items()}
    return out


async def _alike(
    engine: Engine, world: World, questions: Sequence[str], count: int, embedder: Remembering, place: Path
) -> dict[str, float]:
    """How the search of a reader differs from one where nothing else is stored."""
    same, first, apart = list[float](), list[float](), list[float]()
    for number in range(count):
        reader = world.reader()
        settings = (*SETTINGS, "index.embedder=minilm")
        only = Engine.open(place / f"only-{number}", settings, create=True, build_embedder=lambda *_: embedder)
        with closing(only) as alone:
            readable = [world.documents[id] for id in world.readable(reader)]
            await alone.add(readable)
            for question in world.chance.sample(list(questions), 20):
                here = {hit.chunk.document_id: hit.score for hit in await engine.search(question, 10, reader=reader)}
                there = {hit.chunk.document_id: hit.score for hit in await alone.search(question, 10)}
                same.append(len(here.keys() & there.keys()) / max(1, len(there)))
                first.append(float(next(iter(here), "") == next(iter(there), "")))
                apart += [abs(here[id] - there[id]) for id in here.keys() & there.keys()]
    return {
        "same_ids_as_alone": round(float(np.mean(same)), 4),
        "same_first_as_alone": round(float(np.mean(first)), 4),
        "score_apart_p50": round(float(np.percentile(apart, 50)), 4),
        "score_apart_p95": round(float(np.percentile(apart, 95)), 4),
    }


async def _revoked(engine: Engine, world: World, count: int) -> dict[str, float]:
    """A document taken from a team: seen by its next question, or not; and how long that took."""
    seen, missed, seconds = 0, 0, list[float]()
    for number in range(count):
        reader = Reader.of(NARROW[number % len(NARROW)])
        id = world.chance.choice([id for id in world.readable(reader) if len(world.readable(reader)) > 1])
        document = world.documents[id]
        question = f"where is {document.title.removeprefix('About ')}?"
        missed += id not in {hit.chunk.document_id for hit in await engine.search(question, 10, reader=reader)}
        world.documents[id] = replace(document, metadata={"readers": ("board",)})
        started = time.perf_counter()
        report = await engine.add([world.documents[id]])
        hits = await engine.search(question, 10, reader=reader)
        seconds.append(time.perf_counter() - started)
        assert (report.updated, report.embedded) == (1, 0)
        seen += id in {hit.chunk.document_id for hit in hits}
    return {
        "revoked": count,
        "seen_after": seen,
        "missed_before": missed,
        "revoke_seconds_max": round(max(seconds), 3),
    }


def summary(figures: dict[str, float], leaks: Leaks, documents: int) -> Result:
    """A row for each thing that was looked at."""
    said = {
        "ids or documents of others": leaks.ids,
        "words of others in evidence": leaks.words,
        "wrong counts": leaks.counts,
        "words of others in answers": leaks.answers,
        "seen after it was revoked": figures["seen_after"],
    }
    rows = [[name, f"{count:,.0f}"] for name, count in said.items()]
    names = ("recall_at_10", "may_see", "same_ids_as_alone", "same_first_as_alone", "score_apart_p50")
    names += ("score_apart_p95", "search_p50_ms", "listing_p50_ms", "revoke_seconds_max")
    rows += [[name.replace("_", " "), f"{figures[name]:,.4g}"] for name in names]
    asked = f"{figures['searches']:,.0f} searches, {figures['questions']:,.0f} questions"
    title = f"{documents:,} documents, 50 groups; {asked}"
    enough = figures["recall_at_10"] >= LEAST_RECALL
    return Result(
        figures={**figures, "leaks": leaks.total, "documents": documents, "recall_met": enough},
        tables=[Table(title=title, columns=["", ""], rows=rows)],
        notes=[
            f"Recall@10 where a reader may see {figures['may_see']:.1%}: {figures['recall_at_10']:.3f}; target"
            f" {LEAST_RECALL}: {'met' if enough else 'MISSED'}. Leaks: {leaks.total + figures['seen_after']:.0f};"
            f" target 0: {'MISSED' if leaks.total or figures['seen_after'] else 'met'}."
        ],
    )


if __name__ == "__main__":
    main({"access": measure}, "access")
