"""Rules of reading: the question of a heading, the lines that explain a code, figures in the unit that is asked for."""

from dataclasses import replace

import numpy as np
import pytest

from ragstone.core.records import Chunk, Hit, Span
from ragstone.question import read
from ragstone.respond.quote import Quote
from ragstone.respond.quoting.rules import RULES, bounded, favoured
from ragstone.respond.quoting.scored import Sentence

CODES = (
    "# Error codes\n\n- E-104: the filter is blocked. Clean it.\n▪ E-105: the door is open.\n- E-1040: the fan failed."
)


def sentences(text: str, title: str = "") -> list[Sentence]:
    chunk = Chunk(id="c", document_id="a.txt", index=0, total=1, start=0, end=len(text), text=text, title=title)
    out, at = list[Sentence](), 0
    for line in text.split("\n"):
        for part in line.split(". "):
            span = Span(start=text.index(part, at), end=text.index(part, at) + len(part))
            out.append(Sentence(hit=Hit(chunk=chunk, score=1.0), place=0, number=len(out), span=span, own=0.5))
            at = span.end
    return out


def kept(question: str, text: str) -> list[str]:
    """Return the sentences that may be quoted, of all that were likely the same."""
    some = sentences(text)
    chances = favoured(read(question), some, np.full(len(some), 0.2))
    return [one.text for one, chance in zip(some, chances, strict=True) if chance == chances.max()]


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("What does E-104 mean?", ["- E-104: the filter is blocked", "Clean it."]),
        ("error 105", ["▪ E-105: the door is open."]),
        ("E105", ["▪ E-105: the door is open."]),
        ("Was bedeutet Fehler E-1040?", ["- E-1040: the fan failed."]),
    ],
)
def test_quotes_only_the_line_of_a_code(question: str, line: list[str]):
    assert kept(question, CODES) == line


@pytest.mark.parametrize("question", ["What does E-106 mean?", "error 10", "Who fixes E-104?", "How long is 105?"])
def test_other_questions_explain_no_code(question: str):
    assert len(kept(question, CODES)) == len(sentences(CODES))


def test_a_figure_in_the_unit_is_likelier():
    assert kept("How heavy is the boiler?", "The boiler was built in 1998. It weighs 1,250 kg.") == [
        "It weighs 1,250 kg."
    ]


def test_a_code_that_is_explained_is_sure():
    question = read("What does E-104 mean?")
    quotes = [Quote(hit=one.hit, span=one.span) for one in sentences(CODES)]
    (code,) = (rule for rule in RULES if rule.name == "code")
    assert bounded(question, quotes, 0.1) == code.least
    assert bounded(question, quotes[:1], 0.1) == 0.1


STEPS = (
    "A new account can also be added by a script.\n\nTo add an account:\n\n"
    "1. Open the settings of users.\n2. Click Add.\n\nAccounts are added once a year."
)


def test_prefers_steps_for_how_to():
    steps = "To add an account:", "Open the settings of users.", "Click Add."
    assert {*steps} <= {*kept("How do I add an account?", STEPS)}
    assert "A new account can also be added by a script." not in kept("How do I add an account?", STEPS)


def test_other_questions_prefer_no_steps():
    assert len(kept("When are accounts added?", STEPS)) == len(sentences(STEPS))


def test_prose_without_steps_keeps_its_chances():
    prose = sentences("Accounts are added by a script. Ask the office for one.")
    assert favoured(read("How do I add an account?"), prose, np.full(2, 0.2)).tolist() == [0.2, 0.2]


ENTRY = "How do I park a boat?"


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [
        (ENTRY, True),
        ("how do we park the boat", True),
        ("Where do I park a boat?", False),
        ("How do I park a boat at night?", False),
        ("How do I park?", False),
    ],
)
def test_what_stands_below_the_question_answers(question: str, is_asked: bool):
    chunk = Chunk(id="c", document_id="a.md", index=0, total=1, start=0, end=12, text="Ask at noon.", context=ENTRY)
    hit = Hit(chunk=replace(chunk, title=ENTRY), score=1.0)
    other = Hit(chunk=replace(chunk, id="d", context="", text="Park boats!!"), score=1.0)
    below, beside = (Sentence(hit=one, place=0, number=0, span=Span(start=0, end=12), own=0.5) for one in (hit, other))
    chances = favoured(read(question), [below, beside], np.array([0.2, 0.6])).tolist()
    quotes = [Quote(hit=hit, span=below.span)]
    assert chances == pytest.approx([0.2, 0.0 if is_asked else 0.6])
    assert bounded(read(question), quotes, 0.1) == (0.9 if is_asked else 0.1)
