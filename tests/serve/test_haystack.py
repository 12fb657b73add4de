"""Haystack: our retriever in one of its pipelines."""

from __future__ import annotations

from pathlib import Path

import pytest
from kb import FAST

from ragstone import Document, Ragstone

pytestmark = pytest.mark.filterwarnings("ignore")  # its dependencies warn when they are imported
pytest.importorskip("haystack", reason="needs haystack-ai")
from haystack import Pipeline  # noqa: E402  # pyright: ignore
from haystack.components.builders import PromptBuilder  # noqa: E402  # pyright: ignore

from ragstone.serve.haystack import RagstoneRetriever  # noqa: E402


def test_retrieves_in_a_pipeline(tmp_path: Path) -> None:
    with Ragstone(tmp_path / "kb", settings=FAST) as kb:
        kb.add(
            Document(id="a.md", text="Room 7 is called Marie Curie.", metadata={"floor": 3}),
            Document(id="b.md", text="Visitors park behind the mill."),
        )
        pipeline = Pipeline()
        pipeline.add_component("retriever", RagstoneRetriever(kb, k=2))
        pipeline.add_component("prompt", PromptBuilder("{% for d in documents %}{{ d.content }}{% endfor %}"))
        pipeline.connect("retriever.documents", "prompt.documents")
        asked = {"retriever": {"query": "Which room is called Marie Curie?", "top_k": 1}}
        out = pipeline.run(asked, include_outputs_from={"retriever"})
        [found] = out["retriever"]["documents"]
        assert out["prompt"]["prompt"] == "Room 7 is called Marie Curie."
        assert (found.meta["document_id"], found.meta["floor"], found.meta["start"]) == ("a.md", 3, 0)
        assert found.score == found.meta["score"]
