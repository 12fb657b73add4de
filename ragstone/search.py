"""How evidence is found: the legs of the search, their fusion, and which chunks deserve a place."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from ragstone import index, query, rank, respond
from ragstone.acquire.facts.language import detect
from ragstone.answers import Turn
from ragstone.conditions import Filter
from ragstone.contracts import Considered, Evidence, Hit, Matches, Question, Trace
from ragstone.errors import Behind, Damaged, Locked, ModelError, OutOfTime, RetrievalError
from ragstone.keeping.built import refuse_embedder
from ragstone.keeping.rebuild import Rebuilder
from ragstone.monitor import Budget, Timings
from ragstone.protocols import WeighedEmbedder
from ragstone.sections import BoostSettings

FAMILIAR = 0.4
"""From this share of known words on, the embedder is trusted fully; below, in proportion."""
VARIED = 0.5
"""What all variations of a question count together, beside the question."""
CAUGHT_UP = 100_000
"""Chunks that a question may bring into an engine that lacks them."""
LAST_RESORT = 1_000_000
"""Up to so many chunks, all vectors are compared where their engine is away and nothing else was found."""
HERE = {"bm25": "the words", "vector": "the vectors"}
EVEN = 0.5
"""Weight of the vectors of an embedder of which nothing was measured; keyword search has as much."""


class Searcher(Rebuilder):
    """The part of an engine that turns a question into evidence."""

    _has_understood = False

    async def _found(self, question: str, where: Filter | None, top_k: int, timings: Timings) -> Evidence:
        return (await self._traced(question, where, top_k, timings)).evidence

    async def _traced(
        self, question: str, where: Filter | None, top_k: int, timings: Timings, *, shown: int = 0
    ) -> Trace:
        """The evidence, and how it came about; ``shown`` candidates are read where fewer have a chance of a place."""
        settings = self.settings
        budget = Budget(settings.rank.budget_ms, self._clock)
        with timings.stage("open"):
            behind = await self._followed_catalog()
        with timings.stage("search"):
            depends = settings.query.allocation != "equal" or settings.rank.boosts != BoostSettings()
            asked = await self._understood(question, analysed=depends or settings.query.variations > 0)
            fetch_k = max(settings.query.fetch_k, top_k)
            room = query.allocate(asked.analysis, fetch_k, settings.query.allocation)
            for number in range(1, len(asked.variations) + 1):
                room |= query.beside(number, {name: room[name] for name in ("vector", "bm25")})
            found, missing = await self._legs(asked, room, where)
            weights = self._weights(asked, found)
            fused = query.fuse(found, weights, settings.query, room)
        with timings.stage("rank"):
            candidates = max(settings.rank.pool, top_k)
            with self._catalog.snapshot():  # all chunks of a document are of the same version
                read = self._read(fused, max(candidates, shown))
            ranked, skipped = await self._reranked(asked, read[:candidates], budget)
            hits = self._chosen(ranked, top_k)
        reranker = "none" if skipped else settings.rank.reranker
        method = " + ".join(
            part for part in (settings.query.method, reranker, settings.rank.diversify) if part != "none"
        )
        missing = (*behind, *missing, *skipped)
        evidence = Evidence(
            question=asked.text,
            hits=_bare(hits),
            method=method,
            # Questions are read as one of the documents' languages, and answered in their own.
            language=respond.language_of(asked.asked) or asked.language,
            asked="" if asked.asked == asked.text else asked.asked,
            missing=missing,
            notices=asked.notices,
            considered=tuple(_considered(hit) for hit in read[:candidates]),
        )
        counts = {name: len(matches) for name, matches in found.items()}
        return Trace(
            question=asked,
            found=counts,
            weights=weights,
            fused=_bare(read),
            ranked=_bare(ranked),
            evidence=evidence,
        )

    def understand(self, question: str, *, analysed: bool = True) -> Question:
        """The question with its language, its words as they were likely meant, and, where wanted, what it is after."""
        try:
            language = self._language(question)
            return query.understand(question, self.settings.query, language, self._words, analysed=analysed)
        except Damaged:  # keyword search says so itself
            return Question(asked=question, text=question)

    def read_words(self) -> None:
        """Read the word lists of the documents' languages, so that no question waits for it.

        Raises:
            Damaged: the index of keyword search.
        """
        for language in self._words.languages():
            query.understand("?", self.settings.query, language, self._words)

    async def _understood(self, question: str, *, analysed: bool) -> Question:
        """`understand`: in a thread the first time, when word lists are read; afterwards that would take longer."""
        if not self._has_understood:
            self._has_understood = True
            return await asyncio.to_thread(self.understand, question, analysed=analysed)
        return self.understand(question, analysed=analysed)

    async def _standalone(self, question: str, before: Sequence[Turn]) -> tuple[str, str]:
        """The question as it is searched for, and what to tell where the model that was to rewrite it failed."""
        if not before:
            return question, ""
        try:
            language = self._language(question)
        except Damaged:
            language = ""
        return await query.rewritten(question, before, language, self._model)

    def _language(self, question: str) -> str:
        """Told by the documents where they can; the model of all languages takes a second and 110 MB to load."""
        told = self._words.language(question)
        return detect(question, self._words.languages()) if told is None else told

    async def _legs(
        self, asked: Question, room: Mapping[str, int], where: Filter | None
    ) -> tuple[dict[str, Matches], tuple[str, ...]]:
        """What each leg found, above the thresholds; above lower ones where there would be nothing."""
        settings = self.settings.query
        self._load_legs()
        legs = self._searches(asked, room, where)
        for number, text in enumerate(asked.variations, start=1):
            varied = replace(asked, asked=text, text=text)
            legs |= query.beside(number, self._searches(varied, room, where))
        wanted = [name for name in legs if settings.method in (query.leg_of(name), "hybrid")]
        everything, missing = await self._gathered(asked, {name: legs[name]() for name in wanted}, room, where)
        found = query.above(everything, settings.threshold, settings.keyword_threshold)
        lowered = settings.lowered_threshold
        if lowered < settings.threshold and not any(map(len, found.values())):
            share = settings.keyword_threshold * lowered / settings.threshold if settings.threshold > 0 else 0.0
            found = query.above(everything, lowered, max(0.0, share))
        return found, missing

    def _load_legs(self) -> None:
        """Import and make what the legs need before their time begins, which is that of their engines alone."""
        own = self.settings.query
        if own.method != "vector" or own.prefilter:
            with suppress(Exception):  # the leg itself tells
                _ = self._keywords
        if own.method != "bm25":
            with suppress(Exception):
                _ = self._settle() and (self._question_embedder, self._vectors)

    async def _gathered(
        self,
        asked: Question,
        legs: Mapping[str, Awaitable[Matches]],
        room: Mapping[str, int],
        where: Filter | None,
    ) -> tuple[dict[str, Matches], tuple[str, ...]]:
        """What the legs found; where some failed and the others have nothing, what is found beside the catalog.

        Every text and vector is here, whatever engine searches them otherwise, so a question need not wait for it.
        """
        try:
            found, missing = await query.gather(legs)
        except RetrievalError as error:
            found, missing, refusal = {}, (str(error),), error
        else:
            refusal = None
        if missing and not any(map(len, found.values())) and (own := self._searches_here(asked, room, where)):
            found, also = await query.gather(own)
            by = " and ".join(HERE[name] for name in found)
            return found, (*missing, *also, f"searched here instead, by {by} beside the catalog")
        if refusal:
            raise refusal
        return found, missing

    def _searches_here(
        self, asked: Question, room: Mapping[str, int], where: Filter | None
    ) -> dict[str, Awaitable[Matches]]:
        """Legs that need no engine outside, where those that were asked do."""
        own, legs = self.settings, dict[str, Awaitable[Matches]]()
        if self._keywords is not self._terms or own.query.method == "vector":
            legs["bm25"] = self._terms.search(self._terms_of(asked), room["bm25"], where)
        outside = own.index.vectors != "embedded" and own.query.method != "bm25"
        if outside and self._catalog.counts().chunks <= LAST_RESORT:
            legs["vector"] = self._nearest_here(asked, room["vector"], where)
        return legs

    async def _nearest_here(self, asked: Question, fetch_k: int, where: Filter | None) -> Matches:
        (vector,) = await self._question_embedder.embed([asked.text], role="query")
        return await asyncio.to_thread(index.nearest_stored, self._catalog, vector, fetch_k, where)

    async def _in_time(self, search: Callable[[], Awaitable[Matches]]) -> Matches:
        """What an index finds, if it does so soon enough; whoever is stopped before this begins has begun no search."""
        seconds = self.settings.query.leg_seconds
        if not seconds:
            return await search()
        try:
            async with asyncio.timeout(seconds):  # `wait_for` may swallow a cancellation before Python 3.12
                return await search()
        except TimeoutError:
            raise OutOfTime(f"it took longer than {seconds:g} s (query.leg_seconds)") from None

    def _searches(
        self, asked: Question, room: Mapping[str, int], where: Filter | None
    ) -> dict[str, Callable[[], Awaitable[Matches]]]:
        return {  # the one that runs in a thread in any case begins
            "bm25": lambda: self._keyword_leg(asked, room["bm25"], where),
            "vector": lambda: self._vector_leg(asked, room["vector"], where),
        }

    def _terms_of(self, asked: Question) -> list[str]:
        """Of the question as it was meant, and those of it as it was asked that differ."""
        terms = self._analyzer(asked.text, asked.language)
        if asked.text == asked.asked:
            return terms
        return [*terms, *(term for term in self._analyzer(asked.asked, asked.language) if term not in terms)]

    def _keyword_leg(self, asked: Question, fetch_k: int, where: Filter | None) -> Awaitable[Matches]:
        terms = self._terms_of(asked)
        return self._brought_up(self._keywords, lambda: self._keywords.search(terms, fetch_k, where))

    async def _vector_leg(self, asked: Question, fetch_k: int, where: Filter | None) -> Matches:
        if not self._settle():
            return index.NO_MATCHES  # nothing has been added yet
        refuse_embedder(self._embedder, self._built, self._home.folder)
        (vector,) = await self._question_embedder.embed([asked.text], role="query")
        if among := self.settings.query.prefilter:
            candidates = await self._keywords.search(self._terms_of(asked), among, where)
            return await asyncio.to_thread(
                index.nearest_among, self._catalog, candidates.rows.tolist(), vector, fetch_k
            )
        return await self._brought_up(self._vectors, lambda: self._vectors.search(vector, fetch_k, where))

    async def _brought_up(self, leg: index.Following, search: Callable[[], Awaitable[Matches]]) -> Matches:
        """What a leg finds; one whose engine lacks too much, as where it was just named, is brought up for that."""
        try:
            return await self._in_time(search)
        except Behind as error:
            if error.changes > CAUGHT_UP or not await asyncio.to_thread(self._bring_up, leg):
                raise
            return await self._in_time(search)

    def _bring_up(self, leg: index.Following) -> bool:
        """Bring an engine up, where nobody is at it; one after the other."""
        with self._bringing_up:
            try:
                with index.indexing(self._home.folder, index.ONCE, asking=True):
                    leg.follow(write=True)
            except Locked:
                return False
        return True

    def _weights(self, asked: Question, legs: Mapping[str, Matches]) -> dict[str, float]:
        """What each leg counts: those that look for variations together a share of those for the question."""
        weights = self._own_weights(asked, {name: legs[name] for name in legs if name == query.leg_of(name)})
        varied = VARIED / max(1, len(asked.variations))
        return {name: weights.get(name, weights.get(query.leg_of(name), 1.0) * varied) for name in legs}

    def _own_weights(self, asked: Question, legs: Mapping[str, Matches]) -> dict[str, float]:
        """What each leg counts. An embedder that does not know the question's words is trusted less."""
        if len(legs) < 2:
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
        most = self._keywords.ceiling(self._terms_of(asked))
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

    async def _reranked(
        self, asked: Question, hits: Sequence[Hit], budget: Budget
    ) -> tuple[Sequence[Hit], tuple[str, ...]]:
        """The hits in the order that boosts and a reranker give them; in words, what there was no time for."""
        settings = self.settings.rank
        if settings.boosts != BoostSettings():
            hits = rank.boost(hits, asked.analysis, settings.boosts)
        if self._reranker:  # of more hits than the pool, the rest stays as it is, below
            pool = settings.pool
            try:
                hits = rank.unit_scaled(
                    await self._reranker.rerank(asked.text, hits[:pool], budget.pace()), hits[pool:]
                )
            except OutOfTime:
                return hits, (f"not reranked: that would not have ended within {settings.budget_ms} ms",)
            except ModelError as error:
                return hits, (f"not reranked: {error}",)
        return hits, ()

    def _chosen(self, hits: Sequence[Hit], top_k: int) -> list[Hit]:
        """Which of the hits deserve a place, best first."""
        settings = self.settings.rank
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


def _considered(hit: Hit) -> Considered:
    scores = {step.stage: round(step.score, 6) for step in hit.why}
    return Considered(document_id=hit.chunk.document_id, vector=scores.get("vector"), keyword=scores.get("bm25"))


def _bare(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Hits without the vectors, which only ranking needs."""
    return tuple(hit if hit.vector is None else replace(hit, vector=None) for hit in hits)
