"""Research as one loop: a planner names an action, the action is done, the notebook grows, until the budget ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace

from ragstone.core.access import both
from ragstone.core.answers import Draft, EvidenceFound, Turn
from ragstone.core.errors import ResponseError, RetrievalError
from ragstone.core.filters import Filter, In
from ragstone.core.frozen import frozen
from ragstone.core.question import Question
from ragstone.core.records import Evidence, Hit
from ragstone.core.request import Deadline, Request
from ragstone.core.research import (
    Action,
    ActionTaken,
    Budget,
    Effort,
    Forecast,
    ItemList,
    Notebook,
    Researched,
    ResearchEvent,
)
from ragstone.core.timing import Timings, timed
from ragstone.engine.ask import Ask
from ragstone.engine.assembly import quoting, under
from ragstone.engine.cited import refuse_misquotes
from ragstone.engine.components import Components
from ragstone.engine.drafting import Drafting
from ragstone.engine.finding import Checked, Finding, merged
from ragstone.engine.keeping import finished, to_the_end, turns_before
from ragstone.engine.passages import with_passages
from ragstone.engine.replying import Replying
from ragstone.engine.research.actions import READ, Actions, plannable
from ragstone.engine.research.by_model import ModelPlanner, planning_prompt
from ragstone.engine.research.comparing import Comparing
from ragstone.engine.research.earlier import findings
from ragstone.engine.research.lists import Lists
from ragstone.engine.research.notes import Notes
from ragstone.engine.research.planning import Planner, RulePlanner
from ragstone.engine.research.sections import SECTIONS, Sections
from ragstone.engine.research.spending import PLANS, Spending
from ragstone.engine.search import Search
from ragstone.engine.steps import within
from ragstone.query.outside import Outside
from ragstone.query.where import describe
from ragstone.question import Context, read
from ragstone.question.wanted import WantedComparison, WantedDocuments, WantedRows, wanted_of
from ragstone.respond.drafts import replayed, together
from ragstone.respond.report import comparison_draft, list_draft, with_chain

EXPECTED = 8
"""Actions that a question of several steps takes by rules."""


@frozen
class _LaidOut:
    """A list or a comparison as a draft, with its evidence."""

    draft: Draft
    checked: Checked


@frozen
class _Begun:
    """The first search for a part of a question: what it found, and whether no passage alone has most of the part."""

    first: Checked
    notes: Notes
    new: list[Hit]
    needs_more: bool


class Research:
    """Answers questions with as many searches as they need, from one version of a knowledge base."""

    def __init__(self, version: Components) -> None:
        self._version, self._search = version, Search(version)
        self._finding = Finding(version, self._search)

    async def stream(
        self,
        text: str,
        where: Filter | str | None,
        request: Request,
        *,
        effort: Effort,
        budget: Budget,
        before: Sequence[Turn] = (),
        session: str = "",
        is_stopped: Callable[[], bool] | None = None,
        report: bool = False,
    ) -> AsyncGenerator[ResearchEvent]:
        """Yield the forecast, each action, the notebooks, and the events of the answer.

        Closing the generator stops all work. Once ``is_stopped`` returns true, no further action begins, and the answer
        is written from what was found so far. A ``report`` has a section for each document below the answer.

        Raises:
            UsageError: the question is blank, or the filter is malformed.
            RetrievalError: no leg of the first search could be run.
        """
        version, timings = self._version, Timings()
        request = replace(request, deadline=Deadline.after(budget.seconds))
        spending = Spending(version, budget, request, is_stopped)
        allowed = self._search.filter_of(text, where, request)
        if effort == "quick":
            async with aclosing(Ask(version).stream(text, where, request, before=before, session=session)) as events:
                async for event in events:
                    if isinstance(event, EvidenceFound):  # the first event
                        await spending.reserve([event.evidence], before)
                        yield spending.forecast(effort, actions=1, plans=0, parts=int(bool(event.evidence.hits)))
                    yield event
            return
        session, before = await turns_before(version, session, before, request)
        question = read(text, Context(before=before, entities=version.settings.query.entities))
        earlier = await asyncio.to_thread(findings, version, session, request) if session and before else []
        is_told = False
        async with aclosing(self._laid_out(question, earlier, effort, allowed, request, spending)) as events:
            async for event in events:
                if isinstance(event, _LaidOut):
                    yield await finished(version, event.checked, event.draft, request, timings, session)
                    return
                is_told = is_told or isinstance(event, Forecast)
                yield event
        if replied := await Replying(version, self._search).reply(question, before, allowed, request, timings):
            if not is_told:
                yield spending.forecast(effort, actions=1, plans=0, parts=int(replied.planned is not None))
            parts = Drafting(version).given(replied, request)
            checked_reply = Checked(evidence=replied.evidence)
            async with aclosing(to_the_end(version, checked_reply, parts, request, timings, session)) as events:
                async for event in events:
                    yield event
            return
        points = question.parts or (question,)
        begun = [await self._begun(point, before, allowed, request, timings) for point in points]
        open_ones = [one.notes for one in begun if one.needs_more]
        tools = plannable(version, request.reader)
        planning = planning_prompt(open_ones[0], tools) if open_ones else ()
        found = [one.first.evidence for one in begun]
        await spending.reserve(found, before, planning, sections=SECTIONS if report else 0)
        if not is_told:
            yield spending.forecast(
                effort,
                actions=sum(EXPECTED if one.needs_more else 1 for one in begun),
                plans=PLANS * len(open_ones),
                parts=len(points),
            )
        checked, notes = list[Checked](), list[Notes]()
        for place, (point, one) in enumerate(zip(points, begun, strict=True), start=1):
            first, own = one.first, one.notes
            yield own.note(Action(kind="search", text=own.question.wording.text), one.new)
            if earlier and allowed is None and (point.depends or point.refers or point.rewritten):
                yield own.note(Action(kind="read", text="what the last answer rests on"), own.add(earlier))
            planners = self._planners(spending, tools, asks_model=one.needs_more)
            actions = Actions(version, self._search, allowed, request)
            async with aclosing(_taken(own, planners, actions, request, spending, place / len(points))) as events:
                async for event in events:
                    yield event
            checked.append(await self._with_notes(first, own))
            notes.append(own)
        yield Researched(notebooks=tuple(one.notebook() for one in notes))
        drafting = Drafting(version if spending.may_write() else under(version, quoting(version.settings)))
        drafts = list[Draft]()
        for one, own in zip(checked, notes, strict=True):
            yield EvidenceFound(evidence=one.evidence)
            async with aclosing(timed(drafting.drafted(one, before, request), timings, "answer")) as parts:
                async for part in parts:
                    if not isinstance(part, Draft):
                        yield part
                        continue
                    drafts.append(part if report else self._with_chain(part, own, one))
            if report and drafts:
                drafts[-1] = await Sections(version, spending, request, before).added(drafts[-1], own, one)
        if len(drafts) < len(checked):
            raise ResponseError("the answerer ended without an answer")
        whole, evidence = drafts[0], checked[0]
        if len(drafts) > 1:
            whole = together([one.evidence.question.wording.typed for one in checked], drafts)
            evidence = _merged(question, checked)
        yield await finished(version, evidence, whole, request, timings, session)

    async def _begun(
        self, point: Question, before: Sequence[Turn], where: Filter | None, request: Request, timings: Timings
    ) -> _Begun:
        """Return what the first search finds for a part of a question."""
        first = await self._finding.found(point, before, where, request, timings)
        notes = Notes(self._version, first.evidence.question, request)
        new = notes.add((*first.evidence.hits, *first.evidence.further)[:READ])
        return _Begun(first=first, notes=notes, new=new, needs_more=bool(notes.needs_more() or notes.absent()))

    def _planners(self, spending: Spending, tools: Sequence[Outside], *, asks_model: bool) -> list[Planner]:
        """Return who plans, in order: the rules cost nothing, so a model plans only what they leave."""
        model = self._version.models.chat()
        if model is None or not asks_model:
            return [RulePlanner()]
        return [RulePlanner(), ModelPlanner(model, spending, tools)]

    async def _laid_out(
        self,
        question: Question,
        earlier: Sequence[Hit],
        effort: Effort,
        where: Filter | None,
        request: Request,
        spending: Spending,
    ) -> AsyncGenerator[ResearchEvent | _LaidOut]:
        """Yield the events of a list or a comparison, and last its draft; no draft if the question wants neither.

        A list may be of the documents of ``earlier`` passages: "Which of these mention batteries?".
        """
        worded, wanted = self._search.worded(question, request), wanted_of(question)
        language = self._version.settings.respond.language_for(worded.language)
        if isinstance(wanted, WantedRows | WantedDocuments) and wanted.of_these:
            where = both(where, In(key="id", values=tuple({one.chunk.document_id: one for one in earlier})))
            wanted = wanted if earlier else None
        lists = Lists(self._version, where, request)
        match wanted:
            case WantedRows() if fitting := await lists.rows(wanted.rows, worded):
                yield spending.forecast(effort, actions=1, plans=0, parts=0)
                for event in _of_list(worded, *fitting, language):
                    yield event
            case (WantedDocuments() as documents) | WantedRows(otherwise=WantedDocuments() as documents):
                yield spending.forecast(effort, actions=1, plans=0, parts=0)
                limits = await asyncio.to_thread(lists.limits, documents)
                filtered = (describe(limits.where),) if limits.where else ()
                for event in _of_list(worded, *await lists.listed(documents, limits), language, filtered):
                    yield event
            case WantedComparison():
                plans = int(self._version.models.chat() is not None and not wanted.aspects)
                cells = len(wanted.things) * (1 + (len(wanted.aspects) or EXPECTED))
                yield spending.forecast(effort, actions=cells, plans=plans, parts=0)
                comparing = Comparing(self._version, where, request, spending)
                async with aclosing(comparing.compared(wanted, worded)) as found:
                    async for event in found:
                        if isinstance(event, ActionTaken):
                            yield event
                        elif made := event.compared:
                            left = f"the budget ended before {made.unsearched} cells were searched for"
                            draft = comparison_draft(made, language)
                            for one in _told(event, draft, "comparison", (left,) if made.unsearched else ()):
                                yield one
            case _:
                pass

    async def _with_notes(self, checked: Checked, notes: Notes) -> Checked:
        """Return the evidence of the first search with the passages that belong together in front."""
        if len(notes.taken) < 2:
            return checked
        evidence, ranked = checked.evidence, notes.ranked()
        count = max(len(evidence.hits), len(notes.together()))
        hits, further = ranked[:count], ranked[count:]
        shown = {hit.chunk.id for hit in hits}
        evidence = replace(
            evidence,
            hits=tuple(hits),
            further=tuple(further),
            tables=tuple(hit for hit in evidence.tables if hit.chunk.id not in shown),
            steps=within(hits, (*evidence.steps, *notes.steps())),
        )
        return replace(checked, evidence=await asyncio.to_thread(with_passages, self._version, evidence))

    def _with_chain(self, draft: Draft, notes: Notes, checked: Checked) -> Draft:
        """Return an answer with the quotes that lead to it, if the question needs several passages."""
        if len(notes.taken) < 2 or not notes.needs_more():
            return draft
        language = self._version.settings.respond.language_for(checked.evidence.question.language)
        whole = with_chain(draft, notes.quotes(), language)
        refuse_misquotes(whole.citations, checked.evidence)
        return whole


def _of_list(
    question: Question, listed: ItemList, hits: Sequence[Hit], language: str, filtered: tuple[str, ...] = ()
) -> Iterator[ResearchEvent | _LaidOut]:
    """Yield the action that made a list, the events of its draft, and both together."""
    what = "rows" if listed.are_rows else "documents"
    taken = ActionTaken(
        action=Action(kind="list", text=listed.wanted),
        new=len(listed.items),
        titles=tuple(one.title for one in listed.items),
        note="; ".join((*filtered, f"{listed.examined} {what} examined")),
    )
    yield taken
    notebook = Notebook(question=question, hits=tuple(hits), taken=(taken,), items=listed)
    yield from _told(notebook, list_draft(listed, language), "list", filtered)


def _told(
    notebook: Notebook, draft: Draft, method: str, notices: tuple[str, ...] = ()
) -> Iterator[ResearchEvent | _LaidOut]:
    """Yield the notebook of a list or a comparison, the events of its draft, and both together."""
    yield Researched(notebooks=(notebook,))
    evidence = Evidence(question=notebook.question, hits=notebook.hits, method=method, notices=notices)
    yield EvidenceFound(evidence=evidence)
    yield from replayed(draft)
    yield _LaidOut(draft=draft, checked=Checked(evidence=evidence))


async def _taken(
    notes: Notes,
    planners: Sequence[Planner],
    actions: Actions,
    request: Request,
    spending: Spending,
    share: float,
) -> AsyncGenerator[ActionTaken]:
    """Yield the actions of some planners, one planner after the other, until the budget or its share ends."""
    for planner in planners:
        while spending.has_time(share):
            planned = await planner.next(notes, request)
            if planned.action.kind == "stop":
                if planned.by_model:
                    yield notes.note(planned.action, (), by_model=True, note=planned.note)
                break
            spending.actions += 1
            hits, note = list[Hit](), planned.note
            try:
                hits = await actions.take(planned.action, notes.hits, notes.question.wording.language)
            except RetrievalError as error:
                note = f"The search failed: {error}"
            yield notes.note(planned.action, notes.add(hits), by_model=planned.by_model, note=note)


def _merged(question: Question, checked: Sequence[Checked]) -> Checked:
    """Return the evidence of several questions as one, in their order, with all that their answers read."""
    every = [one.evidence for one in checked]
    hits = {hit.chunk.id: hit for one in every for hit in one.hits}
    others = {hit.chunk.id: hit for one in every for hit in (*one.tables, *one.versions, *one.further)}
    whole = replace(
        merged(question, every),
        hits=tuple(hits.values()),
        versions=tuple(hit for id, hit in others.items() if id not in hits),
        tables=(),
        further=(),
        rows=tuple(rows for one in every for rows in one.rows),
        passages=tuple(passage for one in every for passage in one.passages),
    )
    return Checked(evidence=whole, web_searched=any(one.web_searched for one in checked))
