"""Rules of reading: what a question asks for and a sentence visibly has or lacks, and what follows from that.

The fitted models weigh words and similarity. They do not know that "E-104: the filter is blocked" explains a code, or
that a weight has a unit of weight. A rule adds such a fact. It stays only if `python -m benchmarks.rules`
shows that answers on questions nobody wrote it for get better, or if it is needed and does no harm there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ragstone.core.frozen import frozen
from ragstone.core.headings import question_above
from ragstone.core.line_marks import BULLETS, HASHES
from ragstone.core.question import Question
from ragstone.core.span import line_start
from ragstone.language.contacts import has_contact
from ragstone.language.facts import form, words
from ragstone.respond import passage_structure as structure
from ragstone.respond.quote import Quote
from ragstone.respond.quoting.entries import entry_of
from ragstone.respond.quoting.scored import Sentence

Quotable = Sentence | Quote
_UNREACHED = 0.05
"""Probability of a quote without the number or address that is asked for, which is worth no look."""


@frozen
class Rule:
    """A rule for the questions that it ``applies`` to.

    ``says`` returns whether a sentence or a quote says what is asked. Where one does, ``odds`` are added to its log
    odds, and ``others`` are taken from those of all others; if it answers ``alone``, no other one is quoted. The
    probability of an answer is at least ``least`` if a quote says it, and at most ``most`` if none does.
    """

    name: str
    applies: Callable[[Question], bool]
    says: Callable[[Question, Quotable], bool]
    odds: float = 0.0
    others: float = 0.0
    alone: bool = False
    least: float = 0.0
    most: float = 1.0


def favoured(
    question: Question, sentences: Sequence[Sentence], probabilities: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the probabilities that sentences are evidence, (sentences,), changed by the rules that apply."""
    for rule in RULES:
        if (rule.odds or rule.alone) and rule.applies(question):
            said = np.array([rule.says(question, one) for one in sentences])
            odds = probabilities / (1 - probabilities) * np.exp(np.where(said, rule.odds, -rule.others * said.any()))
            probabilities = odds / (1 + odds) * (said if rule.alone and said.any() else 1.0)
    return probabilities


def bounded(question: Question, quotes: Sequence[Quote], probability: float) -> float:
    """Return the probability that quotes answer, within the least and the most that a rule knows of."""
    rules = [rule for rule in RULES if rule.applies(question)]
    said = [any(rule.says(question, one) for one in quotes) for rule in rules]
    least = max((rule.least for rule, says in zip(rules, said, strict=True) if says), default=0.0)
    most = min((rule.most for rule, says in zip(rules, said, strict=True) if not says), default=1.0)
    return min(most, max(probability, least))


_CODED = re.compile(
    rf"[ \t]*(?:(?:[{BULLETS}]|{HASHES})[ \t]+)?"
    r"[`*\"']{0,3}(?:\w+[ \t]+)?(?P<letters>[A-Za-z]{1,4})?"
    r"-?(?P<digits>\d{2,6})[`*\"']{0,3}[ \t]*(?:[:=–—]|-[ \t])[ \t]*\S"
)
"""The beginning of a line that says what a code means: "E-104: the filter is blocked"."""


def _explains_code(question: Question, said: Quotable) -> bool:
    """Return whether the line of a sentence begins with the code that a question asks for, and says what it means."""
    text = said.hit.chunk.text
    line = _CODED.match(text, line_start(text, said.span.start))
    own = (f"{(line['letters'] or '').lower()}{line['digits']}", line["digits"]) if line else ()
    return any(code in own for code in question.asks.codes)


def _explains_term(question: Question, said: Quotable) -> bool:
    """Return whether a sentence stands in the entry of the term whose meaning a question asks for."""
    return entry_of(question, said.hit.chunk.text, said.span) is not None


def _is_measured(question: Question, said: Quotable) -> bool:
    """Return whether a sentence has a figure in a unit that answers, such as kg for "how heavy"."""
    return any(word.value and word.unit in question.asks.units for word in words(said.text))


def _reaches(question: Question, said: Quotable) -> bool:
    """Return whether a sentence has the number or address that a question asks for."""
    return question.asks.contact is not None and has_contact(question.asks.contact, said.text)


def _is_step(question: Question, said: Quotable) -> bool:  # noqa: ARG001 - each rule takes the question
    """Return whether a sentence is one of several steps, or announces them."""
    return structure.is_step(said.hit.chunk.text, said.span)


def _is_below_question(question: Question, said: Quotable) -> bool:
    """Return whether a sentence stands below the question itself, asked by the nearest heading or the title."""
    above = question_above(said.hit.chunk)
    return above is not None and _content(above.of(said.hit.chunk.headed)) == _content(question.text)


@lru_cache(maxsize=256)
def _content(question: str) -> tuple[str, frozenset[str]]:
    """Return the first word of a question, which says what it asks for, and its content words."""
    found = words(question)
    return found[0].lower if found else "", frozenset(form(word) for word in found if not word.stop)


RULES: tuple[Rule, ...] = (
    Rule(name="heading", applies=lambda one: not one.talk, says=_is_below_question, alone=True, least=0.9),
    Rule(name="code", applies=lambda one: bool(one.asks.codes), says=_explains_code, alone=True, least=0.85),
    Rule(name="term", applies=lambda one: one.kind == "definition", says=_explains_term, alone=True, least=0.7),
    Rule(name="unit", applies=lambda one: bool(one.asks.units), says=_is_measured, odds=2.5),
    Rule(
        name="contact",
        applies=lambda one: one.asks.contact is not None,
        says=_reaches,
        odds=2.5,
        most=_UNREACHED,
    ),
    Rule(name="step", applies=lambda one: one.kind == "how_to", says=_is_step, odds=1.5, others=1.5),
)
"""All rules, in the order in which they take effect.

``heading`` is for questions in the words of a FAQ: of 100 of that about COVID-19, 97 instead of 92 are answered from
their entry. Public sets have no codes, hardly a weight and few steps, so that these rules change nothing there. Lists
of error codes and data sheets need ``code`` and ``unit``, and directories need ``contact``. ``step`` was chosen on 80
how-to questions about the manual of GNOME and checked on 77 about that of LibreOffice, in other words than the manuals
and not part of this repository: of the 77, 56 instead of 45 show the steps that answer.
"""
