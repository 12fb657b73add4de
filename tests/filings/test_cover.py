"""Fiscal periods: named by the length of what a report covers and the way it names its years."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.filings.cover import fiscal_period

NINE = "For the three and nine months ended October 29, 2023. Fiscal year 2024 is a 52-week year, fiscal 2024."


@pytest.mark.parametrize(
    ("text", "kind", "ended", "period"),
    [
        (NINE, "quarter", "October 29, 2023", "third quarter of fiscal 2024"),
        (
            "Six Months Ended\nDecember 31, 2022. Fiscal year 2023.",
            "quarter",
            "December 31, 2022",
            "second quarter of fiscal 2023",
        ),
        ("three months ended March 31, 2023", "quarter", "March 31, 2023", "first quarter of 2023"),
        (
            "13 weeks ended April 29, 2023. Fiscal 2023, fiscal 2022.",
            "quarter",
            "April 29, 2023",
            "first quarter of fiscal 2023",
        ),
        ("Fiscal 2023 ended on February 3, 2024 and fiscal 2022 before.", "year", "February 3, 2024", "fiscal 2023"),
        ("Fiscal 2023 and fiscal 2022 had 52 weeks.", "year", "January 28, 2023", "fiscal 2023"),
        ("The year was good.", "year", "December 31, 2022", "2022"),
        ("The quarter was good.", "quarter", "October 29, 2023", ""),
        (NINE, "quarter", "the end of October", ""),
    ],
)
def test_names_the_period_as_the_company_does(text: str, kind: str, ended: str, period: str):
    assert fiscal_period(text, kind, ended) == period


@given(st.text(max_size=60), st.sampled_from(["quarter", "year", ""]), st.text(max_size=20))
def test_reads_anything(text: str, kind: str, ended: str):
    assert isinstance(fiscal_period(text, kind, ended), str)
