"""The probability that a cell answers a question.

A conditional logit model compares the cells of the tables that were found. A logistic model then says how likely the
best of them is right, from its lead and from what of the question it leaves open. ``tools/fit_tables.py`` fits both on
questions about the tables of AIT-QA, TAT-QA and WikiTableQuestions, together with questions that no cell answers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from ragstone.respond.tables.asked import Asked
from ragstone.respond.tables.features import CellFeatures

FEATURES = tuple(one.name for one in fields(CellFeatures))
_VALUES = attrgetter(*FEATURES)
_LEAST = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class Certainty:
    """What says whether the best cell is right.

    ``lead`` is the log odds of the best cell, and equal ones, against all others. ``open`` is the share of the question
    by weight that no part of the table or its titles has, ``titled`` that of the title of the document.
    ``time`` is -1 if the cell is of another time than the question asks for.
    ``mistyped`` is 1 if the cell is no number although the question asks for one, or the other way round.
    ``calculates`` and ``orders`` are 1 if the question asks for what several cells give together, or for a first or
    largest; ``rows`` is 1 if it asks how many there are and no heading of the cell says that it counts; ``words`` is
    the logarithm of the things it names. ``first`` is 1 for a cell of the first column, ``lone`` if all tables are of
    one document.
    """

    lead: float
    open: float
    titled: float
    time: float
    mistyped: float
    calculates: float
    orders: float
    rows: float
    words: float
    first: float
    lone: float

    @property
    def calculated(self) -> Certainty:
        """The same for an answer with the calculation that the question asks for."""
        return replace(self, calculates=0.0, orders=0.0, rows=0.0)


def scores(features: Sequence[CellFeatures], coefficients: Mapping[str, float]) -> NDArray[np.float64]:
    """Return how well each cell answers, shape (cells,), on the scale of log odds."""
    weights = np.array([coefficients[name] for name in FEATURES])
    return np.array([*map(_VALUES, features)], dtype=np.float64).reshape(len(features), len(weights)) @ weights


def shares(scored: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of each cell if one of them is right, shape (cells,)."""
    powers = np.exp(scored - scored.max())
    return powers / powers.sum()


def certainty_of(asked: Asked, best: CellFeatures, share: float, *, lone: bool) -> Certainty:
    """Return what says whether the best cell is right.

    Args:
        asked: the question.
        best: of the best cell.
        share: its probability together with equal ones, if one of the cells is right.
        lone: whether all tables are of one document.
    """
    share = min(max(share, _LEAST), 1 - _LEAST)
    return Certainty(
        lead=math.log(share / (1 - share)),
        open=1 - best.all,
        titled=best.titled,
        time=-float(-1.0 in (best.year, best.day, best.length)),
        mistyped=float(best.kind < 0),
        calculates=float(asked.calculates),
        orders=float(asked.orders),
        rows=float(asked.rows and best.asks <= 0),
        words=math.log(1 + len(asked.items)),
        first=best.first,
        lone=float(lone),
    )


def probability(known: Certainty, bias: float, coefficients: Mapping[str, float]) -> float:
    """Return the probability that the best cell is right."""
    logit = bias + sum(coefficients[one.name] * getattr(known, one.name) for one in fields(Certainty))
    return 1 / (1 + math.exp(-logit))
