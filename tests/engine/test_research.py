"""Research without a language model: what it does, what it costs, and that it ends and can be stopped."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import pytest
from test_several_steps import ENGLISH, FEW, QUESTION, STRANGER, made

from ragstone.core.access import OWNER, Reader
from ragstone.core.answers import Answered, EvidenceFound, Failed
from ragstone.core.errors import UsageError
from ragstone.core.research import ActionTaken, Budget, Effort, Forecast, Researched, ResearchEvent
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.serve.as_report import html_of, markdown_of

E = TypeVar("E")
SMALL = Budget(actions=3, calls=0, tokens=0, seconds=60)


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    folder = made(tmp_path_factory.mktemp("research") / "kb", ENGLISH, hidden="Tresk")
    opened = KnowledgeBase.open(folder, [FEW, "cache.enabled=false"])
    yield opened
    opened.close()


def researched(
    kb: KnowledgeBase,
    question: str,
    effort: Effort = "research",
    budget: Budget | None = None,
    reader: Reader = OWNER,
) -> list[ResearchEvent]:
    async def collected() -> list[ResearchEvent]:
        return [e async for e in kb.research(question, reader=reader, effort=effort, budget=budget)]

    return asyncio.run(collected())


def of(kind: type[E], events: Sequence[object]) -> list[E]:
    return [one for one in events if isinstance(one, kind)]


def test_events_come_in_order(kb: KnowledgeBase) -> None:
    events = researched(kb, QUESTION)
    order = (Forecast, ActionTaken, Researched, EvidenceFound, Answered)
    places = [order.index(type(one)) for one in events if isinstance(one, order)]
    assert places == sorted(places)
    assert {0, 1, 2, 3, 4} == set(places)


def test_listeners_hear_how_it_ends(kb: KnowledgeBase) -> None:
    heard = list[Answered | Failed]()
    remove = kb.subscribe(heard.append)
    try:
        (answered,) = of(Answered, researched(kb, QUESTION))
        with pytest.raises(UsageError):
            researched(kb, " ")
    finally:
        remove()
    assert heard[0] is answered
    assert isinstance(heard[1], Failed)
    assert len(heard) == 2


def test_names_lead_to_the_answer(kb: KnowledgeBase) -> None:
    events = researched(kb, QUESTION)
    (answered,), (notes,) = of(Answered, events), of(Researched, events)
    assert {"Orla Finch", "Tresk"} <= {hit.chunk.title for hit in notes.notebooks[0].hits}
    quotes = {one.title: one.quote for one in answered.answer.citations}
    assert "Tresk" in quotes["Orla Finch"]
    assert "412 people" in quotes["Tresk"]


def test_quotes_are_exact(kb: KnowledgeBase) -> None:
    (answered,) = of(Answered, researched(kb, QUESTION))
    for one in answered.answer.citations:
        assert kb.documents.get(one.document_id, reader=OWNER).text[one.start : one.end] == one.quote
        assert f"[{one.marker}]" in answered.answer.answer


def test_no_action_is_repeated(kb: KnowledgeBase) -> None:
    actions = [str(one.action).casefold() for one in of(ActionTaken, researched(kb, QUESTION))]
    assert len(actions) == len(set(actions)) > 1


def test_a_plain_question_is_searched_once(kb: KnowledgeBase) -> None:
    events = researched(kb, "When was Orla Finch born?")
    assert len(of(ActionTaken, events)) == 1
    assert of(Forecast, events)[0].actions == 1


def test_quick_is_a_plain_question(kb: KnowledgeBase) -> None:
    events = researched(kb, QUESTION, "quick")
    (answered,) = of(Answered, events)
    assert not of(ActionTaken, events)
    assert answered.answer.answer == asyncio.run(kb.ask(QUESTION, reader=OWNER)).answer


def test_the_budget_of_actions_is_kept(kb: KnowledgeBase) -> None:
    events = researched(kb, QUESTION, budget=SMALL)
    assert len(of(ActionTaken, events)) <= 1 + SMALL.actions
    assert of(Answered, events)


def test_time_that_is_up_ends_actions(kb: KnowledgeBase) -> None:
    events = researched(kb, QUESTION, budget=Budget(actions=40, calls=0, tokens=0, seconds=1e-6))
    assert len(of(ActionTaken, events)) == 1
    assert of(Answered, events)


def test_a_stop_ends_with_what_stands(kb: KnowledgeBase) -> None:
    stop = threading.Event()

    async def stopped() -> list[ResearchEvent]:
        events = list[ResearchEvent]()
        async for event in kb.research(QUESTION, reader=OWNER, is_stopped=stop.is_set):
            events.append(event)
            if isinstance(event, ActionTaken):
                stop.set()
        return events

    events = asyncio.run(stopped())
    assert len(of(ActionTaken, events)) == 1
    assert of(Answered, events)[0].answer.answer


def test_shows_nothing_of_hidden_documents(kb: KnowledgeBase) -> None:
    events = researched(kb, QUESTION, reader=STRANGER)
    (answered,), (notes,) = of(Answered, events), of(Researched, events)
    assert all(hit.chunk.title != "Tresk" for hit in notes.notebooks[0].hits)
    assert "412" not in answered.answer.answer
    assert all("Tresk" not in one.titles for one in of(ActionTaken, events))


def test_each_of_several_questions_is_researched(kb: KnowledgeBase) -> None:
    events = researched(kb, "When was Orla Finch born? How many people live in Tresk?")
    (answered,), (notes,) = of(Answered, events), of(Researched, events)
    assert len(notes.notebooks) == 2
    assert "1961" in answered.answer.answer
    assert "412" in answered.answer.answer


def test_an_overview_needs_no_research(kb: KnowledgeBase) -> None:
    events = researched(kb, "How many documents do you have?")
    assert not of(ActionTaken, events)
    assert of(Answered, events)[0].answer.outcome == "reply"


def test_refuses_a_blank_question(kb: KnowledgeBase) -> None:
    with pytest.raises(UsageError, match="empty"):
        researched(kb, " ")


def test_a_report_has_a_section_for_each_document(kb: KnowledgeBase) -> None:
    async def reported() -> Answered:
        events = [one async for one in kb.research(QUESTION, reader=OWNER, report=True)]
        return of(Answered, events)[0]

    answer = asyncio.run(reported()).answer
    headings = [line.removeprefix("## ") for line in answer.answer.split("\n") if line.startswith("## ")]
    titles = {one.title for one in answer.citations}
    assert len(headings) > 1
    assert set(headings) <= titles
    for one in answer.statements:
        assert answer.answer[one.start : one.end].endswith(f"[{one.markers[0]}]")
    shown = markdown_of(answer)
    assert shown.count("\n| ") == 2 + len(answer.citations) - 1
    page = html_of(replace(answer, question="Why <script>alert(1)</script> [x](https://evil.example)?"))
    assert "<script" not in page
    assert "href" not in page
    assert page.count("<td>") == 4 * len(answer.citations)
