"""How a question is answered: evidence, then an answer from it, as one stream of events.

Every interface renders that stream; `ask` is its last event.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ragstone import query, respond
from ragstone.access import OWNER, Reader, both
from ragstone.answers import (
    Adequacy,
    Answer,
    Answered,
    Citation,
    Draft,
    Event,
    EvidenceFound,
    JudgeScores,
    SentenceClosed,
    Source,
    TextWritten,
    Turn,
)
from ragstone.chunk import Outlined
from ragstone.conditions import Filter
from ragstone.contracts import WEB, Evidence, Hit, Trace
from ragstone.errors import RagstoneError, ResponseError, UsageError
from ragstone.index.terms.readable import reading, reading_now
from ragstone.keeping.moving import on_newest
from ragstone.models.retries import Deadline
from ragstone.monitor import Spent, Timings, counting, watched
from ragstone.remembered import note_question
from ragstone.review.confidence import FULL, confidence
from ragstone.review.heuristic import NAME as STAND_IN
from ragstone.review.judge import PARTIAL, marks, sufficiency
from ragstone.usage.people import People


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Evidence after a look at whether it suffices: a judge's word on it, and whether the web was searched."""

    evidence: Evidence
    adequacy: Adequacy | None = None
    searched: bool = False


class Asker(People):
    """The part of an engine that answers."""

    async def ask(
        self,
        question: str,
        where: Filter | str | None = None,
        *,
        before: Sequence[Turn] = (),
        session: str = "",
        reader: Reader = OWNER,
    ) -> Answer:
        """Answer a question from the documents, or abstain: the last event of `stream`.

        Args:
            question: in any language; an empty one is a `UsageError`.
            where: which documents may be used, by their metadata; as text, in the language of `query.where`.
            before: what was said before in the same conversation, for a question that leans on it.
            session: name of a conversation that is kept; what was said in it comes before ``before``.
            reader: who asks; the answer rests on what this reader may read, and on nothing else.

        Raises:
            UsageError: the question is blank, or the filter is none.
            RetrievalError: no leg of the search could be run.
            ResponseError: a citation is not what the documents say.
        """
        events = self.stream(question, where, before=before, session=session, reader=reader)
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Answered):
                    return event.answer
        raise ResponseError("the stream ended without an answer")

    @on_newest
    async def stream(
        self,
        question: str,
        where: Filter | str | None = None,
        *,
        before: Sequence[Turn] = (),
        session: str = "",
        reader: Reader = OWNER,
    ) -> AsyncGenerator[Event]:
        """The same, event by event: the evidence, the answer as it is written and checked, the whole answer.

        Closing the generator stops whatever is under way, a language model too.
        """
        done, spent = False, self._spent()
        try:
            governed, trouble = await self._assigned(question, spent.job, reader)
            if trouble:
                spent.notices.append(trouble)
            async with aclosing(governed._events(question, where, before, session, reader, spent)) as events:
                async for event in events:
                    done = isinstance(event, Answered)
                    yield event
        except (GeneratorExit, asyncio.CancelledError):
            if not done:
                self._statistics.note_stopped()
            raise
        except Exception as error:
            self._statistics.note_failure(error)
            raise

    async def _events(
        self,
        question: str,
        where: Filter | str | None,
        before: Sequence[Turn],
        session: str,
        reader: Reader,
        spent: Spent,
    ) -> AsyncGenerator[Event]:
        timings = Timings()
        allowed = self._allowed(reader)
        if session:
            session = reader.session(session)
            kept = await asyncio.to_thread(self._conversations.before, session, self._count)  # the journal may be busy
            before = (*kept, *before)

        @contextmanager
        def at_work() -> Iterator[None]:
            with counting(spent), reading(allowed):
                yield

        with at_work():
            alone, trouble = await self._standalone(question, before)
            evidence = await self._retrieve(alone, where, self.settings.rank.top_k, timings, reader)
            if alone != question:
                evidence = replace(evidence, notices=(f"understood as: {alone}", *evidence.notices))
            if trouble:
                evidence = replace(evidence, notices=(*evidence.notices, trouble))
            checked = await self._checked(evidence, timings)
        yield EvidenceFound(evidence=checked.evidence)
        draft = None
        parts = watched(self._drafted(checked, before, spent), at_work, timings, "answer")
        async with aclosing(parts):
            async for part in parts:
                if isinstance(part, Draft):
                    draft = part
                else:
                    yield part
        if draft is None:
            raise ResponseError("the answerer ended without an answer")
        scores = None
        if self._judge and not draft.abstained:
            with at_work(), timings.stage("judge"):
                scores, trouble = await marks(self._judge, question, checked.evidence, draft.text)
            draft = replace(draft, notices=(*draft.notices, trouble)) if trouble else draft
        answer = self._answer(question, checked, draft, scores, timings, spent)
        degraded = bool(checked.evidence.missing) or draft.degraded
        self._statistics.note_answer(answer, degraded=degraded, cached=self.settings.cache.enabled)
        considered = checked.evidence.considered if self._learner.is_on else ()
        yield Answered(answer=await asyncio.to_thread(self._kept, answer, session, reader, considered))

    @on_newest
    async def search(
        self, question: str, k: int | None = None, where: Filter | str | None = None, *, reader: Reader = OWNER
    ) -> list[Hit]:
        """The ``k`` best chunks (``rank.top_k`` if not given), best first, each with the history of its score."""
        if k is not None and k < 1:
            raise UsageError(f"k must be at least 1, not {k}")
        timings, spent = Timings(), self._spent()
        governed = self._current(question, reader)
        with counting(spent), reading(self._allowed(reader)):
            evidence = await governed._retrieve(question, where, k or governed.settings.rank.top_k, timings, reader)
        self._statistics.note_search(evidence.hits, timings.milliseconds()["total"])
        return list(evidence.hits)

    @on_newest
    async def trace(
        self, question: str, where: Filter | str | None = None, *, shown: int = 30, reader: Reader = OWNER
    ) -> Trace:
        """How the evidence for a question comes about, stage by stage, worked out anew: nothing comes from the cache.

        Args:
            question: in any language.
            where: which documents may be used.
            shown: candidates after fusion that are told, at least.
            reader: who asks; nothing else is told of.

        Raises:
            UsageError: the question is blank, or the filter is none.
            RetrievalError: no leg of the search could be run.
        """
        where, governed = self._filter(question, where), self._current(question, reader)
        with counting(self._spent()), reading(self._allowed(reader)):
            limited = both(reading_now(), where)
            trace = await governed._traced(question, limited, governed.settings.rank.top_k, Timings(), shown=shown)
        return replace(
            trace,
            fused=_readable(trace.fused, reader),
            ranked=_readable(trace.ranked, reader),
            evidence=replace(trace.evidence, hits=_readable(trace.evidence.hits, reader)),
        )

    def _spent(self) -> Spent:
        """The account of a question that begins now."""
        return Spent(deadline=Deadline.after(self.settings.services.deadline_seconds))

    def _count(self, text: str) -> int:
        """Tokens of a text: the language model's, where there is one."""
        return self._model.count(text) if self._model else self._length(text)

    async def _retrieve(
        self, question: str, where: Filter | str | None, top_k: int, timings: Timings, reader: Reader
    ) -> Evidence:
        """The evidence: from the cache, where the same was asked since the last commit."""
        where = self._filter(question, where)
        allowed = reading_now()
        with timings.stage("cache"):
            note_question(self._cache, question)
            known = self._remembered.search(question, where, top_k, allowed)
            evidence = self._remembered.evidence(known)
        if evidence is None:
            evidence = await self._found(question, both(allowed, where), top_k, timings)
            self._remembered.keep_evidence(known, evidence)
        readable = _readable(evidence.hits, reader)
        return evidence if len(readable) == len(evidence.hits) else replace(evidence, hits=readable)

    def _filter(self, question: str, where: Filter | str | None) -> Filter | None:
        """The filter of a question that can be asked; a blank one is refused."""
        if not question.strip():
            raise UsageError("the question is empty")
        self._settle()
        return query.parse(where) if isinstance(where, str) else where

    async def _checked(self, evidence: Evidence, timings: Timings) -> Checked:
        """The evidence as a judge sees it, and with pages of the web below it where it may not suffice."""
        judge, web = self._judge, self._web
        if judge is None and web is None:
            return Checked(evidence=evidence)
        with timings.stage("judge"):
            adequacy, trouble = await sufficiency(judge, evidence) if judge else (None, "")
            enough = await self._answerer.answerability(evidence) if web else 1.0
        if trouble:
            evidence = replace(evidence, missing=(*evidence.missing, trouble))
        if web is None:
            return Checked(evidence=evidence, adequacy=adequacy)
        own = self.settings.query
        analysis = query.analyse(evidence.question, evidence.language, own.entities)
        reasons = query.why_search(adequacy, enough, analysis, own.web.threshold)
        if not reasons:
            return Checked(evidence=evidence, adequacy=adequacy)
        with timings.stage("web"):
            evidence, found = await query.with_web(evidence, web, own.web)
        if found:
            told = f"the web was searched, because {', and '.join(reasons)}"
            evidence = replace(evidence, notices=(*evidence.notices, told))
        return Checked(evidence=evidence, adequacy=None if found else adequacy, searched=True)

    async def _drafted(
        self, checked: Checked, before: Sequence[Turn], spent: Spent
    ) -> AsyncGenerator[TextWritten | SentenceClosed | Draft]:
        """The answer to the evidence: from the cache, where the same was answered since the last commit."""
        evidence, adequacy = checked.evidence, checked.adequacy
        if adequacy and adequacy.judge != STAND_IN and adequacy.confidence < PARTIAL:
            told = f"{adequacy.judge} gives the evidence {adequacy.confidence:g} of 10: {adequacy.reasoning}"
            draft = respond.abstained(evidence, adequacy.confidence / FULL)
            yield replace(draft, notices=(told,))
            return
        known = self._remembered.answer(evidence, before, reading_now())
        if draft := self._remembered.draft(known):
            for event in respond.replayed(draft):
                yield event
            yield draft
            return
        if "search" in spent.cached and await self._followed_catalog():
            known = None  # words are weighed by an index that is behind
        cited: dict[str, Outlined | None] = {}
        async for part in self._answerer.stream(evidence, before):
            if isinstance(part, Draft | SentenceClosed):
                _refuse_misquotes(part.citations, evidence)
                part = replace(part, citations=await asyncio.to_thread(self._placed, part.citations, cited))
            if isinstance(part, Draft) and not part.degraded:
                self._remembered.keep_draft(known, part)
            yield part

    def _placed(self, citations: Sequence[Citation], cited: dict[str, Outlined | None]) -> tuple[Citation, ...]:
        """Citations with the section and page of their own words; those of a chunk are where the chunk begins.

        Args:
            citations: of an answer, or of one sentence.
            cited: documents that were read for the same answer; gets those that are read now.
        """
        for id in {one.document_id for one in citations if not one.chunk_id.startswith(WEB)} - cited.keys():
            try:
                cited[id] = Outlined.of(self._catalog.document(id))
            except RagstoneError:  # it was removed this moment; no reason to lose an answer
                cited[id] = None
        return tuple(_in_place(one, cited.get(one.document_id)) for one in citations)

    def _answer(
        self,
        question: str,
        checked: Checked,
        draft: Draft,
        scores: JudgeScores | None,
        timings: Timings,
        spent: Spent,
    ) -> Answer:
        evidence, review = checked.evidence, self.settings.review
        sure = confidence(draft.answerability, draft.support, scores, review.marks, review.confidence)
        text = draft.text
        if self.settings.respond.summary and not draft.abstained:
            text = f"{text}\n{respond.summary(evidence, self.settings.respond.language)}"
        cited = {citation.document_id for citation in draft.citations}
        sources: dict[str, Source] = {}
        for hit in evidence.hits:
            if hit.chunk.document_id in cited:
                sources.setdefault(hit.chunk.document_id, _source(hit))
        return Answer(
            response_id=spent.job,
            question=question,
            answer=text,
            abstained=draft.abstained,
            citations=draft.citations,
            sources=tuple(sources.values()),
            confidence=round(sure, 4),
            retrieval_method=evidence.method,
            timestamp=datetime.now(UTC).isoformat(timespec="milliseconds"),
            timings_ms=timings.milliseconds(),
            usage=spent.usage(),
            answerability=round(draft.answerability, 4),
            support=round(draft.support, 4),
            statements=draft.statements,
            model=draft.model,
            judge_scores=scores,
            web_search_triggered=checked.searched,
            notices=(*evidence.missing, *evidence.notices, *draft.notices, *spent.notices),
            hits=evidence.hits,
            policy=self._policy,
        )


