"""Limits of the rows that a question wants, as its language writes words and numbers."""

from __future__ import annotations

from decimal import Decimal

import pytest

from ragstone.core.question import RowLimit
from ragstone.question import read
from ragstone.question.wanted import WantedRows, wanted_of


def limit_of(question: str) -> RowLimit | None:
    wanted = wanted_of(read(question))
    return wanted.rows.limit if isinstance(wanted, WantedRows) else None


@pytest.mark.parametrize(
    ("question", "least", "most", "included"),
    [
        ("Which products cost more than 1,250.50 euro?", "1250.50", None, False),
        ("Which products cost between €50 and €100?", "50", "100", True),
        ("Welche Produkte kosten weniger als 4.000 Euro?", None, "4000", False),
        ("Kurios prekės sveria daugiau nei 4,5 kg?", "4.5", None, False),
        ("Semua produk di bawah RM4,000", None, "4000", False),
        ("Alle producten onder 100 euro", None, "100", False),
        ("Quali prodotti costano più di 80 euro?", "80", None, False),
        ("Które produkty kosztują co najmniej 89 euro?", "89", None, True),
        ("Vilka produkter kostar högst 100 euro?", None, "100", True),
    ],
)
def test_reads_limits_in_every_language(question: str, least: str | None, most: str | None, included: bool) -> None:
    limit = limit_of(question)
    assert limit is not None
    assert (limit.least, limit.most) == tuple(one and Decimal(one) for one in (least, most))
    assert limit.included == included


@pytest.mark.parametrize(
    "question",
    [
        "Which products cost more than 2 million?",
        "Which products have a margin above 40%?",
        "What was the change in sales between 2018 and 2019?",
    ],
)
def test_shares_periods_and_millions_are_no_limits(question: str) -> None:
    assert limit_of(question) is None
