"""How evidence is found: the legs of the search, their fusion, and which chunks deserve a place."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ragstone import index, query, rank
from ragstone.acquire.language import detect
from ragstone.built import refuse_embedder
from ragstone.conditions import Filter
from ragstone.contracts import Evidence, Hit, Matches, Question
from ragstone.errors import Damaged
from ragstone.monitor import Timings
from ragstone.protocols import WeighedEmbedder
from ragstone.rebuild import Rebuilder
from ragstone.sections import BoostSettings

FAMILIAR = 0.4
"""From this share of known words on, the embedder is trusted fully; below, in proportion."""
EVEN = 0.5
"""Weight of the vectors of an embedder of which nothing was measured; keyword search has as much."""


class Searcher(Rebuilder):
    """The part of an engine that turns a question into evidence."""

    async def _found(self, question: str, where: Filter | None, top_k: int, timings: Timings) -> Evidence:
        settings = self.settings
        with timings.stage("open"):
            behind = await self._followed_catalog()
        with timings.stage("search"):
            asked = await asyncio.to_thread(self.understand, question)
            fetch_k = max(settings.query.fetch_k, top_k)
            found, missing = await self._legs(asked, fetch_k, where)
            fused = query.fuse(found, self._weights(asked, found), settings.query, fetch_k)
        with timings.stage("rank"):
            with self._catalog.snapshot():  # all chunks of a document are of the same version
                hits = self._read(fused, max(settings.rank.pool, top_k))
            hits = await self._ranked(asked, hits, top_k)
        method = " + ".join(
            part for part in (settings.query.method, settings.rank.reranker, settings.rank.diversify) if part != "none"
        )
        bare = tuple(replace(hit, vector=None) for hit in hits)
        missing = (*behind, *missing)
        return Evidence(question=asked.text, hits=bare, method=method, missing=missing, notices=asked.notices)

    def understand(self, question: str) -> Question:
        """The question with its language, its words as they were likely meant, and what it is after."""
        try:
            return query.understand(question, self.settings.query, detect, self._terms.languages(), self._terms)
        except Damaged:  # keyword search says so itself
            return Question(asked=question, text=question)

    def _standalone(self, question: str, before: Sequence[str]) -> str:
        if not before:
            return question
        try:
            language = detect(question, self._terms.languages())
        except Damaged:
            language = ""
        return query.standalone(question, before, language)

    async def _legs(
        self, asked: Question, fetch_k: int, where: Filter | None
    ) -> tuple[dict[str, Matches], tuple[str, ...]]:
        """What each leg found, above the thresholds; above lower ones where there would be nothing."""
        settings = self.settings.query
        room = query.allocate(asked.analysis, fetch_k, settings.allocation)
        legs = {
            "vector": lambda: self._vector_leg(asked.text, room["vector"], where),
            "bm25": lambda: self._terms.search(self._terms_of(asked), room["bm25"], where),
        }
        wanted = [name for name in legs if settings.method in (name, "hybrid")]
        everything, missing = await query.gather({name: legs[name]() for name in wanted})
        found = query.above(everything, settings.threshold, settings.keyword_threshold)
        lowered = settings.lowered_threshold
        if lowered < settings.threshold and not any(map(len, found.values())):
            share = settings.keyword_threshold * lowered / settings.threshold if settings.threshold > 0 else 0.0
            found = query.above(everything, lowered, max(0.0, share))
        return found, missing

    def _terms_of(self, asked: Question) -> list[str]:
        """Of the question as it was meant, and those of it as it was asked that differ."""
        terms = self._analyzer(asked.text, asked.language)
        if asked.text == asked.asked:
            return terms
        return [*terms, *(term for term in self._analyzer(asked.asked, asked.language) if term not in terms)]

    async def _vector_leg(self, question: str, fetch_k: int, where: Filter | None) -> Matches:
        if not self._settle():
            return index.NO_MATCHES  # nothing has been added yet
        refuse_embedder(self._embedder, self._built, self._home.folder)
        (vector,) = await self._question_embedder.embed([question], role="query")
        return await self._vectors.search(vector, fetch_k, where)

    def _weights(self, asked: Question, legs: Mapping[str, Matches]) -> dict[str, float]:
        """What each leg counts. An embedder that does not know the question's words is trusted less."""
        if len(legs) == 1:
            return dict.fromkeys(legs, 1.0)
        vector = self.settings.query.vector_weight
        if vector == "auto":
            embedder = self._embedder
            told = isinstance(embedder, WeighedEmbedder)
            vector = embedder.vector_weight(self._coverage(asked, legs["bm25"])) if told else EVEN
        if self.settings.query.adapt:
            vector *= min(1.0, self._embedder.familiarity(asked.text) / FAMILIAR)
        return {"vector": vector, "bm25": 1 - vector}

    def _coverage(self, asked: Question, matches: Matches) -> float:
        """The best score of a chunk, of what one would have that held the question's terms over and over: 0 to 1."""
        most = self._terms.ceiling(self._terms_of(asked))
        return float(matches.scores[0]) / most if len(matches) and most > 0 else 0.0

    def _read(self, fused: query.Fused, count: int) -> list[Hit]:
        """The best ``count`` candidates with their texts; of chunks with the same text, the best one.

        Where there is to be one chunk of each document, they are the best of ``count`` documents.
        """
        by_document = self.settings.rank.diversify == "one_per_document"
        hits: dict[str, Hit] = {}
        for start in range(0, len(fused), count):
            part = fused.candidates(start, start + count)
            rows = [candidate.row for candidate in part]
            chunks = self._catalog.chunks(rows)
            vectors = self._catalog.vectors(rows) if self.settings.rank.diversify == "mmr" else {}
            for candidate in part:
                if one := chunks.get(candidate.row):
                    hit = Hit(chunk=one, score=candidate.score, why=candidate.why, vector=vectors.get(candidate.row))
                    hits.setdefault(one.document_id if by_document else one.headed, hit)
            if len(hits) >= count:
                break
        return list(hits.values())[:count]

    async def _ranked(self, asked: Question, hits: Sequence[Hit], top_k: int) -> list[Hit]:
        """Which of the hits deserve a place, best first."""
        settings = self.settings.rank
        if settings.boosts != BoostSettings():
            hits = rank.boost(hits, asked.analysis, settings.boosts)
        if self._reranker:  # of more hits than the pool, the rest stays as it is, below
            pool = settings.pool
            hits = [*await self._reranker.rerank(asked.text, hits[:pool]), *hits[pool:]]
        match settings.diversify:
            case "none":
                chosen = list(hits)
            case "round_robin":
                chosen = rank.round_robin(hits, len(hits))
            case "one_per_document":
                chosen = rank.one_per_document(hits)
            case "mmr":
                chosen = rank.mmr(hits, top_k, settings.mmr_lambda)
        if settings.max_tokens:
            chosen = rank.within_budget(chosen, top_k, settings.max_tokens, self._length)
        return rank.join_neighbours(chosen[:top_k]) if settings.join else chosen[:top_k]

    def _length(self, text: str) -> int:
        return len(self._embedder.tokens(text))
