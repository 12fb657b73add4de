"""Tools of other servers in a whole question: when they are asked, what they get, and who sees what they say."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from kb import FAST, READY, add
from test_research_planned import Planner, action, taken
from test_several_steps import ENGLISH, FEW, made
from test_several_steps import QUESTION as PEOPLE

from ragstone.core.access import OWNER, Reader
from ragstone.core.answers import Answer, Message
from ragstone.core.records import Document
from ragstone.core.research import Budget, ResearchEvent
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.leaving import destinations
from ragstone.settings.load import load
from servers.tool_server import KEY, ToolServer

QUESTION = "After how many kilometres does the brake cable of the Wren fray?"
STORED = "How many gears does the Wren have?"


@pytest.fixture(scope="module")
def server() -> Iterator[ToolServer]:
    with ToolServer() as running:
        yield running


def settings(server: ToolServer, *more: str) -> Sequence[str]:
    tool = {"url": server.url, "tool": "search_issues", "api_key": KEY, "about": "issues of the workshop"}
    return (*(f"query.tools.tickets.{name}={value}" for name, value in tool.items()), *more)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with closing(KnowledgeBase.open(tmp_path / "kb", (*FAST, READY), create=True)) as kb:
        add(
            kb,
            Document(id="wren", title="Wren", text="The Wren has eight gears. It is a bicycle for the city."),
            Document(id="hall", title="Hall", text="The town hall opens at nine."),
        )
    return tmp_path / "kb"


def ask(folder: Path, server: ToolServer, question: str, *more: str, reader: Reader = OWNER) -> Answer:
    with closing(KnowledgeBase.open(folder, (*FAST, READY, *settings(server, *more)))) as kb:
        return asyncio.run(kb.ask(question, reader=reader))


def test_a_tool_answers_what_the_documents_do_not(folder: Path, server: ToolServer) -> None:
    answer = ask(folder, server, QUESTION)
    assert "frays after 900 kilometres" in str(answer)
    (source,) = answer.sources
    assert (source.type, source.url) == ("tool", "https://tickets.example/WREN-204")
    assert source.title == "tickets: The brake cable of the Wren frays"
    assert any(one.startswith("The tool tickets was searched because the probability") for one in answer.notices)
    assert [(one.kind, one.what) for one in answer.sent] == [("tool tickets", "the question as typed")]
    assert answer.web_search_triggered is False


def test_a_tool_is_not_asked_what_the_documents_answer(folder: Path, server: ToolServer) -> None:
    asked = len(server.asked)
    assert "eight gears" in str(ask(folder, server, STORED, "query.web.threshold=0"))
    assert len(server.asked) == asked


def test_a_reader_outside_its_groups_gets_nothing_of_a_tool(folder: Path, server: ToolServer) -> None:
    asked = len(server.asked)
    answer = ask(folder, server, QUESTION, "query.tools.tickets.groups=[workshop]", reader=Reader.of("sales"))
    assert "900" not in str(answer)
    assert len(server.asked) == asked
    assert "900" in str(
        ask(folder, server, QUESTION, "query.tools.tickets.groups=[workshop]", reader=Reader.of("workshop"))
    )


def test_an_answer_from_a_tool_is_not_shown_in_a_shared_conversation(folder: Path, server: ToolServer) -> None:
    ann, bob = Reader.of("workshop", name="ann"), Reader.of("sales", name="bob")
    tool = settings(server, "query.tools.tickets.groups=[workshop]")
    with closing(KnowledgeBase.open(folder, (*FAST, READY, *tool))) as kb:
        asyncio.run(kb.ask(QUESTION, reader=ann, session="talk"))
        _, secret = kb.history.share("talk", reader=ann)
        (own,) = kb.history.turns("talk", reader=ann)
        (shown,) = kb.history.shared(secret, reader=bob)
    assert "900" in own.answer
    assert (shown.text, shown.hits) == (None, ())


def test_a_tool_that_is_away_loses_no_answer(folder: Path, server: ToolServer) -> None:
    answer = ask(folder, server, STORED, "query.tools.tickets.url=http://127.0.0.1:9/mcp", "query.web.threshold=1")
    assert "eight gears" in str(answer)
    assert any("The tool tickets was not searched: cannot be reached" in one for one in answer.notices)


def test_what_leaves_is_told(server: ToolServer) -> None:
    tools = [one for one in destinations(load(settings(server)).settings) if one.kind == "tool"]
    assert [(one.address, one.sent) for one in tools] == [
        (server.url, "the question as typed, if the documents may not answer it")
    ]
    (planned,) = (
        one
        for one in destinations(load(settings(server, "query.tools.tickets.words=planned")).settings)
        if one.kind == "tool"
    )
    assert "words that a language model chose" in planned.sent
    assert KEY not in repr(load(settings(server)).settings)


# ---------------------------------------------------------------- research


@pytest.fixture(scope="module")
def rivers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("tools") / "kb", ENGLISH)


def researched(folder: Path, server: ToolServer, *more: str) -> list[ResearchEvent]:
    model = ("respond.model.name=test_research_planned:Planner", "query.planned_steps=0", "query.web.threshold=0", FEW)
    with closing(KnowledgeBase.open(folder, [*settings(server, *model, *more), "cache.enabled=false"])) as kb:

        async def collected() -> list[ResearchEvent]:
            budget = Budget(actions=20, calls=8, tokens=40_000, seconds=60)
            return [one async for one in kb.research(PEOPLE, reader=OWNER, budget=budget, keep=False)]

        return asyncio.run(collected())


def test_a_model_asks_a_tool_with_its_own_words_if_it_may(rivers: Path, server: ToolServer) -> None:
    prompts, told = list[str](), list[str]()

    def plan(messages: Sequence[Message]) -> str:
        prompts.append(messages[0].content)
        key = json.loads(action(messages, "stop"))["key"]
        words = "brake cable of the Wren"
        told.append(words)
        if len(told) == 1:
            return json.dumps({"key": key, "action": "tool", "tool": "tickets", "text": words})
        return action(messages, "stop")

    Planner.plan = staticmethod(plan)
    events = researched(rivers, server, "query.tools.tickets.words=planned")
    assert (
        '"tool": "tickets", "text": "..."} asks a tool outside of the documents: issues of the workshop' in prompts[0]
    )
    assert server.asked[-1]["query"] == "brake cable of the Wren"
    (asked,) = (one for one in taken(events) if one.action.kind == "tool")
    assert str(asked.action) == "tool tickets: brake cable of the Wren"
    assert (asked.new, asked.titles) == (1, ("tickets: The brake cable of the Wren frays",))


def test_a_tool_for_questions_is_not_offered_to_a_model(rivers: Path, server: ToolServer) -> None:
    prompts, before = list[str](), len(server.asked)

    def plan(messages: Sequence[Message]) -> str:
        prompts.append(messages[0].content)
        key = json.loads(action(messages, "stop"))["key"]
        return json.dumps({"key": key, "action": "tool", "tool": "tickets", "text": "secret words of a passage"})

    Planner.plan = staticmethod(plan)
    events = researched(rivers, server)
    assert prompts
    assert "asks a tool" not in prompts[0]
    assert len(server.asked) == before
    assert any(one.note == "The model named no tool that there is." for one in taken(events))
