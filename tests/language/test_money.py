"""Amounts of money in any currency, wherever figures are read."""

from decimal import Decimal

import pytest

from ragstone.acquire.readers.tables import figures as cells
from ragstone.language.money import currencies, currency_of, names_money
from ragstone.respond.proof.figure import same
from ragstone.respond.proof.figures import figures
from ragstone.respond.tables.calculate import value_of
from ragstone.respond.tables.cell_kinds import is_figure

AMOUNTS = [
    "$5,200",
    "€5,200",
    "£5,200",
    "¥5,200",
    "₹5,200",
    "CHF 5,200",
    "RM 5,200",
    "US$ 5,200",
    "Rs. 5,200",
    "5,200 €",
]


@pytest.mark.parametrize("amount", AMOUNTS)
def test_an_amount_is_a_figure_everywhere(amount: str) -> None:
    assert is_figure(amount)
    assert cells.is_figure(amount)
    assert value_of(amount) == Decimal(5200)
    (figure,) = figures(f"It was {amount} then.")
    assert (figure.values[0], figure.unit) == (5200, currency_of(amount))
    assert currency_of(amount)


@pytest.mark.parametrize(
    ("amount", "written"),
    [
        ("₹5,200", "5,200 rupees"),
        ("CHF 5,200", "5,200 Franken"),
        ("5200 PLN", "5200 złotych"),
        ("RM 3 million", "3 juta ringgit"),
        ("RM3.6 juta", "3.6 million ringgit"),
        ("€2 billion", "2 mlrd. eurų"),
    ],
)
def test_signs_and_names_of_a_currency_agree(amount: str, written: str) -> None:
    assert same(figures(amount)[0], figures(written)[0])


def test_currencies_differ() -> None:
    assert not same(figures("CHF 5,200")[0], figures("5,200 euros")[0])
    assert currencies("from 5 zł to 3 € and 20 cents") == {"pln", "eur", "cent"}


@pytest.mark.parametrize("text", ["Try it again", "the rest of us", "Chapter 5", "a krone of thorns"])
def test_words_like_codes_are_no_money(text: str) -> None:
    assert not names_money(text)


@pytest.mark.parametrize("cell", ["CHF", "Zurich 5", "ABC 5,200 units", ""])
def test_words_are_no_figures(cell: str) -> None:
    assert not is_figure(cell)
    assert value_of(cell) is None
