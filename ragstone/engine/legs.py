"""The legs of a search, vectors and keywords: run side by side, in time, with the catalog as the last resort."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from ragstone import index
from ragstone.core.catalog import NO_MATCHES
from ragstone.core.errors import EngineBehind, OutOfTime, RetrievalError
from ragstone.core.filters import Filter
from ragstone.core.protocols import GaugedEmbedder, WeighedEmbedder
from ragstone.core.question import Question, Wording
from ragstone.core.records import Matches
from ragstone.core.request import Request
from ragstone.engine.built import refuse_embedder
from ragstone.engine.components import Components
from ragstone.engine.following import CATCH_UP_LIMIT, catch_up
from ragstone.engine.leaving import engine_address
from ragstone.index.follow.protocol import SyncedIndex
from ragstone.query.gather import CONTEXT, above, further_legs, gather, leg_of

LAST_RESORT_LIMIT = 1_000_000
"""Chunks up to which all stored vectors are compared if their engine is unavailable and nothing else is found."""
COVERED = 0.3
"""Share of a question's terms from which a chunk with them is probably relevant, whatever the embedder says."""
FAMILIAR = 0.4
"""Share of known words from which the embedder has its full weight; below, the weight falls in proportion."""
VARIATIONS_WEIGHT = 0.5
"""Weight of all variations of a question together, relative to the question itself."""
CONTEXT_WEIGHT, CONTEXT_WEIGHT_ALONE = 0.5, 0.3
"""Weight of the search for the question with its previous turn, relative to the question itself; the smaller one if the
question is clear alone. Chosen on the development part of MTRAG-UN, where both together raise nDCG@10
of last turns from .866 to .924, and lose .013 after a turn of another conversation (``benchmarks.conversation``)."""
UNMEASURED_WEIGHT = 0.5
"""Weight of the vectors of an unmeasured embedder; keyword search has the same."""
_STAND_INS = {"bm25": "words", "vector": "vectors"}

Leg = Callable[[], Awaitable[Matches]]


def searched_as(question: Question, text: str) -> Question:
    """Return a question with another text to search for, in place of its own words."""
    return replace(question, wording=Wording(typed=text, text=text, language=question.wording.language))


