"""Durations between two points of time."""

import pytest

from ragstone.respond.proof.durations import is_between
from ragstone.respond.proof.figures import figures


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It stayed for 13 hours and 15 minutes, from 06:00 to 19:15.", [True, True]),
        ("It stayed for 12 hours and 15 minutes, from 06:00 to 19:15.", [False, True]),
        ("The night shift takes eight hours, from 22:00 to 6:00.", [True]),
        ("Open for ten hours, from 8 to 18 o'clock.", [True]),
        ("It was out of the water for twelve days, from 16 to 27 February.", [True]),
        ("It was out of the water for eleven days, from 16 to 27 February.", [True]),
        ("It was out of the water for five days, from 16 to 27 February.", [False]),
        ("Three weeks, from 3 May 2024 to 24 May 2024.", [True]),
        ("Vom 3. bis 17. Mai 2024 dauerte es zwei Wochen.", [True]),
        ("The field work took four months, from March to June 2010.", [True]),
        ("From November to January it took two months.", [True]),
        ("From 2019 to 2023, seven years.", [False]),
        ("He was the head for four years, from 2019 to 2023.", [True]),
        ("It takes two weeks.", [False]),
    ],
)
def test_tells_what_lies_between_two_points_of_time(text: str, expected: list[bool]) -> None:
    assert [is_between(one, text) for one in figures(text) if one.measure == "time"] == expected
