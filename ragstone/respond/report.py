"""Reports: sections below an answer, the passages that lead to it, lists of documents that fit, and comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragstone.core.answers import Draft, Statement
from ragstone.core.frozen import frozen
from ragstone.core.naming import name_of
from ragstone.core.research import Compared, ItemList
from ragstone.language import phrases
from ragstone.respond.drafts import joined, moved, shortened, unmarked
from ragstone.respond.links import strip_links
from ragstone.respond.overview.page import Group, Labelled, page
from ragstone.respond.quote import Quote
from ragstone.respond.replies import plain_reply

SHOWN = 200
"""Documents that a list shows; a file of them has all."""
MAX_TITLE, MAX_QUOTE = 120, 240
"""Characters of a title, and of a quote, in a list or a comparison."""


@frozen
class Section:
    """A section of a report: its heading, and what stands below it."""

    heading: str
    draft: Draft


def with_sections(draft: Draft, sections: Sequence[Section], unknown: Sequence[str], language: str) -> Draft:
    """Return an answer with sections below it, and last what was not found.

    Args:
        draft: the answer.
        sections: those that have a text.
        unknown: what of the question no passage has.
        language: ISO 639-1 code of the last line.
    """
    leads = [f"## {shortened(unmarked(strip_links(one.heading)), MAX_TITLE).rstrip(':')}\n\n" for one in sections]
    parts = [replace(one.draft, text=one.draft.text.lstrip(), statements=_lifted(one.draft)) for one in sections]
    whole = joined(["", *leads], [draft, *parts])
    if unknown:
        whole = replace(whole, text=f"{whole.text}\n\n{phrases(language).unfound.format(what=', '.join(unknown))}")
    is_told = draft.outcome == "refusal" and bool(sections)
    return replace(whole, outcome="closest" if is_told else draft.outcome)


def _lifted(draft: Draft) -> tuple[Statement, ...]:
    """Return the statements of a draft without the blank lines before its text."""
    by = len(draft.text) - len(draft.text.lstrip())
    return tuple(moved(one, -by) for one in draft.statements)


def with_chain(draft: Draft, quotes: Sequence[Quote], language: str) -> Draft:
    """Return an answer with exact quotes of the passages that lead to it below; a refusal with them is no refusal.

    Args:
        draft: the answer.
        quotes: of the passages, in the order in which they lead on.
        language: ISO 639-1 code of the line above them.
    """
    cited = {(one.document_id, one.quote) for one in draft.citations}
    new = [one for one in quotes if (one.hit.chunk.document_id, one.text) not in cited]
    if not new:
        return draft
    lines = tuple((Labelled(quote=one, label=name_of(one.hit.chunk)),) for one in new)
    chain = page(phrases(language).chain, [Group(heading="", lines=lines)])
    whole = joined(["", ""], [draft, chain])
    return replace(whole, outcome="closest" if draft.outcome == "refusal" else draft.outcome)


def list_draft(listed: ItemList, language: str) -> Draft:
    """Return a list of documents or rows, each cited, below the number of those that fit.

    Args:
        listed: the documents or rows.
        language: ISO 639-1 code of the first line.
    """
    texts = phrases(language)
    if not listed.items:
        return plain_reply(texts.none_listed.format(wanted=unmarked(listed.wanted)), "refusal")
    count, expected = len(listed.items), round(listed.expected)
    lead = texts.expected if expected > count and not listed.is_complete else texts.listed
    lead = texts.rows_listed if listed.are_rows else lead
    text, statements = lead.format(count=f"{count:,}", expected=f"{expected:,}"), list[Statement]()
    for one in listed.items[:SHOWN]:
        title, quote = (unmarked(strip_links(" ".join(part.split()))) for part in (one.title, one.citation.quote))
        date = f" ({one.date})" if one.date else ""
        line = f"- {shortened(title, MAX_TITLE)}{date}: {shortened(quote, MAX_QUOTE)} [{one.citation.marker}]"
        statements.append(Statement(start=len(text) + 3, end=len(text) + 1 + len(line), markers=(one.citation.marker,)))
        text += f"\n{line}"
    if count > SHOWN:
        text += "\n- …"
    citations = tuple(one.citation for one in listed.items)
    least = min(one.probability for one in listed.items)
    return Draft(text=text, citations=citations, answerability=least, statements=tuple(statements), support=1.0)


def comparison_draft(compared: Compared, language: str) -> Draft:
    """Return a Markdown table with a column for each thing, each cell cited or said not to be found.

    Args:
        compared: the things.
        language: ISO 639-1 code of the words that are not quoted.
    """
    texts, citations = phrases(language), compared.citations
    if not citations:
        return plain_reply(texts.none_compared.format(things=unmarked(", ".join(compared.things))), "refusal")
    text = f"| {' | '.join(map(_cell, (texts.aspect, *compared.things)))} |\n|{'---|' * (1 + len(compared.things))}"
    statements = list[Statement]()
    for aspect in compared.aspects:
        text += f"\n| {_cell(aspect.name)} |"
        for one in aspect.cells:
            start = len(text) + 1
            text += f" {_cell(one.quote)} [{one.marker}]" if one else f" {texts.not_found}"
            if one:
                statements.append(Statement(start=start, end=len(text), markers=(one.marker,)))
            text += " |"
    return Draft(
        text=text, citations=citations, answerability=compared.probability, statements=tuple(statements), support=1.0
    )


def _cell(text: str) -> str:
    """Return a text for a cell of a Markdown table."""
    return shortened(unmarked(strip_links(" ".join(text.split()))), MAX_QUOTE).replace("|", r"\|")
