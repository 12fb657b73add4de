"""A question from end to end with a language model, a judge and the web, each behind its real protocol on loopback."""

import asyncio
import gc
import json
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from ragstone.core.access import OWNER
from ragstone.core.answers import Answer, Answered, Event, EvidenceFound, SentenceClosed, TextWritten, Turn
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.opening import Opening, open_versions
from ragstone.language import phrases
from servers.exa_server import KEY as EXA_KEY
from servers.exa_server import ExaServer
from servers.openai_server import KEY, Fault, OpenAIServer

HARBOUR = Document(
    id="harbour",
    title="The old harbour",
    text="The old harbour opens at six in the morning. It closes at ten at night. Dogs are welcome on the pier.",
)
QUESTION = "When does the old harbour open?"
CLOSING = "When does it close at night?"
Messages = Sequence[Mapping[str, str]]


class Assistant:
    """A model that repeats the first source, and a judge that gives the marks it is told to give."""

    def __init__(self) -> None:
        self.adequacy, self.needs_web = 9.0, False

    def __call__(self, messages: Messages) -> str:
        system, asked = messages[0]["content"], messages[-1]["content"]
        if not system.startswith("You check") and not system.startswith("You mark"):
            source = asked.rpartition("--- source")[2].partition("\n--- end")[0]
            return f"{source.splitlines()[-1].partition('. ')[0].rstrip('.')} [1]."
        marks = {"key": re.findall(r'"key" being "(\w+)"', asked)[-1]}
        if system.startswith("You check"):
            marks |= {"confidence": self.adequacy, "reasoning": "as told", "needs_web_search": self.needs_web}
        else:
            marks |= {"relevance": 9, "factuality": 8, "completeness": 7, "feedback": "more"}
        return json.dumps(marks)


@pytest.fixture
def assistant() -> Assistant:
    return Assistant()


@pytest.fixture
def server(assistant: Assistant) -> Iterator[OpenAIServer]:
    with OpenAIServer(assistant) as server:
        yield server


@pytest.fixture
def exa() -> Iterator[ExaServer]:
    with ExaServer() as server:
        yield server


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    engine = KnowledgeBase.open(tmp_path / "kb", create=True)
    asyncio.run(engine.documents.add([HARBOUR]))
    engine.close()
    return tmp_path / "kb"


def asked(server: OpenAIServer, *more: str) -> list[str]:
    return [
        "respond.model.name=openai:gpt-4o-mini",
        f"services.openai.api_key={KEY}",
        f"services.openai.base_url={server.url}",
        "services.retries=0",
        *more,
    ]


def events(kb: Path, overrides: Sequence[str], question: str = QUESTION, before: Sequence[Turn] = ()) -> list[Event]:
    async def all_of_them() -> list[Event]:
        engine = KnowledgeBase.open(kb, overrides)
        try:
            async with aclosing(engine.stream(question, before=before, reader=OWNER)) as stream:
                return [event async for event in stream]
        finally:
            engine.close()

    return asyncio.run(all_of_them())


def test_a_model_writes_and_the_documents_prove(kb: Path, server: OpenAIServer):
    found = events(kb, asked(server))
    assert isinstance(found[0], EvidenceFound)
    assert isinstance(found[-1], Answered)
    answer = found[-1].answer
    assert answer.answer == "The old harbour opens at six in the morning. [1]"
    assert answer.model == "openai:gpt-4o-mini"
    assert answer.citations[0].quote == HARBOUR.text[answer.citations[0].start : answer.citations[0].end]
    closed = [event for event in found if isinstance(event, SentenceClosed)]
    assert closed[0].citations == answer.citations
    assert "".join(event.text for event in found if isinstance(event, TextWritten)).strip() == closed[0].text


def test_what_was_written_is_not_written_again(kb: Path, server: OpenAIServer):
    first, again = (events(kb, asked(server))[-1] for _ in range(2))
    assert isinstance(first, Answered)
    assert isinstance(again, Answered)
    assert len(server.asked) == 1
    assert "answer" in again.answer.usage.cached
    assert (again.answer.answer, again.answer.citations) == (first.answer.answer, first.answer.citations)
    events(kb, asked(server), before=[Turn(question="Hello?", answer="Good day.")])
    assert len(server.asked) == 2  # the conversation is part of what was asked


def test_a_model_that_is_down_leaves_a_quoted_answer_which_is_not_kept(kb: Path, server: OpenAIServer):
    server.faults.append(Fault(kind="status", status=500))
    answer = events(kb, asked(server))[-1].answer  # pyright: ignore
    assert answer.model == "extractive"
    assert "six in the morning" in answer.answer
    assert any("the language model failed" in notice for notice in answer.notices)
    assert events(kb, asked(server))[-1].answer.model == "openai:gpt-4o-mini"  # pyright: ignore


