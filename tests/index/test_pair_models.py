"""The packaged models that read pairs of texts: their form, their limits, and their weights."""

import asyncio
import hashlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.errors import Damaged
from ragstone.core.readings import Judgement, Reading
from ragstone.core.records import Span
from ragstone.core.request import Request
from ragstone.index import build_claim_model, build_passage_model
from ragstone.index.embed.minilm import claim_model, pair_network, passage_model
from ragstone.index.embed.minilm.claim_model import ClaimModel
from ragstone.index.embed.minilm.pair_network import LONGEST, LONGEST_FIRST
from ragstone.index.embed.minilm.passage_model import PassageModel

PASSAGE = "Vilnius is the capital of Lithuania. It was first mentioned in 1323. Some of its churches are closed."


@pytest.fixture(scope="module")
def claims() -> ClaimModel:
    return build_claim_model()


@pytest.fixture(scope="module")
def passages() -> PassageModel:
    return build_passage_model()


def judged(model: ClaimModel, *claims: str, evidence: str = PASSAGE) -> list[Judgement]:
    return asyncio.run(model.judge(claims, [evidence] * len(claims), Request.by_owner()))


def test_a_claim_that_the_evidence_says_is_more_supported_than_one_that_it_denies(claims: ClaimModel) -> None:
    true, false = judged(claims, "Vilnius is Lithuania's capital.", "Vilnius is not the capital of Lithuania.")
    assert true.supported > 0.5 > false.supported
    assert false.contradicted > false.unknown
    for one in (true, false):
        assert one.supported + one.contradicted + one.unknown == pytest.approx(1, abs=1e-5)


def test_the_words_of_an_invented_clause_stand_out(claims: ClaimModel) -> None:
    claim = "Vilnius was first mentioned in 1323, and its mayor plays chess."
    [one] = judged(claims, claim)
    invented = np.array([span.start >= claim.index("its mayor") for span in one.spans])
    assert len(one.unsupported) == len(one.spans)
    assert one.unsupported[invented].mean() > one.unsupported[~invented].mean() + 0.3


def test_what_is_read_does_not_depend_on_what_is_read_with_it(claims: ClaimModel) -> None:
    together = judged(claims, "Vilnius is a capital.", "It was mentioned in 1323. " * 5, "Churches are closed.")
    alone = [judged(claims, text)[0] for text in ("Vilnius is a capital.", "Churches are closed.")]
    for one, other in zip((together[0], together[2]), alone, strict=True):
        assert one.supported == pytest.approx(other.supported, abs=1e-3)


def test_nothing_and_too_much_are_read_too(claims: ClaimModel) -> None:
    assert judged(claims) == []
    assert judged(claims, "", evidence="")[0].spans == ()
    [one] = judged(claims, "word " * 2000, evidence="word " * 2000)
    assert len(one.spans) == len(one.unsupported) == LONGEST_FIRST
    [cut] = judged(claims, "Vilnius is a capital.", evidence="word " * 2000)
    assert cut.supported < 0.5


def test_reads_which_passage_and_sentence_answer(passages: PassageModel) -> None:
    other = "Kaunas is a city on two rivers. It has a castle. Its theatre opened in the nineteenth century."
    answering, not_answering = asyncio.run(
        passages.read("When was Vilnius first mentioned?", [PASSAGE, other], Request.by_owner())
    )
    assert answering.answers > not_answering.answers
    sentences = [Span(start=0, end=36), Span(start=37, end=68), Span(start=69, end=len(PASSAGE))]
    likely = [answering.of(one) for one in sentences]
    assert max(likely) == likely[1]
    assert max(likely, key=lambda one: one[1]) == likely[1]


def test_reading_ends_at_the_longest_pair(passages: PassageModel) -> None:
    long = PASSAGE + " word" * 1000
    [one] = asyncio.run(passages.read("When was Vilnius first mentioned?", [long], Request.by_owner()))
    assert len(one.spans) == len(one.evidence) == len(one.starts) == len(one.ends) < LONGEST
    unread = one.of(Span(start=len(long) - 4, end=len(long)))
    assert unread == pytest.approx((one.evidence.min(), one.starts.min() + one.ends.min()))
    assert asyncio.run(passages.read("When?", [], Request.by_owner())) == []


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(0, 60), st.integers(0, 60))
def test_a_part_of_a_reading_has_its_tokens(lengths: list[int], start: int, end: int) -> None:
    ends = np.cumsum([length + 1 for length in lengths]) - 1
    spans = tuple(Span(start=int(b) - length, end=int(b)) for b, length in zip(ends, lengths, strict=True))
    values = np.arange(len(spans), dtype=np.float32)
    reading = Reading(answers=0.0, evidence=values, starts=values, ends=-values, spans=spans)
    start, end = min(start, end), max(start, end)
    inside = [n for n, span in enumerate(spans) if span.start < end and start < span.end and start < end]
    evidence, short = reading.of(Span(start=start, end=end))
    if inside:
        assert evidence == pytest.approx(np.mean(inside))
        assert short == max(inside) - min(inside)
    elif start < end:
        assert (evidence, short) == (0.0, 1.0 - len(spans))


@pytest.mark.parametrize(
    ("name", "build"), [(claim_model.NAME, build_claim_model), (passage_model.NAME, build_passage_model)]
)
def test_damaged_or_missing_weights_say_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, build: Callable[[], object]
) -> None:
    folder = pair_network.FOLDER
    monkeypatch.setattr(pair_network, "FOLDER", tmp_path)
    (tmp_path / f"{name}.json").write_bytes((folder / f"{name}.json").read_bytes())
    with pytest.raises(Damaged, match="pip install --force-reinstall ragstone"):
        build()
    blob = bytearray((folder / f"{name}.bin").read_bytes())
    blob[1000] ^= 1
    (tmp_path / f"{name}.bin").write_bytes(blob)
    with pytest.raises(Damaged, match="SHA-256"):
        build()


@pytest.mark.parametrize("model", [claim_model, passage_model])
def test_the_weights_are_those_that_are_named(model: ModuleType) -> None:
    assert hashlib.sha256((pair_network.FOLDER / f"{model.NAME}.bin").read_bytes()).hexdigest() == model.SHA256
