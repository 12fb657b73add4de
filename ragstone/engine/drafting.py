"""The draft of an answer, with the place of every citation: from the answerer, the cache, or a ready reply."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TypeVar

from ragstone.core.answers import Citation, Draft, SentenceClosed, TextWritten, Turn
from ragstone.core.records import TOOL, WEB, Evidence
from ragstone.core.request import Request
from ragstone.engine.cited import Outlines, placed, refuse_misquotes
from ragstone.engine.components import Components
from ragstone.engine.finding import Checked, Several
from ragstone.engine.following import follow_keywords
from ragstone.engine.replied import Replied
from ragstone.respond.drafts import abstained, replayed, says_more, together
from ragstone.review.confidence import FULL
from ragstone.review.heuristic import NAME as STAND_IN
from ragstone.review.judge import PARTIAL

Part = TypeVar("Part", bound=TextWritten | SentenceClosed | Draft)


class Drafting:
    """Drafts answers in one version of a knowledge base, and refuses quotes that the documents do not have."""

    def __init__(self, version: Components) -> None:
        self._version = version

    async def given(self, replied: Replied, request: Request) -> AsyncGenerator[TextWritten | SentenceClosed | Draft]:
        """Yield a reply as an answerer would."""
        evidence, outlines = replied.evidence, Outlines(self._version.catalog)
        writer = self._version.models.overviews() if replied.planned else None
        if writer and replied.planned:
            async with aclosing(writer.stream(replied.planned, evidence, replied.draft, request)) as parts:
                async for part in parts:
                    yield await self._located(part, evidence, outlines)
            return
        draft = await self._located(replied.draft, evidence, outlines)
        for event in replayed(draft):
            yield event
        yield draft

    async def drafted(
        self, checked: Checked, before: Sequence[Turn], request: Request
    ) -> AsyncGenerator[TextWritten | SentenceClosed | Draft]:
        """Yield the answer to the evidence, from the cache if the same was answered since the last commit."""
        evidence, adequacy, results = checked.evidence, checked.adequacy, self._version.results()
        if adequacy and adequacy.judge != STAND_IN and adequacy.confidence < PARTIAL:
            verdict = f"{adequacy.judge} rates the evidence {adequacy.confidence:g} of 10: {adequacy.reasoning}"
            refusal = abstained(evidence, adequacy.confidence / FULL, self._version.settings.respond)
            yield replace(refusal, notices=(verdict,))
            return
        key = results.answer_key(evidence, before, request)
        if draft := results.draft(key, request):
            for event in replayed(draft):
                yield event
            yield draft
            return
        if "search" in request.meter.cached and await follow_keywords(self._version):
            key = None  # words are weighed by an index that is behind
        outlines = Outlines(self._version.catalog)
        async with aclosing(self._version.models.answerer().stream(evidence, request, before)) as parts:
            async for part in parts:
                part = await self._located(part, evidence, outlines)
                if isinstance(part, Draft) and not part.degraded:
                    results.keep_draft(key, part)
                yield part

    async def each(
        self, several: Several, before: Sequence[Turn], request: Request
    ) -> AsyncGenerator[TextWritten | SentenceClosed | Draft]:
        """Yield the answers to the questions of a message, numbered, and then all of them as one draft.

        The answer to the message as one question stands for those that have less of it, and for those without a sure
        answer that lean on the others.
        """
        drafts = [await self._finished(one, before, request) for one in several.each]
        as_one = await self._finished(several.as_one, before, request)
        lean = [one.evidence.question.depends for one in several.each]
        drafts = [
            as_one if says_more(as_one, one) and (leans or not one.abstained) else one
            for one, leans in zip(drafts, lean, strict=True)
        ]
        whole = together([one.evidence.question.wording.typed for one in several.each], drafts)
        for event in replayed(whole):
            yield event
        yield whole

    async def _finished(self, checked: Checked, before: Sequence[Turn], request: Request) -> Draft:
        """Return the answer to the evidence, for callers that do not need its events."""
        async with aclosing(self.drafted(checked, before, request)) as events:
            drafts = [event async for event in events if isinstance(event, Draft)]
        return drafts[-1]

    async def _located(self, part: Part, evidence: Evidence, outlines: Outlines) -> Part:
        """Return a part of an answer with the places of its citations, after comparing their words."""
        if isinstance(part, TextWritten):
            return part
        refuse_misquotes(part.citations, evidence)
        return replace(part, citations=await asyncio.to_thread(self._placed, part.citations, outlines))

    def _placed(self, citations: Sequence[Citation], outlines: Outlines) -> tuple[Citation, ...]:
        """Return citations with the section and page of their own words; a chunk has those of its beginning.

        Args:
            citations: of an answer, or of one sentence.
            outlines: documents read for the same answer; those read now are added.
        """
        return tuple(
            placed(one, None if one.chunk_id.startswith((WEB, TOOL)) else outlines.of(one.document_id))
            for one in citations
        )
