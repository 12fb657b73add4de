"""Figures read from text and compared by value and unit."""

import pytest

from ragstone.respond.proof.arithmetic import written_out
from ragstone.respond.proof.figure import is_year, same
from ragstone.respond.proof.figures import figures
from ragstone.respond.proof.passages import scales


def said(own: str, other: str) -> bool:
    """Return whether each figure of one text is among those of the other."""
    return all(any(same(one, two) for two in figures(other)) for one in figures(own)) and bool(figures(own))


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("1,000 km", "1.000 km"),
        ("1 000 km", "1,000 km"),
        ("about 40%", "38.7 percent"),
        ("39.7 billion dollars", "$39,669 million"),
        ("roughly $40 billion", "$39,669 million"),
        ("€5 million", "5 Mio. Euro"),
        ("twelve days", "12 days"),
        ("twenty-one days", "21 days"),
        ("two hundred and fifty people", "250 people"),
        ("within a year", "12 months"),
        ("half a year", "six months"),
        ("48 hours", "two days"),
        ("5 km", "5,000 m"),
        ("5 unused days", "5 days"),
        ("25%", "0.25"),
        ("a dozen eggs", "12 eggs"),
        ("12 March 2020", "2020-03-12"),
        ("31.03.", "31 March"),
        ("the 19th century", "in 1843"),
        ("im 19. Jahrhundert", "in the 19th century"),
        ("the 1990s", "in 1994"),
        ("Q3", "third quarter"),
        ("FY2023", "2023"),
        ("9 am", "09:00"),
        ("2:30 p.m.", "14:30"),
        ("5 °C", "5 to 40 °C"),
        ("COVID-19", "Covid 19 and COVID-19"),
        ("17:00", "open from 9 to 17"),
        ("9:00 bis 17:00", "von 9 bis 17 Uhr"),
        ("5 pm", "from 2 to 5"),
        ("60 °C", "60 degrees"),
        ("60 degrees Celsius", "60 °C"),
        ("60 Grad", "60 °C"),
        ("135 pounds", "£135"),
        (r"$\frac{612}{1{,}137} = 53.8\,\%$", "612 of 1,137, or 53.8%"),
    ],
)
def test_the_same_figure_in_other_words(own: str, other: str) -> None:
    assert said(own, other)


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("21 days", "12 days"),
        ("12 days", "12 months"),
        ("3 weeks", "three segments"),
        ("$410m", "410 million euros"),
        ("39.7 million euros", "39.7 billion euros"),
        ("about 41.2 billion", "39.7 billion"),
        ("60 °C", "60 °F"),
        ("16:00", "see 4., call 112"),
        ("16:00", "open from 8 to 4"),
        ("60 °C", "60"),
        ("135 pounds", "€135"),
        ("12 June", "12 May"),
        ("Q2", "third quarter"),
        ("5 pm", "5 am"),
        ("python3.11", "python3.12"),
    ],
)
def test_another_figure(own: str, other: str) -> None:
    assert not said(own, other)


def test_reads_the_scale_of_a_table() -> None:
    assert scales("Balance sheet (in millions, except per share)") == (1.0, 1e6)
    assert scales("Umsatz in Mio. Euro") == (1.0, 1e6)
    assert scales("TEUR") == (1.0, 1e3)
    assert scales("The price is 5 euros.") == (1.0,)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It costs US$5, RM 7 or EUR.5 here", ["US$5", "RM 7", "EUR.5"]),
        ("Model B-12 and No_5 of COVID-19 in mid-2019", ["B-12", "No_5", "COVID-19", "mid-2019"]),
        ("The first quarter, a dozen, may and May 3", ["first quarter", "a dozen", "May", "3"]),
        ("No figure stands in a sentence of words.", []),
    ],
)
def test_finds_figures_among_words(text: str, shown: list[str]) -> None:
    assert [one.shown for one in figures(text)] == shown


def test_a_year_shares_no_unit_with_an_amount() -> None:
    found = figures("from £66,000 in 2025 to £206,000 in 2026")
    assert [(one.shown, one.unit) for one in found] == [
        ("£66,000", "gbp"),
        ("2025", ""),
        ("£206,000", "gbp"),
        ("2026", ""),
    ]


def test_the_sign_that_ends_a_formula_is_no_currency() -> None:
    assert [one.unit for one in figures("The ratio is $0.538$, or $x = 5$.")] == ["", ""]
    assert [one.unit for one in figures("It costs $5, or 7$.")] == ["usd", ""]


@pytest.mark.parametrize(
    ("text", "results"),
    [
        ("With 10 children that makes 169 + 2 × 17 = €203.", [203.0]),
        ("Together they are €1,690: 580 + 145 + 2 × 60 + 5 × 169.", [1690.0]),
        ("It is €169 plus 2 x €17 for the others.", [203.0]),
        ("Of 40 − 12 / 4 chairs, 3 are broken.", [37.0]),
        ("It costs 580, and 145 more for the bus.", []),
    ],
)
def test_calculates_what_a_sentence_writes_out(text: str, results: list[float]) -> None:
    assert list(written_out(text)) == results


def test_a_year_before_an_amount_stays_a_year() -> None:
    year, amount = figures("in 2024, 2.3 million more")
    assert (is_year(year), amount.values) == (True, (2_300_000.0,))