def test_a_judge_marks_the_answer(kb: Path, server: OpenAIServer):
    answer = events(kb, asked(server, "review.judge=model"))[-1].answer  # pyright: ignore
    assert (answer.judge_scores.relevance, answer.judge_scores.judge) == (9.0, "openai:gpt-4o-mini")
    assert 0 < answer.confidence < 1
    assert answer.web_search_triggered is False


def test_evidence_that_a_model_judges_irrelevant_is_not_answered_from(
    kb: Path, server: OpenAIServer, assistant: Assistant
):
    assistant.adequacy = 1.0
    answer = events(kb, asked(server, "review.judge=model", "respond.language=de"))[-1].answer  # pyright: ignore
    assert answer.abstained
    assert phrases("de").closest in answer.answer
    assert "openai:gpt-4o-mini rates the evidence 1 of 10: as told" in answer.notices


def test_a_judge_that_is_down_is_told_of_and_the_answer_stands(kb: Path, server: OpenAIServer):
    server.faults.extend([Fault(kind="status", status=503)])
    answer = events(kb, asked(server, "review.judge=model"))[-1].answer  # pyright: ignore
    assert not answer.abstained
    assert any("was not judged" in notice for notice in answer.notices)


def test_services_that_are_slow_one_after_the_other_share_the_deadline_of_the_question(kb: Path, server: OpenAIServer):
    server.faults.extend([Fault(kind="slow", seconds=30)] * 9)
    slow = ["review.judge=model", "services.deadline_seconds=1.5", "services.retries=0"]
    started = time.monotonic()
    answer = events(kb, asked(server, *slow))[-1].answer  # pyright: ignore
    assert time.monotonic() - started < 2 * 1.5 + 1  # and that of a busy machine
    assert not answer.abstained
    assert sum("took longer than services.deadline_seconds=1.5" in notice for notice in answer.notices) >= 2


def test_the_web_is_searched_where_the_judge_asks_for_it_and_cited_as_such(
    kb: Path, server: OpenAIServer, assistant: Assistant, exa: ExaServer
):
    assistant.needs_web = True
    web = [
        "query.web.engine=exa",
        f"services.exa.api_key={EXA_KEY}",
        f"services.exa.base_url={exa.url}",
        "review.judge=model",
        "query.web.characters=200",
    ]
    answer = events(kb, asked(server, *web), "Is the island closed in winter?")[-1].answer  # pyright: ignore
    assert answer.web_search_triggered
    assert answer.answer == "The island is closed in winter. [Web Source 1]"
    assert [source.type for source in answer.sources] == ["web"]
    told = "The web was searched because the probability that the documents answer is only"
    assert any(notice.startswith(told) for notice in answer.notices)
    assert answer.sources[0].url == "https://news.example/island"
    engine = KnowledgeBase.open(kb)
    assert engine.status().documents == 1  # nothing of it was stored
    engine.close()
    for file in kb.glob("cache.db*"):
        assert b"Island closed" not in file.read_bytes()  # the title of the page, which the answer does not repeat


def test_the_web_is_left_alone_where_the_documents_answer(kb: Path, exa: ExaServer):
    web = ["query.web.engine=exa", f"services.exa.api_key={EXA_KEY}", f"services.exa.base_url={exa.url}"]
    answer = events(kb, web)[-1].answer  # pyright: ignore
    assert not answer.web_search_triggered
    assert exa.asked == []


ISLAND = "Is the island closed in winter?"


@pytest.mark.parametrize("is_written", [False, True])
@pytest.mark.parametrize(
    ("question", "searched", "told"),
    [
        (f"{QUESTION} {CLOSING}", [], ("six in the morning", "ten at night")),
        (f"{QUESTION} {ISLAND}", [ISLAND], ("six in the morning", "closed in winter")),
        (f"{ISLAND} {QUESTION}", [ISLAND], ("six in the morning", "closed in winter")),
    ],
)
def test_the_web_is_searched_for_the_parts_that_the_documents_do_not_answer(
    kb: Path, exa: ExaServer, is_written: bool, question: str, searched: list[str], told: Sequence[str]
):
    web = ["query.web.engine=exa", f"services.exa.api_key={EXA_KEY}", f"services.exa.base_url={exa.url}"]
    with OpenAIServer(from_all_sources) as model:
        answer = events(kb, asked(model, *web) if is_written else web, question)[-1].answer  # pyright: ignore
    assert [one.body["query"] for one in exa.asked] == searched
    assert answer.web_search_triggered == bool(searched)
    assert any(notice.startswith("The web was searched because") for notice in answer.notices) == bool(searched)
    assert (answer.outcome, answer.model != "extractive") == ("answer", is_written)
    assert all(words in answer.answer for words in told)
    cited = {one.document_id.partition(":")[0]: one.quote for one in answer.citations}
    assert cited.keys() == ({"harbour", "web"} if searched else {"harbour"})
    assert "closed in winter" in cited.get("web", "closed in winter")


