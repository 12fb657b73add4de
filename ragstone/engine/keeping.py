"""What a question takes from the journal, the earlier turns, and what becomes of it: the judged, stored answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime

from ragstone.core.access import Reader, conversation_group
from ragstone.core.answers import (
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
from ragstone.core.errors import KnowledgeBaseError, ResponseError
from ragstone.core.records import Evidence
from ragstone.core.request import Request
from ragstone.core.timing import Timings, timed
from ragstone.engine.attached import attached_to
from ragstone.engine.cited import sources_of, with_cited
from ragstone.engine.components import Components
from ragstone.engine.finding import Checked
from ragstone.respond.drafts import summary
from ragstone.review.confidence import confidence
from ragstone.review.judge import marks

Parts = AsyncGenerator[TextWritten | SentenceClosed | Draft]
"""What an answerer yields: the text while it is written and checked, and last the draft."""


async def turns_before(
    version: Components, session: str, before: Sequence[Turn], request: Request
) -> tuple[str, Sequence[Turn]]:
    """Return the name under which the reader's conversation is stored, and its turns with those that were given."""
    if not session:
        return session, before
    session = request.reader.session(session)
    turns = version.history.conversations().before  # the journal may be busy, so it is read in a thread
    return session, (*await asyncio.to_thread(turns, session, version.count_tokens), *before)


async def to_the_end(
    version: Components, checked: Checked, parts: Parts, request: Request, timings: Timings, session: str
) -> AsyncGenerator[Event]:
    """Yield the evidence, the answer while it is written and checked, and the whole answer."""
    yield EvidenceFound(evidence=checked.evidence)
    draft: Draft | None = None
    async with aclosing(timed(parts, timings, "answer")) as told:
        async for part in told:
            if isinstance(part, Draft):
                draft = part
            else:
                yield part
    if draft is None:
        raise ResponseError("the answerer ended without an answer")
    yield await finished(version, checked, draft, request, timings, session)


async def finished(
    version: Components, checked: Checked, draft: Draft, request: Request, timings: Timings, session: str
) -> Answered:
    """Return the last event of a question: the judged and stored answer."""
    draft, scores = await _judged(version, checked.evidence, draft, request, timings)
    answer = _answer_of(version, checked, draft, scores, request, timings)
    if request.meter.purpose == "question":
        degraded = bool(checked.evidence.missing) or draft.degraded
        version.history.statistics().note_answer(answer, degraded=degraded, cached=version.settings.cache.enabled)
    answer = await asyncio.to_thread(_kept, version, answer, session, checked.evidence, request)
    return Answered(answer=answer, stages=timings.stages())


async def _judged(
    version: Components, evidence: Evidence, draft: Draft, request: Request, timings: Timings
) -> tuple[Draft, JudgeScores | None]:
    """Return a draft with the scores of the judge, if there is one; a failure becomes a notice of the draft."""
    judge = version.models.judge()
    if judge is None or draft.outcome != "answer":
        return draft, None
    with timings.stage("judge"):
        scores, problem = await marks(judge, with_cited(evidence, draft.citations), draft.text, request)
    return (replace(draft, notices=(*draft.notices, problem)) if problem else draft), scores


def _answer_of(
    version: Components, checked: Checked, draft: Draft, scores: JudgeScores | None, request: Request, timings: Timings
) -> Answer:
    """Return the answer that a draft becomes.

    Args:
        version: that answered.
        checked: the evidence.
        draft: what was written or quoted.
        scores: of the judge.
        request: whose costs the answer shows.
        timings: of all stages.
    """
    settings = version.settings
    evidence, review = with_cited(checked.evidence, draft.citations), settings.review
    answerability = checked.answerability if draft.answerability is None else draft.answerability
    sure = confidence(draft.sure, scores, review.marks, review.confidence)
    sure = 0.0 if draft.outcome in ("reply", "clarification") else sure
    text = draft.text
    if settings.respond.summary and draft.outcome in ("answer", "closest"):
        language = settings.respond.language_for(evidence.question.language)
        text = f"{text}\n{summary(evidence, draft.citations, language)}"
    return Answer(
        response_id=request.meter.id,
        question=evidence.question.asked,
        answer=text,
        outcome=draft.outcome,
        citations=draft.citations,
        sources=sources_of(evidence, draft.citations),
        confidence=round(sure, 4),
        retrieval_method=evidence.method,
        timestamp=datetime.now(UTC).isoformat(timespec="milliseconds"),
        timings_ms=timings.milliseconds(),
        usage=request.meter.usage(),
        answerability=None if answerability is None else round(answerability, 4),
        support=round(draft.support, 4),
        rightness=round(draft.sure, 4),
        statements=draft.statements,
        model=draft.model,
        failed=draft.failed,
        judge_scores=scores,
        web_search_triggered=checked.web_searched,
        notices=(
            *evidence.missing,
            *evidence.notices,
            *draft.notices,
            *request.meter.notices,
            *_of_pictures(draft.citations),
        ),
        hits=evidence.hits,
        policy=version.policy,
        kind=evidence.question.kind,
        steps=evidence.steps,
        sent=tuple(request.meter.sent),
    )


def _of_pictures(citations: Sequence[Citation]) -> Iterator[str]:
    """Yield what to know of quotes that are no words of the documents."""
    for model in dict.fromkeys(one.described_by for one in citations if one.described_by):
        markers = sorted({one.marker for one in citations if one.described_by == model})
        quotes = "quotes the description" if len(markers) == 1 else "quote descriptions"
        listed = ", ".join(f"[{one}]" for one in markers)
        yield f"{listed} {quotes} of a picture, not words of the document: {model} wrote it"


def _kept(version: Components, answer: Answer, session: str, evidence: Evidence, request: Request) -> Answer:
    """Return the answer once it is written to the journal, and whether it is private.

    A failure becomes one of its notices.
    """
    if session and _is_private(version, session, request.reader):
        answer = replace(answer, is_private=True)
    history, used = version.history, {hit.chunk.document_id for hit in evidence.hits if not hit.chunk.is_outside}
    if not request.is_kept or not version.catalog.contains([*used]):  # removed meanwhile, perhaps erased
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


def _is_private(version: Components, session: str, reader: Reader) -> bool:
    """Return whether files are attached to a conversation, or were when its last answer was written, or before that."""
    if version.catalog.restricts(Reader().names) and attached_to(version.catalog, conversation_group(session)):
        return True
    last = version.history.conversations().turns(session, reader.who, most=1)
    responses = [version.history.responses().find(one.response_id, reader.who) for one in last]
    return any(one is None or one.is_private for one in responses)  # what is not known may be
