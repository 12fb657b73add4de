"""What is paid for is paid once: full batches, kept vectors and kept replies, over a server on loopback."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.access import OWNER
from ragstone.core.answers import Answer
from ragstone.core.errors import EmbeddingError, SettingsError
from ragstone.core.records import Document
from ragstone.core.reports import AddReport
from ragstone.engine.caching import Level
from ragstone.engine.knowledge_base import KnowledgeBase
from servers.openai_server import KEY, Fault, OpenAIServer

QUESTION = "When does the old harbour open?"
HARBOUR = Document(id="harbour", title="Harbour", text="The old harbour opens at six in the morning. Dogs are welcome.")
OTHER = Document(id="other", title="Bread", text="Bakers knead dough before sunrise.")
Messages = Sequence[Mapping[str, str]]


def reply(messages: Messages) -> str:
    """Judge if asked to, with the key of the prompt, and else answer."""
    key = re.search(r'"key": "(k[0-9a-f]+)"', messages[0]["content"])
    if key is None:
        return "The old harbour opens at six in the morning [1]."
    marks = {"key": key[1], "confidence": 9, "reasoning": "it does", "needs_web_search": False}
    return json.dumps(marks | {"relevance": 9, "factuality": 9, "completeness": 9, "feedback": "none"})


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(reply) as server:
        yield server


@pytest.fixture
def opened(tmp_path: Path, server: OpenAIServer) -> Callable[..., Any]:
    always = (
        "index.embedder=openai:a-model",
        f"services.openai.api_key={KEY}",
        f"services.openai.base_url={server.url}",
        "services.retries=0",
        "index.batch_size=10",
        "chunk.size=60",
        "chunk.overlap=0",
    )

    @contextmanager
    def opened(*settings: str) -> Generator[KnowledgeBase]:
        """Open it as another process would."""
        with closing(KnowledgeBase.open(tmp_path / "kb", (*always, *settings), create=True)) as kb:
            yield kb

    return opened


def add(kb: KnowledgeBase, *documents: Document) -> AddReport:
    return asyncio.run(kb.documents.add(documents))


def ask(kb: KnowledgeBase, question: str = QUESTION) -> Answer:
    return asyncio.run(kb.ask(question, reader=OWNER))


def sizes(server: OpenAIServer) -> list[int]:
    return [len(one.body["input"]) for one in server.asked if "input" in one.body]


def several(count: int) -> list[Document]:
    """Documents of three chunks each, at least."""
    return [Document(id=f"d{n}", text="\n\n".join(f"w{n}x{part} " * 8 for part in range(3))) for n in range(count)]


def chats(server: OpenAIServer) -> int:
    return sum("messages" in one.body for one in server.asked)


# ---------------------------------------------------------------- embeddings


def test_every_request_but_the_last_is_full(opened: Callable[..., Any], server: OpenAIServer) -> None:
    with opened() as kb:
        report = add(kb, *several(31))
        assert (report.added, report.chunks, report.embedded, report.cached) == (31, 93, 93, 0)
        assert sizes(server) == [10] * 9 + [3]
        assert len(asyncio.run(kb.search("document 30", 5, reader=OWNER))) == 5
        assert kb.status().documents == 31


def test_a_batch_may_be_larger_than_a_commit(opened: Callable[..., Any], server: OpenAIServer) -> None:
    with opened("index.batch_size=500") as kb:
        chunks = add(kb, *several(200)).chunks
    assert sizes(server) == [500, chunks - 500]


def test_an_ingest_that_fails_pays_only_for_what_is_left(opened: Callable[..., Any], server: OpenAIServer) -> None:
    server.draw = lambda _: Fault(kind="status", status=500) if len(server.asked) == 5 else None
    with opened() as kb:
        with pytest.raises(EmbeddingError):
            add(kb, *several(31))
        server.asked.clear()
        server.draw = lambda _: None
        report = add(kb, *several(31))
        assert kb.status().documents == 31
    assert sum(sizes(server)) == report.embedded == 93 - 40


def test_a_text_removed_and_added_again_costs_nothing(opened: Callable[..., Any], server: OpenAIServer) -> None:
    with opened() as kb:
        add(kb, *several(4))
        kb.documents.remove(["d1", "d2"], reader=OWNER)
    server.asked.clear()
    with opened() as kb:
        report = add(kb, *several(4))
        assert (report.added, report.embedded, report.cached, report.embedding_calls) == (2, 0, 6, 0)
    assert server.asked == []


def test_case_and_blanks_make_no_other_text(opened: Callable[..., Any]) -> None:
    with opened() as kb:
        add(kb, HARBOUR)
        first = ask(kb)
        again = ask(kb, "  when does  the OLD harbour open?")
        assert (first.usage.embedding_calls, again.usage.embedding_calls) == (1, 0)
        other = ask(kb, "When does the new harbour open?")
        assert other.usage.embedding_calls == 1
        kb.history.clear_cache("embedding")
        assert ask(kb, "When does the OLD harbour open?").usage.embedding_calls == 1


def test_another_model_is_asked_anew(opened: Callable[..., Any], server: OpenAIServer) -> None:
    with opened() as kb:
        add(kb, HARBOUR)
    server.asked.clear()
    with opened() as kb:
        asyncio.run(kb.versions.rebuild(["index.embedder=openai:b-model"]))
    assert {one.body["model"] for one in server.asked} == {"b-model"}
    assert sizes(server) == [2]


def test_the_dimensions_are_asked_for_once(opened: Callable[..., Any], server: OpenAIServer) -> None:
    with opened() as kb:
        add(kb, HARBOUR)
    assert sizes(server) == [2]
    with opened("respond.model.name=extractive") as kb:
        assert ask(kb).citations
    assert sizes(server) == [2, 1], "only the question"
    server.dimensions = 16
    with (
        opened("respond.model.name=extractive") as kb,
        pytest.raises(EmbeddingError, match="16 dimensions, but 32 before"),
    ):
        add(kb, OTHER)


# ---------------------------------------------------------------- responses


WRITES = ("respond.model.name=openai:gpt-4o-mini", "review.judge=model")


def test_an_unrelated_document_makes_no_response_stale(opened: Callable[..., Any], server: OpenAIServer) -> None:
    with opened(*WRITES, "query.method=bm25") as kb:
        add(kb, HARBOUR)
        first = ask(kb)
        assert chats(server) == 3, "the judge of the evidence, the answer, and the judge of the answer"
        add(kb, OTHER)
    with opened(*WRITES, "query.method=bm25") as kb:
        again = ask(kb)
        assert chats(server) == 3
        assert again.usage.cached == ("response",) * 3
        assert (again.answer, again.judge_scores) == (first.answer, first.judge_scores)
        assert (again.usage.model_calls, again.usage.cost) == (0, 0)


@pytest.mark.parametrize(
    "change",
    [
        "respond.model.temperature=0.9",
        "respond.model.name=openai:gpt-4.1",
        "respond.language=de",
        "respond.metadata=false",
    ],
)
def test_settings_of_the_response_make_it_stale(opened: Callable[..., Any], server: OpenAIServer, change: str) -> None:
    told = Document(id="harbour", title="Harbour", text=HARBOUR.text, metadata={"author": "Ada"})
    prompt = ("respond.prompt=knowledge-base", "query.method=bm25")
    with opened(*WRITES[:1], *prompt) as kb:
        add(kb, told)
        ask(kb)
    with opened(*WRITES[:1], *prompt, change) as kb:
        ask(kb)
    assert chats(server) == 2


def test_other_evidence_makes_a_response_stale(opened: Callable[..., Any], server: OpenAIServer) -> None:
    with opened(*WRITES[:1], "query.method=bm25") as kb:
        add(kb, HARBOUR)
        ask(kb)
        add(kb, Document(id="harbour", title="Harbour", text="The old harbour opens at seven. Dogs are welcome."))
        ask(kb)
    assert chats(server) == 2


def test_a_refusal_is_kept_too(opened: Callable[..., Any], server: OpenAIServer) -> None:
    server.reply = lambda _: "NO ANSWER"
    with opened(*WRITES[:1], "query.method=bm25") as kb:
        add(kb, HARBOUR)
        assert ask(kb).abstained
        add(kb, OTHER)
        again = ask(kb)
        assert (again.abstained, again.usage.cached) == (True, ("response",))
    assert chats(server) == 1


def test_a_malformed_reply_is_not_kept(opened: Callable[..., Any], server: OpenAIServer) -> None:
    server.reply = lambda messages: "nonsense" if "passages can answer" in messages[0]["content"] else reply(messages)
    with opened(*WRITES, "query.method=bm25") as kb:
        add(kb, HARBOUR)
        assert any("was not judged" in notice for notice in ask(kb).notices)
        server.reply = reply
        add(kb, OTHER)
        assert not any("was not judged" in notice for notice in ask(kb).notices)


@pytest.mark.parametrize(
    ("level", "cached"),
    [("embedding", ("search", "answer")), ("response", ("search", "answer")), ("query", ("response",))],
)
def test_a_level_is_cleared_alone(
    opened: Callable[..., Any], server: OpenAIServer, level: Level, cached: tuple[str, ...]
) -> None:
    with opened(*WRITES[:1], "query.method=bm25") as kb:
        add(kb, HARBOUR)
        ask(kb)
        kb.history.clear_cache(level)
        entries = {one.level: 0 for one in kb.status().cache}
        for one in kb.status().cache:
            entries[one.level] += one.entries
        assert entries.pop(level) == 0
        assert all(entries[other] for other in entries)
        assert ask(kb).usage.cached == cached
    assert chats(server) == 1


# ---------------------------------------------------------------- keys that come and go


def test_a_key_that_is_gone_is_told_with_the_rebuild(tmp_path: Path, opened: Callable[..., Any]) -> None:
    with opened() as kb:
        add(kb, HARBOUR)
    with closing(KnowledgeBase.open(tmp_path / "kb")) as kb:
        with pytest.raises(SettingsError, match=r"built with openai:a-model; .* run: ragstone rebuild --kb \S+ --set"):
            ask(kb)
        asyncio.run(kb.versions.rebuild(["index.embedder=auto"]))
        assert ask(kb).citations
