"""Which companies a question names, and which of a company's reports are of a period."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import date, timedelta

from ragstone.core.catalog import DocumentSummary
from ragstone.core.filters import Compare, Filter, In
from ragstone.core.naming import file_name
from ragstone.filings.named import NamedReport
from ragstone.language import lexicon

_LATE = timedelta(days=7)
"""How far into the next month a period of weeks may reach that stands for one of months."""
_FORMS = {"quarter": ("10-Q", "6-K"), "year": ("10-K", "10-KT", "20-F", "40-F")}
_ORDINAL = frozenset({"first", "second", "third", "fourth"})
"""Words of quarters, and first words of names such as First Solar."""
_WORD = re.compile(r"[^\W_]+(?:[&-][^\W_]+)*")
_NO_NAME = frozenset([
    "the", "inc", "incorporated", "corp", "corporation", "co", "company", "companies", "ltd", "limited", "llc", "lp",
    "plc", "ag", "se", "gmbh", "nv", "sa", "spa", "ab", "asa", "oyj", "holding", "holdings", "group", "com", "and",
])  # fmt: skip
"""Words of the names of companies that questions leave out."""


def of_kind(named: NamedReport) -> Filter:
    """Return a filter on reports of the form that a question names, or of those that cover such a period."""
    forms = (named.form,) if named.form else _FORMS[named.covers] if named.covers else ()
    return In(key="form", values=forms) if forms else Compare(key="period", op=">", value="")


def companies_named(question: str, companies: Iterable[str]) -> list[str]:
    """Return the companies that a question names, all by their whole names or else all by the first word of theirs.

    Names that it writes with a capital count before others, because "target" and "first" are names and words. A name
    within another one that is there, as Bolt within Bolt Threads, is not meant.
    """
    names = {company: [word for word in _words(company) if word not in _NO_NAME] for company in companies}
    common = lexicon().stop
    names = {
        company: [word for word in words if word not in common] or words for company, words in names.items() if words
    }
    for asked, is_sure in ((_capitalised(question), True), (set(_words(question)), False)):
        whole = {
            company: set(words)
            for company, words in names.items()
            if asked.issuperset(words) and (is_sure or not common.issuperset(words))
        }
        if whole:
            return [name for name, words in whole.items() if not any(words < other for other in whole.values())]
        first = [name for name, words in names.items() if words[0] in asked and _tells(words[0], is_sure=is_sure)]
        if first:
            return first
    return []


def _tells(word: str, *, is_sure: bool) -> bool:
    """Return whether the first word of a name may stand for all of it: no "T" of T. Rowe Price, no "first"."""
    return len(word) > 1 and word not in lexicon().stop and (is_sure or word not in _ORDINAL)


def _capitalised(question: str) -> set[str]:
    """Return the words with a capital, in lower case; a stop word at the beginning has one anyway."""
    capitals = [word for word in _WORD.findall(question) if word != word.lower()]
    is_first = capitals and question.lstrip().startswith(capitals[0]) and capitals[0].casefold() in lexicon().stop
    return {word.casefold() for word in (capitals[1:] if is_first else capitals)}


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def of_period(
    documents: Sequence[DocumentSummary], period: str, dates: Callable[[str], tuple[int, int]]
) -> list[DocumentSummary]:
    """Return the documents of a period, by name, by its fiscal or by its calendar name; else the latest.

    A name is what a reader knows a document by, so "the Q1 2023 report" is a file of this name before it is the first
    quarter of anybody's fiscal year.

    Args:
        documents: the reports of a company.
        period: as a question names it; empty for the latest report.
        dates: returns the year and the quarter that a text names, 0 for none.
    """
    if not period:
        dated = [(document, day) for document in documents if (day := _last_day(document))]
        latest = max((day for _, day in dated), default=None)
        return [document for document, day in dated if day == latest]
    year, quarter = dates(period)
    names = [dates(re.sub(r"[\W_]+", " ", file_name(report.document_id))) for report in documents]
    fiscal = [dates(str(report.metadata.get("fiscal_period", ""))) for report in documents]
    for periods in (names, fiscal, [_calendar(report) for report in documents]):
        if exact := [report for report, own in zip(documents, periods, strict=True) if own == (year, quarter)]:
            return exact
        of_year = [report for report, own in zip(documents, periods, strict=True) if own[0] == year]
        if of_year and not quarter:
            return of_year
    return []


def _calendar(document: DocumentSummary) -> tuple[int, int]:
    """Return year and quarter of the calendar in which a report's period ends; of a yearly report the year alone."""
    last = _last_day(document)
    if last is None:
        return 0, 0
    last -= _LATE
    is_yearly = str(document.metadata.get("form", "")).removesuffix("/A") in _FORMS["year"]
    return last.year, 0 if is_yearly else (last.month + 2) // 3


def _last_day(document: DocumentSummary) -> date | None:
    with suppress(ValueError):
        return date.fromisoformat(str(document.metadata.get("period", "")))
    return None
