"""The outcome between an answer and a refusal: the passage that may answer, with its likeliest words marked.

A person who reads a passage finds the answer in it more often than the estimate dares to point at a sentence. So the
passage stands as its document has it, from the start of a paragraph to the end of one, and a second passage is quoted
below it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ragstone.core.answers import Draft, Statement
from ragstone.core.naming import name_of
from ragstone.core.records import AS_OF, Chunk, Evidence, Metadata, Span, date_of
from ragstone.language import phrases
from ragstone.respond import passage_structure as structure
from ragstone.respond.drafts import cite, joined, lack_lines
from ragstone.respond.links import strip_links
from ragstone.respond.quote import Quote
from ragstone.respond.quoting.quoted_text import marked, short_label
from ragstone.respond.requirements.unmet import Lack
from ragstone.respond.tables.answer import draft_of
from ragstone.respond.tables.lookup import Looked
from ragstone.settings import RespondSettings

_START = re.compile(r"\n\s*|(?<=[.!?])\s+")
LONGEST = (900, 500)
"""Characters of the first and the second passage, unless the words that likely answer are longer, as a list may be."""

_LINE_BREAK = re.compile(r"\n")
_BREAKS = (re.compile(r"\n[ \t]*\n\s*"), _LINE_BREAK, re.compile(r"(?<=[.!?])\s"))
"""What may end a passage: a paragraph, else a line, else a sentence."""


def likely_draft(
    evidence: Evidence,
    quotes: Sequence[Quote],
    cells: Looked | None,
    answerability: float,
    settings: RespondSettings,
    lacks: Sequence[Lack],
) -> Draft:
    """Return the draft that shows two passages that may answer: those of the quotes, or one and the cells of a table.

    The citation of a passage is all of it; its statement is the words of the quote, which the marker follows.

    Args:
        evidence: the question, and what was found.
        quotes: of different passages, the likeliest first.
        cells: what tables say; they come first if they are likelier than the quotes.
        answerability: the estimated probability, 0 to 1, that the quotes answer.
        settings: of the answer.
        lacks: what the question fixes and the passage lacks.
    """
    texts = phrases(settings.language_for(evidence.question.language))
    shown = [
        (_named(one.hit.chunk, _heading_above(one)), _passage_draft(one, longest))
        for one, longest in zip(quotes, LONGEST, strict=False)
    ]
    if cells:
        chunk = cells.cells[0].hit.chunk
        of_table = (_named(chunk, chunk.heading), draft_of(cells))
        shown.insert(0 if cells.probability > answerability else 1, of_table)
    lines = "\n".join([*lack_lines(lacks, texts), "", texts.likely]).lstrip()
    leads = [f"{lead}\n\n{name}\n" for lead, (name, _) in zip((lines, texts.also), shown, strict=False)]
    whole = joined(leads, [draft for _, draft in shown[: len(leads)]])
    likeliest = max(answerability, cells.probability if cells else 0.0)
    return replace(whole, answerability=likeliest, outcome="closest")


def _passage_draft(quote: Quote, longest: int) -> Draft:
    chunk, span = quote.hit.chunk, quote.span
    text = chunk.text
    # What stands below the last line of a chunk is in the next one, so that this line may be its heading.
    around = f"{text}\n\n" if chunk.index < chunk.total - 1 else text
    passage = _below_its_name(quote, passage_around(around, span, longest))
    before, words = _before(text, passage, span), marked(quote.text, 1, is_code=quote.is_code)
    return Draft(
        text=f"{before}{words}{_after(text, passage, span)}",
        citations=(cite(1, quote.hit, passage),),
        answerability=0.0,
        statements=(Statement(start=len(before), end=len(before) + len(words), markers=(1,)),),
    )


def passage_around(text: str, span: Span, longest: int) -> Span:
    """Return what stands around some words and reads as one passage: below the same heading, within the limit.

    Whole paragraphs before and after are taken in turn. Where the words' own paragraph is too long, lines are taken,
    else sentences, else the words alone.
    """
    for pattern in _BREAKS:
        pieces = _pieces(text, pattern)
        own = [one for one in pieces if one.overlaps(span)]
        passage = Span(start=min(span.start, own[0].start), end=max(span.end, own[-1].end)) if own else span
        if passage.end - passage.start <= longest:
            before = [one for one in reversed(pieces) if one.end <= passage.start]
            after = [one for one in pieces if one.start >= passage.end]
            return _begun(text, _grown(text, passage, before, after, longest), span)
    return span


def _begun(text: str, passage: Span, span: Span) -> Span:
    """Begin a passage that starts within a sentence, because its chunk does, with the next line or sentence."""
    if passage.start > 0 or not text[:1].islower():
        return passage
    starts = (one.end() for one in _START.finditer(text, 0, span.start))
    return Span(start=next(starts, span.start), end=passage.end)


def _grown(text: str, passage: Span, before: list[Span], after: list[Span], longest: int) -> Span:
    """Extend a passage by the pieces before and after it, the nearest first, up to a heading or the limit."""
    while before or after:
        for pieces in (before, after):
            if not pieces:
                continue
            piece = pieces.pop(0)
            longer = Span(start=min(passage.start, piece.start), end=max(passage.end, piece.end))
            if structure.is_heading(text, piece) or longer.end - longer.start > longest:
                pieces.clear()
            else:
                passage = longer
    return passage


def _pieces(text: str, pattern: re.Pattern[str]) -> list[Span]:
    """Return what stands between the matches of a pattern, without blanks around it."""
    edges = [0, *(edge for one in pattern.finditer(text) for edge in one.span()), len(text)]
    pieces = [Span(start=start, end=end) for start, end in zip(edges[::2], edges[1::2], strict=True)]
    return [
        Span(start=one.start + len(words) - len(words.lstrip()), end=one.start + len(words.rstrip()))
        for one in pieces
        if (words := one.of(text)).strip()
    ]


def _below_its_name(quote: Quote, passage: Span) -> Span:
    """Return a passage without a first line that repeats the title or heading shown above it."""
    chunk, start = quote.hit.chunk, quote.span.start
    end = chunk.text.find("\n", passage.start, start)
    first = chunk.text[passage.start : max(end, passage.start)].strip("#*_ ")
    if not first or first not in (name_of(chunk), _heading_above(quote)):
        return passage
    rest = chunk.text[end:start]
    return Span(start=end + len(rest) - len(rest.lstrip()), end=passage.end)


def _heading_above(quote: Quote) -> str:
    """Return the nearest heading above a quote, in its chunk or before it; empty without one, and below "Hello,"."""
    chunk, text = quote.hit.chunk, quote.hit.chunk.text
    named = structure.heading_above(text, quote.span.start) or chunk.heading
    return "" if named.endswith(",") else named


def _named(chunk: Chunk, heading: str) -> str:
    """Return the title of a passage, with its heading, page and date.

    A name that has the year needs no date.
    """
    name, date, page = short_label(name_of(chunk)), _own_date(chunk.metadata), str(chunk.facts.get("page", ""))
    parts = (name, heading, f"p. {page}" if page else "", "" if date and date[:4] in name else date)
    names = dict.fromkeys(short_label(one).rstrip("?!.") for one in parts if one)
    return ", ".join(names) + ":"


def _own_date(metadata: Metadata) -> str:
    """Return the date of a document; empty for that of its file, and for a year alone, which may be of its folder."""
    as_of, made = str(metadata.get(AS_OF, "")), str(metadata.get("created", ""))
    is_day = len(as_of) == len("2024-05-01") and not made.startswith(as_of)
    hidden = {"created"} if is_day else {"created", AS_OF}
    return date_of({key: value for key, value in metadata.items() if key not in hidden})


def _before(text: str, passage: Span, span: Span) -> str:
    """Return the words of a passage before those that likely answer, as they read, and the blank between both."""
    words = text[passage.start : span.start]
    above, line_break, mark = words.rpartition("\n")
    if mark and structure.is_mark(mark):  # of the list item that the words are
        return structure.unwrapped(strip_links(above)) + line_break + mark
    blank = "\n" if "\n" in words[len(words.rstrip()) :] else " "
    return structure.unwrapped(strip_links(words)) + blank if words.strip() else ""


def _after(text: str, passage: Span, span: Span) -> str:
    words = text[span.end : passage.end]
    blank = "\n" if "\n" in words[: len(words) - len(words.lstrip())] else " "
    return blank + structure.unwrapped(strip_links(words.lstrip())) if words.strip() else ""
