"""The probability that a cell answers a question.

A conditional logit model compares the cells of the tables that were found. A logistic model then says how likely the
best of them is right, from its lead and from what of the question it leaves open. ``tools/fit_tables.py`` fits both on
questions about the tables of AIT-QA, TAT-QA and WikiTableQuestions, together with questions that no cell answers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ragstone.core.frozen import frozen
from ragstone.respond.tables.asked import Asked
from ragstone.respond.tables.features import FEATURES, CellFeatures, Features, values_of

_LEAST = 1e-4


@frozen
class Certainty:
    """What says whether the best cell is right.

    ``lead`` is the log odds of the best cell, and equal ones, against all others. ``open`` is the share of the question
    by weight that no part of the table or its titles has, ``titled`` that of the title of the document.
    ``time`` is -1 if the cell is of another time than the question asks for.
    ``mistyped`` is 1 if the cell is no number although the question asks for one, or the other way round.
    ``calculates`` and ``orders`` are 1 if the question asks for what several cells give together, or for a first or
    largest; ``words`` is the logarithm of the things that it names. ``first`` is 1 for a cell of the first column,
    ``lone`` if all tables are of one document.
    """

    lead: float
    open: float
    titled: float
    time: float
    mistyped: float
    calculates: float
    orders: float
    words: float
    first: float
    lone: float

    @property
    def calculated(self) -> Certainty:
        """The same for an answer with the calculation that the question asks for."""
        return replace(self, calculates=0.0, orders=0.0)


@frozen
class Model:
    """Coefficients of the comparison of cells, and bias and coefficients of the probability that the best is right."""

    cells: Mapping[str, float]
    bias: float
    certainty: Mapping[str, float]


@frozen
class Belief:
    """Coefficients of the log odds that a cell is right by its ``words``, and that its passage ``answers``."""

    bias: float
    words: float
    answers: float


FITTED = Model(
    cells={
        "row": 4.51,
        "column": 1.43,
        "others": 8.54,
        "all": 1.74,
        "label": 3.21,
        "section": 0.7,
        "heading": 2.8,
        "literal": 2.29,
        "own": 2.08,
        "money": 1.05,
        "asks": 2.48,
        "year": 2.15,
        "day": 2.34,
        "length": 2.0,
        "latest": 0.7,
        "kind": 0.99,
        "percent": 2.0,
        "change": 0.13,
        "first": 2.3,
        "index": -4.2,
        "nothing": -4.9,
        "whole": 0.66,
        "titled": 11.6,
        "place": -1.57,
        "statement": 1.5,
        "newest": 1.0,
    },
    bias=-2.0,
    certainty={
        "lead": 0.65,
        "open": -2.54,
        "titled": 1.31,
        "time": 2.15,
        "mistyped": -0.89,
        "calculates": -0.56,
        "orders": -1.24,
        "words": 1.42,
        "first": -0.46,
        "lone": 0.66,
    },
)
"""What ``tools/fit_tables.py`` fitted."""


BELIEF = Belief(bias=-0.27, words=0.88, answers=0.24)
"""What ``tools/fit_believed.py`` fitted. With each set left out, the area under the curve rises from .826 to .884 on
small tables in documents of teams and from .907 to .924 on WikiTableQuestions, and is about the same on AIT-QA, TAT-QA
and quarterly reports. The limit for a cell in whose column nothing is asked for holds before: without it, more wrong
cells than right ones are added.
"""


def scores(features: Features) -> NDArray[np.float64]:
    """Return how well each cell answers, shape (cells,), on the scale of log odds."""
    return values_of(features) @ np.array([FITTED.cells[name] for name in FEATURES])


def shares(scored: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of each cell if one of them is right, shape (cells,)."""
    powers = np.exp(scored - scored.max())
    return powers / powers.sum()


def certainty_of(asked: Asked, best: CellFeatures[float], share: float, *, lone: bool, orders: bool) -> Certainty:
    """Return what says whether the best cell is right.

    Args:
        asked: the question.
        best: of the best cell.
        share: its probability together with equal ones, if one of the cells is right.
        lone: whether all tables are of one document.
        orders: whether the question asks for a first or largest that no heading names.
    """
    return Certainty(
        lead=log_odds(share),
        open=1 - best.all,
        titled=best.titled,
        time=-float(-1.0 in (best.year, best.day, best.length)),
        mistyped=float(best.kind < 0),
        calculates=float(asked.calculates),
        orders=float(orders),
        words=math.log(1 + len(asked.items)),
        first=best.first,
        lone=float(lone),
    )


def probability(certainty: Certainty) -> float:
    """Return the probability that the best cell is right."""
    return _chance(FITTED.bias + sum(weight * getattr(certainty, name) for name, weight in FITTED.certainty.items()))


def believed(probability: float, answers: float) -> float:
    """Return the probability that a cell is right after what the trained reader says of its passage.

    Args:
        probability: before, from the words of question and table.
        answers: log odds that the passage answers.
    """
    return _chance(BELIEF.bias + BELIEF.words * log_odds(probability) + BELIEF.answers * answers)


def log_odds(probability: float) -> float:
    """Return the log odds of a probability, finite ones of 0 and 1, too."""
    share = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(share / (1 - share))


def _chance(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))
