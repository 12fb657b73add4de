"""Function words of a question are not searched for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.index.keyword.analyze import ByLanguage, Plain
from ragstone.index.keyword.question_terms import question_terms
from ragstone.language import languages

ANALYZER = ByLanguage()


@pytest.mark.parametrize(
    ("question", "language", "words"),
    [
        ("How do I change the oil filter?", "en", {"change", "oil", "filter"}),
        ("Wie wechsle ich den Ölfilter?", "de", {"wechsle", "olfilter"}),
        ("Where is the IT department?", "en", {"it", "department"}),
        ("What is this about?", "en", {"what", "is", "this", "about"}),
        ("How do I change the oil filter?", "", {"how", "do", "i", "change", "the", "oil", "filter"}),
        ("How do I change the oil filter?", "xx", {"how", "do", "i", "change", "the", "oil", "filter"}),
    ],
)
def test_searches_for_content_words(question: str, language: str, words: set[str]) -> None:
    assert {term for term in question_terms(ANALYZER, question, language) if term.isalpha()} == words


def test_keeps_pairs_with_a_content_word() -> None:
    pairs = [term for term in question_terms(ANALYZER, "What are the terms of service?", "en") if term[0] == "+"]
    assert pairs == ["+the+terms", "+terms+of", "+of+service"]


def test_keeps_terms_of_analyzers_without_forms() -> None:
    assert question_terms(Plain(), "How do I reset it?", "en") == ["reset"]


@given(text=st.text(max_size=60), language=st.sampled_from([*languages(), ""]))
def test_returns_some_terms_of_the_analyzer(text: str, language: str) -> None:
    terms = ANALYZER(text, language)
    kept = question_terms(ANALYZER, text, language)
    assert [term for term in terms if term in set(kept)] == kept
    assert bool(kept) == bool(terms)
