"""Replies to what needs no search, and questions back: which of them a turn of a conversation gets, if any."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from ragstone.core.answers import Draft, Turn
from ragstone.core.filters import Filter
from ragstone.core.question import Question, Talk
from ragstone.core.records import Evidence
from ragstone.core.request import Request
from ragstone.core.timing import Timings
from ragstone.engine.components import Components
from ragstone.engine.filters import unmatched
from ragstone.engine.overviews import Overviews
from ragstone.engine.replied import Replied
from ragstone.engine.search import Search
from ragstone.engine.talk import Talking
from ragstone.language import replies
from ragstone.question.talk import is_talk, language_named
from ragstone.question.talk.classifier import embedder_of, is_short, talk_by_meaning
from ragstone.respond.replies import asks_back, is_choice

OVERVIEWS = ("overview", "timeline", "comparison", "document", "summary")
"""Kinds of replies that a model may write from the quoted passages."""


class Replying:
    """Chooses the reply to a turn of a conversation with one version of a knowledge base."""

    def __init__(self, version: Components, search: Search) -> None:
        self._version, self._search = version, search
        self._talking = Talking(version, search)

    async def reply(
        self, question: Question, before: Sequence[Turn], where: Filter | None, request: Request, timings: Timings
    ) -> Replied | None:
        """Return the reply to a question that needs no search; None if it needs one."""
        if before and is_choice(question.asked, before[-1].answer):
            return None
        with timings.stage("understand"):
            talk = question.talk or await self._by_meaning(question, request)
        if talk is None or (before and (talk.kind == "unclear" or _goes_on(question, talk, before))):
            return None
        is_sure = question.talk is not None and (talk.kind != "help" or question.keyword_like)
        if not is_sure and await self._answered(question, talk, where, request, timings):
            return None
        question = replace(question, talk=talk, kind=talk.kind)
        replied = await self._reply(question, talk, before, where, request, timings)
        return self._planned(replied) if replied else None

    async def clarification(self, evidence: Evidence, before: Sequence[Turn], request: Request) -> Replied | None:
        """Return a question back, if few words fit several documents; None if a model answers, or it asked just now."""
        if self._version.models.chat() is not None or _asked_back(before):  # a model asks back itself
            return None
        return await self._talking.clarification(evidence, request)

    def unmatched(self, evidence: Evidence, where: Filter | None, request: Request) -> Replied | None:
        """Return the reply to a question whose filter matches no document; None if one does, or the web had some."""
        if evidence.hits or not unmatched(self._version, where, request):
            return None
        language = self._version.settings.respond.language_for(evidence.question.language)
        text = replies(language).unmatched
        return Replied(evidence=evidence, draft=Draft(text=text, citations=(), answerability=0.0, outcome="refusal"))

    async def _reply(
        self,
        question: Question,
        talk: Talk,
        before: Sequence[Turn],
        where: Filter | None,
        request: Request,
        timings: Timings,
    ) -> Replied | None:
        overviews = Overviews(self._version, self._search)
        if made := await overviews.reply(question, talk, where, request, timings):
            return made
        with timings.stage("catalog"):
            if talk.topic and talk.kind == "collection":
                return await self._talking.about(question, talk, where, request, timings)
            cited = ""
            if before and talk.kind in ("document", "summary") and not talk.title:
                cited = await overviews.spoken_of(before, where, request, timings)
            reply, may_ask = self._talking.reply, not _asked_back(before)
            return await asyncio.to_thread(reply, question, talk, where, request, may_ask=may_ask, cited=cited)

    async def _by_meaning(self, question: Question, request: Request) -> Talk | None:
        """Return the kind of a short question by its vector, if the classifier of the embedder is sure."""
        version = self._version
        if not is_short(question.asked) or not version.has_embedder:
            return None
        name = embedder_of(version.built.embedder)  # load no model only to learn that no classifier was fitted
        if not name:
            return None
        talk = talk_by_meaning(await version.vector_of(question.asked, request), name, question.language)
        if talk is None or talk.kind != "collection":
            return talk
        return replace(talk, written_in=language_named(question.asked, question.language))

    async def _answered(
        self, question: Question, talk: Talk, where: Filter | None, request: Request, timings: Timings
    ) -> bool:
        """Return whether the documents answer what may be talk: "How do I start?", "List the file formats".

        They must do so surely, but a passage that may answer is worth more than a list of all documents.
        """
        evidence = await self._search.evidence(question, where, self._version.settings.rank.top_k, request, timings)
        respond = self._version.settings.respond
        least = respond.closest_from if talk.kind == "collection" else respond.abstain_below
        return await self._version.models.answerer().answerability(evidence, request) >= least

    def _planned(self, replied: Replied) -> Replied:
        """Return a reply with what a model needs to write it, if it is an overview and there is a model."""
        writer = self._version.models.overviews()
        if writer is None or replied.evidence.question.kind not in OVERVIEWS or not replied.draft.statements:
            return replied
        planned = writer.plan(replied.evidence.question, replied.evidence.hits)
        notices = (*replied.evidence.notices, planned.notice(writer.model))
        return replace(replied, planned=planned, evidence=replace(replied.evidence, notices=notices))


def _goes_on(question: Question, talk: Talk, before: Sequence[Turn]) -> bool:
    """Return whether "How does it work?" refers to the previous topic and not to Ragstone."""
    return talk.kind == "help" and question.refers and not all(is_talk(turn.question) for turn in before)


def _asked_back(before: Sequence[Turn]) -> bool:
    """Return whether the last answer was a clarification; a second one never follows."""
    return bool(before) and asks_back(before[-1].answer)
