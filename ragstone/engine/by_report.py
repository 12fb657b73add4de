"""The report of a company that a question names by its period: "its latest 10-Q", "the annual report for 2022".

What a report is comes from its cover, when it is read: the company, the form, the last day, and the fiscal period.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date, timedelta

from ragstone import query, respond
from ragstone.core.catalog import DocumentSummary
from ragstone.core.filters import Compare, In
from ragstone.engine.by_name import MAX_COMPARED, MOST_MEANT, ByName, Meant, file_name

MOST_COMPANIES = 1000
"""Companies whose names are looked for in a question."""
_LATE = timedelta(days=7)
"""How far into the next month a period of weeks may reach that stands for one of months."""
_FORMS = {"quarter": ("10-Q", "6-K"), "year": ("10-K", "10-KT", "20-F", "40-F")}
_WORD = re.compile(r"[^\W_]+(?:[&-][^\W_]+)*")
_NO_NAME = frozenset(
    [
        "the",
        "inc",
        "incorporated",
        "corp",
        "corporation",
        "co",
        "company",
        "companies",
        "ltd",
        "limited",
        "llc",
        "lp",
        "plc",
        "ag",
        "se",
        "gmbh",
        "nv",
        "sa",
        "spa",
        "ab",
        "asa",
        "oyj",
        "holding",
        "holdings",
        "group",
        "com",
        "and",
    ]
)
"""Words of the names of companies that questions leave out."""


def report_meant_in(question: str, by_name: ByName, language: str) -> Meant:
    """Return the report that a question names by a period, and what it asks of it.

    There is none if it names no company of the knowledge base, unless all reports are of one.
    """
    named = query.named_report(question, language)
    if named is None:
        return Meant(documents=(), question=question)
    known = [value for value, _ in by_name.common_values("company", MOST_COMPANIES)]
    companies = known if len(known) == 1 else _named_in(question, known)
    if not companies:
        return Meant(documents=(), question=question)
    of_companies = by_name.within(In(key="company", values=tuple(companies)))
    forms = (named.form,) if named.form else _FORMS[named.covers] if named.covers else ()
    if forms:
        of_companies = of_companies.within(In(key="form", values=forms))
    else:
        of_companies = of_companies.within(Compare(key="period", op=">", value=""))
    found = _of_period(of_companies.listing(MAX_COMPARED).documents, named.period)
    if not 0 < len(found) <= MOST_MEANT:
        return Meant(documents=(), question=question)
    return Meant(documents=tuple(found), question=query.without_name(question, named.phrase, language))


def _named_in(question: str, companies: Iterable[str]) -> list[str]:
    """Return the companies that a question names, all by their whole names or else all by the first word of theirs."""
    asked = set(_words(question))
    names = {one: [word for word in _words(one) if word not in _NO_NAME] for one in companies}
    whole = [one for one, words in names.items() if words and asked.issuperset(words)]
    return whole or [one for one, words in names.items() if words and words[0] in asked]


def _words(text: str) -> list[str]:
    return [word.removesuffix("'s") for word in _WORD.findall(text.casefold().replace("’", "'"))]


def _of_period(documents: Sequence[DocumentSummary], period: str) -> list[DocumentSummary]:
    """Return the documents of a period, by name, by its fiscal or by its calendar name; else the latest.

    A name is what a reader knows a document by, so "the Q1 2023 report" is a file of this name before it is the first
    quarter of anybody's fiscal year.
    """
    if not period:
        dated = [(one, day) for one in documents if (day := _last_day(one))]
        latest = max((day for _, day in dated), default=None)
        return [one for one, day in dated if day == latest]
    year, quarter = respond.year_and_quarter(period)
    for period_of in (_by_name, _fiscal, _calendar):
        periods = [(one, period_of(one)) for one in documents]
        if found := [one for one, its in periods if its == (year, quarter)]:
            return found
        if not quarter and (found := [one for one, its in periods if its[0] == year]):
            return found
    return []


def _by_name(document: DocumentSummary) -> tuple[int, int]:
    return respond.year_and_quarter(re.sub(r"[\W_]+", " ", file_name(document.document_id)))


def _fiscal(document: DocumentSummary) -> tuple[int, int]:
    return respond.year_and_quarter(str(document.metadata.get("fiscal_period", "")))


def _calendar(document: DocumentSummary) -> tuple[int, int]:
    """Return year and quarter of the calendar in which a report's period ends; of a yearly report the year alone."""
    last = _last_day(document)
    if last is None:
        return 0, 0
    last -= _LATE
    is_yearly = document.metadata.get("form") in _FORMS["year"]
    return last.year, 0 if is_yearly else (last.month + 2) // 3


def _last_day(document: DocumentSummary) -> date | None:
    with suppress(ValueError):
        return date.fromisoformat(str(document.metadata.get("period", "")))
    return None
