"""Sentences proved by their words and by the trained model, with the packaged weights."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone import chunk
from ragstone.core.readings import Judgement
from ragstone.core.records import Document, Hit, Span
from ragstone.core.request import Request
from ragstone.index import build_claim_model
from ragstone.index.embed.local import MiniLM
from ragstone.rank import build_matcher
from ragstone.respond.proof.by_entailment import ProofChecker, unsupported_words
from ragstone.respond.proof.by_words import MOST_AROUND, SupportChecker
from ragstone.respond.proof.records import Proof
from ragstone.settings import ChunkSettings

LAKE = Document(
    id="lake",
    title="The lake",
    text=(
        "The lake may have formed when a glacier melted. Some of its fish are found nowhere else. The town council "
        "closed the beach in 2019 because of algae. Swimmers must stay within 50 metres of the shore. The old "
        "boathouse was sold to a hotel, which turned it into a restaurant."
    ),
)
SEE = Document(id="see", title="Der See", text="Der See liegt 40 Kilometer nördlich der Stadt. Baden ist verboten.")


@pytest.fixture(scope="module")
def words() -> SupportChecker:
    return SupportChecker(matcher=build_matcher(MiniLM(), even), sentences=chunk.sentences, weigh=even)


@pytest.fixture(scope="module")
def checker(words: SupportChecker) -> ProofChecker:
    return ProofChecker(by_words=words, entailment=build_claim_model())


def even(words: Sequence[str], _request: Request) -> list[float]:
    return [1.0] * len(words)


def hits(*documents: Document) -> list[Hit]:
    model = MiniLM()
    pieces = [piece for one in documents for piece in chunk.split(one, ChunkSettings(), model.tokens)]
    return [Hit(chunk=piece, score=1.0) for piece in pieces]


def proof(checker: ProofChecker | SupportChecker, sentence: str, *documents: Document) -> Proof:
    return asyncio.run(checker.check(sentence, hits(*documents), Request.by_owner()))


@pytest.mark.parametrize(
    "sentence",
    [
        "The lake may have formed when a glacier melted.",
        "Some of the fish in the lake are found nowhere else.",
        "In 2019 the town council closed the beach because of algae.",
        "The beach was closed by the town council in 2019 because of algae.",
    ],
)
def test_what_the_evidence_says_is_supported_and_quoted(checker: ProofChecker, sentence: str) -> None:
    found = proof(checker, sentence, LAKE)
    assert found.supported
    assert found.quotes
    assert found.unsupported == ()


@pytest.mark.parametrize(
    "sentence",
    [
        "The town council closed the beach in 2019 because of algae, and the mayor resigned a week later.",
        "The town council did not close the beach in 2019.",
        "Swimmers must stay within 50 kilometres of the shore.",
        "The old boathouse was sold to a bank, which turned it into a restaurant.",
    ],
)
def test_what_the_evidence_does_not_say_is_not_supported(checker: ProofChecker, sentence: str) -> None:
    found = proof(checker, sentence, LAKE)
    assert not found.supported
    assert found.quotes == ()


def test_an_invented_clause_is_marked(checker: ProofChecker) -> None:
    sentence = "The town council closed the beach in 2019 because of algae, and the mayor resigned a week later."
    marked = " ".join(proof(checker, sentence, LAKE).unsupported)
    assert "mayor" in marked
    assert "resigned" in marked
    assert "algae" not in marked


def test_a_language_that_the_model_does_not_know_is_checked_by_words(
    checker: ProofChecker, words: SupportChecker
) -> None:
    sentence = "Der See liegt 40 Kilometer nördlich der Stadt."
    assert proof(checker, sentence, SEE) == proof(words, sentence, SEE)


def test_the_model_reads_the_neighbours_of_a_quote_up_to_a_limit(words: SupportChecker) -> None:
    long = Document(
        id="long", title="Fish", text="The pike is green. " * 30 + "Carp sleep in winter. " + "It rains. " * 300
    )
    alignment = asyncio.run(words.align("Carp sleep in winter.", hits(long), Request.by_owner()))
    assert alignment is not None
    evidence = words.around(alignment)
    assert "The pike is green. Carp sleep in winter. It rains." in evidence
    assert len(evidence) <= MOST_AROUND


@given(
    sentence=st.text(alphabet="ab ,.é", min_size=1, max_size=40),
    shares=st.lists(st.floats(min_value=0, max_value=1), min_size=20, max_size=20),
)
def test_marked_words_are_whole_words_in_order(sentence: str, shares: list[float]) -> None:
    spans = tuple(Span(start=i, end=i + 1) for i, letter in enumerate(sentence) if letter.isalpha())[:20]
    judgement = Judgement(
        supported=0.2,
        contradicted=0.3,
        unknown=0.5,
        unsupported=np.array(shares[: len(spans)], dtype=np.float32),
        spans=spans,
    )
    found = unsupported_words(sentence, judgement)
    assert list(found) == sorted(found)
    for one in found:
        assert not sentence[: one.start][-1:].isalnum()
        assert not sentence[one.end :][:1].isalnum()
    assert all(one.end < other.start for one, other in pairwise(found))
