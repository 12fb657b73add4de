"""From a question to an answer, as one stream of events; every interface renders that stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from ragstone.core.answers import Answered, Draft, Event, EvidenceFound, Turn
from ragstone.core.errors import ResponseError
from ragstone.core.filters import Filter
from ragstone.core.request import Request
from ragstone.core.timing import Timings, timed
from ragstone.engine.components import Components
from ragstone.engine.drafting import Drafting
from ragstone.engine.finding import Checked, Finding, Several
from ragstone.engine.keeping import answer_of, judged, kept
from ragstone.engine.replying import Replying
from ragstone.engine.search import Search
from ragstone.question import Context, read


class Ask:
    """Answers questions from one version of a knowledge base."""

    def __init__(self, version: Components) -> None:
        self._version, self._search = version, Search(version)
        self._replying, self._drafting = Replying(version, self._search), Drafting(version)
        self._finding = Finding(version, self._search)

    async def stream(
        self,
        text: str,
        where: Filter | str | None,
        request: Request,
        *,
        before: Sequence[Turn] = (),
        session: str = "",
    ) -> AsyncGenerator[Event]:
        """Yield the evidence, the answer while it is written and checked, and finally the whole answer.

        Closing the generator stops all work, including a language model.
        """
        version, timings = self._version, Timings()
        if session:  # the journal may be busy, so it is read in a thread
            session = request.reader.session(session)
            turns = version.history.conversations().before
            before = (*await asyncio.to_thread(turns, session, version.count_tokens), *before)
        allowed = self._search.filter_of(text, where, request)
        with timings.stage("understand"):
            question = read(text, Context(before=before, entities=version.settings.query.entities))
        several: Several | None = None
        replied = await self._replying.reply(question, before, allowed, request, timings)
        if replied:
            checked = Checked(evidence=replied.evidence)
        elif question.parts:
            several = await self._finding.of_parts(question, before, allowed, request, timings)
            checked = several.together
            replied = self._replying.unmatched(checked.evidence, allowed, request)
        else:
            checked = await self._finding.found(question, before, allowed, request, timings)
            replied = self._replying.unmatched(checked.evidence, allowed, request)
            replied = replied or await self._replying.clarification(checked.evidence, before, request)
        yield EvidenceFound(evidence=checked.evidence)
        draft: Draft | None = None
        if replied:
            events = self._drafting.given(replied, request)
        elif several and version.models.chat() is None:  # a model answers them in one reply
            events = self._drafting.each(several, before, request)
        else:
            events = self._drafting.drafted(checked, before, request)
        async with aclosing(timed(events, timings, "answer")) as parts:
            async for part in parts:
                if isinstance(part, Draft):
                    draft = part
                else:
                    yield part
        if draft is None:
            raise ResponseError("the answerer ended without an answer")
        draft, scores = await judged(version, checked.evidence, draft, request, timings)
        answer = answer_of(version, checked, draft, scores, request, timings)
        degraded = bool(checked.evidence.missing) or draft.degraded
        if request.meter.purpose == "question":
            version.history.statistics().note_answer(answer, degraded=degraded, cached=version.settings.cache.enabled)
        answer = await asyncio.to_thread(kept, version, answer, session, checked.evidence, request)
        yield Answered(answer=answer, stages=timings.stages())
