"""An overview as text: groups of quotes below headings, each quote with its marker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragstone.core.answers import Citation, Draft, Statement
from ragstone.core.frozen import frozen
from ragstone.core.records import Hit
from ragstone.respond.drafts import cite, shortened, unmarked
from ragstone.respond.links import strip_links
from ragstone.respond.overview.telling import content
from ragstone.respond.quote import Quote
from ragstone.respond.replies import plain_reply

MAX_LABEL = 130
"""Characters of a label before a quote."""
BETWEEN = " — "
"""Stands between two quotes that are set side by side."""


@frozen
class Labelled:
    """A quote, and what stands before it: a date or the name of a document, or nothing."""

    quote: Quote
    label: str = ""


@frozen
class Group:
    """Lines below a heading; a line has several quotes if they are set side by side."""

    heading: str
    lines: tuple[tuple[Labelled, ...], ...]


def page(lead: str, groups: Sequence[Group], end: str = "") -> Draft:
    """Return an overview that quotes exactly.

    Args:
        lead: the line above all groups.
        groups: those without lines are left out.
        end: the line below all groups, or an empty text.
    """
    text, citations, statements = unmarked(lead), list[Citation](), list[Statement]()
    for group in (one for one in groups if one.lines):
        text += f"\n\n{unmarked(strip_links(group.heading))}\n" if group.heading else "\n"
        for number, line in enumerate(group.lines):
            text += "\n- " if number else "- "
            for place, one in enumerate(line):
                text += BETWEEN if place else ""
                text += f"{shortened(unmarked(strip_links(one.label)), MAX_LABEL)}: " if one.label else ""
                citation = cite(len(citations) + 1, one.quote.hit, one.quote.span)
                start = len(text)
                text += f"{' '.join(strip_links(citation.quote).split())} [{citation.marker}]"
                citations.append(citation)
                statements.append(Statement(start=start, end=len(text), markers=(citation.marker,)))
    text += f"\n\n{end}" if end else ""
    return replace(plain_reply(text), citations=tuple(citations), statements=tuple(statements))


def rests_on(answer: str, hits: Sequence[Hit]) -> str:
    """Return the id of the document that has most of the words of an answer, at least half; empty if none has.

    Args:
        answer: as it was shown.
        hits: the passages that it may rest on, best first.
    """
    answered = content(answer)
    shared = dict[str, set[str]]()
    for hit in hits:
        shared.setdefault(hit.chunk.document_id, set()).update(answered & content(hit.chunk.text))
    best = max(shared, key=lambda id: len(shared[id]), default="")
    return best if best and 2 * len(shared[best]) >= len(answered) else ""


def hits_of(draft: Draft, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits that a draft cites, in their order, each once."""
    cited = {one.chunk_id for one in draft.citations}
    return list({hit.chunk.id: hit for hit in hits if hit.chunk.id in cited}.values())
