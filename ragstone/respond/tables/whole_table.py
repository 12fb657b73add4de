"""All rows of a table of a document or a data file, by column."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache

from ragstone.core.frozen import frozen
from ragstone.core.naming import name_of
from ragstone.core.record import rows_in
from ragstone.core.records import Chunk, Hit
from ragstone.core.table import Cell, Row, Table
from ragstone.language import lexicon
from ragstone.language.money import MARK
from ragstone.language.words import any_of
from ragstone.respond.tables.calculate import DOTTED, value_of
from ragstone.respond.tables.cell_kinds import NOTHING
from ragstone.respond.tables.features import TableCell
from ragstone.respond.tables.wording import heading_words, lower_words, singular

MIN_ROWS = 2
"""Rows from which on there is something to compare."""
_UNIT = re.compile(rf"(?P<before>{MARK}?)\s*(?P<figure>[-−–(]?\d[\d,]*(?:\.\d+)?\)?)\s*(?P<after>[^\d\s]{{0,12}})")
_DECIMAL_POINT = re.compile(r"\d\.\d{1,2}(?!\d)|\d,\d{3}")
_DECIMAL_COMMA = re.compile(r"\d,\d{1,2}(?!\d)")
_SWAPPED = str.maketrans(",.", ".,")


@frozen
class Column:
    """A column of a table: its heading, the words of that, and its cells by the number of the row."""

    name: str
    words: tuple[str, ...]
    cells: dict[int, TableCell]


@frozen
class WholeTable:
    """All rows of a table, in order, and its columns; ``named`` are the words of what names the table."""

    name: str
    named: frozenset[str]
    rows: Sequence[TableCell]
    columns: Sequence[Column]


def whole_tables(rows: Sequence[Sequence[Hit]]) -> Iterator[WholeTable]:
    """Yield the tables of files and documents whose rows can all be read."""
    groups: dict[tuple[int, str], list[tuple[Hit, Table | None]]] = {}
    for n, hits in enumerate(rows):
        for hit in hits:
            table = rows_in(hit.chunk)
            groups.setdefault((n, _heads(hit.chunk)), []).append((hit, table))
    yield from (whole for some in groups.values() if (whole := _whole(some)))


def _heads(chunk: Chunk) -> str:
    """Return what the rows of one table of a document have in common; empty for the rows of a data file."""
    if not chunk.facts.get("is_table"):
        return ""
    return "\n".join(str(chunk.facts.get(one)) for one in ("table_caption", "table_header"))


def _whole(parts: Sequence[tuple[Hit, Table | None]]) -> WholeTable | None:
    """Return the rows of a table; None if one of them cannot be read."""
    rows: list[TableCell] = []
    columns: dict[str, dict[int, TableCell]] = {}
    name = ""
    for hit, table in parts:
        if table is None or (table.file and hit.chunk.total > 1 and "\n" not in hit.chunk.text):
            return None
        name = table.file or name_of(hit.chunk)
        for row in table.rows:
            if _sum().match(row.label):
                continue
            number = len(rows)
            rows.append(_found(hit, table, row, row.cells[0]))
            for cell in row.cells:
                columns.setdefault(cell.head, {})[number] = _found(hit, table, row, cell)
    if len(rows) < MIN_ROWS or not columns:
        return None
    first = parts[0][0].chunk
    title = "" if rows[0].table.file else first.title
    about = f"{name} {title} {rows[0].table.caption} {first.facts.get('section', '')}"
    return WholeTable(
        name=name.rpartition("/")[2],
        named=frozenset(map(singular, lower_words(about))),
        rows=rows,
        columns=[Column(name=one, words=tuple(heading_words(one)), cells=cells) for one, cells in columns.items()],
    )


def _found(hit: Hit, table: Table, row: Row, cell: Cell) -> TableCell:
    return TableCell(hit=hit, place=0, table=table, row=row, cell=cell)


def column_values(column: Column, decimal: str = ".") -> dict[int, Decimal]:
    """Return the numbers of a column by row; none if a cell is no number, or if they have several units.

    The cells show whether a comma is before their decimals. If they only have figures such as "1.200", the sign
    ``decimal`` of the question decides.
    """
    out: dict[int, Decimal] = {}
    units = set[tuple[str, str]]()
    texts = {n: one.cell.text for n, one in column.cells.items()}
    said = " | ".join(texts.values())
    has_comma = _DECIMAL_COMMA.search(said) or (decimal == "," and DOTTED.search(said))
    if has_comma and not _DECIMAL_POINT.search(said):
        texts = {n: text.translate(_SWAPPED) for n, text in texts.items()}
    for n, text in texts.items():
        if NOTHING.fullmatch(text):
            continue
        match = _UNIT.fullmatch(text)
        value = value_of(match["figure"]) if match else None
        if match is None or value is None:
            return {}
        units.add((match["before"], match["after"].lower()))
        out[n] = value
    return out if len(units) == 1 else {}


@cache
def _sum() -> re.Pattern[str]:
    """Return a pattern of the beginning of the label of a row that sums up others."""
    return re.compile(rf"\W*(?:{any_of(lexicon().table_words['sums'])})\b", re.IGNORECASE)
