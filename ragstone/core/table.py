"""Tables in chunks: their cells, each with its exact span, its column headings and the label of its row.

The text of such a chunk is whole rows, one per line, with " | " between cells or as Markdown. The facts of the chunk
have what is above these rows in the table: column headings, caption and section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from ragstone.core.frozen import frozen
from ragstone.core.records import Chunk, Metadata, Span
from ragstone.core.span import lines_of

_BAR = re.compile(r"(?<!\\)\|")
DELIMITERS = re.compile(r"[\s:|]*-[\s:|-]*")
"""The line below the headings of a Markdown table."""
_PROSE = 8
"""Words from which a line with one cell is text and not only the heading of a section."""
_OF_TABLE = frozenset({"is_table", "table_header", "header_rows", "table_caption", "table_sections"})
"""Facts of a chunk that is a table."""
TOTAL = re.compile(r"\W*(?:sub-?)?total\b", re.IGNORECASE)
"""The beginning of a row that ends a section with its total."""


@frozen
class Cell:
    """A cell of the body of a table.

    ``span`` is in the text of the chunk. ``header`` are the headings of its column from the top down; ``label`` names
    its row: the section, if any, and the first cell.
    """

    span: Span
    text: str
    row: int
    column: int
    header: tuple[str, ...]
    label: tuple[str, ...]

    @property
    def head(self) -> str:
        """The headings of its column as one text."""
        return " ".join(self.header)


@frozen
class Row:
    """A row of the body: its line in the text of the chunk, its section or an empty text, and its cells with text."""

    span: Span
    section: str
    cells: tuple[Cell, ...]

    @property
    def label(self) -> str:
        """The words of the first cell."""
        return self.cells[0].text


@frozen
class Table:
    """The rows of a chunk below its column headings.

    ``body`` are their lines in the text of the chunk, with those of sections; ``prose`` are those that are text across
    the table, as in forms and invoices. ``columns`` are the headings of each column; ``caption`` is the text above the
    table. ``file`` is the data file of the only row; empty for the table of a document.
    """

    rows: tuple[Row, ...]
    columns: tuple[tuple[str, ...], ...]
    body: tuple[Span, ...] = ()
    prose: tuple[Span, ...] = ()
    caption: str = ""
    file: str = ""

    @property
    def corner(self) -> tuple[str, ...]:
        """The headings above the row labels, which may give the period of all columns."""
        return self.columns[0] if self.columns else ()

    @property
    def cells(self) -> Iterator[Cell]:
        """All cells of the body, row by row."""
        return (cell for row in self.rows for cell in row.cells)


def table_of(chunk: Chunk) -> Table | None:
    """Return the table of a chunk; None if it is not a table, or has no row with two cells below its headings."""
    if not chunk.facts.get("is_table"):
        return None
    header = [line for line in _fact(chunk, "table_header").split("\n") if line.strip()]
    lines = [(line.start, line.of(chunk.text)) for line in lines_of(chunk.text)]
    count = chunk.facts.get("header_rows")
    inside = count if isinstance(count, int) and 0 <= count <= len(lines) else 0
    caption = " ".join(_fact(chunk, "table_caption").split())
    return _read(lines, header, inside, caption, _fact(chunk, "table_sections"))


def tables_within(text: str) -> Iterator[tuple[Span, Table]]:
    """Yield the tables within a text: lines with bars that follow each other, of which the first has the headings.

    Each comes with the characters from its headings to its last row; its own spans are in the text, too.
    """
    lines = ((line.start, line.of(text)) for line in lines_of(text))
    for is_row, group in groupby(lines, key=lambda line: _is_row(line[1])):
        block: list[tuple[int, str]] = []
        for at, line in [*group, (len(text), "")] if is_row else ():
            if block and (not line or "\n\n" in text[block[-1][0] : at]):
                if table := _read(block, [block[0][1]], 1, "", ""):
                    yield Span(start=block[0][0], end=block[-1][0] + len(block[-1][1])), table
                block = []
            block.append((at, line))


def _is_row(line: str) -> bool:
    return _is_fenced(line) or " | " in line


def _read(
    lines: Sequence[tuple[int, str]], header: Sequence[str], inside: int, caption: str, section: str
) -> Table | None:
    """Return a table of lines, each with its offset; None if no row has two cells below the headings.

    Args:
        lines: the rows, of which the first ``inside`` are of headings.
        header: all rows of headings.
        inside: how many rows of headings are among the lines.
        caption: the text above the table.
        section: of the table, in which the first row is.
    """
    markdown = any(DELIMITERS.fullmatch(line) for _, line in lines) or all(_is_fenced(line) for _, line in lines)
    body = [(at, line) for at, line in lines if not DELIMITERS.fullmatch(line)][inside:]
    above = [[text for _, text in _cells(line, 0, fenced=markdown)] for line in header]
    rows = [_cells(line, at, fenced=markdown) for at, line in body]
    width = max(map(len, [*above, *rows]), default=0)
    filled = [[text for _, text in row if text] for row in rows]
    if all(len(texts) < 2 for texts in filled):
        return None
    columns = tuple(_path([row[n] for row in above if n < len(row)]) for n in range(width))
    spans = [Span(start=at, end=at + len(line)) for at, line in body]
    return Table(
        rows=tuple(_rows(body, rows, columns, section)),
        columns=columns,
        body=tuple(spans),
        prose=tuple(
            span
            for span, texts in zip(spans, filled, strict=True)
            if len(texts) == 1 and len(texts[0].split()) >= _PROSE
        ),
        caption=caption,
    )


def head_above(chunk: Chunk, span: Span) -> str:
    """Return the headings above the row of a table that a span of a chunk is; empty for other text and single cells."""
    if not _is_row(span.of(chunk.text)):
        return ""
    whole = table_of(chunk)
    for table in [whole] if whole else [table for _, table in tables_within(chunk.text)]:
        if any(row.start <= span.start < row.end for row in table.body):
            return " | ".join(" · ".join(path) for path in table.columns).strip() if any(table.columns) else ""
    return ""


def without_table(facts: Metadata) -> Metadata:
    """Return the facts of a chunk without those that say how to read it as a table."""
    return {key: value for key, value in facts.items() if key not in _OF_TABLE}


def as_markdown(table: Table) -> str:
    """Return a table as a language model reads it best: its caption, and Markdown with one row of headings.

    A section is a separate row above its first row.
    """
    lines = [_line([" · ".join(path) for path in table.columns]), _line(["---"] * len(table.columns))]
    section = ""
    for row in table.rows:
        if row.section != section:
            section = row.section
            lines += [_line([section])] if section else []
        texts = [""] * len(table.columns)
        for cell in row.cells:
            texts[cell.column] = cell.text
        lines.append(_line(texts))
    return "\n".join([*([f"{table.caption}\n"] if table.caption else []), *lines])


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _rows(
    lines: Sequence[tuple[int, str]],
    rows: Sequence[Sequence[tuple[Span, str]]],
    columns: Sequence[tuple[str, ...]],
    section: str,
) -> Iterator[Row]:
    section = " ".join(section.split())
    for number, ((at, line), row) in enumerate(zip(lines, rows, strict=True)):
        filled = [(n, span, text) for n, (span, text) in enumerate(row) if text]
        if not filled:
            continue
        first, _, label = filled[0]
        if len(filled) == 1 and first == 0:
            section = label
            continue
        section = "" if TOTAL.match(label) and section and not TOTAL.match(section) else section
        path = _path([section.rstrip(" :"), label] if first == 0 else [section.rstrip(" :")])
        cells = tuple(
            Cell(span=span, text=text, row=number, column=n, header=columns[n], label=path) for n, span, text in filled
        )
        yield Row(span=Span(start=at, end=at + len(line)), section=section, cells=cells)


def _fact(chunk: Chunk, key: str) -> str:
    value = chunk.facts.get(key)
    return value if isinstance(value, str) else ""


def _path(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the non-empty texts, without repeating equal neighbours."""
    return tuple(text for text, _ in groupby(text for text in texts if text))


def _is_fenced(line: str) -> bool:
    bare = line.strip()
    return len(bare) > 1 and bare.startswith("|") and bare.endswith("|")


def _cells(line: str, at: int, *, fenced: bool) -> list[tuple[Span, str]]:
    """Return the spans, shifted by ``at``, and texts of cells; ``fenced`` lines begin and end with a bar."""
    start, end = 0, len(line)
    if fenced:
        bare = line.strip()
        start, end = line.index(bare), line.index(bare) + len(bare)
        start += bare.startswith("|")
        end -= len(bare) > 1 and bare.endswith("|")
    bars = [match.start() for match in _BAR.finditer(line, start, end)]
    cells: list[tuple[Span, str]] = []
    for left, right in zip([start, *(bar + 1 for bar in bars)], [*bars, end], strict=True):
        raw = line[left:right]
        text = raw.strip()
        begin = left + len(raw) - len(raw.lstrip()) if text else left
        cells.append((Span(start=at + begin, end=at + begin + len(text)), text))
    return cells
