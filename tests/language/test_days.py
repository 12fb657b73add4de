"""The days that a text names, in words and in figures."""

from __future__ import annotations

import pytest

from ragstone.language.days import dates_in, days_in
from ragstone.language.facts import words


@pytest.mark.parametrize(
    "text",
    [
        "on 18 May 2026",
        "May 18th, 2026",
        "the 18th of May 2026",
        "2026-05-18",
        "18.05.2026",
        "18.5.26",
        "18/05/2026",
        "18/05/26",
        "am 18. Mai 2026",
        "2026 m. gegužės 18 d.",
    ],
)
def test_a_day_is_the_same_however_it_is_written(text: str) -> None:
    (day,) = days_in(text)
    assert (day.day, day.month, day.year) == (18, 5, 2026)
    assert [found for _, found in dates_in(text)] == [day.date]


@pytest.mark.parametrize("text", ["18 may", "may 18", "18/05", "18.05.", "am 18. Mai", "the 18th of May"])
def test_a_day_needs_no_year(text: str) -> None:
    (day,) = days_in(text)
    assert (day.day, day.month, day.year, day.date) == (18, 5, 0, None)
    assert str(day.within(2031)) == "2031-05-18"


@pytest.mark.parametrize("text", ["24/7", "1/2 cup", "a score of 10/12", "version 1.2.3", "at 10.30", "5.10 euro", ""])
def test_other_figures_are_no_days(text: str) -> None:
    assert days_in(text) == ()


def test_31_february_is_no_date() -> None:
    assert dates_in("31 February 2026") == []


@pytest.mark.parametrize(
    ("text", "is_month"),
    [
        ("the may meeting", True),
        ("minutes of may", True),
        ("snow in march", True),
        ("members may vote", False),
        ("want to march", False),
        ("the march for peace", False),
    ],
)
def test_a_month_in_small_letters_stands_behind_a_preposition(text: str, is_month: bool) -> None:
    assert any(word.value.startswith("month ") for word in words(text)) is is_month


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("see you on thursday 3 december", "thursday 3 december"),
        ("Thu 3 Dec", "Thu 3 Dec"),
        ("am Donnerstag, den 3. Dezember", "Donnerstag, den 3. Dezember"),
        ("we meet on 3 December", "3 December"),
        ("Thursday is closed; 3 December too", "3 December"),
    ],
)
def test_the_day_of_the_week_belongs_to_a_day(text: str, named: str) -> None:
    (day,) = days_in(text)
    assert day.span.of(text) == named
