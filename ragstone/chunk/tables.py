"""Tables in chunks: whole rows, with the headings and the section that stand above them in the table."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.chunk import units
from ragstone.chunk.ruler import Ruler
from ragstone.chunk.text import pack, sentences_of
from ragstone.core.frozen import frozen
from ragstone.core.records import Mark, Span
from ragstone.core.span import lines_of
from ragstone.core.table import DELIMITERS, TOTAL


@frozen
class Part:
    """Some rows of a table.

    Attributes:
        span: the rows, in the text of the document.
        header: the rows of column headings, one per line, as in the text; empty if there are none.
        header_rows: how many of them begin the span.
        caption: what the table is called, and its unit.
        section: the row with a label only, such as "Operating expenses:", under which the first row of the span stands.
    """

    span: Span
    header: str
    header_rows: int
    caption: str
    section: str

    @property
    def above(self) -> list[str]:
        """What stands above these rows in the table, but not in the span: caption, column headings and section."""
        return [one for one in (self.caption, "" if self.header_rows else self.header, self.section) if one]


def parts(text: str, table: Mark, whole: Span, ruler: Ruler, size: int) -> Iterator[Part]:
    """Yield a table in parts of at most ``size``. Only a row that is longer is cut.

    Column headings and the rows that open a section stay with the row below, if they fit.

    Args:
        text: the text of the document.
        table: the mark of the table.
        whole: the table with its fences, if any.
        ruler: measures the parts.
        size: the largest measure of a part.
    """
    rows = [*lines_of(text, whole.start, whole.end)]
    first = next((n for n, row in enumerate(rows) if row.end > table.start), 0)
    headings = [row for row in rows[first:] if not DELIMITERS.fullmatch(row.of(text))][: table.header]
    header = "\n".join(row.of(text) for row in headings)
    body = [row for row in rows if not headings or row.start > headings[-1].start]
    sections = dict(_sections(text, body)) if any("|" in row.of(text) for row in body) else {}
    # White space at the left is an empty cell.
    starts = sorted(sections)
    openings = {row.start for row in rows if sections and _is_section(row.of(text))}
    kept = {row.start for row in headings} | openings
    for span in pack(text, _groups(text, rows, kept), [lines_of, sentences_of, units.words], ruler, size, 0):
        inside = sum(span.holds(row) for row in headings)
        above = next((at for at in reversed(starts) if at <= span.start), None)
        yield Part(
            span=span,
            header=header,
            header_rows=inside if inside == len(headings) else 0,
            caption=table.label,
            section=sections[above] if above is not None and span.start not in openings else "",
        )


def _groups(text: str, rows: list[Span], kept: set[int]) -> Iterator[Span]:
    """Yield rows, each with those right above it that begin at one of the ``kept`` positions."""
    start: int | None = None
    for row in rows:
        start = row.start if start is None else start
        if row.start not in kept and not DELIMITERS.fullmatch(row.of(text)):
            yield Span(start=start, end=row.end)
            start = None
    if start is not None:
        yield Span(start=start, end=rows[-1].end)


def _sections(text: str, body: list[Span]) -> Iterator[tuple[int, str]]:
    """Yield where rows begin to stand under another section, and its words; they are empty after a total."""
    for row in body:
        words = row.of(text)
        if _is_section(words):
            yield row.end, words.strip(" |")
        elif TOTAL.match(words):
            yield row.end, ""


def _is_section(row: str) -> bool:
    """Return whether a row has only its first cell."""
    words = row.strip()
    return bool(words) and "|" not in words.rstrip(" |").removeprefix("|") and not row.startswith(" |")
