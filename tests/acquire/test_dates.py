"""Dates in texts, in every notation."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.acquire.metadata import dates
from ragstone.language.words import written_in

DAYS = st.dates(min_value=date(1000, 1, 1), max_value=date(2999, 12, 31))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("am 03.05.2020 und 3.5.2020", ["2020-05-03"]),
        ("on 2024-06-09T10:00 and 2024/06/10", ["2024-06-09", "2024-06-10"]),
        ("Am 3. Mai 2020.", ["2020-05-03"]),
        ("vom 3. Mai bis zum 5. Juni 2020", ["2020-05-03", "2020-06-05"]),
        ("June 9, 2024; 10 June 2024; 11th of June, 2024; 12 Jun 2024", [f"2024-06-{n:02}" for n in (9, 10, 11, 12)]),
        ("On September 13 and 14, 2022, in Cologne", ["2022-09-13", "2022-09-14"]),
        ("from February 27 to March 2, 2023", ["2023-02-27", "2023-03-02"]),
        ("13–15 Julai 2018, pada 9hb Ogos 2018", ["2018-07-13", "2018-07-15", "2018-08-09"]),
        ("1 Mac 2013 hingga 3 Mei 2013", ["2013-03-01", "2013-05-03"]),
        ("2024 m. birželio 9 d. ir 2023 m. gegužės mėn.", ["2023-05", "2024-06-09"]),
        ("2020 m. kovo 9–11 d.", ["2020-03-09", "2020-03-11"]),
        ("2020 m. kovo 16 žmonių", ["2020-03"]),
        ("version 4 of 3 May 2020, edition 1 of 2 June 2021", ["2020-05-03", "2021-06-02"]),
        ("in June 2024, MAY 2023, im Dezember 2021", ["2021-12", "2023-05", "2024-06"]),
        ("02-16-2023, 16/02/2022, 05/05/2021", ["2021-05-05", "2022-02-16", "2023-02-16"]),
        # The order is not clear, or there is no such day.
        ("05/06/2021 or 5-6-2021; 31.02.2020; June 31, 2020; 30 Februar 2020; 2020-13-01", []),
        ("in 2024, at the end of 2024, September 14, people may 2020 times, v1.2.2020.1, 10.2.2020.5", []),
        ("Q2 2024, spring 2025, 1.2.3.2020, call 0800 12 2020", []),
    ],
)
def test_finds_dates(text: str, found: list[str]) -> None:
    assert [*dates.find(text)] == found


def spellings(day: date) -> list[str]:
    """Write a day in words, in any language and spelling of its month."""
    english, german, malay, lithuanian = (
        [name for name, number in written_in(language).month_names.items() if number == day.month]
        for language in ("en", "de", "ms", "lt")
    )
    number, year = day.day, day.year
    return [
        *(f"{month} {number}, {year}" for month in english),
        *(f"{number} {month} {year}" for month in english + malay),
        *(f"{number}. {month} {year}" for month in german),
        *(f"{year} m. {month} {number} d." for month in lithuanian),
        day.isoformat(),
        f"{day:%d.%m.}{year}",
    ]


@given(DAYS, st.sampled_from(["{}", "Text ({}).", "a, {}; b", "On {}, 25 people", "1234 {}\n12"]))
def test_finds_day_in_any_notation(day: date, frame: str) -> None:
    for written in spellings(day):
        assert day.isoformat() in dates.find(frame.format(written)), written


@given(st.lists(st.one_of(DAYS.map(spellings).flatmap(st.sampled_from), st.text(max_size=8)), max_size=8))
def test_dates_are_valid_and_sorted(parts: list[str]) -> None:
    found = dates.find(" ".join(parts))
    assert [*found] == sorted(set(found))
    for one in found:
        date.fromisoformat(one if len(one) == 10 else f"{one}-01")
