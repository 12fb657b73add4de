"""From a question to an answer, as one stream of events; every interface renders that stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeVar

from ragstone import query, respond
from ragstone.chunk import Outlined
from ragstone.core.access import both
from ragstone.core.answers import (
    Adequacy,
    Answer,
    Answered,
    Citation,
    Draft,
    Event,
    EvidenceFound,
    JudgeScores,
    SentenceClosed,
    TextWritten,
    Turn,
)
from ragstone.core.catalog import DocumentSummary
from ragstone.core.errors import KnowledgeBaseError, RagstoneError, ResponseError
from ragstone.core.filters import Filter, In
from ragstone.core.records import WEB, Evidence
from ragstone.core.request import Request
from ragstone.core.timing import Timings, timed
from ragstone.engine.by_name import ByName, Meant, titles
from ragstone.engine.by_report import report_meant_in
from ragstone.engine.cited import placed, refuse_misquotes, sources_of, with_cited
from ragstone.engine.components import Components
from ragstone.engine.following import follow_keywords
from ragstone.engine.overviews import Overviews
from ragstone.engine.passages import with_passages
from ragstone.engine.replied import Replied
from ragstone.engine.search import Search
from ragstone.engine.talk import Talking
from ragstone.engine.whole_tables import with_rows
from ragstone.review.confidence import FULL, confidence
from ragstone.review.heuristic import NAME as STAND_IN
from ragstone.review.judge import PARTIAL, marks, sufficiency

Part = TypeVar("Part", bound=TextWritten | SentenceClosed | Draft)
OVERVIEWS = ("overview", "timeline", "comparison", "document", "summary")
"""Kinds of replies that a model may write from the quoted passages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Evidence after the check whether it suffices: the verdict of a judge, and whether the web was searched."""

    evidence: Evidence
    adequacy: Adequacy | None = None
    web_searched: bool = False


class Ask:
    """Answers questions from one version of a knowledge base."""

    def __init__(self, version: Components) -> None:
        self._version, self._settings = version, version.settings
        self._search = Search(version)
        self._talking, self._overviews = Talking(version, self._search), Overviews(version, self._search)

    async def stream(
        self,
        question: str,
        where: Filter | str | None,
        request: Request,
        *,
        before: Sequence[Turn] = (),
        session: str = "",
    ) -> AsyncGenerator[Event]:
        """Yield the evidence, the answer while it is written and checked, and finally the whole answer.

        Closing the generator stops all work, including a language model.
        """
        timings, history = Timings(), self._version.history
        if session:  # the journal may be busy, so it is read in a thread
            session = request.reader.session(session)
            turns = history.conversations().before
            before = (*await asyncio.to_thread(turns, session, self._version.count_tokens), *before)
        parsed = self._search.filter_of(question, where, request)
        replied = await self._reply(question, parsed, before, request, timings)
        if replied:
            replied = self._planned(replied)
            checked = Checked(evidence=replied.evidence)
        else:
            evidence = await self._evidence(question, parsed, before, request, timings)
            evidence = await asyncio.to_thread(with_rows, self._version, evidence, parsed, request)
            checked = await self._checked(evidence, request, timings)
            read = await asyncio.to_thread(with_passages, self._version, checked.evidence)
            checked = replace(checked, evidence=read)
            if self._version.models.chat() is None and not _asked_back(before):  # a model asks back itself
                replied = await self._talking.clarification(checked.evidence, request)
        yield EvidenceFound(evidence=checked.evidence)
        draft: Draft | None = None
        drafted = self._given(replied, request) if replied else self._drafted(checked, before, request)
        async with aclosing(timed(drafted, timings, "answer")) as parts:
            async for part in parts:
                if isinstance(part, Draft):
                    draft = part
                else:
                    yield part
        if draft is None:
            raise ResponseError("the answerer ended without an answer")
        draft, scores = await self._judged(question, checked, draft, request, timings)
        answer = self._answer(question, checked, draft, scores, request, timings)
        degraded = bool(checked.evidence.missing) or draft.degraded
        history.statistics().note_answer(answer, degraded=degraded, cached=self._settings.cache.enabled)
        yield Answered(answer=await asyncio.to_thread(self._kept, answer, session, checked.evidence, request))

    async def _reply(
        self, question: str, where: Filter | None, before: Sequence[Turn], request: Request, timings: Timings
    ) -> Replied | None:
        """Return the reply to a question that needs no search; None if it needs one."""
        if _is_choice(question, before):
            return None
        with timings.stage("understand"):
            talk = query.talk_of(question, respond.language_of(question)) or await self._by_meaning(question, request)
        if talk is None or (before and (talk.kind == "unclear" or _goes_on(question, talk, before))):
            return None
        if made := await self._overviews.reply(question, talk, where, request, timings):
            return made
        with timings.stage("catalog"):
            if talk.topic and talk.kind == "collection":
                return await self._talking.about(question, talk, where, request, timings)
            cited = ""
            if before and talk.kind in ("document", "summary") and not talk.title:
                cited = await self._overviews.spoken_of(before, where, request, timings)
            reply, may_ask = self._talking.reply, not _asked_back(before)
            return await asyncio.to_thread(reply, question, talk, where, request, may_ask=may_ask, cited=cited)

    async def _by_meaning(self, question: str, request: Request) -> query.Talk | None:
        """Return the kind of a short question by its vector, if the classifier of the embedder is sure."""
        version = self._version
        if not query.is_short(question) or not version.has_embedder:
            return None
        name = query.embedder_of(version.built.embedder)  # load no model only to learn that no classifier was fitted
        if not name:
            return None
        embedder = version.models.question_embedder()
        (vector,) = await embedder.embed([question], role="query", request=request)
        return query.talk_by_meaning(vector, name, respond.language_of(question))

    async def _given(self, replied: Replied, request: Request) -> AsyncGenerator[TextWritten | SentenceClosed | Draft]:
        """Yield a reply as an answerer would."""
        evidence, outlines = replied.evidence, dict[str, Outlined | None]()
        writer = self._version.models.overviews() if replied.planned else None
        if writer and replied.planned:
            async with aclosing(writer.stream(replied.planned, evidence, replied.draft, request)) as parts:
                async for part in parts:
                    yield await self._located(part, evidence, outlines)
            return
        draft = await self._located(replied.draft, evidence, outlines)
        for event in respond.replayed(draft):
            yield event
        yield draft

    def _planned(self, replied: Replied) -> Replied:
        """Return a reply with what a model needs to write it, if it is an overview and there is a model."""
        if replied.evidence.kind not in OVERVIEWS or not replied.draft.statements:
            return replied
        writer = self._version.models.overviews()
        if writer is None:
            return replied
        planned = writer.plan(replied.evidence.as_typed, replied.evidence.hits)
        notices = (*replied.evidence.notices, planned.notice(writer.model))
        return replace(replied, planned=planned, evidence=replace(replied.evidence, notices=notices))

    async def _located(self, part: Part, evidence: Evidence, outlines: dict[str, Outlined | None]) -> Part:
        """Return a part of an answer with the places of its citations, after comparing their words."""
        if isinstance(part, TextWritten):
            return part
        refuse_misquotes(part.citations, evidence)
        return replace(part, citations=await asyncio.to_thread(self._placed, part.citations, outlines))

    async def _evidence(
        self, question: str, where: Filter | None, before: Sequence[Turn], request: Request, timings: Timings
    ) -> Evidence:
        """Return the evidence for a turn of a conversation, from the documents that it names if it names any."""
        by_name, language = ByName(self._version, where, request), respond.language_of(question)
        if _is_choice(question, before) and (chosen := await asyncio.to_thread(by_name.called, question)):
            # The answer to a clarification: the previous question, about this document.
            *before, last = before
            evidence = await self._evidence_from(chosen, last.question, where, before, request, timings)
            notices = (f"understood as: {last.question}", *evidence.notices)
            return replace(evidence, asked=question, rewritten=last.question, notices=notices)
        core = query.without_courtesy(question, language)
        meant = await asyncio.to_thread(_meant_in, core, by_name, language)
        evidence = await self._evidence_from(meant.documents, meant.question, where, before, request, timings)
        if meant.question != question:
            evidence = replace(evidence, asked=question)
        talk = query.talk_of(question, language)  # "Summarize menu.txt", if there is no such document
        return replace(evidence, language=talk.language) if talk and talk.title else evidence

    async def _evidence_from(
        self,
        meant: Sequence[DocumentSummary],
        question: str,
        where: Filter | None,
        before: Sequence[Turn],
        request: Request,
        timings: Timings,
    ) -> Evidence:
        """Return the evidence from these documents, or from all if none is given."""
        named = In(key="id", values=tuple(one.document_id for one in meant)) if meant else None
        evidence = await self._search.follow_up(question, before, both(where, named), request, timings)
        notices = (f"only in: {', '.join(titles(meant))}",) if meant else ()
        kind = query.kind(question, evidence.language)
        return replace(evidence, kind=kind, notices=(*notices, *evidence.notices))

    async def _checked(self, evidence: Evidence, request: Request, timings: Timings) -> Checked:
        """Return the evidence with a judge's verdict, and with web pages below it if it may not suffice."""
        judge, web, own = self._version.models.judge(), self._version.models.web(), self._settings.query
        if judge is None and web is None:
            return Checked(evidence=evidence)
        with timings.stage("judge"):
            adequacy, problem = await sufficiency(judge, evidence, request) if judge else (None, "")
            enough = await self._version.models.answerer().answerability(evidence, request) if web else 1.0
        if problem:
            evidence = replace(evidence, missing=(*evidence.missing, problem))
        if web is None:
            return Checked(evidence=evidence, adequacy=adequacy)
        analysis = query.analyse(evidence.question, evidence.language, own.entities)
        reasons = query.why_search(adequacy, enough, analysis, own.web.threshold)
        if not reasons:
            return Checked(evidence=evidence, adequacy=adequacy)
        with timings.stage("web"):
            evidence, found = await query.with_web(evidence, web, own.web, request)
        if found:
            notice = f"The web was searched because {', and '.join(reasons)}."
            evidence = replace(evidence, notices=(*evidence.notices, notice))
        return Checked(evidence=evidence, adequacy=None if found else adequacy, web_searched=True)

    async def _drafted(
        self, checked: Checked, before: Sequence[Turn], request: Request
    ) -> AsyncGenerator[TextWritten | SentenceClosed | Draft]:
        """Yield the answer to the evidence, from the cache if the same was answered since the last commit."""
        evidence, adequacy, results = checked.evidence, checked.adequacy, self._version.results()
        if adequacy and adequacy.judge != STAND_IN and adequacy.confidence < PARTIAL:
            verdict = f"{adequacy.judge} rates the evidence {adequacy.confidence:g} of 10: {adequacy.reasoning}"
            yield replace(respond.abstained(evidence, adequacy.confidence / FULL), notices=(verdict,))
            return
        known = results.answer_key(evidence, before, request)
        if draft := results.draft(known, request):
            for event in respond.replayed(draft):
                yield event
            yield draft
            return
        if "search" in request.meter.cached and await follow_keywords(self._version):
            known = None  # words are weighed by an index that is behind
        outlines: dict[str, Outlined | None] = {}
        async with aclosing(self._version.models.answerer().stream(evidence, request, before)) as parts:
            async for part in parts:
                part = await self._located(part, evidence, outlines)
                if isinstance(part, Draft) and not part.degraded:
                    results.keep_draft(known, part)
                yield part

    def _placed(self, citations: Sequence[Citation], outlines: dict[str, Outlined | None]) -> tuple[Citation, ...]:
        """Return citations with the section and page of their own words; a chunk has those of its beginning.

        Args:
            citations: of an answer, or of one sentence.
            outlines: documents read for the same answer; those read now are added.
        """
        for id in {one.document_id for one in citations if not one.chunk_id.startswith(WEB)} - outlines.keys():
            try:
                outlines[id] = Outlined.of(self._version.catalog.document(id))
            except RagstoneError:  # removed a moment ago; the answer still stands
                outlines[id] = None
        return tuple(placed(one, outlines.get(one.document_id)) for one in citations)

    async def _judged(
        self, question: str, checked: Checked, draft: Draft, request: Request, timings: Timings
    ) -> tuple[Draft, JudgeScores | None]:
        judge = self._version.models.judge()
        if judge is None or draft.outcome != "answer":
            return draft, None
        with timings.stage("judge"):
            evidence = with_cited(checked.evidence, draft.citations)
            scores, problem = await marks(judge, question, evidence, draft.text, request)
        return (replace(draft, notices=(*draft.notices, problem)) if problem else draft), scores

    def _answer(
        self,
        question: str,
        checked: Checked,
        draft: Draft,
        scores: JudgeScores | None,
        request: Request,
        timings: Timings,
    ) -> Answer:
        evidence, review = with_cited(checked.evidence, draft.citations), self._settings.review
        rightness = draft.answerability * draft.support if draft.rightness is None else draft.rightness
        sure = confidence(rightness, scores, review.marks, review.confidence)
        sure = 0.0 if draft.outcome in ("reply", "clarification") else sure
        text = draft.text
        if self._settings.respond.summary and draft.outcome in ("answer", "closest"):
            text = f"{text}\n{respond.summary(evidence, draft.citations, self._settings.respond.language)}"
        return Answer(
            response_id=request.meter.id,
            question=question,
            answer=text,
            outcome=draft.outcome,
            citations=draft.citations,
            sources=sources_of(evidence, draft.citations),
            confidence=round(sure, 4),
            retrieval_method=evidence.method,
            timestamp=datetime.now(UTC).isoformat(timespec="milliseconds"),
            timings_ms=timings.milliseconds(),
            usage=request.meter.usage(),
            answerability=round(draft.answerability, 4),
            support=round(draft.support, 4),
            rightness=round(rightness, 4),
            statements=draft.statements,
            model=draft.model,
            failed=draft.failed,
            judge_scores=scores,
            web_search_triggered=checked.web_searched,
            notices=(*evidence.missing, *evidence.notices, *draft.notices, *request.meter.notices),
            hits=evidence.hits,
            policy=self._version.policy,
            kind=evidence.kind,
            steps=evidence.steps,
            sent=tuple(request.meter.sent),
        )

    def _kept(self, answer: Answer, session: str, evidence: Evidence, request: Request) -> Answer:
        """Return the answer once it is written to the journal; a failure becomes one of its notices."""
        history, used = self._version.history, {hit.chunk.document_id for hit in evidence.hits if not hit.chunk.is_web}
        if not request.is_kept or not self._version.catalog.contains([*used]):  # removed meanwhile, perhaps erased
            return answer
        if session:
            history.conversations().note(session, Turn(question=answer.question, answer=answer.answer))
        if history.responses().are_kept:
            considered = evidence.considered if history.learner().is_on else ()
            try:
                history.responses().keep(answer, request.reader, considered)
            except KnowledgeBaseError as error:
                notice = (
                    f"this answer was not stored and cannot be rated: {error}; to store no answers, set"
                    " review.responses_days=0"
                )
                return replace(answer, notices=(*answer.notices, notice))
        return answer


def _meant_in(question: str, by_name: ByName, language: str) -> Meant:
    """Return the documents to which a question limits the search, by a name or as the report of a period."""
    meant = by_name.meant_in(question, language)
    return meant if meant.documents else report_meant_in(question, by_name, language)


def _is_choice(question: str, before: Sequence[Turn]) -> bool:
    """Return whether the user chose an option of a clarification."""
    return bool(before) and respond.is_choice(question, before[-1].answer)


def _goes_on(question: str, talk: query.Talk, before: Sequence[Turn]) -> bool:
    """Return whether "How does it work?" refers to the previous topic and not to Ragstone."""
    is_open = talk.kind == "help" and query.refers_back(question, talk.language)
    return is_open and any(query.names_something(query.talk_of(turn.question)) for turn in before)


def _asked_back(before: Sequence[Turn]) -> bool:
    """Return whether the last answer was a clarification; a second one never follows."""
    return bool(before) and respond.asks_back(before[-1].answer)