def _readable(hits: Sequence[Hit], reader: Reader) -> tuple[Hit, ...]:
    return tuple(hit for hit in hits if reader.may_read(hit.chunk.metadata))


def _refuse_misquotes(citations: Sequence[Citation], evidence: Evidence) -> None:
    """Citations are checked, whoever wrote the answer: each has the words of a chunk of the evidence, in its place."""
    chunks = {hit.chunk.id: hit.chunk for hit in evidence.hits}
    for citation in citations:
        chunk = chunks.get(citation.chunk_id)
        if (
            chunk is None
            or chunk.document_id != citation.document_id
            or not chunk.start <= citation.start < citation.end <= chunk.end
            or chunk.text[citation.start - chunk.start : citation.end - chunk.start] != citation.quote
        ):
            raise ResponseError(
                f"citation [{citation.marker}] is not what {citation.document_id} says at characters"
                f" {citation.start}-{citation.end}; the answer is withheld"
            )


def _source(hit: Hit) -> Source:
    facts = hit.chunk.metadata
    author = facts.get("author") or facts.get("authors") or ""
    sentiment = facts.get("sentiment")
    return Source(
        type="web" if hit.chunk.is_web else "internal",
        title=hit.chunk.title,
        author=", ".join(map(str, author)) if isinstance(author, tuple) else str(author),
        url=hit.chunk.url,
        document_id=hit.chunk.document_id,
        relevance_score=round(hit.score, 4),
        sentiment=None if isinstance(sentiment, tuple) else sentiment,
    )


def _in_place(citation: Citation, document: Outlined | None) -> Citation:
    """The citation with the section and page it stands in; as it is where the document is another by now."""
    if document is None or document.text[citation.start : citation.end] != citation.quote:
        return citation
    return replace(citation, section=document.section(citation.start), page=document.page(citation.start))
