"""A search says in every interface that nothing matches well, or that a part of it was missing."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kb import add
from live import served
from running import Run

from ragstone.core.access import OWNER
from ragstone.core.errors import KnowledgeBaseError
from ragstone.core.hits import Hits
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.index.keyword.bm25 import TermIndex
from ragstone.serve.as_json import search_note
from ragstone.serve.cli.screen import write
from ragstone.serve.foreign import with_metadata
from ragstone.serve.mcp.tools import LocalBackend, SearchArguments
from ragstone.serve.mcp.tools import search as search_tool
from ragstone.serve.views import answers

TEXTS = ("The card costs five euros and is sent by mail.", "The library opens at nine and closes at six.")
NEAR, FAR = "How much does the card cost?", "Which enzyme unwinds the double helix of DNA?"


@pytest.fixture
def engine(workdir: Path) -> Iterator[KnowledgeBase]:
    with closing(KnowledgeBase.open(workdir / "kb", ["index.embedder=minilm"], create=True)) as engine:
        add(engine, *(Document(id=str(n), text=text) for n, text in enumerate(TEXTS)))
        yield engine


def found(engine: KnowledgeBase, question: str) -> Hits:
    return asyncio.run(engine.search(question, reader=OWNER))


@pytest.mark.parametrize(("question", "weak"), [(NEAR, False), (FAR, True)])
def test_hits_say_that_nothing_matches_well(engine: KnowledgeBase, question: str, weak: bool) -> None:
    for hits in (found(engine, question), found(engine, question)):  # the second from the cache
        assert hits
        assert {hit.is_weak for hit in hits} == {weak}
        assert bool(search_note(hits)) == weak
    assert search_note(Hits(hits=())) == ""


def written(hits: Hits) -> str:
    out = io.StringIO()
    write(answers.found(hits), out)
    return out.getvalue()


async def silent(_: str) -> None:
    """Report no progress."""


def test_every_interface_notes_a_weak_match(engine: KnowledgeBase) -> None:
    hits = found(engine, FAR)
    assert "nothing matches well" in written(hits)
    assert "nothing matches well" not in written(found(engine, NEAR))

    backend = LocalBackend(engine=engine, reader=OWNER)
    told = asyncio.run(search_tool(backend, SearchArguments(query=FAR, k=None, where=None), silent))
    assert told.note == search_note(hits)
    assert told.for_reading().startswith("Note: nothing matches well")


def test_every_interface_says_that_the_index_is_behind(
    engine: KnowledgeBase, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise KnowledgeBaseError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(TermIndex, "follow", full)
        with pytest.raises(KnowledgeBaseError):
            add(engine, Document(id="later", text="The mast is twelve metres tall."))
        told = "keyword search is not up to date: the disk is full"
        assert told in search_note(found(engine, NEAR))
        assert told in written(found(engine, NEAR))
        assert told in run("search", NEAR, "--kb", "kb").out
        assert told in run("search", NEAR, "--kb", "kb", "--json").json["note"]
        backend = LocalBackend(engine=engine, reader=OWNER)
        arguments = SearchArguments(query=NEAR, k=None, where=None)
        assert told in asyncio.run(search_tool(backend, arguments, silent)).note
        with served(engine) as live:
            assert told in live.http.post("/search", json={"query": NEAR}).json()["note"]
        assert {told in metadata["note"] for _, metadata in with_metadata(found(engine, NEAR))} == {True}
    assert not found(engine, NEAR).notices


def test_the_only_candidate_scores_its_similarity(workdir: Path) -> None:
    with closing(KnowledgeBase.open(workdir / "one", ["index.embedder=minilm"], create=True)) as engine:
        add(engine, Document(id="1", text=TEXTS[0]))
        (hit,) = found(engine, NEAR)
        assert hit.score == pytest.approx(next(step.score for step in hit.why if step.stage == "vector"))
        assert hit.score > 0.3
