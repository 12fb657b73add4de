"""HippoRAG's published method on the chunks of a knowledge base, with the same vectors, for comparison.

Two versions are followed: HippoRAG (arXiv 2405.14831) and HippoRAG 2 (arXiv 2502.14802). Both need a language model to
read the passages and the question. There is none here, so these parts are replaced, and nothing else:

- Open information extraction: the names of a passage are those that Ragstone's own finder sees, with its title, instead
  of a model's. Two names in one sentence are a fact, and the sentence is its text.
- Names of the question: by the same finder, with the question itself if it has none.
- HippoRAG 2 lets a model strike out facts that do not belong to the question. None is struck out here.

Kept as published: synonym edges between names whose vectors have a cosine above 0.8; personalised PageRank with a
damping of 0.5; in HippoRAG, weights of names by the number of passages that have them, and passages scored by their
names; in HippoRAG 2, passages as nodes, the five facts nearest to the question as seeds, and all passages as seeds with
a weight of 0.05.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragstone.core.protocols import Embedder
from ragstone.core.records import Chunk
from ragstone.core.request import Request
from ragstone.query.steps.names import bare, names, sentences

if TYPE_CHECKING:
    from ragstone.core.records import Vector

SYNONYMS, DAMPING = 0.8, 0.5
FACTS, PASSAGE_WEIGHT = 5, 0.05
ROUNDS = 50
"""Rounds of PageRank; with this damping the rest is below 1e-15."""
AT_ONCE = 256
"""Texts embedded in one call."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Graph:
    """Directed edges between nodes, and their weights."""

    count: int
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, count: int, edges: dict[tuple[int, int], float]) -> Graph:
        """Return the graph of undirected edges, whose weights are divided among the edges of each node."""
        both = [(a, b, w) for (a, b), w in edges.items()] + [(b, a, w) for (a, b), w in edges.items()]
        start = np.array([one[0] for one in both], dtype=np.int64)
        weight = np.array([one[2] for one in both], dtype=np.float64)
        total = np.bincount(start, weight, count) if both else np.zeros(count)
        end = np.array([one[1] for one in both], dtype=np.int64)
        return cls(count=count, start=start, end=end, weight=weight / total[start])

    def ranked(self, seeds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the personalised PageRank of each node."""
        reset = seeds / seeds.sum()
        value = reset
        for _ in range(ROUNDS):
            spread = np.bincount(self.end, value[self.start] * self.weight, self.count)
            value = (1 - DAMPING) * reset + DAMPING * (spread + reset * (1 - spread.sum()))
        return value


class HippoRag:
    """Both versions over the same names, facts and vectors."""

    def __init__(self, chunks: Sequence[Chunk], vectors: Vector, embedder: Embedder, request: Request) -> None:
        self._chunks, self._vectors = chunks, vectors
        self._embedder, self._request = embedder, request

    async def read(self) -> None:
        """Find the names and facts of the chunks, embed them, and build both graphs."""
        number: dict[str, int] = {}
        facts: dict[tuple[int, int], str] = {}
        has: list[set[int]] = []
        for chunk in self._chunks:
            own, title = set[int](), bare(chunk.title)
            for sentence in sentences(chunk.text):
                found = [number.setdefault(one, len(number)) for one in (title, *names(sentence)) if one]
                own.update(found)
                for a, b in combinations(dict.fromkeys(found), 2):
                    facts.setdefault((a, b), f"{title}: {sentence}")
            has.append(own)
        self._has, self._facts = has, list(facts)
        self._names = list(number)
        self._name_vectors = await self._embedded(self._names, "passage")
        texts = list(dict.fromkeys(facts.values()))
        known = dict(zip(texts, await self._embedded(texts, "passage"), strict=True))
        self._fact_vectors = np.stack([known[text] for text in facts.values()])
        edges = dict.fromkeys(facts, 1.0) | self._synonyms()
        self._graph = Graph.of(len(number), edges)
        context = {(name, len(number) + place): 1.0 for place, own in enumerate(has) for name in own}
        self._wider = Graph.of(len(number) + len(has), edges | context)
        self._rarity = 1 / np.maximum(1, np.bincount([n for own in has for n in own], minlength=len(number)))

    async def first(self, question: str) -> list[int]:
        """Return the places of the chunks, best first, by HippoRAG."""
        asked = await self._embedded(names(question) or [question], "query")
        seeds = np.zeros(len(self._names))
        nearest: NDArray[np.int64] = (self._name_vectors @ asked.T).argmax(axis=0)
        seeds[nearest] = self._rarity[nearest]
        value = self._graph.ranked(seeds)
        score = np.array([sum(value[name] for name in own) for own in self._has])
        return np.argsort(-score, kind="stable").tolist()

    async def second(self, question: str) -> list[int]:
        """Return the places of the chunks, best first, by HippoRAG 2."""
        (asked,) = await self._embedded([question], "query")
        seeds = np.zeros(self._wider.count)
        near = self._fact_vectors @ asked
        seen = np.zeros(len(self._names))
        best: list[int] = np.argsort(-near, kind="stable")[:FACTS].tolist()
        for place in best:
            for name in self._facts[place]:
                seeds[name] += near[place] * self._rarity[name]
                seen[name] += 1
        seeds[: len(seen)] /= np.maximum(1, seen)
        passages = self._vectors @ asked
        low, high = passages.min(), passages.max()
        seeds[len(seen) :] = PASSAGE_WEIGHT * (passages - low) / (high - low if high > low else 1)
        return np.argsort(-self._wider.ranked(seeds)[len(seen) :], kind="stable").tolist()

    def _synonyms(self) -> dict[tuple[int, int], float]:
        """Return the pairs of names that mean nearly the same, with their cosines."""
        found: dict[tuple[int, int], float] = {}
        for start in range(0, len(self._names), AT_ONCE):
            near = self._name_vectors[start : start + AT_ONCE] @ self._name_vectors.T
            for a, b in zip(*np.nonzero(near > SYNONYMS), strict=True):
                if start + a < b:
                    found[int(start + a), int(b)] = float(near[a, b])
        return found

    async def _embedded(self, texts: Sequence[str], role: str) -> Vector:
        parts = [
            await self._embedder.embed(
                texts[at : at + AT_ONCE], role="query" if role == "query" else "passage", request=self._request
            )
            for at in range(0, len(texts), AT_ONCE)
        ]
        return np.concatenate(parts)
