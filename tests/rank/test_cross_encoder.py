"""Cross-encoders by name and from a folder: tiny ones, made here."""

from __future__ import annotations

import asyncio
import base64
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from tiny_models import WORDS, save_bert, tokenizer

from ragstone.core.errors import MissingExtra, SettingsError
from ragstone.core.protocols import Reranker
from ragstone.core.records import Chunk, Hit
from ragstone.core.request import Request
from ragstone.rank import build_reranker
from ragstone.rank.cross_encoder import CrossEncoderReranker
from ragstone.settings import RankSettings

installed = pytest.mark.skipif(not find_spec("sentence_transformers"), reason="needs the extra sentence-transformers")
COUNTS_CATS = (
    "CAg6qAIKGwoJaW5wdXRfaWRzCgRmaXZlEgFlIgVFcXVhbAoYCgFlEgJlZiIEQ2FzdCoJCgJ0bxgBoAECCiUKDnRva2VuX3R5cGVfaWRzEgJ0Zi"
    "IEQ2FzdCoJCgJ0bxgBoAECChAKAmVmCgJ0ZhIBbSIDTXVsCiwKAW0KA29uZRIGbG9naXRzIglSZWR1Y2VTdW0qDwoIa2VlcGRpbXMYAaABAhIB"
    "ZyoSEAdCBGZpdmVKCAUAAAAAAAAAKhMIARAHQgNvbmVKCAEAAAAAAAAAWh0KCWlucHV0X2lkcxIQCg4IBxIKCgMSAWIKAxIBc1oiCg50b2tlbl"
    "90eXBlX2lkcxIQCg4IBxIKCgMSAWIKAxIBc2IZCgZsb2dpdHMSDwoNCAESCQoDEgFiCgIIAUIECgAQEQ=="
)
"""A graph whose score is the number of tokens with the id of "cat" in the second text:
reduce_sum(cast(input_ids == 5) * cast(token_type_ids))."""


def hits(*texts: str) -> list[Hit]:
    chunks = [
        Chunk(id=str(n), document_id="d", index=n, total=9, start=0, end=len(t), text=t, title="")
        for n, t in enumerate(texts)
    ]
    return [Hit(chunk=chunk, score=1 - n / 10) for n, chunk in enumerate(chunks)]


def build(name: str) -> Reranker:
    reranker = build_reranker(RankSettings(reranker=f"cross-encoder:{name}"), None)  # pyright: ignore[reportArgumentType]
    assert reranker is not None
    return reranker


def rerank(reranker: Reranker, *texts: str) -> list[Hit]:
    return asyncio.run(reranker.rerank("a cat?", hits(*texts), request=Request.by_owner()))


def test_sorts_by_score_and_keeps_ties() -> None:
    reranker = CrossEncoderReranker("length", lambda _, texts: [float(len(text)) for text in texts])
    ranked = rerank(reranker, "b", "aa", "c")
    assert [hit.chunk.text for hit in ranked] == ["aa", "b", "c"]
    assert [hit.score for hit in ranked] == [2, 1, 1]
    assert [hit.why[-1].rank for hit in ranked] == [1, 2, 3]
    assert ranked[0].why[-1].note == "length"
    assert rerank(reranker) == []


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    tokenizer().save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "model.onnx").write_bytes(base64.b64decode(COUNTS_CATS))
    return tmp_path


def test_exported_model_reads_question_and_text(exported: Path) -> None:
    assert WORDS[5] == "cat"
    many = [f"a cat sleeps {'and a cat ' * n}" for n in range(20)]
    ranked = rerank(build(str(exported)), "bread", "cat cat", *many)
    assert [hit.score for hit in ranked[:3]] == [20, 19, 18]
    assert ranked[-1].chunk.text == "bread"
    assert ranked[-1].score == 0
    assert rerank(build(str(exported))) == []


def test_exported_model_truncates_long_text(exported: Path) -> None:
    (only,) = rerank(build(str(exported)), "cat " * 5000)
    assert 400 < only.score < 512


def test_names_a_broken_exported_model(exported: Path) -> None:
    (exported / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(SettingsError, match=r"rank\.reranker.*cannot be read"):
        build(str(exported))


@installed
def test_model_in_a_folder_scores_pairs(tmp_path: Path) -> None:
    save_bert(tmp_path, head=True)
    reranker = build(str(tmp_path))
    texts = ["a cat sleeps", "bread and bread", "cats"]
    ranked = rerank(reranker, *texts)
    assert sorted(hit.chunk.text for hit in ranked) == sorted(texts)
    assert [hit.score for hit in ranked] == sorted((hit.score for hit in ranked), reverse=True)
    assert len({hit.score for hit in ranked}) == 3
    assert rerank(reranker) == []


@installed
def test_names_a_missing_model(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"rank\.reranker.*nowhere"):
        build(str(tmp_path / "nowhere"))


def test_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=r"\[sentence-transformers\]"):
        build("cross-encoder/ms-marco-MiniLM-L-6-v2")
