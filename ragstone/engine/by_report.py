"""The report of a company that a question names by its period: "its latest 10-Q", "the quarter ended July 1, 2023".

What a report is comes from its cover, when it is read: the company, the form, the last day, and the fiscal period.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date, timedelta

from ragstone.core.catalog import DocumentSummary
from ragstone.core.filters import Compare, Filter, In
from ragstone.core.naming import file_name
from ragstone.core.question import Question
from ragstone.engine.by_name import MOST_MEANT, ByName, Meant, without_phrase
from ragstone.language import lexicon
from ragstone.question.reports import NamedReport, named_report
from ragstone.respond.tables.dates import only_day, year_and_quarter

MOST_COMPANIES = 1000
"""Companies whose names are looked for in a question."""
MOST_REPORTS = 1000
"""Reports of a company among which one is looked for."""
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


def report_meant_in(question: Question, by_name: ByName) -> Meant:
    """Return the reports that a question names by a period, one of each company it names, and what it asks of them.

    A day names the report whose period ends on it. There is none if it names no company of the knowledge base, unless
    most documents are of one.
    """
    none = Meant(documents=(), question=question)
    text = question.wording.typed
    named = named_report(text, question.language)
    day = None if named else only_day(text)
    if named is None and day is None:
        return none
    companies = _companies_in(text, by_name)
    found = list[DocumentSummary]()
    for company in companies[:MOST_MEANT]:
        reports = by_name.within(In(key="company", values=(company,)))
        if named:
            found += _of_period(reports.within(_of_kind(named)).listing(MOST_REPORTS).documents, named.period)
        elif day:
            found += (
                reports.within(Compare(key="period", op="=", value=day.isoformat())).listing(MOST_REPORTS).documents
            )
    if not 0 < len(found) <= MOST_MEANT or len(companies) > MOST_MEANT:
        return none
    asked = without_phrase(question, named.phrase) if named else question
    return Meant(documents=tuple(found), question=asked)


def _of_kind(named: NamedReport) -> Filter:
    """Return a filter on reports of the form that a question names, or of those that cover such a period."""
    forms = (named.form,) if named.form else _FORMS[named.covers] if named.covers else ()
    return In(key="form", values=forms) if forms else Compare(key="period", op=">", value="")


def _companies_in(question: str, by_name: ByName) -> list[str]:
    """Return the companies that a question names; if it names none, that of most documents if there is only one."""
    known = by_name.common_values("company", MOST_COMPANIES)
    if not known:
        return []
    if found := _named_in(question, [value for value, _ in known]):
        return found
    ((only, count), *others) = known
    return [only] if not others and 2 * count > by_name.listing(1).total else []


def _named_in(question: str, companies: Iterable[str]) -> list[str]:
    """Return the companies that a question names, all by their whole names or else all by the first word of theirs.

    Names that it writes with a capital count before others, because "target" and "first" are names and words. A name
    within another one that is there, as Bolt within Bolt Threads, is not meant.
    """
    names = {one: [word for word in _words(one) if word not in _NO_NAME] for one in companies}
    common = lexicon().stop
    names = {one: [word for word in words if word not in common] or words for one, words in names.items() if words}
    for asked, is_sure in ((_capitalised(question), True), (set(_words(question)), False)):
        whole = {
            one: set(words)
            for one, words in names.items()
            if asked.issuperset(words) and (is_sure or not common.issuperset(words))
        }
        if whole:
            return [one for one, words in whole.items() if not any(words < other for other in whole.values())]
        if found := [one for one, words in names.items() if words[0] in asked and _tells(words[0], is_sure=is_sure)]:
            return found
    return []


def _tells(word: str, *, is_sure: bool) -> bool:
    """Return whether the first word of a name may stand for all of it: no "T" of T. Rowe Price, no "first"."""
    return len(word) > 1 and word not in lexicon().stop and (is_sure or word not in _ORDINAL)


def _capitalised(question: str) -> set[str]:
    """Return the words with a capital, in lower case; a stop word at the beginning has one anyway."""
    found = [word for word in _WORD.findall(question) if word != word.lower()]
    is_first = found and question.lstrip().startswith(found[0]) and found[0].casefold() in lexicon().stop
    return {word.casefold() for word in (found[1:] if is_first else found)}


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _of_period(documents: Sequence[DocumentSummary], period: str) -> list[DocumentSummary]:
    """Return the documents of a period, by name, by its fiscal or by its calendar name; else the latest.

    A name is what a reader knows a document by, so "the Q1 2023 report" is a file of this name before it is the first
    quarter of anybody's fiscal year.
    """
    if not period:
        dated = [(one, day) for one in documents if (day := _last_day(one))]
        latest = max((day for _, day in dated), default=None)
        return [one for one, day in dated if day == latest]
    year, quarter = year_and_quarter(period)
    for period_of in (_by_name, _fiscal, _calendar):
        periods = [(one, period_of(one)) for one in documents]
        if found := [one for one, its in periods if its == (year, quarter)]:
            return found
        if not quarter and (found := [one for one, its in periods if its[0] == year]):
            return found
    return []


def _by_name(document: DocumentSummary) -> tuple[int, int]:
    return year_and_quarter(re.sub(r"[\W_]+", " ", file_name(document.document_id)))


def _fiscal(document: DocumentSummary) -> tuple[int, int]:
    return year_and_quarter(str(document.metadata.get("fiscal_period", "")))


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
