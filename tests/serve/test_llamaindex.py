"""LlamaIndex: our retriever among its own parts, and documents both ways."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kb import FAST

from ragstone import Document, Ragstone, Reader
from ragstone.core.records import Mark

pytestmark = pytest.mark.filterwarnings("ignore")  # its dependencies warn when they are imported
pytest.importorskip("llama_index.core", reason="needs llama-index-core")
from llama_index.core import PromptTemplate, SimpleDirectoryReader  # noqa: E402  # pyright: ignore
from llama_index.core.llms import MockLLM  # noqa: E402  # pyright: ignore
from llama_index.core.query_engine import RetrieverQueryEngine  # noqa: E402  # pyright: ignore
from llama_index.core.schema import MetadataMode, NodeRelationship  # noqa: E402  # pyright: ignore

from ragstone.serve.llamaindex import RagstoneRetriever, from_llamaindex, to_llamaindex  # noqa: E402

QUESTION = "Which room is called Marie Curie?"


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[Ragstone]:
    with Ragstone(tmp_path / "kb", settings=FAST) as kb:
        kb.add(
            Document(id="a.md", text="# Rooms\n\nRoom 7 is called Marie Curie.", title="Rooms", metadata={"floor": 3}),
            Document(id="b.md", text="Visitors park behind the mill.", url="https://example.org/b"),
            Document(id="secret.md", text="Room 99 is called Marie Curie.", metadata={"readers": ("board",)}),
        )
        yield kb


def test_retrieves_nodes_with_their_place(kb: Ragstone) -> None:
    best, *_ = RagstoneRetriever(kb, k=2, where="floor = 3").retrieve(QUESTION)
    text = kb.document("a.md").text
    assert best.node.text == text[best.node.start_char_idx : best.node.end_char_idx]
    assert best.node.relationships[NodeRelationship.SOURCE].node_id == "a.md"
    assert best.metadata["floor"] == 3
    assert best.score == best.metadata["score"]
    assert best.node.get_content(MetadataMode.EMBED) == best.node.text
    assert "chunk_id" not in best.node.get_content(MetadataMode.LLM)
    assert "title: Rooms" in best.node.get_content(MetadataMode.LLM)


def test_awaits_the_same(kb: Ragstone) -> None:
    retriever = RagstoneRetriever(kb, k=2)
    awaited = asyncio.run(retriever.aretrieve(QUESTION))
    assert [one.node.node_id for one in awaited] == [one.node.node_id for one in retriever.retrieve(QUESTION)]


def test_reader_sees_only_its_own(kb: Ragstone) -> None:
    def found(reader: Reader) -> set[str]:
        return {one.metadata["document_id"] for one in RagstoneRetriever(kb, k=9, reader=reader).retrieve(QUESTION)}

    assert "secret.md" in found(Reader.of("board"))
    assert "secret.md" not in found(Reader.of("staff"))


def test_feeds_a_query_engine(kb: Ragstone) -> None:
    engine = RetrieverQueryEngine.from_args(
        RagstoneRetriever(kb, k=1, where="floor = 3"), llm=MockLLM(), text_qa_template=PromptTemplate("{context_str}")
    )
    response = engine.query(QUESTION)
    assert "Marie Curie" in str(response)
    assert [one.node.metadata["document_id"] for one in response.source_nodes] == ["a.md"]


def test_adding_what_a_reader_read_again_changes_nothing(kb: Ragstone, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "gate.txt").write_text("The gate closes at nine.", encoding="utf-8")
    first, second = (SimpleDirectoryReader(str(folder)).load_data() for _ in range(2))
    assert kb.add(*from_llamaindex(first)).added == 1
    again = kb.add(*from_llamaindex(second))
    assert (again.added, again.updated, again.unchanged) == (0, 0, 1)


@given(
    st.builds(
        Document,
        id=st.text(min_size=1, max_size=20),
        text=st.text(min_size=1, max_size=50),
        source=st.text(max_size=9),
        title=st.text(max_size=9),
        url=st.text(max_size=9),
        metadata=st.dictionaries(
            st.sampled_from(["floor", "tags", "open"]), st.integers() | st.booleans() | st.tuples(st.text(max_size=5))
        ),
        marks=st.just((Mark(kind="heading", start=0, end=1, level=1, label="A"),)) | st.just(()),
    )
)
def test_document_comes_back_as_it_was(document: Document) -> None:
    [back] = from_llamaindex([to_llamaindex(document)])
    assert back == document
