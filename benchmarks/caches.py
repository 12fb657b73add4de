"""What the caches save, and that they never answer from what is no longer so.

A knowledge base is changed at random, its documents, its settings, what it is built with, older copies of it put
back, and after every change the same few questions are put to engines with caches and without. Both must agree.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import ROOT, Options, Result, Table, main, told
from ragstone.answers import Answer
from ragstone.contracts import Document, Span, TokenVectors
from ragstone.engine import Engine
from ragstone.errors import NotFound
from ragstone.protocols import Role

STEPS, QUICK_STEPS = 10_000, 150
WORDS = [
    f"{start}{end}" for start in ("bee", "owl", "fox", "elm", "oak", "ash") for end in ("hive", "nest", "den", "bark")
]
QUESTIONS = [" ".join(WORDS[i : i + 3]) for i in range(0, len(WORDS), 8)] + [f"what is {word}?" for word in WORDS[::9]]
FILTERS = [None, None, None, "n < 5"]
OF_QUESTIONS = (
    "rank.top_k=3", "rank.top_k=8", "query.method=bm25", "query.method=vector", "query.vector_weight=0.8",
    "rank.reranker=maxsim", "rank.diversify=mmr", "respond.sentences=1", "respond.abstain_below=0.2", "index.k1=0.5",
    "query.fusion=reciprocal_rank", "query.fetch_k=7",
)  # fmt: skip
OF_STORED = (
    "chunk.size=80", "chunk.size=120", "chunk.strategy=sentence", "chunk.strategy=paragraph",
    "index.embedder=benchmarks.caches:Words", "index.embedder=benchmarks.caches:OtherWords",
    "index.analyzer=plain", "index.analyzer=benchmarks.caches:Beginnings",
)  # fmt: skip
MADE_WITH = ("index.embedder=benchmarks.caches:Words", "chunk.size=100", "chunk.overlap=0")
CLOSE = 1e-5
"""Scores may differ so much: sums of floats depend on how many vectors were multiplied at once."""


class Words:
    """An embedder without a model: a text is the mean of the vectors of its words."""

    dimensions, fingerprint = 24, "words-1"

    def familiarity(self, text: str) -> float:
        return 1.0 if text else 0.0

    def tokens(self, text: str) -> list[Span]:
        starts = [i for i, char in enumerate(text) if not char.isspace() and (i == 0 or text[i - 1].isspace())]
        return [Span(start=start, end=start + len(text[start:].split()[0])) for start in starts]

    async def embed(self, texts: Sequence[str], *, role: Role) -> NDArray[np.float32]:
        del role
        sums = [np.sum([_vector(self.fingerprint, word) for word in text.split() or [""]], axis=0) for text in texts]
        return np.array([one / np.linalg.norm(one) for one in sums], dtype=np.float32).reshape(-1, self.dimensions)

    async def embed_tokens(self, texts: Sequence[str], *, role: Role) -> list[TokenVectors]:
        del role
        out = []
        for text in texts:
            spans = tuple(self.tokens(text))
            rows = [_vector(self.fingerprint, span.of(text)) for span in spans]
            out.append(TokenVectors(vectors=np.array(rows, dtype=np.float32).reshape(-1, self.dimensions), spans=spans))
        return out


class OtherWords(Words):
    fingerprint = "words-2"


class Beginnings:
    """An analyzer that looks at the first four letters."""

    fingerprint = "beginnings-1"

    def __call__(self, text: str, language: str = "") -> list[str]:
        del language
        return [word[:4].lower() for word in text.split()]


@cache
def _vector(seed: str, word: str) -> NDArray[np.float64]:
    bits = hashlib.sha256(f"{seed} {word.strip('?.').lower()}".encode()).digest()[:8]
    vector = np.random.default_rng(int.from_bytes(bits)).normal(size=Words.dimensions)
    return vector / np.linalg.norm(vector)


# ---------------------------------------------------------------- changes


@dataclass(slots=True)
class Tally:
    """What a run of changes and questions came to."""

    steps: int = 0
    asked: int = 0
    from_cache: int = 0
    changes: dict[str, int] = field(default_factory=dict)
    stale: list[str] = field(default_factory=list)


class Changes:
    """A knowledge base in a folder, changed at random and asked by two engines with caches and two without."""

    def __init__(self, folder: Path, seed: int = 0) -> None:
        self._rng, self._home, self._copy = random.Random(seed), folder / "kb", folder / "copy"
        self._runner = asyncio.Runner()  # one for all: a loop for each question would be most of the work
        self._files = folder / "files"
        self._files.mkdir(parents=True)
        (self._files / "0.txt").write_text("owlnest")
        self._ids: list[str] = []
        self._count = 0
        self._settings: list[tuple[str, ...]] = [(), ()]
        Engine.open(self._home, MADE_WITH, create=True).close()
        self._pairs: list[tuple[Engine, Engine]] = []
        self._open()

    def run(self, steps: int) -> Tally:
        """So many changes, with questions after each."""
        tally, started = Tally(), time.monotonic()
        kinds = {
            self.add: 30, self.change: 20, self.remove: 10, self.sync: 8, self.add_while_asked: 8, self.nothing: 10,
            self.reopen: 8, self.rebuild: 1.5, self.revert: 0.7, self.copy: 2, self.put_back: 2, self.clear: 0.3,
        }  # fmt: skip
        for step in range(steps):
            (kind,) = self._rng.choices([*kinds], [*kinds.values()])
            kind()
            tally.changes[kind.__name__] = tally.changes.get(kind.__name__, 0) + 1
            self._compare(tally, f"step {step}, after {kind.__name__}")
            tally.steps += 1
            if (step + 1) % 500 == 0:
                told(f"{step + 1} changes, {len(tally.stale)} stale, {time.monotonic() - started:.0f} s")
        self.close()
        self._runner.close()
        return tally

    def close(self) -> None:
        for pair in self._pairs:
            for engine in pair:
                engine.close()
        self._pairs = []

    def add(self) -> None:
        self._count += 1
        self._ids.append(f"d{self._count}")
        self._runner.run(self._any().add([self._document(self._ids[-1])]))

    def change(self) -> None:
        if self._ids:
            self._runner.run(self._any().add([self._document(self._rng.choice(self._ids))]))

    def remove(self) -> None:
        if self._ids:
            id = self._ids.pop(self._rng.randrange(len(self._ids)))
            with suppress(NotFound):  # an older copy may not have had it
                self._any().remove([id])

    def sync(self) -> None:
        for number in self._rng.sample(range(6), 2):
            file = self._files / f"{number}.txt"
            gone = number > 0 and self._rng.random() < 0.3  # of a folder without any file nothing can be told
            file.unlink(missing_ok=True) if gone else file.write_text(self._text())
        self._runner.run(self._any().sync([str(self._files)]))

    def add_while_asked(self) -> None:
        """What is kept of a question must be of one state, though the state changes while it is answered."""
        self._count += 1
        self._ids.append(f"d{self._count}")
        asked = [self._rng.choice(QUESTIONS) for _ in range(4)]

        async def both() -> None:
            writer, (reader, _) = self._any(), self._rng.choice(self._pairs)
            await asyncio.gather(writer.add([self._document(self._ids[-1])]), *map(reader.ask, asked))

        self._runner.run(both())

    def nothing(self) -> None:
        """Asking again, and again."""

    def reopen(self) -> None:
        self._settings = [tuple(self._rng.sample(OF_QUESTIONS, self._rng.randrange(3))) for _ in range(2)]
        self._open()

    def rebuild(self) -> None:
        self._runner.run(self._any().rebuild([self._rng.choice(OF_STORED)]))

    def revert(self) -> None:
        with suppress(NotFound):
            self._runner.run(self._any().revert())

    def copy(self) -> None:
        self.close()
        shutil.rmtree(self._copy, ignore_errors=True)
        shutil.copytree(self._home, self._copy)
        self._open()

    def put_back(self) -> None:
        """An older copy, with the cache as it is now, or as it was then."""
        if not self._copy.exists():
            return
        self.close()
        kept = self._rng.random() < 0.7
        if kept:
            (self._home / "cache.db").replace(self._home.with_name("cache.db"))
        shutil.rmtree(self._home)
        shutil.copytree(self._copy, self._home)
        if kept:
            self._home.with_name("cache.db").replace(self._home / "cache.db")
        self._open()

    def clear(self) -> None:
        self._any().clear_cache()

    def _compare(self, tally: Tally, when: str) -> None:
        for settings, (cached, plain) in zip(self._settings, self._pairs, strict=True):
            question, where = self._rng.choice(QUESTIONS), self._rng.choice(FILTERS)
            answers = [self._runner.run(engine.ask(question, where)) for engine in (cached, plain, cached)]
            tally.asked += 2
            tally.from_cache += sum("search" in answer.usage.cached for answer in answers)
            if not (same(answers[0], answers[1]) and same(answers[2], answers[1])):
                tally.stale.append(f"{when}: '{question}' where {where} with {settings}")

    def _any(self) -> Engine:
        return self._rng.choice(self._rng.choice(self._pairs))

    def _open(self) -> None:
        self.close()
        self._pairs = [
            (Engine.open(self._home, settings), Engine.open(self._home, (*settings, "cache.enabled=false")))
            for settings in self._settings
        ]

    def _document(self, id: str) -> Document:
        n = self._rng.randrange(10)
        return Document(id=id, text=self._text(), title=f"title {n}", metadata={"n": n, "kind": ("even", "odd")[n % 2]})

    def _text(self) -> str:
        self._count += 1
        sentences = (" ".join(self._rng.choices(WORDS, k=6)) for _ in range(self._rng.randrange(1, 6)))
        return " ".join(f"It is {sentence} number{self._count}." for sentence in sentences)


def same(one: Answer, other: Answer) -> bool:
    """Whether two answers say the same, on the same evidence, found in the same way."""
    words = [(a.answer, a.abstained, a.citations, a.notices, a.retrieval_method) for a in (one, other)]
    chunks = [[hit.chunk for hit in a.hits] for a in (one, other)]
    numbers = [
        [a.confidence, *(s for hit in a.hits for s in (hit.score, *(step.score for step in hit.why)))]
        for a in (one, other)
    ]
    close = len(numbers[0]) == len(numbers[1]) and np.allclose(*numbers, atol=CLOSE)
    return words[0] == words[1] and chunks[0] == chunks[1] and bool(close)


# ---------------------------------------------------------------- what they save


async def measure(options: Options) -> Result:
    steps = QUICK_STEPS if options.quick else STEPS
    with TemporaryDirectory(prefix="ragstone-caches-") as place:
        speed = await saved(Path(place) / "speed")
        tally = await asyncio.to_thread(lambda: Changes(Path(place) / "changes").run(steps))
    return summary(speed, tally)


def summary(speed: dict[str, float], tally: Tally) -> Result:
    """Both parts as tables and figures."""
    figures: dict[str, Any] = {
        **speed,
        "steps": tally.steps,
        "asked_of_cached_engines": tally.asked * 2,
        "searches_from_cache": tally.from_cache,
        "stale": len(tally.stale),
        "examples": tally.stale[:5],
    }
    rows = [[f"{name}", f"{value:.1f}", f"{speed['off_ms'] / value:.1f}"] for name, value in speed.items()]
    changed = ", ".join(f"{name} {count:,}" for name, count in sorted(tally.changes.items()))
    found = f"{tally.from_cache:,} searches were found in the cache, {len(tally.stale)} answers were stale"
    target = "NOT met" if tally.stale else "met" if tally.steps >= STEPS else "not run in full"
    notes = [
        f"{tally.steps:,} random changes ({changed}), {tally.asked:,} comparisons of an engine with caches and one"
        f" without: {found}. Target: none in {STEPS:,} changes: {target}."
    ]
    table = Table(title="CPU milliseconds a question", columns=["question", "ms", "times faster"], rows=rows)
    return Result(figures=figures, tables=[table], notes=notes)


async def saved(folder: Path) -> dict[str, float]:
    """CPU milliseconds of a question: without caches, new, with known passages, and known; models loaded before."""
    sources = [str(ROOT / "README.md"), str(ROOT / "ARCHITECTURE.md"), str(ROOT / "examples" / "knowledge-base.csv")]
    questions = ["How are chunks cut?", "What is a citation?", "What do k1 and b control?", "Who holds the lock?"]
    took: dict[str, float] = {}
    making = Engine.open(folder, create=True)
    await making.add(sources)
    making.close()
    for name, settings in {
        "off_ms": ["cache.enabled=false"],
        "new_ms": [],
        "passages_known_ms": ["rank.top_k=4"],
        "known_ms": [],
    }.items():
        engine = Engine.open(folder, settings)
        await engine.ask("Load the models.")
        started = time.process_time()
        for question in questions:
            await engine.ask(question)
        took[name] = round((time.process_time() - started) * 1000 / len(questions), 2)
        engine.close()
    return took


if __name__ == "__main__":
    main({"caches": measure}, "caches")
