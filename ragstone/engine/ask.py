"""From a question to an answer, as one stream of events; every interface renders that stream."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from ragstone.core.answers import Event, Turn
from ragstone.core.filters import Filter
from ragstone.core.request import Request
from ragstone.core.timing import Timings
from ragstone.engine.components import Components
from ragstone.engine.drafting import Drafting
from ragstone.engine.finding import Checked, Finding, Several
from ragstone.engine.keeping import to_the_end, turns_before
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
        session, before = await turns_before(version, session, before, request)
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
        if replied:
            events = self._drafting.given(replied, request)
        elif several and version.models.chat() is None:  # a model answers them in one reply
            events = self._drafting.each(several, before, request)
        else:
            events = self._drafting.drafted(checked, before, request)
        async with aclosing(to_the_end(version, checked, events, request, timings, session)) as told:
            async for event in told:
                yield event
