"""The periodic reports that a question names: "its latest 10-Q", "the annual report for 2022", "the latest quarter"."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from ragstone.core.frozen import frozen
from ragstone.language.talk import ReportWords, report_words

Covers = Literal["quarter", "year"]
"""The period that reports of a kind cover."""
_FORM = re.compile(r"((?:10-?[kq]t?|20-?f|40-?f|8-?k|6-?k)(?:/a)?)\b", re.IGNORECASE)
_PERIOD = (
    r"(?:(?:q[1-4]|[1-4]q|(?:first|second|third|fourth|1st|2nd|3rd|4th)[ -]quarter(?: of)?)[ ,]*)?"
    r"(?:(?:the )?fiscal(?: year)?[ ,]*|fy ?'?)?(?:20\d\d|(?<=fy)\d\d|(?<=fy )\d\d)(?:[ ,]*q[1-4])?"
)
_SEVERAL = re.compile(
    r"\b(?:and|or|to|vs\.?|versus|und|oder|bis|ir|iki|dan|hingga)\s+(?:the |its |zum |den )?$|[–-]\s*$", re.IGNORECASE
)
"""What stands before a period that is one of several: "the Q2 and Q3 2023 reports"."""
_YEAR = re.compile(r"\b(?:fy ?'?\d\d|(?:19|20)\d\d)\b", re.IGNORECASE)
_LONGEST_OWNER = 3
"""Words of a company's name before "'s latest report"."""


@frozen
class NamedReport:
    """A report that a question names by its period.

    ``period`` is written as in the question, and empty for the latest report. ``phrase`` is the place that the question
    names, such as "in its latest 10-Q"; it is empty if its words say what is asked for, too. ``form`` is as "10-Q",
    ``covers`` what a report of this kind covers; both are empty if the question does not say.
    """

    period: str = ""
    phrase: str = ""
    form: str = ""
    covers: Covers | None = None


def named_report(question: str, language: str = "") -> NamedReport | None:
    """Return the one report that a question names by its period; None if it names none or several.

    Args:
        question: as it was asked, of bounded length.
        language: ISO 639-1 code of the likely language; if it has no word list, that of English is used.
    """
    words = report_words(language)
    reports = [*_pattern(words).finditer(question)]
    if len(reports) > 1 or any(_SEVERAL.search(question[: report.start()]) for report in reports):
        return None
    if reports:
        report = reports[0]
        kind = report["report1"] or report["report2"]
        form = _FORM.search(kind)
        return NamedReport(
            period=report["period1"] or report["period2"] or "",
            phrase=report[0].lstrip(", ") if report["before"] else "",
            form=_hyphened(form[0]) if form else "",
            covers=_covers(kind, words.quarterly, words.yearly),
        )
    latest = re.search(rf"\b(?:{words.newest}) (?P<span>{words.period})\b(?! of\b)", question, re.IGNORECASE)
    if latest and _YEAR.search(question):  # "in Q2 2023, compared to last year"
        return None
    return NamedReport(covers=_covers(latest["span"], words.quarterly, words.yearly)) if latest else None


@lru_cache
def _pattern(words: ReportWords) -> re.Pattern[str]:
    """Return a pattern for a report with its period before it or behind it, and what may stand before both."""
    owner = rf"(?:(?:[\w.&-]+ ){{0,{_LONGEST_OWNER - 1}}}[\w.&-]+['’]s? )?"
    before = rf"(?:, )?(?:\bas (?:\w+ ){{1,2}})?\b(?:{words.inside}) (?:the |its )?{owner}"
    report = (
        rf"(?:form )?{_FORM.pattern}(?: (?:{words.report}))?"
        rf"|(?:(?:{words.yearly}|{words.quarterly}) )?(?:{words.report})"
    )
    newest, between = words.newest, rf"(?: (?:{words.of}))?(?: (?:the|its))?"
    return re.compile(
        rf"(?P<before>{before})?\b"
        rf"(?:(?:(?:{newest})|(?P<period1>{_PERIOD})) (?P<report1>{report})"
        rf"|(?P<report2>{report}){between} (?:(?:{newest})|(?P<period2>{_PERIOD})))(?![\w-])",
        re.IGNORECASE,
    )


def _covers(text: str, quarterly: str, yearly: str) -> Covers | None:
    if re.search(rf"{quarterly}|10-?q", text, re.IGNORECASE):
        return "quarter"
    return "year" if re.search(rf"{yearly}|10-?k|20-?f|40-?f", text, re.IGNORECASE) else None


def _hyphened(form: str) -> str:
    """Return the name of a form as covers have it: "10q" as "10-Q"."""
    return re.sub(r"(?<=\d)-?(?=[A-Z])", "-", form.upper(), count=1)
