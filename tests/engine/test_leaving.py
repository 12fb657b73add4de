"""What leaves the machine: told before, told after, and no word that nobody typed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from kb import FAST, READY, add

from ragstone.core.access import OWNER, Reader
from ragstone.core.answers import Answered
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.leaving import destinations
from ragstone.serve.view import View
from ragstone.settings.load import load
from servers.openai_server import KEY, OpenAIServer
from servers.searxng_server import SearxngServer

DOCUMENTS = [
    Document(id="mast", title="Mast", text="The mast of the flagship is twenty metres tall."),
    Document(id="sail", title="Sail", text="The sail of the flagship is sewn by Ada Lovelace in Plymouth."),
]
MISSPELT, RESPELT = "flagshipp", "flagship?"
QUESTION = f"How tall is the mast of the {MISSPELT}?"


def settings(model: OpenAIServer, web: SearxngServer) -> Sequence[str]:
    return (
        *FAST,
        READY,
        "respond.model.name=openai:a-model",
        f"services.openai.base_url={model.url}",
        f"services.openai.api_key={KEY}",
        f"services.searxng.base_url={web.url}",
        "services.retries=0",
        "query.web.engine=searxng",
        "query.web.threshold=1",
        "query.planned_steps=2",
        "rank.reranker=model",
        "review.judge=model",
    )


@pytest.mark.usefixtures("workdir")
def test_services_get_the_question_as_typed(tmp_path: Path) -> None:
    with OpenAIServer() as model, SearxngServer() as web:
        with closing(KnowledgeBase.open(tmp_path / "kb", settings(model, web), create=True)) as engine:
            add(engine, *DOCUMENTS)
            evidence = asyncio.run(engine.trace(QUESTION, reader=OWNER)).evidence
            assert RESPELT in evidence.question.wording.text
            answer = asyncio.run(engine.ask(QUESTION, reader=OWNER))
        chats = [json.dumps(one.body) for one in model.asked if "chat" in one.path]
        searches = [one.fields["q"] for one in web.asked]
    assert searches
    assert len(chats) >= 3
    for sent in (*chats, *searches):
        assert MISSPELT in sent
        assert RESPELT not in sent
    kinds = [one.kind for one in answer.sent]
    assert kinds.count("web search SearXNG") == len(searches)
    assert {one.address for one in answer.sent} == {model.url, web.url}
    assert answer.to_dict()["sent"][0]["what"]
    shown = View(reader=Reader.of("staff")).event(Answered(answer=answer))
    assert isinstance(shown, Answered)
    assert shown.answer.sent == ()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((), {}),
        (("index.embedder=sentence-transformers:all", "respond.model.name=gguf:model.gguf"), {}),
        (("index.embedder=openai:e",), {"embedding service": "https://api.openai.com/v1"}),
        (("respond.model.name=openai:m",), {"language model": "https://api.openai.com/v1"}),
        (("respond.model.name=own.models:Model",), {"language model": "wherever own.models:Model sends it"}),
        (("index.vectors=own.store:build",), {"search engine or database": "wherever own.store:build sends it"}),
        (("rank.reranker=own.reranker:Words",), {"reranker": "wherever own.reranker:Words sends it"}),
        (
            ("query.web.engine=exa", "services.exa.api_key=k"),
            {"web search": "https://api.exa.ai"},
        ),
        (
            ("index.keywords=postgres", "services.postgres.dsn=postgresql://ann:secret@db.example:5433/kb"),
            {"search engine or database": "postgresql://db.example:5433"},
        ),
    ],
)
def test_tells_where_settings_send_what(given: Sequence[str], told: dict[str, str]) -> None:
    assert {one.kind: one.address for one in destinations(load(given).settings)} == told
