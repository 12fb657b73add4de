"""Research with a language model that plans: what it may do, and what its wrong replies cost."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import closing
from functools import partial

import pytest
from pydantic import BaseModel
from scripted_model import ScriptedModel
from test_several_steps import ENGLISH, FEW, QUESTION, made

from ragstone.core.access import OWNER
from ragstone.core.answers import Answered, Message, Piece, Usage
from ragstone.core.errors import ModelError
from ragstone.core.request import Request
from ragstone.core.research import ACTIONS, ActionTaken, Budget, Effort, Forecast, ResearchEvent
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.research.sections import SECTIONS
from ragstone.engine.research.spending import WRITE_REPLY

Plan = Callable[[Sequence[Message]], str]
Costs = tuple[Forecast, Usage]
ANSWER = "412 people live in Tresk."
BUDGET = Budget(actions=20, calls=8, tokens=40_000, seconds=60)


class Planner:
    """A model of the settings: it plans as the test says, and writes the same answer each time."""

    name = "scripted:planner"
    plan: Plan

    def __init__(self, settings: object) -> None:  # noqa: ARG002 - as the settings call it
        self._model = ScriptedModel(_replied)

    def count(self, text: str) -> int:
        return self._model.count(text)

    async def stream(
        self, messages: Sequence[Message], request: Request, form: type[BaseModel] | None = None
    ) -> AsyncGenerator[Piece]:
        async for piece in self._model.stream(messages, request, form):
            yield piece


def _replied(messages: Sequence[Message]) -> str:
    if "Decide on one next action" not in messages[0].content:
        return ANSWER
    return Planner.plan(messages)


def key_of(messages: Sequence[Message]) -> str:
    return re.findall(r'"key": "(\w+)"', messages[0].content)[-1]


def action(messages: Sequence[Message], kind: str, text: str = "", document: object = 0) -> str:
    return json.dumps({"key": key_of(messages), "action": kind, "text": text, "document": document})


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    folder = made(tmp_path_factory.mktemp("planned") / "kb", ENGLISH)
    model = "respond.model.name=test_research_planned:Planner"
    with closing(KnowledgeBase.open(folder, [FEW, "cache.enabled=false", "query.planned_steps=0", model])) as opened:
        yield opened


def planned(kb: KnowledgeBase, plan: Plan, budget: Budget = BUDGET, question: str = QUESTION) -> list[ResearchEvent]:
    Planner.plan = staticmethod(plan)

    async def collected() -> list[ResearchEvent]:
        return [one async for one in kb.research(question, reader=OWNER, budget=budget, keep=False)]

    return asyncio.run(collected())


def taken(events: Sequence[ResearchEvent]) -> list[ActionTaken]:
    return [one for one in events if isinstance(one, ActionTaken)]


def answer(events: Sequence[ResearchEvent]) -> Answered:
    (last,) = (one for one in events if isinstance(one, Answered))
    return last


def test_a_model_plans_after_the_rules(kb: KnowledgeBase) -> None:
    replies = iter([("search", "river Aun"), ("read", "")])

    def plan(messages: Sequence[Message]) -> str:
        kind, text = next(replies, ("stop", ""))
        return action(messages, kind, text, 1 if kind == "read" else 0)

    events = planned(kb, plan)
    by_model = [str(one.action) for one in taken(events) if one.by_model]
    assert by_model[0] == "search: river Aun"
    assert by_model[-1] == "stop"
    rules = [one.by_model for one in taken(events)]
    assert rules == sorted(rules)
    assert answer(events).answer.model == Planner.name
    assert answer(events).answer.usage.model_calls == 4


def test_a_plain_question_is_not_planned(kb: KnowledgeBase) -> None:
    events = planned(kb, lambda messages: action(messages, "stop"), question="When was Orla Finch born?")
    assert not any(one.by_model for one in taken(events))


def test_two_wrong_replies_in_a_row_end_planning(kb: KnowledgeBase) -> None:
    events = planned(kb, lambda messages: "I think we should search for the river.")  # noqa: ARG005
    assert answer(events).answer.usage.model_calls == 3
    assert taken(events)[-1].note == "The model sent no action."


def test_a_wrong_reply_costs_one_call(kb: KnowledgeBase) -> None:
    calls = itertools.count()

    def plan(messages: Sequence[Message]) -> str:
        at = next(calls)
        return ["prose", action(messages, "search", "the mill"), "{", action(messages, "stop")][at]

    events = planned(kb, plan)
    assert [str(one.action) for one in taken(events) if one.by_model] == ["search: the mill", "stop"]
    assert answer(events).answer.usage.model_calls == 5


def test_the_calls_of_the_budget_are_kept(kb: KnowledgeBase) -> None:
    numbers = itertools.count()

    def plan(messages: Sequence[Message]) -> str:
        return action(messages, "search", f"village number {next(numbers)}")

    for calls in (0, 1, 2, 5):
        events = planned(kb, plan, Budget(actions=40, calls=calls, tokens=40_000, seconds=60))
        assert answer(events).answer.usage.model_calls <= calls
        assert answer(events).answer.answer


def test_without_tokens_the_documents_are_quoted(kb: KnowledgeBase) -> None:
    events = planned(kb, lambda messages: action(messages, "stop"), Budget(actions=9, calls=9, tokens=50, seconds=60))
    assert answer(events).answer.usage.model_calls == 0
    assert "412 people" in answer(events).answer.answer


def told_and_used(kb: KnowledgeBase, question: str, *, effort: Effort = "research", report: bool = False) -> Costs:
    """Return the forecast and the usage of a question whose planner asks for one more search."""
    kinds = itertools.chain(["search"], itertools.repeat("stop"))

    def plan(messages: Sequence[Message]) -> str:
        return action(messages, next(kinds), "village")

    Planner.plan = staticmethod(plan)

    async def collected() -> list[ResearchEvent]:
        asked = kb.research(question, reader=OWNER, effort=effort, report=report, keep=False)
        return [one async for one in asked]

    events = asyncio.run(collected())
    assert isinstance(events[0], Forecast)
    return events[0], answer(events).answer.usage


def used_tokens(usage: Usage) -> int:
    return usage.prompt_tokens + usage.completion_tokens


def test_the_forecast_is_near_the_cost(kb: KnowledgeBase) -> None:
    told, used = told_and_used(kb, QUESTION)
    assert told.calls == used.model_calls == 3
    assert told.tokens == pytest.approx(used_tokens(used), rel=0.3)


def test_the_forecast_of_a_quick_answer_counts_its_passages(kb: KnowledgeBase) -> None:
    told, used = told_and_used(kb, QUESTION, effort="quick")
    assert told.calls == used.model_calls == 1
    assert used.prompt_tokens < told.tokens < used.prompt_tokens + 2 * WRITE_REPLY


def test_the_forecast_plans_only_parts_that_need_it(kb: KnowledgeBase) -> None:
    told, _ = told_and_used(kb, "When was Orla Finch born? Which river does Tresk lie by?")
    assert told.calls == 2


def test_the_forecast_of_a_report_counts_its_sections(kb: KnowledgeBase) -> None:
    plain, _ = told_and_used(kb, QUESTION)
    told, used = told_and_used(kb, QUESTION, report=True)
    assert told.calls == plain.calls + SECTIONS
    assert told.calls == pytest.approx(used.model_calls, abs=1)
    assert told.tokens == pytest.approx(used_tokens(used) + SECTIONS * WRITE_REPLY, rel=0.3)


@pytest.mark.parametrize("effort", ["quick", "research"])
def test_a_greeting_is_told_to_cost_nothing(kb: KnowledgeBase, effort: Effort) -> None:
    told, used = told_and_used(kb, "Hello", effort=effort)
    assert told.calls == used.model_calls == 0
    assert told.tokens == 0


# ---------------------------------------------------------------- replies of every wrong kind


def said(text: str, messages: Sequence[Message]) -> str:
    del messages
    return text


def decided(kind: object, text: object, document: object, messages: Sequence[Message]) -> str:
    return json.dumps({"key": key_of(messages), "action": kind, "text": text, "document": document})


def cut_off(length: int, messages: Sequence[Message]) -> str:
    return action(messages, "search", "river Aun")[:length]


def after(junk: str, quotes: str, messages: Sequence[Message]) -> str:
    return junk + action(messages, "search", "river Aun").replace('"', quotes)


def with_another_key(messages: Sequence[Message]) -> str:
    return action(messages, "search", "river Aun").replace(key_of(messages), "k000000000000")


def repeated(messages: Sequence[Message]) -> str:
    return action(messages, "search", "river Aun") * 400


def nested(messages: Sequence[Message]) -> str:
    return "[" * 5000 + action(messages, "stop")


def wrong_replies() -> list[Plan]:
    """About 200 replies that are no action, or a wrong one."""
    texts = ["", " ", "\n\n", "null", "[]", "{}", "[1, 2]", "true", "stop", "I do not know.", "```json\n```", "{" * 50]
    texts += ["}" * 50, '{"action":', '{"action": "search"', "<think>search</think>", "\\", '"', "\x00\x01", "🙂" * 20]
    kinds: tuple[object, ...] = (*ACTIONS, "answer", "delete", "SEARCH", "", "search()", None, 7, ["search"], {"a": 1})
    words: tuple[object, ...] = ("", " \n", "village", "x" * 5000, "\u202e", None, 3, ["a"], QUESTION)
    documents: tuple[object, ...] = (-1, 0, 10**12, "two", None, 1.5, ["a"], {"a": 1})
    junk = ("Sure! ", "```json\n", "<tool_call>", "Answer: 412\n", '{"a": 1}\n')
    return [
        *(partial(said, text) for text in texts),
        *(partial(decided, kind, text, 99) for kind, text in itertools.product(kinds, words)),
        *(partial(decided, kind, "river", document) for kind in ("read", "document") for document in documents),
        *(partial(cut_off, length) for length in range(4, 60, 4)),
        *(partial(after, one, quotes) for one in junk for quotes in ('"', "")),
        with_another_key,
        repeated,
        nested,
    ]


WRONG = wrong_replies()


def _failing(_: Sequence[Message]) -> str:
    raise ModelError("scripted:planner refuses")


def test_there_are_200_kinds_of_replies() -> None:
    assert 180 <= len(WRONG) <= 300


@pytest.mark.parametrize("start", range(0, len(WRONG), 20))
def test_every_reply_ends_in_budget_with_an_answer(kb: KnowledgeBase, start: int) -> None:
    for number, plan in enumerate(WRONG[start : start + 20], start=start):
        events = planned(kb, plan)
        used = answer(events).answer.usage
        assert used.model_calls <= BUDGET.calls, number
        assert len(taken(events)) <= BUDGET.actions + 2, number
        assert "412" in answer(events).answer.answer, number


def test_an_endless_loop_ends(kb: KnowledgeBase) -> None:
    events = planned(kb, lambda messages: action(messages, "search", "river Aun"))
    assert sum(one.by_model for one in taken(events)) == 2
    assert taken(events)[-1].note == "The model repeated an action."


def test_a_model_that_fails_ends_planning(kb: KnowledgeBase) -> None:
    events = planned(kb, _failing)
    assert "refuses" in taken(events)[-1].note
    assert "412" in answer(events).answer.answer


@pytest.mark.parametrize("calls", [1, 20])
def test_the_model_writes_sections_while_the_budget_lasts(kb: KnowledgeBase, calls: int) -> None:
    Planner.plan = staticmethod(partial(action, kind="stop"))
    budget = Budget(actions=4, calls=calls, tokens=90_000, seconds=60)

    async def collected() -> list[ResearchEvent]:
        return [one async for one in kb.research(QUESTION, reader=OWNER, budget=budget, report=True, keep=False)]

    answer = next(one.answer for one in asyncio.run(collected()) if isinstance(one, Answered))
    _, *sections = answer.answer.split("\n\n## ")
    assert len(sections) > 1
    written = [one for one in sections if ANSWER.removesuffix(".") in one]
    assert bool(written) == (calls > 1)
    assert answer.usage.model_calls <= calls
