"""Questions of a conversation: what is searched for beside them, and what passages are read for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.answers import Turn
from ragstone.question import Context, read
from ragstone.question.follow_up import CONTEXT_ANSWER
from ragstone.respond.replies import asked_back

LAST = Turn(question="When does the reading room open?", answer="It opens at nine [1].")
BACK = asked_back("Opening hours?", ["Summer", "Winter"], "en").text


def follow_up(question: str, *before: Turn, language: str = "") -> str:
    return read(question, Context(before=before or (LAST,), language=language)).text


@pytest.mark.parametrize(
    ("question", "language"),
    [("And on Sundays?", "en"), ("Who runs it?", "en"), ("Why?", "en"), ("Und am Sonntag?", "de"), ("O kiek?", "lt")],
)
def test_reads_a_follow_up_after_the_last_question(question: str, language: str) -> None:
    assert follow_up(question, language=language) == f"{LAST.question} {question}"


def test_reads_a_standalone_question_as_it_is() -> None:
    assert follow_up("Where can I park a bicycle?") == "Where can I park a bicycle?"


def test_reply_to_a_question_back_goes_on() -> None:
    asked = Turn(question="Opening hours?", answer=BACK)
    assert follow_up("The reading room in winter", asked) == "Opening hours? The reading room in winter"
    assert BACK not in read("In winter", Context(before=(asked,))).wording.context


def test_context_has_the_last_turn_and_the_question() -> None:
    context = read("And on Sundays?", Context(before=(LAST,))).wording.context
    assert context == f"{LAST.question} {LAST.answer} And on Sundays?"


@given(st.text(max_size=60), st.text(max_size=400), st.sampled_from(["", "en", "lt"]))
def test_never_shortens_a_question(question: str, answer: str, language: str) -> None:
    last = Turn(question="Where is the harbour?", answer=answer)
    found = read(question, Context(before=(last,), language=language))
    assert found.text.endswith(found.wording.typed)
    assert len(found.wording.context) <= len(last.question) + CONTEXT_ANSWER + len(question) + 2


def test_first_question_has_no_context() -> None:
    assert read("And on Sundays?").wording.context == ""
    assert read("And on Sundays?").text == "And on Sundays?"


def test_leans_on_the_last_answered_turn() -> None:
    refused = Turn(
        question="What is the capital of France?",
        answer='I couldn\'t find an answer to "What is the capital of France?" in these documents.\nNothing close.',
    )
    assert follow_up("Who runs it?", LAST, refused) == f"{LAST.question} Who runs it?"
    assert follow_up("Who runs it?", refused) == "Who runs it?"


def test_leans_on_what_the_last_turn_leaned_on() -> None:
    second = Turn(question="And on Sundays?", answer="It is closed on Sundays [1].")
    assert follow_up("Why?", LAST, second) == f"{LAST.question} {second.question} Why?"
