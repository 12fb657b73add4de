"""Tell whether a figure of a sentence was calculated from figures of the passages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from ragstone.language import lexicon, plain
from ragstone.language.money import SIGN
from ragstone.respond.proof.figure import BARE, NAMED, Figure, near
from ragstone.respond.proof.figures import figures

_OPERANDS = 40
_ADDED, _TAKEN, _MULTIPLIED, _DIVIDED = ("+", "plus"), ("-", "−", "–", "minus"), ("×", "x", "*", "·"), ("/", "÷")
_OPERATORS = frozenset([*_ADDED, *_TAKEN, *_MULTIPLIED, *_DIVIDED])
_SIGN = re.compile(r"[=+×]")
_COMPARED = re.compile(rf"\d\s?(?:%|{SIGN})?\s(?:\w+\s){{0,2}}\w+")


def derived(own: Figure, sentence: str, operands: Sequence[Figure]) -> bool:
    """Return whether a figure follows from others by one step, and the sentence reads as if it did.

    The step is a sum, a difference, a mean, a product, a ratio or a change in percent.
    """
    if own.unit in NAMED:
        return False
    if any(near(goal, one, own.step) for goal in own.values for one in written_out(sentence)):
        return True
    cues = _cues(plain(sentence))
    if not cues:
        return False
    some = list({(one.values, one.unit): one for one in operands if one.values and one.unit not in NAMED}.values())
    some = some[:_OPERANDS]
    step = own.step * own.factor
    terms = [
        (value * _unit(one, own, value), one)
        for one in some
        if one.measure in (own.measure, "")
        for value in one.base()
    ]
    results: list[float] = []
    for (a, _), (b, _) in combinations(terms, 2):
        results += [a + b, abs(a - b)] if "sum" in cues else []
        results += [(a + b) / 2] if "mean" in cues else []
    if "sum" in cues:
        alike = [value for value, _ in terms]
        results += [sum(alike[at : at + size]) for size in (3, 4, 5) for at in range(len(alike) - size + 1)]
    if any(near(goal, one, step) for goal in own.base() for one in results):
        return True
    plain_results: list[float] = []
    for operand, other in combinations(some, 2):
        for a, b in ((x, y) for x in operand.values for y in other.values if x and y):
            if (
                "product" in cues
                and (operand.unit != other.unit or not own.unit)
                and own.measure in (operand.measure, other.measure)
            ):
                plain_results.append(a * b)
            if (
                "ratio" in cues
                and own.measure in ("", "%")
                and (operand.measure == other.measure or "" in (operand.measure, other.measure))
            ):
                by = 100.0 if own.unit == "%" else 1.0
                plain_results += [by * a / b, by * b / a, by * abs(a - b) / abs(b), by * abs(a - b) / abs(a)]
    return any(near(goal, one, own.step) for goal in own.values for one in plain_results)


def written_out(sentence: str) -> Iterator[float]:
    """Yield the results of the calculations that a sentence writes out: "169 + 2 × 17"."""
    runs: list[tuple[list[Figure], list[str]]] = []
    for one in figures(sentence):
        if not one.values or one.unit in NAMED:
            continue
        sign = sentence[runs[-1][0][-1].span.end : one.span.start].strip(" \u00a0\u202f$€£(").lower() if runs else ""
        if sign in _OPERATORS:
            runs[-1][0].append(one)
            runs[-1][1].append(sign)
        else:
            runs.append(([one], []))
    for some, signs in runs:
        if signs:
            yield _result([one.values[0] for one in some], signs)


def _result(values: Sequence[float], signs: Sequence[str]) -> float:
    """Return the result of a calculation, in which products and quotients come first."""
    terms = [values[0]]
    for sign, value in zip(signs, values[1:], strict=True):
        if sign in _MULTIPLIED:
            terms[-1] *= value
        elif sign in _DIVIDED:
            terms[-1] = terms[-1] / value if value else 0.0
        else:
            terms.append(value if sign in _ADDED else -value)
    return sum(terms)


def _unit(one: Figure, own: Figure, value: float) -> float:
    """Return the unit that a sentence may give a bare number: that of its figure, if the number stands in a table."""
    return own.factor if not one.unit and (one.in_cell or value >= BARE) else 1.0


def _cues(sentence: str) -> set[str]:
    """Return the operations that a sentence reads like."""
    lists = lexicon().calculated
    compared = any(lists["more"].search(found.group()) for found in _COMPARED.finditer(sentence))
    if _SIGN.search(sentence) or lists["any"].search(sentence):
        return {"sum", "product", "ratio"} | ({"mean"} if lists["mean"].search(sentence) else set())
    found = {name for name in ("sum", "mean", "product", "ratio") if lists[name].search(sentence)}
    return found | ({"sum", "ratio"} if compared else set())