def from_all_sources(messages: Messages) -> str:
    """Repeat, as a model, what the sources say of the harbour and of the island."""
    known = (
        "The old harbour opens at six in the morning",
        "It closes at ten at night",
        "The island is closed in winter",
    )
    sources = messages[-1]["content"].split("--- source ")[1:]
    labels = {words: re.findall(r"\[.+?\]", one)[0] for one in sources for words in known if words in one}
    return " ".join(f"{words} {label}." for words, label in labels.items())


@pytest.mark.parametrize("is_written", [False, True])
def test_a_judge_rates_the_evidence_of_every_part(
    server: OpenAIServer, kb: Path, assistant: Assistant, is_written: bool
):
    assistant.adequacy = 1.0
    quoting = [] if is_written else ["review.judge_model=openai:gpt-4o-mini", "respond.model.name=extractive"]
    settings = asked(server, "review.judge=model", *quoting)
    answer = events(kb, settings, f"{QUESTION} {ISLAND}")[-1].answer  # pyright: ignore
    assert answer.abstained
    assert "openai:gpt-4o-mini rates the evidence 1 of 10: as told" in answer.notices


def test_a_conversation_is_kept_and_leaned_on_in_another_process(kb: Path):
    def ask(question: str) -> Answer:
        engine = KnowledgeBase.open(kb)
        try:
            return asyncio.run(engine.ask(question, session="mine", reader=OWNER))
        finally:
            engine.close()

    ask(QUESTION)
    assert "understood as: When does the old harbour open? And when?" in ask("And when?").notices
    engine = KnowledgeBase.open(kb)
    assert [(one.name, one.turns) for one in engine.history.conversations(reader=OWNER)] == [("mine", 2)]
    assert engine.history.forget("mine", reader=OWNER) == 2
    assert engine.history.conversations(reader=OWNER) == []
    engine.close()


async def _close(stream: AsyncGenerator[Event]) -> None:
    await stream.aclose()


async def _cancel(stream: AsyncGenerator[Event]) -> None:
    task = asyncio.create_task(anext(stream))  # pyright: ignore
    await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await stream.aclose()


async def _drop(stream: AsyncGenerator[Event]) -> None:
    del stream


@pytest.mark.parametrize("end", [_close, _cancel, _drop])
def test_a_stream_that_ends_anywhere_leaves_nothing_behind(
    kb: Path, server: OpenAIServer, end: Callable[[AsyncGenerator[Event]], Awaitable[None]]
):
    server.pause = 0.005

    async def all_ends() -> None:
        settings = asked(server, "review.judge=model", "cache.enabled=false")
        versions = open_versions(kb, Opening(overrides=settings), create=False, as_built=False)
        engine = KnowledgeBase(versions)
        count, own = 0, asyncio.all_tasks()
        try:
            whole = [event async for event in engine.stream(QUESTION, reader=OWNER)]
            # Every fourth place, others with the other way of judging.
            for stop in range(1, len(whole), 4):
                stream, seen = engine.stream(QUESTION, reader=OWNER), 0
                while seen < stop:
                    await anext(stream)
                    seen += 1
                await end(stream)
                del stream
                gc.collect()
                for _ in range(100):  # what is collected is closed by a task of its own
                    await asyncio.sleep(0.01)
                    if asyncio.all_tasks() == own and versions.in_use == 0:
                        break
                assert asyncio.all_tasks() == own
                assert versions.in_use == 0
                count += 1
            assert (await engine.ask(QUESTION, reader=OWNER)).model == "openai:gpt-4o-mini"
        finally:
            engine.close()
        assert count > 1

    asyncio.run(all_ends())


def test_two_streams_of_one_task_do_not_mix(kb: Path, server: OpenAIServer):
    async def both() -> list[Answer]:
        engine = KnowledgeBase.open(kb, asked(server, "cache.enabled=false"))
        try:
            streams = [
                engine.stream(question, reader=OWNER) for question in (QUESTION, "When does the old harbour close?")
            ]
            answers: dict[int, Answer] = {}
            while len(answers) < 2:
                for number, stream in enumerate(streams):
                    event = await anext(stream, None)
                    if isinstance(event, Answered):
                        answers[number] = event.answer
            for stream in streams:
                await stream.aclose()
            return [answers[0], answers[1]]
        finally:
            engine.close()

    first, second = asyncio.run(both())
    assert (first.question, second.question) == (QUESTION, "When does the old harbour close?")
    assert first.usage.model_calls == second.usage.model_calls == 1
    assert first.response_id != second.response_id
