"""From a question to evidence: understand it, run the legs of the search, fuse, rerank, and choose."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ragstone import rank
from ragstone.acquire.metadata.language import detect
from ragstone.core.access import both
from ragstone.core.answers import EXTRACTIVE, Turn
from ragstone.core.errors import Damaged, ModelError, OutOfTime, UsageError
from ragstone.core.filters import Compare, Filter
from ragstone.core.question import Question
from ragstone.core.record import record_of
from ragstone.core.records import Candidate, Chunk, Considered, Evidence, Hit, Matches, Trace
from ragstone.core.request import Request
from ragstone.core.timing import TimeBudget, Timings
from ragstone.engine.caching import note_question
from ragstone.engine.components import Components
from ragstone.engine.filters import read_filter, unmatched
from ragstone.engine.following import follow_keywords
from ragstone.engine.legs import Legs, searched_as
from ragstone.engine.steps import FirstSearch, Steps, within
from ragstone.query import respell
from ragstone.query.fuse import Fused, fuse
from ragstone.query.gather import CONTEXT, allocate, by_document, further_legs
from ragstone.query.likely_language import LISTED, is_listed, likely_language
from ragstone.question import read, read_again, rewritten
from ragstone.question.talk import is_talk
from ragstone.settings import BoostSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.index.keyword.reader_words import RequestWords

TABLES = 20
"""Tables to read for an answer.

