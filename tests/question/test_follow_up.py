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
    [("Who runs it?", "en"), ("Why?", "en"), ("And parking?", "en"), ("Und wann sonst?", "de"), ("O kiek?", "lt")],
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
    context = read("And parking?", Context(before=(LAST,))).wording.context
    assert context == f"{LAST.question} {LAST.answer} And parking?"


@given(st.text(max_size=60), st.text(max_size=400), st.sampled_from(["", "en", "lt"]))
def test_loses_no_word_of_a_question(question: str, answer: str, language: str) -> None:
    last = Turn(question="Where is the harbour?", answer=answer)
    found = read(question, Context(before=(last,), language=language))
    assert found.text.endswith(found.wording.typed)
    assert len(found.wording.context) <= len(last.question) + CONTEXT_ANSWER + len(question) + 2


def test_first_question_has_no_context() -> None:
    assert read("And on Sundays?").wording.context == ""
    assert read("And on Sundays?").text == "And on Sundays?"


REFUSED = Turn(
    question="What is the capital of France?",
    answer='I couldn\'t find an answer to "What is the capital of France?" in these documents.\nNothing close.',
)


def test_leans_on_the_last_answered_turn() -> None:
    assert follow_up("Who runs it?", LAST, REFUSED) == f"{LAST.question} Who runs it?"
    assert follow_up("Who runs it?", REFUSED) == "Who runs it?"


@pytest.mark.parametrize("question", ["Why?", "How so?"])
def test_bare_question_after_a_refusal_asks_about_that(question: str) -> None:
    assert follow_up(question, LAST, REFUSED) == f"{REFUSED.question} {question}"
    assert REFUSED.answer not in read(question, Context(before=(LAST, REFUSED))).wording.context


def test_question_about_a_refusal_asks_again() -> None:
    assert follow_up("Are you sure?", LAST, REFUSED) == REFUSED.question


def test_leans_on_what_the_last_turn_leaned_on() -> None:
    second = Turn(question="And parking?", answer="There is none [1].")
    assert follow_up("Why?", LAST, second) == f"{LAST.question} {second.question} Why?"


COMPLETED = [
    ("When does the museum in Oslo open?", "And in Vienna?", "When does the museum in Vienna open?"),
    ("What was Apple's revenue in Germany?", "And Microsoft's?", "What was Microsoft's revenue in Germany?"),
    ("What was the revenue of Apple?", "And Microsoft's?", "What was the revenue of Microsoft?"),
    ("What was Halden Foods' revenue?", "What about Brightwater?", "What was Brightwater's revenue?"),
    ("What was revenue in March 2022?", "And in 2023?", "What was revenue in March 2023?"),
    ("How much is a ticket for adults in Oslo?", "And for students?", "How much is a ticket for students in Oslo?"),
    ("How much does the Fjell tent weigh?", "And the Skog tent?", "How much does the Skog tent weigh?"),
    ("When was the City Museum in Oslo founded?", "And Lisbon?", "When was the City Museum in Lisbon founded?"),
    ("What does error E-104 mean?", "And E-105?", "What does error E-105 mean?"),
    ("What changed in version 3.1?", "And in 3.2?", "What changed in version 3.2?"),
    ("When does the reading room open?", "And on Sundays?", "When does the reading room open on Sundays?"),
    ("Which plug is used in Germany?", "Portugal?", "Which plug is used in Portugal?"),
    ("Was kostet der Eintritt für Erwachsene?", "und für Studenten?", "Was kostet der Eintritt für Studenten?"),
    ("Wann öffnet das Stadtbad Nord?", "Und das Stadtbad Süd?", "Wann öffnet das Stadtbad Süd?"),
    ("Kada atidaroma biblioteka Vilniuje?", "O Kaune?", "Kada atidaroma biblioteka Kaune?"),
    ("Pukul berapa klinik di Ipoh dibuka?", "Dan di Kuantan?", "Pukul berapa klinik di Kuantan dibuka?"),
    ("Hoe laat opent het museum in Utrecht?", "En in Leiden?", "Hoe laat opent het museum in Leiden?"),
]


@pytest.mark.parametrize(("last", "question", "understood"), COMPLETED)
def test_completes_a_question_without_a_verb(last: str, question: str, understood: str) -> None:
    found = read(question, Context(before=(Turn(question=last, answer="So it is [1]."),)))
    assert found.text == found.wording.text == understood
    assert found.asked == question


@pytest.mark.parametrize(
    "question", ["And does Vienna have parking?", "And is it free in Vienna?", "Can dogs enter?", "Seriously?"]
)
def test_replaces_nothing_for_a_whole_question(question: str) -> None:
    asked = Turn(question="When does the museum in Oslo open?", answer="At ten [1].")
    assert follow_up(question, asked).endswith(question)


def test_builds_on_the_question_as_it_was_understood() -> None:
    first = Turn(question="What was Apple's revenue in 2022?", answer="So much [1].")
    second = Turn(question="And in 2023?", answer="More [1].")
    assert follow_up("And Microsoft's?", first, second) == "What was Microsoft's revenue in 2023?"


def test_completes_a_question_that_was_refused() -> None:
    assert follow_up("And of Spain?", LAST, REFUSED) == "What is the capital of Spain?"


def test_requires_the_word_that_is_new_in_a_name() -> None:
    asked = Turn(question="When does the ferry to Harbour East leave?", answer="At noon [1].")
    found = read("And to Harbour West?", Context(before=(asked,)))
    assert [[word.lower for word in one.words] for one in found.must_have] == [["west"]]


@pytest.mark.parametrize(("question", "phrase"), [("And for students?", "students"), ("And the café?", "café")])
def test_requires_a_phrase_that_is_no_name(question: str, phrase: str) -> None:
    asked = Turn(question="How much is admission for adults in Oslo?", answer="140 kroner [1].")
    assert phrase in [one.text for one in read(question, Context(before=(asked,))).must_have]
