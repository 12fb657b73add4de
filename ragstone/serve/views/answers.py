"""Answers and search results: the text, its sources, and the history of each score."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from ragstone.core.answers import EXTRACTIVE, Answer, Citation
from ragstone.core.hits import Hits
from ragstone.core.printable import one_line, printable
from ragstone.core.records import OF_FILE, Hit, Metadata, beside
from ragstone.serve.as_json import search_note
from ragstone.serve.views.blocks import Block, Line, Part, Style, cut, line, table
from ragstone.serve.views.unmarked import unmarked

EXCERPT = 280
"""Characters of a chunk that a search shows."""
LONGEST_FACT = 100
"""Characters of a metadata value shown below a source; longer values are texts, and ``--json`` has them."""

MARKER = re.compile(r"(\[(?:(?:Web )?Source )?(?:\d+|\?)\])")
"""A citation in the text of an answer; ``[?]`` stands for a missing one."""
_BAR, _DELIMITERS = re.compile(r"(?<!\\)\|"), re.compile(r"\|(?:\s*:?-+:?\s*\|)+")
_MARKUP = re.compile(r"[<‹](?![^<>‹›\s@]+@)/?[A-Za-z!]")
"""The beginning of a tag; behind the name of a sender stands an address."""


def answer(
    answer: Answer, *, shown: Callable[[Metadata], Metadata] = dict, explain: bool = False, rated: bool = False
) -> Iterator[Block]:
    """Show an answer, its sources and its confidence; ``rated`` adds the command that rates it."""
    yield from _text(answer)
    if answer.citations or answer.outcome in ("answer", "closest"):
        yield line()
        yield from sources(answer, shown=shown)
        if not explain and answer.outcome == "answer":
            yield line((_confidence(answer), "dim"))
    if explain:
        yield from explanation(answer)
    if rated and answer.response_id:
        yield line((f"was it good? ragstone feedback {answer.response_id} up, or down", "dim"))


def notices(answer: Answer) -> Iterator[Line]:
    """Show the problems that did not prevent an answer."""
    if not answer.hits and not answer.notices and answer.outcome not in ("reply", "clarification"):
        yield line(("note: ", "yellow"), "nothing was found; ragstone status shows what the knowledge base holds")
    for notice in (*answer.notices, *answer.flags):
        yield line(("note: ", "yellow"), one_line(notice))


def sources(answer: Answer, *, shown: Callable[[Metadata], Metadata] = dict) -> Iterator[Line]:
    """Show each citation with its place and its words, and once per document its ``shown`` metadata."""
    facts_by_document = {hit.chunk.document_id: shown(hit.chunk.metadata) for hit in answer.hits}
    yield line(("Sources", "bold") if answer.citations else "no citations")
    for citation in answer.citations:
        title: list[Part] = [(one_line(citation.title), "bold"), (" — ", "dim")] if citation.title else []
        where: Part = (place(citation), "dim" if title else "")
        yield line(*title, where, indent=2, head=(f"[{citation.marker}] ", "bold cyan"))
        if answer.outcome != "closest":  # its text shows the whole passages
            if citation.head:
                yield line((one_line(citation.head), "dim"), indent=6)
            yield line((f"“{one_line(citation.quote)}”", "italic dim"), indent=6)
        if facts := _facts(beside(citation.quote, facts_by_document.pop(citation.document_id, {}))):
            yield line((facts, "dim"), indent=6)


def place(citation: Citation) -> str:
    """Return the place of a citation: document, page, section and characters, and the model if it wrote the words."""
    section = citation.section if citation.section != citation.title else ""
    found = [citation.where, f"p. {citation.page}" if citation.page else "", section]
    span = f"characters {citation.start}-{citation.end}"
    return one_line(", ".join(filter(None, [*found, span, citation.origin])))


def explanation(answer: Answer) -> Iterator[Block]:
    """Show the evidence with the history of each score, and the time of each stage."""
    yield line()
    yield line(("Kind", "bold"), f" {answer.kind}; {answer.outcome}")
    method = answer.retrieval_method.replace("_", " ")
    yield line(("Evidence", "bold"), f" by {method}; confidence {answer.confidence:.2f}")
    yield from (line((one_line(str(step)), "dim"), indent=1) for step in answer.steps)
    yield from hits(answer.hits, explain=True, excerpt=False)
    if answer.policy:
        yield line((f"answered under policy version {answer.policy} (ragstone policy show {answer.policy})", "dim"))
    spent = ", ".join(f"{stage} {milliseconds:.0f} ms" for stage, milliseconds in answer.timings_ms.items())
    yield line((f"time: {spent}", "dim"))


def found(passages: Hits, *, explain: bool = False) -> Iterator[Block]:
    """Show the hits of a search, with a note if a part of the search was missing or nothing matches well."""
    if note := search_note(passages):
        yield line(("note: ", "yellow"), note)
    yield from hits(passages, explain=explain)


def hits(hits: Sequence[Hit], *, explain: bool = False, excerpt: bool = True) -> Iterator[Block]:
    """Show chunks, best first."""
    if not hits:
        yield line("nothing matches")
    for rank, hit in enumerate(hits, start=1):
        chunk = hit.chunk
        title = one_line(chunk.title) or one_line(chunk.document_id)
        yield line((title, "bold"), (f"  {hit.score:.4f}", "dim"), head=(f"{rank}. ", "bold cyan"))
        where = one_line(chunk.url or chunk.document_id)
        yield line((f"{where}, characters {chunk.start}-{chunk.end}", "dim"), indent=3)
        if excerpt:
            yield line(cut(chunk.text, EXCERPT), indent=3)
        if explain:
            steps = [(step.stage, f"{step.score:.4f}", str(step.rank), one_line(step.note)) for step in hit.why]
            yield table(("stage", "score", "rank", "note"), steps, numbers=(1, 2), indent=3)


def _text(answer: Answer) -> Iterator[Block]:
    """Show the text line by line, with the markers of its citations, and without the signs of Markdown."""
    markers = {str(citation.marker) for citation in answer.citations}

    def style(part: str) -> Style:
        if part == "[?]":
            return "bold yellow"
        return "bold cyan" if MARKER.fullmatch(part) and part.strip("[]").rpartition(" ")[2] in markers else ""

    rows = unmarked(answer.answer).split("\n")
    number = 0
    # Further lines are indented, so that none can pose as a source below the answer.
    while number < len(rows):
        if count := _table_rows(rows[number:]):
            head, _, *body = (_cells(row) for row in rows[number : number + count])
            yield table(head, body, indent=2)
            number += count
            continue
        # Blanks are kept, because a line may be code.
        kept = "".join(" " if char.isspace() else char for char in printable(rows[number])).rstrip()
        parts: list[Part] = [(part, style(part)) for part in MARKER.split(kept)]
        is_row = rows[number].startswith("|")  # rows of a table stay below each other
        yield line(*parts, indent=2 * (number > 0 or is_row))
        number += 1


def _table_rows(lines: Sequence[str]) -> int:
    """Return how many lines are a table of Markdown with as many cells in each row; 0 if they begin with none."""
    if len(lines) < 2 or not _DELIMITERS.fullmatch(lines[1]):
        return 0
    width = len(_cells(lines[1]))
    return sum(1 for _ in takewhile(lambda row: row.startswith("|") and len(_cells(row)) == width, lines))


def _cells(row: str) -> list[str]:
    return [cell.strip().replace(r"\|", "|") for cell in _BAR.split(row.strip())[1:-1]]


def _confidence(answer: Answer) -> str:
    by = f"; written by {one_line(answer.model)}, {answer.support:.0%} of its sentences supported"
    return f"confidence {answer.confidence:.2f}" + ("" if answer.model == EXTRACTIVE else by)


def _facts(metadata: Metadata) -> str:
    """Return a document's metadata on one line, without texts and markup."""
    values = {
        key: cut(", ".join(map(str, value)), LONGEST_FACT) if isinstance(value, tuple) else str(value).strip()
        for key, value in metadata.items()
        if key not in OF_FILE
    }
    return " · ".join(
        f"{one_line(key)}: {one_line(value)}"
        for key, value in values.items()
        if len(value) <= LONGEST_FACT + len(" …") and "\n" not in value and not _MARKUP.search(value)
    )
