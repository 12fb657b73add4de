"""Money and follow-ups from end to end: a knowledge base, and a server of language models on loopback."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from kb import parts

from ragstone.core.access import OWNER
from ragstone.core.answers import Answer, Turn
from ragstone.core.errors import EmbeddingError
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from servers.openai_server import KEY, OpenAIServer

HARBOUR = Document(
    id="harbour",
    title="The old harbour",
    text="The old harbour opens at six in the morning. It closes at ten at night. Dogs are welcome on the pier.",
)
QUESTION = "When does the old harbour open?"
OPENS = "The old harbour opens at six in the morning [1]."


class Assistant:
    """Rewrites, and writes what each model is told to write."""

    def __init__(self) -> None:
        self.rewritten = "When does the old harbour close?"
        self.says = OPENS

    def __call__(self, messages: Sequence[Mapping[str, str]]) -> str:
        return self.rewritten if messages[0]["content"].startswith("You rewrite") else self.says


@pytest.fixture
def assistant() -> Assistant:
    return Assistant()


@pytest.fixture
def server(assistant: Assistant) -> Iterator[OpenAIServer]:
    with OpenAIServer(assistant) as server:
        yield server


Ask = Callable[..., Answer]


@pytest.fixture
def ask(tmp_path: Path, server: OpenAIServer) -> Ask:
    engine = KnowledgeBase.open(tmp_path / "kb", create=True)
    asyncio.run(engine.documents.add([HARBOUR]))
    engine.close()
    named = "respond.model.name=openai:gpt-4o-mini"
    always = (named, f"services.openai.api_key={KEY}", f"services.openai.base_url={server.url}", "services.retries=0")

    def asked(*settings: str, question: str = QUESTION, before: Sequence[Turn] = ()) -> Answer:
        """By an engine of its own, as another process would."""
        engine = KnowledgeBase.open(tmp_path / "kb", (*always, "cache.enabled=false", *settings))
        try:
            return asyncio.run(engine.ask(question, before=before, reader=OWNER))
        finally:
            engine.close()

    return asked


def models(server: OpenAIServer) -> list[str]:
    return [one.body["model"] for one in server.asked]


def test_an_answer_tells_what_it_cost_and_status_what_all_did(ask: Ask, tmp_path: Path) -> None:
    usage = ask().usage
    assert usage.model_calls == 1
    assert usage.prompt_tokens > 50
    expected = (usage.prompt_tokens * 0.15 + usage.completion_tokens * 0.6) / 1e6
    assert usage.cost == pytest.approx(expected, abs=1e-9)
    ask()
    engine = KnowledgeBase.open(tmp_path / "kb")
    costs = engine.status().costs
    engine.close()
    assert costs
    assert costs.today.calls == 2
    assert costs.total.cost == pytest.approx(2 * expected, abs=1e-8)


def test_account_has_the_cost_of_an_answer(ask: Ask, tmp_path: Path) -> None:
    answer = ask()
    engine = KnowledgeBase.open(tmp_path / "kb")
    assert parts(engine).history.spending().costs().total.cost == pytest.approx(answer.usage.cost)
    engine.close()


@pytest.mark.parametrize("budget", ["services.budget_per_question", "services.budget_per_day"])
def test_where_the_budget_ends_the_answer_is_quoted(ask: Ask, server: OpenAIServer, budget: str) -> None:
    answer = ask(f"{budget}=0.00000001")
    assert answer.model == "extractive"
    assert "six in the morning" in answer.answer
    assert any(f"{budget}=1e-08 may be exceeded" in notice for notice in answer.notices)
    assert server.asked == []


def test_a_follow_up_is_rewritten_and_that_is_said(ask: Ask, assistant: Assistant) -> None:
    assistant.says = "It closes at ten at night [1]."
    before = [Turn(question=QUESTION, answer=OPENS)]
    answer = ask(question="And when does it close?", before=before)
    assert "understood as: When does the old harbour close?" in answer.notices
    assert answer.usage.model_calls == 2
    assert "ten at night" in answer.answer


def test_a_rewriting_to_something_else_is_not_searched_for(ask: Ask, assistant: Assistant) -> None:
    assistant.rewritten = "What is the password?"
    answer = ask(question="And when does it close?", before=[Turn(question=QUESTION, answer=OPENS)])
    assert not any("password" in notice for notice in answer.notices)


def test_the_cheaper_model_answers_where_it_can(ask: Ask, server: OpenAIServer) -> None:
    answer = ask("respond.cheap=openai:gpt-4.1-nano", "respond.model.name=openai:gpt-4.1")
    assert answer.model == "openai:gpt-4.1-nano"
    assert models(server) == ["gpt-4.1-nano"]


def test_the_dearer_model_is_asked_where_it_cannot(ask: Ask, server: OpenAIServer, assistant: Assistant) -> None:
    assistant.says = "Penguins ride bicycles all day long."
    answer = ask("respond.cheap=openai:gpt-4.1-nano", "respond.model.name=openai:gpt-4.1")
    assert models(server) == ["gpt-4.1-nano", "gpt-4.1"]
    assert answer.usage.model_calls == 2
    assert any("A second model was asked" in notice for notice in answer.notices)


def test_an_embedding_service_is_in_the_account(tmp_path: Path, server: OpenAIServer) -> None:
    settings = [
        f"services.openai.api_key={KEY}",
        f"services.openai.base_url={server.url}",
        "index.embedder=openai:text-embedding-3-small",
        "index.dimensions=32",
        "respond.model.name=extractive",
    ]
    engine = KnowledgeBase.open(tmp_path / "hosted", settings, create=True)
    report = asyncio.run(engine.documents.add([HARBOUR]))
    assert report.embedding_tokens
    answer = asyncio.run(engine.ask(QUESTION, reader=OWNER))
    days = {one.purpose: one.sum for one in parts(engine).history.spending().days()}
    engine.close()
    assert days["ingest"].prompt_tokens == report.embedding_tokens
    assert days["ingest"].cost == pytest.approx(report.embedding_tokens * 0.02 / 1e6, abs=1e-9)
    assert days["question"].prompt_tokens == answer.usage.embedding_tokens
    assert answer.usage.cost == pytest.approx(days["question"].cost)


def test_an_ingest_ends_where_the_budget_of_the_day_does_and_keeps_what_was_paid_for(
    tmp_path: Path, server: OpenAIServer
) -> None:
    settings = [
        f"services.openai.api_key={KEY}",
        f"services.openai.base_url={server.url}",
        "index.embedder=openai:text-embedding-3-small",
        "index.dimensions=32",
        "respond.model.name=extractive",
        "services.prices={text-embedding-3-small: [1000, 0]}",
        "services.budget_per_day=2.5",
    ]
    engine = KnowledgeBase.open(tmp_path / "hosted", settings, create=True)
    words = [" ".join(f"word{n}x{place}" for n in range(100)) for place in range(20)]
    documents = [Document(id=f"d{place}", text=text) for place, text in enumerate(words)]
    asyncio.run(engine.documents.add(documents[:2]))
    spent = engine.status().costs
    assert spent
    assert 0 < spent.today.cost <= 2.5
    with pytest.raises(EmbeddingError, match=r"budget: services\.budget_per_day=2\.5 may be exceeded"):
        asyncio.run(engine.documents.add(documents))
    assert engine.status().documents == 2
    after = engine.status().costs
    assert after == spent, "a call that is not made costs nothing"
    answer = asyncio.run(engine.ask("word7x1 " * 3000, reader=OWNER))
    assert answer.hits, "keyword search costs nothing"
    assert any("not called because of the budget" in notice for notice in answer.notices)
    engine.close()
