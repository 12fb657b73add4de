"""A search that finds nothing like the question says so, in every interface."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kb import add

from ragstone.core.access import OWNER
from ragstone.core.records import Document, Hit
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.serve.as_json import search_note
from ragstone.serve.cli.screen import write
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


def found(engine: KnowledgeBase, question: str) -> list[Hit]:
    return asyncio.run(engine.search(question, reader=OWNER))


@pytest.mark.parametrize(("question", "weak"), [(NEAR, False), (FAR, True)])
def test_hits_say_that_nothing_matches_well(engine: KnowledgeBase, question: str, weak: bool) -> None:
    for hits in (found(engine, question), found(engine, question)):  # the second from the cache
        assert hits
        assert {hit.is_weak for hit in hits} == {weak}
        assert bool(search_note(hits)) == weak
    assert search_note([]) == ""


def written(hits: list[Hit]) -> str:
    out = io.StringIO()
    write(answers.found(hits), out)
    return out.getvalue()


def test_every_interface_notes_a_weak_match(engine: KnowledgeBase) -> None:
    hits = found(engine, FAR)
    assert "nothing matches well" in written(hits)
    assert "nothing matches well" not in written(found(engine, NEAR))

    async def nothing(_: str) -> None:
        return None

    backend = LocalBackend(engine=engine, reader=OWNER)
    told = asyncio.run(search_tool(backend, SearchArguments(query=FAR, k=None, where=None), nothing))
    assert told.note == search_note(hits)
    assert told.for_reading().startswith("Note: nothing matches well")


def test_the_only_candidate_scores_its_similarity(workdir: Path) -> None:
    with closing(KnowledgeBase.open(workdir / "one", ["index.embedder=minilm"], create=True)) as engine:
        add(engine, Document(id="1", text=TEXTS[0]))
        (hit,) = found(engine, NEAR)
        assert hit.score == pytest.approx(next(step.score for step in hit.why if step.stage == "vector"))
        assert hit.score > 0.3
