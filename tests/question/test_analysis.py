"""What a question is after, told from its words."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.question import Question
from ragstone.language import languages, lexicon
from ragstone.question import Context, kind, read


def analysed(question: str, language: str = "", lists: Mapping[str, Sequence[str]] | None = None) -> Question:
    return read(question, Context(language=language, entities=lists or {}))


@pytest.mark.parametrize(
    ("question", "language", "kind"),
    [
        ("How do I install CUDA-Q on my laptop?", "en", "how_to"),
        ("What is a qubit?", "en", "definition"),
        ("ImportError: invalid simulator requested", "en", "troubleshooting"),
        ("What is the difference between sample and observe?", "en", "comparison"),
        ("Show me an example of a VQE", "en", "example"),
        ("Why is the sky blue?", "en", "reason"),
        ("Wie kann ich mich anmelden?", "de", "how_to"),
        ("Wo soll ich anrufen?", "de", "location"),
        ("kur gauti pola kortele", "lt", "location"),
        ("Kaip gauti POLA kortelę?", "lt", "how_to"),
        ("Kodėl reikia registruotis?", "lt", "reason"),
        ("Bila pilihan raya akan diadakan?", "ms", "time"),
        ("Siapa Perdana Menteri Malaysia?", "ms", "person"),
        ("annual report", "en", "keywords"),
    ],
)
def test_analyses_the_kind(question: str, language: str, kind: str) -> None:
    assert analysed(question, language).kind == kind


def test_unknown_language_uses_all_word_lists() -> None:
    assert analysed("Kaip gauti kortelę?").kind == "how_to"
    assert analysed("Wo ist der Schlüssel?").kind == "location"


def test_matches_whole_words_only() -> None:
    assert analysed("coffee terrorism", "en").kind == "keywords"
    assert not analysed("the encoded decoder", "en").wants_code


def test_identifiers_are_technical_terms() -> None:
    told = analysed("Does cudaq::qubit or cudaq.sample() take --target and my_kernel in fp32, getState too?", "en")
    assert set(told.technical) >= {"cudaq::qubit", "cudaq.sample()", "--target", "my_kernel", "fp32", "getState"}
    assert told.wants_code


def test_stop_words_are_not_keywords() -> None:
    assert analysed("How do I get the unitary matrix of a circuit?", "en").keywords == (
        "unitary",
        "matrix",
        "circuit",
    )


@pytest.mark.parametrize(
    ("question", "keyword_like"),
    [
        ("pola kortelė", True),
        ("POLA kortelė kaina?", True),
        ("kur galiu gauti pola kortelę?", False),
        ("what does error E-1234/b mean here", True),
        ("Who, then, is it that wrote this?", False),
    ],
)
def test_distinguishes_keywords_from_sentences(question: str, keyword_like: bool) -> None:
    assert analysed(question).keyword_like is keyword_like


def test_entities_come_from_the_lists() -> None:
    lists = {"card": ["POLA kortel*"], "place": ["Vilnius", "Kaunas"]}
    found = analysed("Kur Vilnius išduoda pola kortelę?", "lt", lists).entities
    assert {(one.kind, one.text) for one in found} == {("card", "pola kortelę"), ("place", "vilnius")}
    assert analysed("Vilniuse", "lt", lists).entities == ()


def test_examples_ask_for_code_and_are_no_keywords() -> None:
    found = analysed("Show me an example of a quantum Fourier transform", "en")
    assert (found.kind, found.wants_code) == ("example", True)
    assert found.keywords == ("quantum", "fourier", "transform")
    assert analysed("What is an example?", "en").kind == "example"
    assert analysed("Zeig mir ein Beispiel für ein Gatter", "de").keywords == ("gatter",)


def test_recognises_difficulty_and_recency() -> None:
    assert analysed("How do I implement a Bell state?", "en").difficulty == "intermediate"
    assert analysed("a simple introduction to kernels", "en").difficulty == "beginner"
    assert analysed("advanced internals of the compiler", "en").difficulty == "advanced"
    assert analysed("what is the latest news on trade", "en").recent
    assert not analysed("what is trade", "en").recent


@given(st.text(max_size=80), st.sampled_from(["", "en", "de", "lt", "ms", "xx"]))
def test_analyses_any_text(text: str, language: str) -> None:
    told = analysed(text, language)
    assert told == analysed(text, language)
    assert not set(told.keywords) & lexicon(language).search_stop


def test_every_language_has_the_same_tables() -> None:
    assert set(languages()) >= {"de", "en", "lt", "ms"}
    for language in languages():
        assert {name for name, _ in lexicon(language).kinds} == {name for name, _ in lexicon("en").kinds}


@pytest.mark.parametrize("text", ["x" * 100_000, "a_" * 50_000, "aA" * 50_000, "a::" * 30_000, "word " * 10_000])
def test_long_text_is_analysed_quickly(text: str) -> None:
    before = time.process_time()
    analysed(text)
    assert time.process_time() - before < 10


@pytest.mark.parametrize(
    ("question", "language", "expected"),
    [
        ("What is a chunk?", "en", "definition"),
        ("Wie kann ich mich anmelden?", "de", "how_to"),
        ("Di mana saya parkir?", "ms", "location"),
        ("Kodėl nemoka?", "", "reason"),
        ("Which of the museums?", "en", "question"),
        ("card limit", "en", "keywords"),
        ("1 in 5 million in UK have abnormal PrP positivity.", "en", "statement"),
    ],
)
def test_recognises_kinds(question: str, language: str, expected: str) -> None:
    assert kind(question, language) == expected


@given(st.text(), st.sampled_from(["", "en", "de", "xx"]))
def test_every_text_has_a_kind(text: str, language: str) -> None:
    assert kind(text, language)


def test_long_name_lists_stay_fast():
    """To make a thousand takes longer than the rest of a search, and no more than 500 are remembered."""
    lists = {"companies": [f"Company {n}" for n in range(1000)], "places": ["Vilni*"]}
    called: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            called.append(frame.f_code.co_name)

    analysed("What does Company 78 do in Vilnius?", "en", lists)  # reads the words of the language
    sys.setprofile(note)
    try:
        found = analysed("What does Company 77 do in Vilnius?", "en", lists)
    finally:
        sys.setprofile(None)
    assert [entity.text for entity in found.entities] == ["company 77", "vilnius"]
    assert len(called) < 1000


@pytest.mark.parametrize(
    ("question", "operation"),
    [
        ("What is the mean of the two rents?", "mean"),
        ("What do the two figures mean on average?", None),
        ("What does the rent mean?", None),
    ],
)
def test_what_something_means_is_no_mean(question: str, operation: str | None) -> None:
    assert read(question).asks.operation == operation


@pytest.mark.parametrize(
    ("question", "operation"),
    [
        ("What was the total revenue from 2018 to 2020?", "sum"),
        ("What is the change in total revenue from 2018 to 2019?", "difference"),
        ("How much did total assets grow from 2018 to 2019, in percent?", "change in percent"),
    ],
)
def test_change_of_a_total_is_no_sum(question: str, operation: str):
    assert read(question).asks.operation == operation