class Legs:
    """Runs the legs of a search in one version of a knowledge base."""

    def __init__(self, version: Components) -> None:
        self._version, self._settings = version, version.settings.query
        self._latest: tuple[Wording | None, list[str]] = (None, [])
        """The wording read last and its terms, which the leg, its weight and its distance need."""

    async def search(
        self, asked: Question, room: Mapping[str, int], where: Filter | None, request: Request
    ) -> tuple[dict[str, Matches], tuple[str, ...]]:
        """Return the matches of each leg above the thresholds, and the missing legs.

        If there are no matches, the lowered thresholds apply.

        Args:
            asked: the question, with its variations.
            room: maximum number of matches of each leg.
            where: the filter, including the reader's access.
            request: the deadline and the budget.

        Raises:
            RetrievalError: no leg could be run.
        """
        settings = self._settings
        self._load()
        legs = self._all(asked, room, where, request)
        for number, text in enumerate(asked.wording.variations, start=1):
            legs |= further_legs(str(number), self._all(searched_as(asked, text), room, where, request))
        if asked.wording.context:
            legs |= further_legs(CONTEXT, self._all(searched_as(asked, asked.wording.context), room, where, request))
        wanted = {name: leg() for name, leg in legs.items() if settings.method in (leg_of(name), "hybrid")}
        everything, missing = await self._gathered(asked, wanted, room, where, request)
        matches = above(everything, settings.threshold, settings.keyword_threshold)
        lowered = settings.lowered_threshold
        if lowered < settings.threshold and not any(map(len, matches.values())):
            share = settings.keyword_threshold * lowered / settings.threshold if settings.threshold > 0 else 0.0
            matches = above(everything, lowered, max(0.0, share))
        return matches, missing

    def weights(self, asked: Question, legs: Mapping[str, Matches]) -> dict[str, float]:
        """Return the weight of each leg; legs for variations share a part of the weight of the question's own."""
        own = self._own_weights(asked, {name: legs[name] for name in legs if name == leg_of(name)})
        if len(own) == len(legs):
            return own
        varied = VARIATIONS_WEIGHT / max(1, len(asked.wording.variations))
        context = CONTEXT_WEIGHT if asked.depends else CONTEXT_WEIGHT_ALONE
        share = {name: context if name.endswith(CONTEXT) else varied for name in legs}
        return {name: own.get(name, own.get(leg_of(name), 1.0) * share[name]) for name in legs}

    def _own_weights(self, asked: Question, legs: Mapping[str, Matches]) -> dict[str, float]:
        """Return the weight of each leg; an embedder that does not know the question's words counts less."""
        if len(legs) < 2:
            return dict.fromkeys(legs, 1.0)
        vector, embedder = self._settings.vector_weight, self._version.models.embedder()
        if vector == "auto":
            vector = UNMEASURED_WEIGHT
            if isinstance(embedder, WeighedEmbedder):
                vector = embedder.vector_weight(self.coverage(asked, legs["bm25"]))
        if self._settings.adapt:
            vector *= min(1.0, embedder.familiarity(asked.wording.text) / FAMILIAR)
        return {"vector": vector, "bm25": 1 - vector}

    def coverage(self, asked: Question, matches: Matches) -> float:
        """Return the best keyword score, 0 to 1, relative to a chunk that repeats the question's terms forever."""
        most = self._version.indexes.keywords().ceiling(self._terms(asked))
        return float(matches.scores[0]) / most if len(matches) and most > 0 else 0.0

    def is_far(self, asked: Question, matches: Mapping[str, Matches]) -> bool:
        """Return whether neither the nearest vector nor the best keyword match is similar to the question.

        This needs an embedder with measured similarities.
        """
        nearest, embedder = matches.get("vector"), self._version.models.embedder()
        if nearest is None or not isinstance(embedder, GaugedEmbedder):
            return False
        is_near = len(nearest) > 0 and float(nearest.scores[0]) >= embedder.related_from
        return not is_near and self.coverage(asked, matches.get("bm25", NO_MATCHES)) < COVERED

    def _load(self) -> None:
        """Load the parts of the legs before their time limit begins, which covers only their engines."""
        version, settings = self._version, self._settings
        if settings.method != "vector" or settings.prefilter:
            with suppress(Exception):  # the leg itself reports it
                version.indexes.keywords()
        if settings.method != "bm25" and version.has_embedder:
            with suppress(Exception):
                version.models.question_embedder()
                version.indexes.vectors()

    def _all(self, asked: Question, room: Mapping[str, int], where: Filter | None, request: Request) -> dict[str, Leg]:
        return {  # the leg that always runs in a thread goes first
            "bm25": lambda: self._keywords(asked, room["bm25"], where, request),
            "vector": lambda: self._vectors(asked, room["vector"], where, request),
        }

    def _terms(self, asked: Question) -> list[str]:
        """Return the terms of the content words of the corrected question, and those of the typed one that differ."""
        wording, terms = self._latest
        if wording is not asked.wording:
            terms = self._new_terms(asked.wording)
            self._latest = asked.wording, terms
        return terms

    def _new_terms(self, wording: Wording) -> list[str]:
        analyzer = self._version.indexes.analyzer()
        terms = index.question_terms(analyzer, wording.text, wording.language)
        if wording.text == wording.typed:
            return terms
        typed = index.question_terms(analyzer, wording.typed, wording.language)
        return [*terms, *(term for term in typed if term not in terms)]

    def _keywords(self, asked: Question, fetch_k: int, where: Filter | None, request: Request) -> Awaitable[Matches]:
        leg, terms = self._version.indexes.keywords(), self._terms(asked)
        self._note_sent("keywords", self._version.settings.index.keywords, "the words of the question", request)
        return self._caught_up(leg, lambda: leg.search(terms, fetch_k, where))

    async def _vectors(self, asked: Question, fetch_k: int, where: Filter | None, request: Request) -> Matches:
        version = self._version
        if not version.has_embedder:
            return NO_MATCHES  # nothing has been added yet
        refuse_embedder(version.models.embedder(), version.built, version.folder)
        vector = await version.vector_of(asked.wording.text, request)
        if among := self._settings.prefilter:
            candidates = await version.indexes.keywords().search(self._terms(asked), among, where)
            rows = candidates.rows.tolist()
            return await asyncio.to_thread(index.nearest_rows, version.catalog, rows, vector, fetch_k)
        leg = version.indexes.vectors()
        self._note_sent("vectors", version.settings.index.vectors, "the vector of the question", request)
        return await self._caught_up(leg, lambda: leg.search(vector, fetch_k, where))

    def _note_sent(self, what: str, engine: str, sent: str, request: Request) -> None:
        request.meter.note_sent(f"{what} in {engine}", engine_address(engine, self._version.settings.services), sent)

    async def _caught_up(self, leg: SyncedIndex, search: Leg) -> Matches:
        """Return the matches of a leg; first fill an engine that lacks too much, such as a new one."""
        try:
            return await self._in_time(search)
        except EngineBehind as error:
            if error.changes > CATCH_UP_LIMIT or not await asyncio.to_thread(catch_up, self._version, leg):
                raise
            return await self._in_time(search)

    async def _in_time(self, search: Leg) -> Matches:
        seconds = self._settings.leg_seconds
        if not seconds:
            return await search()
        try:
            async with asyncio.timeout(seconds):  # `wait_for` may swallow a cancellation before Python 3.12
                return await search()
        except TimeoutError:
            raise OutOfTime(f"it took longer than {seconds:g} s (query.leg_seconds)") from None

    async def _gathered(
        self,
        asked: Question,
        legs: Mapping[str, Awaitable[Matches]],
        room: Mapping[str, int],
        where: Filter | None,
        request: Request,
    ) -> tuple[dict[str, Matches], tuple[str, ...]]:
        """Return the matches of the legs, and why some failed; if the others found nothing, search the catalog itself.

        The catalog has every text and vector, so no question has to wait for an engine.
        """
        try:
            matches, missing = await gather(legs)
        except RetrievalError as error:
            matches, missing, refusal = {}, (str(error),), error
        else:
            refusal = None
        if missing and not any(map(len, matches.values())) and (own := self._stand_ins(asked, room, where, request)):
            matches, also = await gather(own)
            by = " and ".join(_STAND_INS[name] for name in matches)
            return matches, (*missing, *also, f"the catalog was searched instead, by {by}")
        if refusal:
            raise refusal
        return matches, missing

    def _stand_ins(
        self, asked: Question, room: Mapping[str, int], where: Filter | None, request: Request
    ) -> dict[str, Awaitable[Matches]]:
        """Return replacements without an external engine for the legs that need one."""
        version, method = self._version, self._settings.method
        legs = dict[str, Awaitable[Matches]]()
        terms, keywords = version.indexes.terms(), version.indexes.keywords()
        if terms.is_local and keywords is not terms and method != "vector":
            legs["bm25"] = terms.search(self._terms(asked), room["bm25"], where)
        is_external = version.settings.index.vectors != "embedded" and method != "bm25"
        if is_external and version.catalog.counts().chunks <= LAST_RESORT_LIMIT:
            legs["vector"] = self._nearest_matching(asked, room["vector"], where, request)
        return legs

    async def _nearest_matching(self, asked: Question, fetch_k: int, where: Filter | None, request: Request) -> Matches:
        version = self._version
        refuse_embedder(version.models.embedder(), version.built, version.folder)
        vector = await version.vector_of(asked.wording.text, request)
        return await asyncio.to_thread(index.nearest_matching, version.catalog, vector, fetch_k, where)
