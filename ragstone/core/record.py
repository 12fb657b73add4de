"""Rows of data files in chunks: the fields of a row, each with its exact span, as a table of one row.

The text of such a document is ``name: value; name: value`` on its first line, with long values below. Which names are
columns is known from the metadata, where the fields stand as facts, so that a value may hold any sign. A row with much
text below its line is an article: its text answers, and its line only describes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ragstone.core.catalog import DocumentSummary
from ragstone.core.filters import Scalar
from ragstone.core.frozen import frozen
from ragstone.core.records import Chunk, Document, Span
from ragstone.core.table import Cell, Row, Table, table_of

_BETWEEN = "; "
_AFTER_NAME = ": "
_UNKNOWN = re.compile(r"[^\W\d_][^:;\n]{0,80}(?=: )")
"""The name of a column that is no fact, such as that of the groups that may read a row."""
_LONGEST_NAME = 200
"""Characters of the name of a first column."""
_MIN_COLUMNS = 2
_PROSE = 800
"""Characters below the line of fields from which on a row is an article; a longer line fills a chunk by itself."""


@frozen
class _Field:
    """A field: the name of its column, the span of its value, and whether the metadata have this value."""

    name: str
    span: Span
    is_fact: bool


def file_of(document: Chunk | Document | DocumentSummary) -> str:
    """Return the name of the file that a document is of: its id without the key of a row or an entry."""
    id = document.id if isinstance(document, Document) else document.document_id
    path = document.metadata.get("path")  # the end of the name; a column may be called so too
    at = f"/{id}#".find(f"/{path}#") if path and isinstance(path, str) else -1
    return id[: at + len(str(path))] if at >= 0 else id.partition("#")[0]


def record_of(chunk: Chunk) -> Table | None:
    """Return the row of a data file as a table of one row, with the cell that names it first; None for other chunks."""
    line, _, below = chunk.text.partition("\n")
    fields = _fields_of(chunk, line)
    if not below and chunk.total > 1 and fields and not fields[-1].is_fact:
        fields.pop()  # the end of the chunk may cut it
    if not _is_row(fields) or _is_article(chunk, line, below):
        return None
    naming = next((n for n, one in enumerate(fields) if one.span.of(line) == chunk.title), 0)
    order = [fields[naming], *fields[:naming], *fields[naming + 1 :]]
    label = (chunk.title or order[0].span.of(line),)
    columns = tuple((one.name,) for one in order)
    cells = tuple(
        Cell(span=one.span, text=one.span.of(line), row=0, column=n, header=columns[n], label=label)
        for n, one in enumerate(order)
    )
    row = Row(span=Span(start=0, end=len(line)), section="", cells=cells)
    return Table(rows=(row,), columns=columns, file=file_of(chunk))


def rows_in(chunk: Chunk) -> Table | None:
    """Return the rows of a chunk: that of a data file, or those of a table; None for text."""
    return record_of(chunk) or table_of(chunk)


def prose_start(chunk: Chunk) -> int:
    """Return where the text of a row begins that is an article, after its fields; 0 for every other chunk."""
    line, _, below = chunk.text.partition("\n")
    if not _is_article(chunk, line, below) or not _is_row(_fields_of(chunk, line)):
        return 0
    start = len(chunk.text) - len(below.lstrip())
    name = _UNKNOWN.match(chunk.text, start)
    return start + len(name[0]) + len(_AFTER_NAME) if name else start


def _fields_of(chunk: Chunk, line: str) -> list[_Field]:
    if chunk.index or chunk.is_outside or _AFTER_NAME not in line[:_LONGEST_NAME]:
        return []
    return [*_fields(line, {" ".join(key.split()): value for key, value in chunk.metadata.items()})]


def _is_article(chunk: Chunk, line: str, below: str) -> bool:
    return len(below) >= _PROSE or (chunk.total > 1 and len(line) < _PROSE)


def _is_row(fields: Sequence[_Field]) -> bool:
    return len(fields) >= _MIN_COLUMNS and 2 * sum(one.is_fact for one in fields) >= len(fields)


def _fields(line: str, facts: Mapping[str, Scalar | tuple[Scalar, ...]]) -> Iterator[_Field]:
    """Yield the fields of a line, in order; none after a place where no column begins."""
    names = sorted(facts, key=len, reverse=True)
    at = 0
    while at < len(line):
        name = next((one for one in names if line.startswith(one + _AFTER_NAME, at)), "")
        if not name:
            unknown = _UNKNOWN.match(line, at)
            if not unknown:
                return
            name = unknown[0]
        start = at + len(name) + len(_AFTER_NAME)
        fact = facts.get(name)
        end = _end(line, start, fact, names)
        yield _Field(name=name, span=Span(start=start, end=end), is_fact=_says(line[start:end], fact))
        at = end + len(_BETWEEN)


def _end(line: str, start: int, fact: Scalar | tuple[Scalar, ...] | None, names: list[str]) -> int:
    """Return where a value ends: with the fact that it is, or else before the next column that is known."""
    if isinstance(fact, str) and line.startswith(fact, start):
        end = start + len(fact)
        if end == len(line) or line.startswith(_BETWEEN, end):
            return end
    at = line.find(_BETWEEN, start)
    while at >= 0:
        after = at + len(_BETWEEN)
        if any(line.startswith(one + _AFTER_NAME, after) for one in names) or _UNKNOWN.match(line, after):
            return at
        at = line.find(_BETWEEN, after)
    return len(line)


def _says(text: str, fact: Scalar | tuple[Scalar, ...] | None) -> bool:
    """Return whether a value is written as the fact that was made of it."""
    match fact:
        case None:
            return False
        case bool():
            return text.lower() == str(fact).lower()
        case int() | float():
            try:
                return float(text) == float(fact)
            except ValueError:
                return False
        case tuple():
            return all(str(one) in text for one in fact)
        case _:
            return text == fact
