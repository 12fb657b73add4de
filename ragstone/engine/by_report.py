"""The reports that a question names by a period: "its latest 10-Q", "the quarter ended July 1, 2023"."""

from __future__ import annotations

from ragstone.core.catalog import DocumentSummary
from ragstone.core.filters import Compare, In
from ragstone.core.question import MAX_QUESTION, Question
from ragstone.engine.by_name import MOST_MEANT, ByName, Meant, without_phrase
from ragstone.filings import companies_named, named_report, of_kind, of_period
from ragstone.respond.tables.dates import only_day, year_and_quarter

MOST_COMPANIES = 1000
"""Companies whose names are looked for in a question."""
MOST_REPORTS = 1000
"""Reports of a company among which one is looked for."""


def report_meant_in(question: Question, by_name: ByName) -> Meant:
    """Return the reports that a question names by a period, one of each company it names, and what it asks of them.

    A day names the report whose period ends on it. There is none if it names no company of the knowledge base, unless
    most documents are of one.
    """
    none = Meant(documents=(), question=question)
    text = question.wording.typed
    named = named_report(text[:MAX_QUESTION], question.language)
    day = None if named else only_day(text)
    if named is None and day is None:
        return none
    companies = _companies_in(text, by_name)
    documents = list[DocumentSummary]()
    for company in companies[:MOST_MEANT]:
        reports = by_name.within(In(key="company", values=(company,)))
        if named:
            own = reports.within(of_kind(named)).listing(MOST_REPORTS).documents
            documents += of_period(own, named.period, year_and_quarter)
        elif day:
            ended = Compare(key="period", op="=", value=day.isoformat())
            documents += reports.within(ended).listing(MOST_REPORTS).documents
    if not 0 < len(documents) <= MOST_MEANT or len(companies) > MOST_MEANT:
        return none
    asked = without_phrase(question, named.phrase) if named else question
    return Meant(documents=tuple(documents), question=asked)


def _companies_in(question: str, by_name: ByName) -> list[str]:
    """Return the companies that a question names; if it names none, that of most documents if there is only one."""
    counts = by_name.common_values("company", MOST_COMPANIES)
    if not counts:
        return []
    if companies := companies_named(question, [company for company, _ in counts]):
        return companies
    ((only, count), *others) = counts
    return [only] if not others and 2 * count > by_name.listing(1).total else []
