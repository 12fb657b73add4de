"""The questions of a message that asks several."""

from __future__ import annotations

import pytest

from ragstone.question import read


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ("Who has the key? And where is the ladder?", ["Who has the key?", "Where is the ladder?"]),
        ("Who has the key, and when is the office open?", ["Who has the key?", "When is the office open?"]),
        ("1. Who has the key?\n2. Where is the ladder?", ["Who has the key?", "Where is the ladder?"]),
        ("• Who has the key?\n– Where is the ladder?", ["Who has the key?", "Where is the ladder?"]),
        ("The gate is shut. Who has the key? Where is it?", ["The gate is shut. Who has the key?", "Where is it?"]),
        ("Hi! Who has the key? Where is the ladder? Thanks", ["Who has the key?", "Where is the ladder? Thanks"]),
        ("Wer hat den Schlüssel? Und wo ist die Leiter?", ["Wer hat den Schlüssel?", "Wo ist die Leiter?"]),
        ("Kas turi raktą? Ir kada dirba biuras?", ["Kas turi raktą?", "Kada dirba biuras?"]),
        ("Siapa ada kunci? Dan bila pejabat dibuka?", ["Siapa ada kunci?", "Bila pejabat dibuka?"]),
        ("Who has the key, and how many ladders are there?", ["Who has the key?", "How many ladders are there?"]),
        ("who has the key and what is her number", ["who has the key?", "What is her number"]),
        ("whos the miller and whats his mail", ["who is the miller?", "What is his mail"]),
        ("Wo ist die Leiter und wer hat den Schlüssel", ["Wo ist die Leiter?", "Wer hat den Schlüssel"]),
        ("the key and where it hangs", []),
        ("Which code opens the gate, and for how long?", []),
        ("Which ladders are new, and how many?", []),
        ("Wie viel kostet die Leiter und wie lange?", []),
        ("When and where was Orla Finch born?", []),
        ("Who has the key?", []),
        ("What is the difference between ladders and stairs?", []),
        ("Really? Who has the key?", []),
    ],
)
def test_divides_a_message_into_its_questions(message: str, parts: list[str]) -> None:
    assert [one.wording.typed for one in read(message).parts] == parts


def test_a_part_leans_on_the_part_before() -> None:
    _, second = read("Who keeps the spare key of the boathouse? Where is it?").parts
    assert second.text == "keeps the spare key of the boathouse? Where is it?"


def test_a_part_within_a_sentence_leans_on_it_unless_it_names_something() -> None:
    _, second = read("When does the ferry sail, and what caused the delay?").parts
    assert (second.depends, second.text) == (True, "ferry sail? What caused the delay?")
    _, second = read("When does the ferry sail to Ardmore, and when does it sail to Kilbride?").parts
    assert second.wording.typed == "When does it sail to Kilbride?"
    _, second = read("What does a ticket to Ardmore cost, and what does a ticket to Kilbride cost?").parts
    assert second.text == "What does a ticket to Kilbride cost?"


def test_a_part_asks_only_for_what_it_says() -> None:
    _, second = read("Who is the miller and what is his phone number?").parts
    assert second.text == "miller? What is his phone number?"
    assert (second.asks.contact, second.asks.name) == ("phone", False)


def test_many_questions_have_few_parts() -> None:
    assert len(read(" ".join(f"Who has key {n} of the mill?" for n in range(20))).parts) == 6
