"""Embedding models by name: a tiny one with random weights, made here."""

from __future__ import annotations

import asyncio
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from tiny_models import save_bert

from ragstone.core.errors import MissingExtra, SettingsError
from ragstone.core.protocols import Embedder, TokenEmbedder
from ragstone.core.request import Request
from ragstone.index import build_embedder
from ragstone.settings import IndexSettings

TEXTS = ["a cat sleeps", "", "  ", "cats and bread " * 60, "\U0001f600", "ein Öl"]
installed = pytest.mark.skipif(not find_spec("sentence_transformers"), reason="needs the extra sentence-transformers")


def build(name: str) -> Embedder:
    return build_embedder(IndexSettings(embedder=f"sentence-transformers:{name}", threads=1))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    folder = tmp_path_factory.mktemp("tiny-e5-small")
    save_bert(folder, head=False)
    return build(str(folder))


def embed(embedder: Embedder, *texts: str, role="passage"):
    return asyncio.run(embedder.embed(texts, role=role, request=Request.by_owner()))


@installed
def test_vectors_have_length_one_and_do_not_depend_on_their_batch(model: Embedder) -> None:
    vectors = embed(model, *TEXTS)
    assert vectors.shape == (len(TEXTS), model.dimensions)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    alone = np.concatenate([embed(model, text) for text in TEXTS])
    assert np.abs(vectors - alone).max() < 1e-4
    assert embed(model).shape == (0, model.dimensions)


@installed
def test_a_text_beyond_the_window_is_read_to_its_end(model: Embedder) -> None:
    start = "cats and bread " * 60
    one, other = embed(model, start + "sleeps", start + "bread bread bread")
    assert len(model.tokens(start)) > 64
    assert float(one @ other) < 0.99999


@installed
def test_questions_and_passages_are_told_apart_where_the_model_wants_that(model: Embedder) -> None:
    assert not np.allclose(embed(model, "a cat"), embed(model, "a cat", role="query"))


@installed
def test_token_vectors_are_placed(model: Embedder) -> None:
    assert isinstance(model, TokenEmbedder)
    for text, tokens in zip(
        TEXTS, asyncio.run(model.embed_tokens(TEXTS, role="query", request=Request.by_owner())), strict=True
    ):
        assert tokens.vectors.shape == (len(tokens.spans), model.dimensions)
        assert all(0 <= span.start < span.end <= len(text) for span in tokens.spans)
    (tokens,) = asyncio.run(model.embed_tokens(["a cat"], role="query", request=Request.by_owner()))
    assert [span.of("a cat") for span in tokens.spans] == ["a", "cat"]


@installed
def test_a_fingerprint_changes_with_the_weights(tmp_path: Path, model: Embedder) -> None:
    save_bert(tmp_path / "one", head=False, seed=1)
    save_bert(tmp_path / "two", head=False, seed=2)
    one, two = (build(str(tmp_path / name)).fingerprint for name in ("one", "two"))
    assert one.replace("one", "two") != two
    assert 0 <= model.familiarity("a cat sleeps") <= 1


@installed
def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"index\.embedder.*nowhere"):
        build(str(tmp_path / "nowhere"))


@installed
def test_prompts_come_from_the_configuration_or_the_table() -> None:
    from ragstone.index.embed.sentence_transformers_embedder import prompts

    e5 = {"query": "query: ", "passage": "passage: "}
    assert prompts("intfloat/multilingual-e5-large", {}) == e5
    assert prompts("models/my-e5-base", {"query": "", "document": ""}) == e5
    assert prompts("x/y", {"query": "Ask: ", "document": "Text: "}) == {"query": "Ask: ", "passage": "Text: "}
    assert prompts("x/y", {}) == {"query": "", "passage": ""}


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.delitem(sys.modules, "ragstone.index.embed.sentence_transformers_embedder", raising=False)
    with pytest.raises(MissingExtra, match=r"\[sentence-transformers\]"):
        build("intfloat/multilingual-e5-large")
