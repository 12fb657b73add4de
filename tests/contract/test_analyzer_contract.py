"""Every analyzer: terms that an index can hold, the same for the same text, and those its language calls for."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.protocols import Analyzer
from ragstone.index.keyword.analyze import PAIR, ByLanguage, Plain, fold, weight_of
from ragstone.index.keyword.compounds import Compounds

ANALYZERS: dict[str, Analyzer] = {"plain": Plain(), "language": ByLanguage()}
each_analyzer = pytest.mark.parametrize("name", ANALYZERS)
languages = st.sampled_from(["", "en", "de", "lt", "ms", "uk", "zh", "xx"])


@each_analyzer
@given(text=st.text(), language=languages)
def test_terms_have_no_white_space_and_depend_on_nothing_else(name: str, text: str, language: str) -> None:
    """They are joined by spaces for the index."""
    terms = ANALYZERS[name](text, language)
    assert all(term and len(term.split()) == 1 for term in terms)
    assert terms == ANALYZERS[name](text, language)


@each_analyzer
def test_a_word_is_found_by_itself_in_any_case(name: str) -> None:
    analyze = ANALYZERS[name]
    assert set(analyze("vilnius", "lt")) <= set(analyze("Į VILNIUS iš Kauno", "lt"))


@given(st.text())
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("text", "bare"),
    [("Kortelę", "kortele"), ("GRÖSSE", "grosse"), ("Größe", "grosse"), ("łódź", "lodz"), ("naïve", "naive")],
)
def test_folding(text: str, bare: str) -> None:
    assert fold(text) == bare


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "kernels", "kernel"),
        ("de", "Schulen", "Schule"),
        ("lt", "kortelės", "kortelę"),
        ("ms", "pertanian", "petani tani"),
        ("uk", "картка", "картки"),
        ("de", "Krankenversicherung", "Versicherung"),
        ("zh", "日本語", "日本"),
        ("", "getUserName", "user"),
    ],
)
def test_forms_of_a_word_share_a_term(language: str, one: str, other: str) -> None:
    analyze = ANALYZERS["language"]
    assert set(analyze(one, language)) & set(analyze(other, language))


@pytest.mark.parametrize("name", ["cudaq::qubit", "numpy.linalg", "getUserName", "snake_case_name", "self->size"])
def test_identifiers_stay_whole_and_are_split(name: str) -> None:
    terms = ANALYZERS["language"](f"call {name} first", "en")
    assert name.lower() in terms
    assert len([term for term in terms if term.isalnum()]) >= 4


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("## 21.0.0 - 2023-07-17", ["21.0.0", "2023-07-17"]),
        ("v3.1.3, or 10.5 kg", ["3.1.3", "10.5"]),
        ("in 1998. Then 5", []),
        ("1.2.3.4.5.6.7 and 12345.6", []),
    ],
)
def test_versions_and_dates_stay_whole(text: str, whole: list[str]) -> None:
    assert [term for term in ANALYZERS["language"](text, "en") if "." in term or "-" in term] == whole


@given(st.lists(st.from_regex("[a-z]{1,8}", fullmatch=True), max_size=6))
def test_neighbouring_words_give_pairs(some: list[str]) -> None:
    terms = ANALYZERS["language"](" ".join(some), "en")
    pairs = [term for term in terms if term.startswith(PAIR)]
    assert pairs == [f"{PAIR}{fold(one)}{PAIR}{fold(other)}" for one, other in pairwise(some)]
    assert all((weight_of(term) < 1) == term.startswith(PAIR) for term in terms)


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("krankenversicherung", ("krank", "versicherung")),
        ("bundesregierung", ("bund", "regierung")),
        ("schulgesetz", ("schule", "gesetz")),
        ("regierung", ()),
        ("abc12345def", ()),
    ],
)
def test_compounds(word: str, parts: tuple[str, ...]) -> None:
    listed = Compounds(["versicherung", "regierung", "krank", "bund", "schule", "gesetz"])
    assert listed.split(word) == parts


def test_the_fingerprint_changes_with_the_words() -> None:
    assert Compounds(["haus"]).fingerprint != Compounds(["haus", "boot"]).fingerprint
    assert ByLanguage().fingerprint == ANALYZERS["language"].fingerprint


@each_analyzer
@pytest.mark.parametrize("text", ["x" * 200_000, "xA" * 100_000, "a_" * 100_000, "a." * 100_000])
def test_no_text_takes_long(name: str, text: str) -> None:
    """In time that grows with the square of the length, these would take minutes."""
    started = time.process_time()
    ANALYZERS[name](text, "de")
    assert time.process_time() - started < 5
