"""Questions of a conversation, made to stand alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.query.follow_up import leans, standalone

BEFORE = ["When does the reading room open?"]


@pytest.mark.parametrize(
    ("question", "language", "expected"),
    [
        ("And on Sundays?", "en", "And on Sundays? (reading room open)"),
        ("Who runs it?", "en", "Who runs it? (reading room open)"),
        ("Why?", "en", "Why? (reading room open)"),
        ("Where can I park a bicycle?", "en", "Where can I park a bicycle?"),
    ],
)
def test_the_topic_is_put_after_what_leans_on_it(question: str, language: str, expected: str) -> None:
    assert standalone(question, BEFORE, language) == expected


def test_other_languages() -> None:
    assert standalone("Und am Sonntag?", ["Wann öffnet die Bibliothek?"], "de") == "Und am Sonntag? (öffnet bibliothek)"
    assert standalone("O kiek kainuoja?", ["Kur gauti POLA kortelę?"], "lt").endswith("(gauti pola kortelę)")


def test_the_topic_is_that_of_the_last_question_that_stood_alone() -> None:
    before = [*BEFORE, "And on Sundays?", "Where is the harbour?", "Is it far?"]
    assert standalone("How old is it?", before, "en") == "How old is it? (harbour)"


def test_nothing_before_is_nothing_to_lean_on() -> None:
    assert standalone("And on Sundays?", [], "en") == "And on Sundays?"


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=3), st.sampled_from(["", "en", "lt"]))
def test_a_question_is_never_cut(question: str, before: list[str], language: str) -> None:
    made = standalone(question, before, language)
    assert made.startswith(question)
    if not leans(question, language) or not before:
        assert made == question
