"""Every embedder: unit vectors, the same whatever else is in the batch, and no text that cannot be embedded."""

import asyncio
from pathlib import Path

import numpy as np
import pytest
from hash_embedder import HashEmbedder

from ragstone.errors import Damaged
from ragstone.index import embed_local
from ragstone.index.embed_local import WINDOW, MiniLM
from ragstone.protocols import Embedder, TokenEmbedder

EMBEDDERS = {"minilm": lambda: MiniLM(threads=2), "hash": HashEmbedder}
TEXTS = ["a cat", "", "  ", "Lager für Öl", "word " * 2000, "\U0001f600" * 50, "x" * 10_000, "日本語", "\ufffd"]


@pytest.fixture(scope="module", params=EMBEDDERS)
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return EMBEDDERS[request.param]()


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM(threads=2)


def embed(embedder: Embedder, *texts: str):
    return asyncio.run(embedder.embed(texts, role="passage"))


def test_vectors_have_length_one_and_their_shape(embedder: Embedder):
    vectors = embed(embedder, *TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimensions)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert embed(embedder).shape == (0, embedder.dimensions)


def test_a_vector_does_not_depend_on_its_batch(embedder: Embedder):
    together = embed(embedder, *TEXTS)
    backwards = embed(embedder, *reversed(TEXTS))[::-1]
    alone = np.concatenate([embed(embedder, text) for text in TEXTS])
    assert np.abs(together - backwards).max() < 1e-4
    assert np.abs(together - alone).max() < 1e-4


def test_a_fingerprint_and_familiarity(embedder: Embedder):
    assert isinstance(embedder.fingerprint, str)
    assert embedder.fingerprint
    assert all(0 <= embedder.familiarity(text) <= 1 for text in TEXTS)


def test_token_vectors_are_placed(embedder: Embedder):
    assert isinstance(embedder, TokenEmbedder)
    for text, tokens in zip(TEXTS, asyncio.run(embedder.embed_tokens(TEXTS, role="passage")), strict=True):
        assert tokens.vectors.shape == (len(tokens.spans), embedder.dimensions)
        assert all(0 <= span.start < span.end <= len(text) for span in tokens.spans)
        if len(tokens.spans):
            assert np.linalg.norm(tokens.vectors, axis=1) == pytest.approx(1, abs=1e-4)


def test_minilm_reads_beyond_its_window(minilm: MiniLM):
    start = "the council met in the town hall " * WINDOW
    one, other = embed(minilm, start + "and spoke of bread", start + "and spoke of war, famine and loss " * 20)
    assert len(minilm.tokens(start)) > WINDOW
    assert float(one @ other) < 0.9999


def test_minilm_knows_what_is_near(minilm: MiniLM):
    cat, kitten, tax = embed(minilm, "a cat sleeps", "a kitten is asleep", "income tax law of 1986")
    assert float(cat @ kitten) > 0.6 > float(cat @ tax)


def test_minilm_is_less_familiar_with_other_languages(minilm: MiniLM):
    assert minilm.familiarity("how do I open the door") > minilm.familiarity("wie öffne ich die Haustür")


@pytest.mark.parametrize("name", ["vocab.txt", "model.onnx"])
def test_files_that_are_not_the_expected_ones_are_refused(monkeypatch: pytest.MonkeyPatch, name: str):
    monkeypatch.setitem(embed_local.SHA256, name, "0" * 64)
    with pytest.raises(Damaged, match=f"{name}.*pip install --force-reinstall"):
        MiniLM()


def test_a_damaged_vocabulary_is_refused(tmp_path: Path):
    broken = tmp_path / "vocab.txt"
    original = (Path(embed_local.__file__).parent / "minilm" / "vocab.txt").read_bytes()
    broken.write_bytes(original[:-10])
    with pytest.raises(Damaged, match=r"vocab\.txt"):
        embed_local._verified(broken)