The table with a figure often differs in wording from the question and ranks below the hits; for nine of ten questions
that ``tools/fit_tables.py`` makes from quarterly reports, it is among this many.
"""
ROWS = 40
"""Candidates among which rows of data files are read for an answer."""
CONFINED_TABLES = 80
"""The same if a filter limits the question, perhaps to one report: all its statements are read."""
TABLES_DEPTH = 400
"""Minimum number of chunks that each leg fetches if there are tables, to find them among more candidates."""
_WORD = re.compile(r"[^\W\d_]+")
_IS_TABLE = Compare(key="is_table", op="=", value=True)
CHUNKS_PER_DOCUMENT = 5
"""Chunks to fetch per requested document, if the evidence has one chunk of each document."""
ALSO, FURTHER = 60, 5
"""Chunks that each leg fetches for a further search, and maximum number of hits that it adds."""
CHUNKS_PER_PASSAGE = 2
"""Chunks to read per passage of a language model, because several may be of one section."""


def refuse_no_text(question: str) -> None:
    """Refuse a question that is no text, which programs without types may give.

    Raises:
        UsageError: it is none.
    """
    if not isinstance(question, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"the question is a value of type {type(question).__name__}; give a text")


class Search:
    """Finds evidence in one version of a knowledge base."""

    def __init__(self, version: Components) -> None:
        self._version, self._settings = version, version.settings
        self._legs, self._steps = Legs(version), Steps(version)

    async def evidence(
        self,
        question: Question,
        where: Filter | str | None,
        k: int,
        request: Request,
        timings: Timings,
    ) -> Evidence:
        """Return the evidence for a question, from the cache if an equal search ran since the last commit.

        Args:
            question: what is asked.
            where: filter on the documents.
            k: number of chunks.
            request: the reader, who sees only their documents.
            timings: gets the time of each stage.

        Raises:
            UsageError: the question is blank, or the filter is malformed.
            RetrievalError: no leg of the search could be run.
        """
        parsed = self.filter_of(question.asked, where, request)
        results = self._version.results()
        with timings.stage("cache"):
            note_question(self._version.cache(), question.text)
            key = results.search_key(question, parsed, k, request)
            evidence = results.evidence(key, question, request)
        if evidence is None:
            evidence = (await self._trace(question, parsed, k, request, timings, shown=0)).evidence
            results.keep_evidence(key, evidence)
        if not evidence.hits and (why := unmatched(self._version, parsed, request)):
            evidence = replace(evidence, notices=(*evidence.notices, why))
        return _readable_evidence(evidence, request)

    async def trace(
        self,
        question: Question,
        where: Filter | str | None,
        k: int,
        request: Request,
        timings: Timings,
        *,
        shown: int = 0,
    ) -> Trace:
        """Return the evidence and the history of the search, never from the cache.

        Args:
            question: what is asked.
            where: filter on the documents.
            k: number of chunks.
            request: the reader, who sees only their documents.
            timings: gets the time of each stage.
            shown: minimum number of candidates after fusion to read.

        Raises:
            UsageError: the question is blank, or the filter is malformed.
            RetrievalError: no leg of the search could be run.
        """
        parsed = self.filter_of(question.asked, where, request)
        trace = await self._trace(question, parsed, k, request, timings, shown=shown)
        return replace(
            trace,
            fused=_readable(trace.fused, request),
            ranked=_readable(trace.ranked, request),
            evidence=_readable_evidence(trace.evidence, request),
        )

    async def _trace(
        self,
        question: Question,
        where: Filter | None,
        k: int,
        request: Request,
        timings: Timings,
        *,
        shown: int,
    ) -> Trace:
        settings = self._settings
        allowed = both(request.allowed, where)
        budget = TimeBudget(settings.rank.budget_ms, self._version.clock)
        with timings.stage("open"):
            behind = await follow_keywords(self._version)
        with timings.stage("search"):
            asked = await self._worded(question, request)
            fetch_k = max(settings.query.fetch_k, k)
            room = allocate(asked, fetch_k, settings.query.allocation)
            own = dict(room)
            for further in (*map(str, range(1, len(asked.wording.variations) + 1)), CONTEXT):
                room |= further_legs(further, own)
            per_document = CHUNKS_PER_DOCUMENT if settings.rank.diversify == "one_per_document" else 1
            wide = {name: count * per_document for name, count in room.items()}
            table_rows = self._version.catalog.select(_IS_TABLE)
            deep = {name: max(count, TABLES_DEPTH) for name, count in wide.items()} if len(table_rows) else wide
            everything, missing = await self._legs.search(asked, deep, allowed, request)
            by_leg = {name: matches.first(wide[name]) for name, matches in everything.items()}
            weights = self._legs.weights(asked, by_leg)
            fused = fuse(by_leg, weights, settings.query, wide)
            with_tables = fused if deep == wide else fuse(everything, weights, settings.query, deep)
            if per_document > 1:
                by_leg = self._documents(by_leg, fused.rows.tolist(), room)
                fused = fuse(by_leg, weights, settings.query, room)
        with timings.stage("rank"):
            candidates, more = max(settings.rank.pool, k), self._further
            with self._version.catalog.snapshot():  # all chunks of a document have the same commit
                chunks = dict[int, Chunk]()
                read = self._read(fused, max(candidates, more, shown), chunks)
                tables = self._tables(with_tables, table_rows, CONFINED_TABLES if where else TABLES)
                if any(record_of(hit.chunk) for hit in read[:candidates]):
                    tables += self._records(fused)
            ranked, skipped = await self._reranked(asked, read[:candidates], budget, request)
        with timings.stage("steps"):
            first = FirstSearch(
                asked=asked,
                hits=ranked,
                k=k,
                more=lambda count: self._read(fused, count, chunks),
                also=lambda text: self._also(text, asked, allowed, request),
                where=allowed,
            )
            joined = await self._steps.joined(first, request)
            hits = self._chosen(joined.hits, k)
            chosen = {hit.chunk.id for hit in hits}
            further = [hit for hit in (*joined.hits, *read[candidates:]) if hit.chunk.id not in chosen][:more]
            if self._version.has_embedder and self._legs.is_far(asked, by_leg):
                hits = rank.weak(hits)
        is_reranked = settings.rank.reranker != "none" and not skipped
        evidence = Evidence(
            question=asked,
            hits=_without_vectors(hits),
            method=f"{settings.query.method}_search{'_with_reranking' if is_reranked else ''}",
            missing=(*behind, *missing, *skipped, *joined.missing),
            notices=asked.notices,
            considered=tuple(_considered(hit) for hit in read[:candidates]),
            tables=tuple(hit for hit in tables if hit.chunk.id not in {one.chunk.id for one in hits}),
            steps=within(hits, joined.steps),
            further=_without_vectors(further),
        )
        return Trace(
            found={name: len(matches) for name, matches in by_leg.items()},
            weights=weights,
            fused=_without_vectors(read),
            ranked=_without_vectors(ranked),
            evidence=evidence,
        )

    @property
    def _further(self) -> int:
        """Return how many hits beyond the evidence may be read: by a language model, or in place of older versions."""
        own = self._settings.respond
        return FURTHER if own.model.name == EXTRACTIVE else own.passages * CHUNKS_PER_PASSAGE

    async def _also(self, text: str, asked: Question, where: Filter | None, request: Request) -> list[Hit]:
        """Return the best hits for another text, with the same search as for the question."""
        other = searched_as(asked, text)
        room = allocate(other, ALSO, self._settings.query.allocation)
        found, _ = await self._legs.search(other, room, where, request)
        return self._read(fuse(found, self._legs.weights(other, found), self._settings.query, room), FURTHER, {})

    def _documents(
        self, matches: Mapping[str, Matches], order: Sequence[int], room: Mapping[str, int]
    ) -> dict[str, Matches]:
        """Return the matches of each leg as documents instead of chunks."""
        documents = {row: chunk.document_id for row, chunk in self._version.catalog.chunks(order).items()}
        return by_document(matches, order, documents, room)

    async def in_conversation(
        self, question: Question, before: Sequence[Turn], where: Filter | None, request: Request, timings: Timings
    ) -> Evidence:
        """Return the evidence for a question of a conversation, in a model's words if it needs the turns before it.

        Args:
            question: as it was read.
            before: the conversation, in order; turns without a search do not count.
            where: filter on the documents.
            request: the reader, the deadline and the budget.
            timings: gets the time of each stage.
        """
        turns = [turn for turn in before if not is_talk(turn.question)]
        new, problem = await rewritten(question, turns, self._version.models.chat(), request)
        if new != question.wording.typed:
            question = read_again(question, new, rewritten=True)
        evidence = await self.evidence(question, where, self._settings.rank.top_k, request, timings)
        understood = () if question.text == question.asked else (f"understood as: {question.text}",)
        return replace(evidence, notices=(*understood, *evidence.notices, *filter(None, [problem])))

    def language(self, question: str, request: Request, own: str = "") -> str:
        """Return the likely language of a question as an ISO 639-1 code; empty if the keyword index is damaged.

        The documents' own languages decide if they can; the detector of all languages takes a second to load.

        Args:
            question: as it was typed.
            request: who asks.
            own: the language that its function words tell, or empty.
        """
        try:
            words = self._version.indexes.words().for_request(request)
            shares = words.languages()

            def profiled() -> str:
                found = words.language(question)
                return detect(question, shares) if found is None else found

            return likely_language(question, own, shares, words, profiled)
        except Damaged:  # keyword search reports it
            return ""

    def worded(self, question: Question, request: Request) -> Question:
        """Return the question with its corrected spelling and its variations, and with its language if it has none."""
        try:
            words = self._version.indexes.words().for_request(request)
            language = self.language(question.wording.typed, request, question.language)
            worded = respell.worded(question, self._settings.query, language, words)
            # A question is analysed in one of the documents' languages, and answered in its own.
            own = question.language or _spoken(question.wording.typed, language, words, request)
            return replace(worded, language=own)
        except Damaged:  # keyword search reports it
            return question

    def read_word_lists(self) -> None:
        """Read the word lists of the documents' languages, so that no question waits for it.

        Raises:
            Damaged: the keyword index.
        """
        words = self._version.indexes.words().for_request(Request.by_owner())
        for language in words.languages():
            is_listed("?", language, words)
            respell.worded(read("?"), self._settings.query, language, words)

    def filter_of(self, question: str, where: Filter | str | None, request: Request) -> Filter | None:
        """Return the filter of a question, parsed.

        Raises:
            UsageError: the question is blank, or the filter is malformed or names a field that no document has.
        """
        if not question.strip():
            raise UsageError("the question is empty")
        return read_filter(self._version, where, request)

    async def _worded(self, question: Question, request: Request) -> Question:
        if self._version.indexes.words.is_made:
            return self.worded(question, request)
        # The first question reads word lists, which would block the event loop.
        return await asyncio.to_thread(self.worded, question, request)

    def _read(self, fused: Fused, count: int, chunks: dict[int, Chunk]) -> list[Hit]:
        """Return the best ``count`` candidates with their texts; of chunks with the same text, only the best.

        With one chunk per document they are the best of ``count`` documents. ``chunks`` are those that were read
        for this question so far, by row; the others are added to them.
        """
        diversify, catalog = self._settings.rank.diversify, self._version.catalog
        hits: dict[str, Hit] = {}
        for start in range(0, len(fused), count):
            part = fused.candidates(start, start + count)
            rows = [candidate.row for candidate in part]
            if new := [row for row in rows if row not in chunks]:
                chunks |= catalog.chunks(new)
            vectors = catalog.vectors(rows) if diversify == "mmr" else {}
            for candidate in part:
                if chunk := chunks.get(candidate.row):
                    hit = Hit(chunk=chunk, score=candidate.score, why=candidate.why, vector=vectors.get(candidate.row))
                    hits.setdefault(chunk.document_id if diversify == "one_per_document" else chunk.headed, hit)
            if len(hits) >= count:
                break
        return list(hits.values())[:count]

    def _tables(self, fused: Fused, rows: NDArray[np.int64], most: int) -> list[Hit]:
        """Return the best tables among the candidates, given the rows of all tables."""
        if not len(rows):
            return []
        is_table = np.isin(fused.rows, rows)
        best = [one for at in np.flatnonzero(is_table)[:most].tolist() for one in fused.candidates(at, at + 1)]
        return self._hits_of(best)

    def _records(self, fused: Fused) -> list[Hit]:
        """Return the best rows of data files among the candidates."""
        return [hit for hit in self._hits_of(fused.candidates(0, ROWS)) if record_of(hit.chunk)]

    def _hits_of(self, candidates: Sequence[Candidate]) -> list[Hit]:
        """Return candidates with their chunks, without those that were removed meanwhile."""
        chunks = self._version.catalog.chunks([one.row for one in candidates])
        return [Hit(chunk=chunks[one.row], score=one.score, why=one.why) for one in candidates if one.row in chunks]

    async def _reranked(
        self, asked: Question, hits: Sequence[Hit], budget: TimeBudget, request: Request
    ) -> tuple[Sequence[Hit], tuple[str, ...]]:
        """Return the hits in the order of boosts and reranker, and why they were not reranked."""
        settings = self._settings.rank
        if settings.boosts != BoostSettings():
            hits = rank.boost(hits, asked, settings.boosts)
        reranker = self._version.models.reranker()
        if reranker is None:
            return hits, ()
        best, rest = hits[: settings.pool], hits[settings.pool :]
        try:
            wording = asked.wording
            text = wording.typed if settings.reranker == "model" else wording.text  # a model gets what was typed
            ranked = await reranker.rerank(text, best, request, budget.pace())
        except OutOfTime:
            return hits, (
                f"Reranking was skipped: it would not have finished within rank.budget_ms={settings.budget_ms}",
            )
        except ModelError as error:
            return hits, (f"Reranking was skipped: {error}",)
        return rank.unit_scaled(ranked, rest), ()

    def _chosen(self, hits: Sequence[Hit], k: int) -> list[Hit]:
        """Return the hits that become evidence, best first."""
        settings = self._settings.rank
        match settings.diversify:
            case "none":
                chosen = list(hits)
            case "round_robin":
                chosen = rank.round_robin(hits, len(hits))
            case "one_per_document":
                chosen = rank.one_per_document(hits)
            case "mmr":
                chosen = rank.mmr(hits, k, settings.mmr_lambda)
        if settings.max_tokens:
            embedder = self._version.models.embedder()
            chosen = rank.within_budget(chosen, k, settings.max_tokens, lambda text: len(embedder.tokens(text)))
        return rank.join_neighbours(chosen[:k]) if settings.join else chosen[:k]


def _spoken(text: str, language: str, vocabulary: RequestWords, request: Request) -> str:
    """Return the language to answer in: of its words, or that of the interface if none of them is known anywhere."""
    words = [word.lower() for word in _WORD.findall(text)]
    is_told = language not in LISTED or any(is_listed(word, code, vocabulary) for code in LISTED for word in words)
    if request.language and not is_told and not any(vocabulary.known(words, language)):
        return request.language
    return "en" if _is_english(text, language, vocabulary) else language


def _is_english(text: str, language: str, vocabulary: RequestWords) -> bool:
    """Return whether a few words are English, although the documents are in another language.

    All of them are ordinary English words or begin like names, and the documents lack one of them.
    """
    words = _WORD.findall(text)
    ordinary = [word for word in words if vocabulary.ordinary(word.lower(), "en")]
    plain = [word for word in ordinary if word.islower()]
    if language == "en" or len(words) < 2 or any(word.islower() for word in set(words) - set(ordinary)):
        return False
    known = zip(plain, vocabulary.known(plain, language), strict=True)
    return not all(there or vocabulary.ordinary(word, language) for word, there in known)


def _readable(hits: Sequence[Hit], request: Request) -> tuple[Hit, ...]:
    """Return the hits that the reader may read; a document may have become restricted since the search."""
    return tuple(hit for hit in hits if request.reader.may_read(hit.chunk.metadata))


def _readable_evidence(evidence: Evidence, request: Request) -> Evidence:
    hits, tables, further = (_readable(some, request) for some in (evidence.hits, evidence.tables, evidence.further))
    if (hits, tables, further) == (evidence.hits, evidence.tables, evidence.further):
        return evidence
    return replace(evidence, hits=hits, tables=tables, further=further, steps=within(hits, evidence.steps))


def _without_vectors(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return the hits without their vectors, which only ranking needs."""
    return tuple(hit if hit.vector is None else replace(hit, vector=None) for hit in hits)


def _considered(hit: Hit) -> Considered:
    scores = {step.stage: round(step.score, 6) for step in hit.why}
    return Considered(document_id=hit.chunk.document_id, vector=scores.get("vector"), keyword=scores.get("bm25"))
