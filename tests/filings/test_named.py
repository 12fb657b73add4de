"""Reports that a question names by their periods, in several languages."""

import pytest

from ragstone.filings import NamedReport, named_report

LATEST_10Q = NamedReport(phrase="in the latest 10-Q report", form="10-Q", covers="quarter")


@pytest.mark.parametrize(
    ("question", "language", "report"),
    [
        ("What was the gross margin in the latest 10-Q report?", "en", LATEST_10Q),
        ("What did Acme's latest 10q report?", "en", NamedReport(form="10-Q", covers="quarter")),
        (
            "What was the cash flow, as reported in the Q3 2022 10-Q?",
            "en",
            NamedReport(period="Q3 2022", phrase="as reported in the Q3 2022 10-Q", form="10-Q", covers="quarter"),
        ),
        (
            "What were sales according to Acme's annual report for fiscal 2022?",
            "en",
            NamedReport(
                period="fiscal 2022", phrase="according to Acme's annual report for fiscal 2022", covers="year"
            ),
        ),
        ("How high were sales in the latest quarter?", "en", NamedReport(covers="quarter")),
        ("What does Acme's latest 10-K/A say?", "en", NamedReport(form="10-K/A", covers="year")),
        ("What does the 2022 report say?", "en", NamedReport(period="2022")),
        ("Wie hoch war der Umsatz laut dem Geschäftsbericht 2022?", "de", NamedReport(
            period="2022", phrase="laut dem Geschäftsbericht 2022", covers="year")),
        ("Wie hoch war der Gewinn im letzten Quartal?", "de", NamedReport(covers="quarter")),
        ("Apakah untung dalam laporan terkini?", "ms", NamedReport(phrase="dalam laporan terkini")),
    ],
)  # fmt: skip
def test_names_the_report_of_a_period(question: str, language: str, report: NamedReport) -> None:
    assert named_report(question, language) == report


@pytest.mark.parametrize(
    "question",
    [
        "What did sales cost in 2022?",
        "Compare the Q2 and Q3 2023 reports.",
        "How did sales change from the 2022 to the 2023 annual report?",
        "How do I write a report?",
        "How did sales in Q2 2023 compare to last year?",
        "What happened in the last year of the war?",
        "What were sales in the third quarter of fiscal 2024?",
    ],
)
def test_others_name_no_single_report(question: str) -> None:
    assert named_report(question, "en") is None
