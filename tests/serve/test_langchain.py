"""LangChain: its own tests of retrievers on ours, and documents both ways."""

from __future__ import annotations

import asyncio
import json
import sys
import types
from collections.abc import Iterator
from dataclasses import asdict
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kb import FAST
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document as Theirs

from ragstone import Ragstone
from ragstone.core.access import Reader
from ragstone.core.records import Document, Mark
from ragstone.serve.langchain import RagstoneRetriever, cited, from_langchain, to_langchain

ROOMS = [
    Document(
        id=f"docs/{number}.md",
        text=f"# Rooms\n\nRoom {number} is called Marie Curie. It has {number} seats.",
        title=f"Room {number}",
        url=f"https://example.org/{number}",
        metadata={"floor": number % 3, "tags": ("quiet", "large"), "score": "a fact of this name"},
    )
    for number in range(7, 12)
]
QUERY = "Which room is called Marie Curie?"


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[Ragstone]:
    kb = Ragstone(tmp_path / "kb", settings=[*FAST, "rank.diversify=none"])
    kb.add(*ROOMS, Document(id="secret.md", text="Room 99 is called Marie Curie.", metadata={"readers": ("board",)}))
    yield kb
    kb.close()


# ---------------------------------------------------------------- langchain-tests


@pytest.fixture
def theirs(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> type:
    """LangChain's own tests of a retriever, from their file alone: the package wants plugins that we do without."""
    folder = data_dir / "peer_suites" / "langchain_tests" / "langchain_tests"
    if not folder.is_dir():
        pytest.skip(f"the tests of langchain-tests are not at {folder}")
    package = types.ModuleType("langchain_tests")
    package.__path__ = [str(folder)]
    monkeypatch.setitem(sys.modules, "langchain_tests", package)
    spec = spec_from_file_location("langchain_tests.retrievers", folder / "integration_tests" / "retrievers.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.delitem(sys.modules, "langchain_tests.base")
    return module.RetrieversIntegrationTests


def test_the_tests_of_langchain_pass(theirs: Any, kb: Ragstone) -> None:
    class Ours(theirs):
        retriever_constructor = RagstoneRetriever
        retriever_constructor_params = {"kb": kb}  # noqa: RUF012
        retriever_query_example = QUERY

    suite: Any = Ours()
    retriever = RagstoneRetriever(kb=kb)
    names = [name for name in dir(theirs) if name.startswith("test_")]
    assert len(names) >= 4
    for name in names:
        method = getattr(suite, name)
        if name == "test_no_overrides_DO_NOT_OVERRIDE" or name == "test_k_constructor_param":
            method()
        else:
            result = method(retriever)
            if asyncio.iscoroutine(result):
                asyncio.run(result)


# ---------------------------------------------------------------- the retriever


def test_hits_carry_their_place(kb: Ragstone) -> None:
    (found,) = RagstoneRetriever(kb=kb, k=1, where="floor = 1").invoke("room 7 seats")
    (hit,) = kb.search("room 7 seats", 1, "floor = 1")
    facts = found.metadata
    assert (found.page_content, found.id, facts["score"]) == (hit.chunk.text, hit.chunk.id, hit.score)
    assert kb.document(facts["document_id"]).text[facts["start"] : facts["end"]] == found.page_content
    assert (facts["source"], facts["tags"], facts["rank"]) == (hit.chunk.url, ["quiet", "large"], 1)
    json.dumps(facts)


def test_sync_and_async_find_the_same(kb: Ragstone) -> None:
    retriever = RagstoneRetriever(kb=kb, k=10, reader=Reader(groups=frozenset()))
    plain, awaited = retriever.invoke(QUERY), asyncio.run(retriever.ainvoke(QUERY))
    assert plain == awaited
    assert len(plain) == 5
    assert "secret.md" not in [one.metadata["document_id"] for one in plain]
    board = RagstoneRetriever(kb=kb, k=10, reader=Reader(groups=frozenset({"board"}))).invoke(QUERY)
    assert "secret.md" in [one.metadata["document_id"] for one in board]


def test_batches_and_callbacks_work(kb: Ragstone) -> None:
    seen: list[int] = []

    class Listening(BaseCallbackHandler):
        def on_retriever_end(self, documents: Any, **_: Any) -> None:
            seen.append(len(documents))

    retriever = RagstoneRetriever(kb=kb, k=2).with_config({"callbacks": [Listening()]})
    results = retriever.batch([QUERY, "seats"])
    assert asyncio.run(retriever.abatch([QUERY, "seats"])) == results
    assert seen == [2, 2, 2, 2]
    piped = RagstoneRetriever(kb=kb, k=1) | (lambda documents: documents[0].page_content)
    assert "Marie Curie" in piped.invoke(QUERY)


def test_citations_become_documents(kb: Ragstone) -> None:
    answer = kb.ask("What is room 7 called?")
    assert [one.metadata for one in cited(answer)] == [asdict(citation) for citation in answer.citations]


# ---------------------------------------------------------------- documents

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
SCALARS = st.one_of(st.text(max_size=8), st.integers(), st.booleans(), st.floats(allow_nan=False))


@given(
    id=NAMES,
    text=st.text(max_size=30),
    source=st.text(max_size=5),
    title=st.text(max_size=5),
    facts=st.dictionaries(
        NAMES.filter(lambda name: name not in ("source", "title", "url", "marks")),
        st.one_of(SCALARS, st.lists(SCALARS, max_size=3).map(tuple)),
        max_size=3,
    ),
)
def test_a_document_comes_back_as_it_was(id: str, text: str, source: str, title: str, facts: dict[str, Any]) -> None:
    marks = (Mark(kind="heading", start=0, end=len(text), level=1, label="x"),) if text else ()
    document = Document(id=id, text=text, source=source, title=title, metadata=facts, marks=marks)
    assert from_langchain([to_langchain(document)]) == [document]


def test_loaded_documents_get_unique_ids() -> None:
    loaded = [
        Theirs(page_content="one", metadata={"source": "a.pdf", "page": 0, "coordinates": {"x": 1}, "none": None}),
        Theirs(page_content="two", metadata={"source": "a.pdf", "page": 1}),
        Theirs(page_content="three", metadata={"source": "b.txt"}),
        Theirs(page_content="four", metadata={"source": "b.txt"}),
        Theirs(page_content="five"),
    ]
    documents = from_langchain(loaded)
    assert [one.id for one in documents[:4]] == ["a.pdf#page=0", "a.pdf#page=1", "b.txt", "b.txt#2"]
    assert len(documents[4].id) == 32
    assert documents[0].metadata == {"page": 0, "coordinates": '{"x": 1}'}
    assert from_langchain(loaded) == documents


def test_documents_of_langchain_can_be_asked(tmp_path: Path) -> None:
    kb = Ragstone(tmp_path / "kb", settings=FAST)
    kb.add(*from_langchain([Theirs(page_content="The gate closes at nine.", metadata={"source": "gate.txt"})]))
    (found,) = RagstoneRetriever(kb=kb).invoke("When does the gate close?")
    assert found.metadata["document_id"] == "gate.txt"
    kb.close()
