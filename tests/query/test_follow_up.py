"""Questions of a conversation, made to stand alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.query.follow_up import depends_on_context, standalone

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
def test_appends_the_topic_to_a_follow_up(question: str, language: str, expected: str) -> None:
    assert standalone(question, BEFORE, language) == expected


def test_handles_other_languages() -> None:
    assert standalone("Und am Sonntag?", ["Wann öffnet die Bibliothek?"], "de") == "Und am Sonntag? (öffnet bibliothek)"
    assert standalone("O kiek kainuoja?", ["Kur gauti POLA kortelę?"], "lt").endswith("(gauti pola kortelę)")


def test_topic_is_the_last_standalone_question() -> None:
    before = [*BEFORE, "And on Sundays?", "Where is the harbour?", "Is it far?"]
    assert standalone("How old is it?", before, "en") == "How old is it? (harbour)"


def test_no_earlier_question_gives_no_topic() -> None:
    assert standalone("And on Sundays?", [], "en") == "And on Sundays?"


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=3), st.sampled_from(["", "en", "lt"]))
def test_never_shortens_a_question(question: str, before: list[str], language: str) -> None:
    made = standalone(question, before, language)
    assert made.startswith(question)
    if not depends_on_context(question, language) or not before:
        assert made == question
