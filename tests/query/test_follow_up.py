"""Questions of a conversation: what is searched for beside them, and what passages are read for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.answers import Turn
from ragstone.query.follow_up import CONTEXT_ANSWER, context, to_read

LAST = Turn(question="When does the reading room open?", answer="It opens at nine [1].")


@pytest.mark.parametrize(
    ("question", "language"),
    [("And on Sundays?", "en"), ("Who runs it?", "en"), ("Why?", "en"), ("Und am Sonntag?", "de"), ("O kiek?", "lt")],
)
def test_reads_a_follow_up_after_the_last_question(question: str, language: str) -> None:
    assert to_read(question, LAST, language) == f"{LAST.question} {question}"


def test_reads_a_standalone_question_as_it_is() -> None:
    assert to_read("Where can I park a bicycle?", LAST, "en") == "Where can I park a bicycle?"


def test_reply_to_a_question_back_goes_on() -> None:
    assert to_read("Opening hours in winter", LAST, "en", goes_on=True).startswith(LAST.question)


def test_context_has_the_last_turn_and_the_question() -> None:
    assert context("And on Sundays?", LAST) == f"{LAST.question} {LAST.answer} And on Sundays?"
    assert LAST.answer not in context("And on Sundays?", LAST, with_answer=False)


@given(st.text(max_size=60), st.text(max_size=400), st.sampled_from(["", "en", "lt"]))
def test_never_shortens_a_question(question: str, answer: str, language: str) -> None:
    last = Turn(question="Where is the harbour?", answer=answer)
    assert to_read(question, last, language).endswith(question)
    assert len(context(question, last)) <= len(last.question) + CONTEXT_ANSWER + len(question) + 2


def test_first_question_has_no_context() -> None:
    assert context("And on Sundays?", None) == ""
    assert to_read("And on Sundays?", None, "en") == "And on Sundays?"
