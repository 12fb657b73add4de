"""Random changes to a knowledge base, each followed by the same questions with caches and without.

Documents, settings and what the knowledge base is built with change, and older copies of it are put back. After every
change both must give the same answer.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragstone.core.access import OWNER
from ragstone.core.answers import Answer
from ragstone.core.errors import NotFound
from ragstone.core.protocols import Role
from ragstone.core.records import Document, Span, TokenVectors
from ragstone.core.request import Request
from ragstone.engine.knowledge_base import KnowledgeBase

STEPS = 10_000 if os.environ.get("RAGSTONE_TEST_FULL") else 80
"""How many changes the test makes; docs/benchmarks.md reports the larger number."""
WORDS = [
    f"{start}{end}" for start in ("bee", "owl", "fox", "elm", "oak", "ash") for end in ("hive", "nest", "den", "bark")
]
QUESTIONS = [" ".join(WORDS[i : i + 3]) for i in range(0, len(WORDS), 8)] + [f"what is {word}?" for word in WORDS[::9]]
FILTERS = [None, None, None, "id < d5"]
OF_QUESTIONS = (
    "rank.top_k=3", "rank.top_k=8", "query.method=bm25", "query.method=vector", "query.vector_weight=0.8",
    "rank.reranker=maxsim", "rank.diversify=mmr", "respond.sentences=1", "respond.abstain_below=0.2", "index.k1=0.5",
    "query.fusion=reciprocal_rank", "query.fetch_k=7",
)  # fmt: skip
OF_STORED = (
    "chunk.size=80", "chunk.size=120", "chunk.strategy=sentence", "chunk.strategy=paragraph",
    "index.embedder=cache_changes:Words", "index.embedder=cache_changes:OtherWords",
    "index.analyzer=plain", "index.analyzer=cache_changes:Beginnings",
)  # fmt: skip
MADE_WITH = ("index.embedder=cache_changes:Words", "chunk.size=100", "chunk.overlap=0")
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

    async def embed(self, texts: Sequence[str], *, role: Role, request: Request) -> NDArray[np.float32]:
        del role, request
        sums = [np.sum([_vector(self.fingerprint, word) for word in text.split() or [""]], axis=0) for text in texts]
        return np.array([one / np.linalg.norm(one) for one in sums], dtype=np.float32).reshape(-1, self.dimensions)

    async def embed_tokens(self, texts: Sequence[str], *, role: Role, request: Request) -> list[TokenVectors]:
        del role, request
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
        KnowledgeBase.open(self._home, MADE_WITH, create=True).close()
        self._pairs: list[tuple[KnowledgeBase, KnowledgeBase]] = []
        self._open()

    def run(self, steps: int) -> Tally:
        """So many changes, with questions after each."""
        tally = Tally()
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
        self._runner.run(self._any().documents.add([self._document(self._ids[-1])]))

    def change(self) -> None:
        if self._ids:
            self._runner.run(self._any().documents.add([self._document(self._rng.choice(self._ids))]))

    def remove(self) -> None:
        if self._ids:
            id = self._ids.pop(self._rng.randrange(len(self._ids)))
            with suppress(NotFound):  # an older copy may not have had it
                self._any().documents.remove([id], reader=OWNER)

    def sync(self) -> None:
        for number in self._rng.sample(range(6), 2):
            file = self._files / f"{number}.txt"
            gone = number > 0 and self._rng.random() < 0.3  # of a folder without any file nothing can be told
            file.unlink(missing_ok=True) if gone else file.write_text(self._text())
        self._runner.run(self._any().documents.sync([str(self._files)]))

    def add_while_asked(self) -> None:
        """What is kept of a question must be of one state, though the state changes while it is answered."""
        self._count += 1
        self._ids.append(f"d{self._count}")
        asked = [self._rng.choice(QUESTIONS) for _ in range(4)]

        async def both() -> None:
            writer, (reader, _) = self._any(), self._rng.choice(self._pairs)
            await asyncio.gather(
                writer.documents.add([self._document(self._ids[-1])]), *(reader.ask(one, reader=OWNER) for one in asked)
            )

        self._runner.run(both())

    def nothing(self) -> None:
        """Asking again, and again."""

    def reopen(self) -> None:
        self._settings = [tuple(self._rng.sample(OF_QUESTIONS, self._rng.randrange(3))) for _ in range(2)]
        self._open()

    def rebuild(self) -> None:
        self._runner.run(self._any().versions.rebuild([self._rng.choice(OF_STORED)]))

    def revert(self) -> None:
        with suppress(NotFound):
            self._runner.run(self._any().versions.revert())

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
        self._any().history.clear_cache()

    def _compare(self, tally: Tally, when: str) -> None:
        for settings, (cached, plain) in zip(self._settings, self._pairs, strict=True):
            question, where = self._rng.choice(QUESTIONS), self._rng.choice(FILTERS)
            answers = [
                self._runner.run(engine.ask(question, where, reader=OWNER)) for engine in (cached, plain, cached)
            ]
            tally.asked += 2
            tally.from_cache += sum("search" in answer.usage.cached for answer in answers)
            if not (same(answers[0], answers[1]) and same(answers[2], answers[1])):
                tally.stale.append(f"{when}: '{question}' where {where} with {settings}")

    def _any(self) -> KnowledgeBase:
        return self._rng.choice(self._rng.choice(self._pairs))

    def _open(self) -> None:
        self.close()
        self._pairs = [
            (
                KnowledgeBase.open(self._home, settings),
                KnowledgeBase.open(self._home, (*settings, "cache.enabled=false")),
            )
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
