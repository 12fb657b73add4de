"""The features of each cell of a table with regard to a question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import fields
from datetime import date
from math import log
from operator import attrgetter
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragstone.core.frozen import frozen
from ragstone.core.record import rows_in
from ragstone.core.records import Chunk, Hit
from ragstone.core.table import Cell, Row, Table
from ragstone.language.contacts import is_of_contact
from ragstone.language.money import MARK, names_money
from ragstone.respond.tables.asked import Asked, items, named_in, terms
from ragstone.respond.tables.cell_kinds import NOTHING, fits, is_day, is_figure, is_index, is_quantity, is_total, naming
from ragstone.respond.tables.dates import QUARTER, TO_DATE, Dates, dates, dates_of, has_time
from ragstone.respond.tables.ranges import has_days, meant_by, range_of, within_heading

T = TypeVar("T")
MAX_CELLS = 20_000
"""Cells compared for a question; the tables of later hits are left out."""
_PLACED = 0.5
"""How much less the place of a table says if a measure is asked for, which many tables of one report have."""
_RECENT = 4.0
"""How much more the latest document counts if it is asked for."""
_USUAL = 0.25
"""How far the length of a column fits that is a quarter, if the question names no time: a report is on its quarter."""
UNDATED = -0.5
"""How far a cell is of the year asked for if nothing names its year."""
_PICTURE = "!["  # in Markdown
_MARK = re.compile(rf"\(?[^\W\d_]{{1,2}}\)|(?:[*†‡•▪·%()\s]|{MARK})+")
"""A cell that only refers to a footnote, such as "(a)", or has a sign without its figure."""
_NOTES = re.compile(r"(?<!\s)\s*\([^()]*\)|[*†‡]")
"""What a label says in brackets: footnotes, units, abbreviations."""
_WHOLE = re.compile(r"100(?:\.0+)?\s*%?$")


@frozen
class TableCell:
    """A cell of a table in a hit, with its row."""

    hit: Hit
    place: int
    table: Table
    row: Row
    cell: Cell

    @property
    def source(self) -> str:
        """The data file of its row, else the document."""
        return self.table.file or self.hit.chunk.document_id


@frozen
class CellFeatures(Generic[T]):
    """What is known of a cell, or of several cells in arrays.

    Shares are of the question's words by weight, if not said otherwise.
    ``row``, ``column`` and ``others`` are the shares in the label of the row, added by the headings of the column and
    added by other cells of the row; ``all`` is the share in these, the caption and the titles together, ``titled`` that
    in the title of the document, ``own`` that in the cell itself. Words of the title count only in the latter three.
    ``label`` is the share of the words of the label that the question has, ``heading`` the same of the headings;
    ``section`` is minus the share of the words of the section that it lacks; ``literal`` is 1 if the question has the
    label as it is written. ``money`` is 1 for an amount if the question asks for a price, -1 if it asks how many there
    are. ``asks`` is 1 if the headings name what "which", "who", "where", "how many" or "how long" asks for.

    ``year``, ``day`` and ``length`` say how far the cell is of the year, the day, month or quarter, and the length of
    time asked for, -1 if it is of another, or of any where a point in time is asked for; ``latest`` is 1 in the latest
    column if no year is asked for. ``kind`` is 1 if the cell is a number or none as the question asks, -1 if not;
    ``percent`` and ``change`` the same for percentages and changes. ``first`` is 1 in the first column, ``index`` in a
    column of ranks or numbers of rows that the question does not name, ``nothing`` for a dash, ``whole`` for a total
    if the question asks for none. ``place`` is the logarithm of the place among the tables found, counted from 1, and
    less if a measure is asked for.

    ``statement`` is the logarithm of how many measures the rows of the table have, if the question asks for one: an
    income statement has more than a note on one of them. It counts by ``all``: "revenue in Germany" is in no statement.
    ``newest`` is 1 in the latest document about what the question names if it names no time, and `_RECENT` if it asks
    for the latest.
    """

    row: T
    column: T
    others: T
    all: T
    label: T
    section: T
    heading: T
    literal: T
    own: T
    money: T
    asks: T
    year: T
    day: T
    length: T
    latest: T
    kind: T
    percent: T
    change: T
    first: T
    index: T
    nothing: T
    whole: T
    titled: T
    place: T
    statement: T
    newest: T


Features = CellFeatures[NDArray[np.float64]]
"""The features of several cells, each of shape (cells,)."""
FEATURES = tuple(one.name for one in fields(CellFeatures))
_VALUES = attrgetter(*FEATURES)


def values_of(some: Features) -> NDArray[np.float64]:
    """Return features as one array, shape (cells, features)."""
    return np.column_stack(_VALUES(some))


def of_cell(some: Features, n: int) -> CellFeatures[float]:
    """Return the features of one of several cells."""
    return CellFeatures[float](**{name: float(all_[n]) for name, all_ in zip(FEATURES, _VALUES(some), strict=True)})


def title_of(table: Table, chunk: Chunk) -> str:
    """Return the words of the title of a table and of where it is; the title of a row of a data file is its label."""
    return chunk.path if table.file else f"{chunk.title} {chunk.path}"


def cells_of(hits: Sequence[Hit]) -> list[TableCell]:
    """Return the cells of the tables among the hits; those of the best hits if there are more than `MAX_CELLS`.

    The rows of one data file have one place.
    """
    cells: list[TableCell] = []
    places: dict[str, int] = {}
    count = 0
    for hit in hits:
        count += hit.chunk.text.count("|")
        if count > MAX_CELLS:
            break
        if table := rows_in(hit.chunk):
            place = places.setdefault(table.file or hit.chunk.id, len(places))
            cells += [
                TableCell(hit=hit, place=place, table=table, row=row, cell=cell)
                for row in table.rows
                for cell in row.cells
                if cell.text and not _MARK.fullmatch(cell.text) and not cell.text.startswith(_PICTURE)
            ]
    return cells


def features_of(asked: Asked, cells: Sequence[TableCell]) -> Features:
    """Return the features of cells, given table after table and row after row.

    Rows are read once each, and columns once for all tables with the same headings.
    """
    columns: dict[tuple[tuple[str, ...], ...], _AskedColumns] = {}
    tables: dict[int, _AskedTable] = {}
    rows: list[_AskedRow] = []
    row_of: list[int] = []
    column_of: list[int] = []
    for one in cells:
        if not rows or rows[-1].row is not one.row:
            table, headings = one.table, one.table.columns
            if headings not in columns:
                columns[headings] = _AskedColumns(asked, headings, start=sum(map(len, columns)))
            if id(table) not in tables:
                tables[id(table)] = _AskedTable(asked, one.hit.chunk, table, columns[headings], one.place)
            rows.append(_AskedRow(tables[id(table)], one.row))
        row_of.append(len(rows) - 1)
        column_of.append(rows[-1].table.columns.start + one.cell.column)
    newest = _newest([*tables.values()])
    of_rows = [(one.section, *one.table.values(newest)) for one in rows]
    of_columns = [values for some in columns.values() for values in some.values]
    of_cells = [rows[n].of(one.cell) for n, one in zip(row_of, cells, strict=True)]
    names = (*_OF_ROWS, *_OF_COLUMNS, *_OF_CELLS)
    values = (*_array(of_rows)[:, row_of], *_array(of_columns)[:, column_of], *_array(of_cells))
    known = dict(zip(names, values, strict=True))
    known["statement"] = known["statement"] * known["all"]
    return CellFeatures(**known)


def _array(values: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    return np.array(values, dtype=np.float64).T


def _newest(tables: Sequence[_AskedTable]) -> tuple[int, ...]:
    """Return the date of the latest document among those whose titles name most of what the question names."""
    most = max((one.titled for one in tables), default=0.0)
    return max((one.date for one in tables if one.titled == most), default=())


_OF_COLUMNS = ("heading", "asks", "latest", "change", "index")


class _AskedColumns:
    """The columns of tables with the same headings, with regard to a question."""

    def __init__(self, asked: Asked, columns: Sequence[tuple[str, ...]], *, start: int) -> None:
        self.start = start
        texts = [" ".join(path) for path in columns]
        lower = [text.lower() for text in texts]
        contact = asked.asks.contact
        reaches = [contact is not None and is_of_contact(contact, text) for text in texts]
        within = [within_heading(asked.points, text) for text in texts]
        self.money = [names_money(text) for text in texts]
        self.names = [
            asked.names_of(text)
            | asked.named_at(one.span for one in points)
            | (asked.priced if is_money or named_in(text).has_any(asked.prices) else frozenset[int]())
            | (asked.reached if is_reached else frozenset[int]())
            for text, points, is_money, is_reached in zip(texts, within, self.money, reaches, strict=True)
        ]
        self.dates = [dates_of(path) for path in columns]
        self.lengths = _lengths(self.dates)
        self.totals = [not asked.total and is_total(text) for text in texts]
        self.percents = [bool(terms().percents.search(text)) for text in lower]
        heading = [
            float(bool(is_reached or points))
            if is_reached or points or (any(within) and range_of(text))  # another range than the one meant
            else asked.share_of(_NOTES.sub("", text))
            for text, points, is_reached in zip(texts, within, reaches, strict=True)
        ]
        asks = [
            1.0 if is_reached or any(map(named_in(text).has, asked.wanted)) else fits(asked, text.lower())
            for text, is_reached in zip(texts, reaches, strict=True)
        ]
        years = [max(one.years, default=0) for one in self.dates]
        is_open = not asked.dates.years
        latest = [float(is_open and bool(year) and year == max(years)) for year in years]
        changes = [bool(terms().changes.search(text)) for text in lower]
        change = [-1.0 if is_one and not asked.change else float(is_one) for is_one in changes]
        index = [
            float(bool(path) and is_index(path[-1]) and not share) for path, share in zip(columns, heading, strict=True)
        ]
        self.values = [*zip(heading, asks, latest, change, index, strict=True)]


class _AskedTable:
    """A table with regard to a question: what its caption and titles name."""

    def __init__(self, asked: Asked, chunk: Chunk, table: Table, columns: _AskedColumns, place: int) -> None:
        self.asked, self.table, self.columns = asked, table, columns
        title = title_of(table, chunk)
        self.around = asked.names_of(title if table.file else f"{table.caption} {title} {chunk.context}")
        self.subject = asked.names_of(title)
        self.titled = asked.weight(self.subject)
        self.names = [one - self.subject for one in columns.names]
        # The fiscal period in a title is not of the calendar years of columns; `_in_days` compares it.
        title = table.file or chunk.title.replace(_fiscal_period(chunk) or "\n", "")
        self.about = [dates_of(table.corner), dates(table.caption), dates(title)]
        self.when = [one for one in (asked.dates, *_in_days(asked.dates, chunk)) if one]
        self.shares = _columns_of_shares(table)
        self.statement = log(1 + _measures(table)) if asked.measures and not _is_of_another(asked, table) else 0.0
        self.place = log(1 + place) * (_PLACED if asked.measures else 1.0)
        self.date = () if table.file else _date_of(chunk)
        self._times: dict[tuple[int, ...], tuple[float, float, float]] = {}

    def values(self, newest: tuple[int, ...]) -> tuple[float, ...]:
        """Return the features that all cells have; the statement of one counts by what of the question it has."""
        is_newest = bool(newest) and self.date == newest and not self.asked.dates.years
        return self.titled, self.place, self.statement, is_newest * (_RECENT if self.asked.recent else 1.0)

    def time(self, row: Sequence[Dates], column: int) -> tuple[float, float, float]:
        """Return how year, day and length of time fit the question, in a row that names some dates."""
        if not self.when:
            return 0.0, 0.0, 0.0
        key = (column, *map(id, row))
        if key not in self._times:
            places = [self.columns.dates[column], *row, *self.about]
            self._times[key] = max((_when(one, places, self.columns.lengths[column]) for one in self.when), key=sum)
        return self._times[key]


def _in_days(asked: Dates, chunk: Chunk) -> Iterator[Dates]:
    """Yield the fiscal period that is asked about as its last day, if it is that of the document."""
    named, ended = dates(_fiscal_period(chunk)), _last_day(chunk)
    if ended and asked.years and asked.years == named.years and asked.quarters == named.quarters and not asked.months:
        yield dates(f"{'three months' if named.quarters else 'year'} ended {ended}")


def _fiscal_period(chunk: Chunk) -> str:
    return str(chunk.metadata.get("fiscal_period", ""))


def _last_day(chunk: Chunk) -> str:
    """Return the last day that a report covers, as "July 1, 2023"; empty if its metadata do not say."""
    with suppress(ValueError):
        day = date.fromisoformat(str(chunk.metadata.get("period", "")))
        return f"{day:%B} {day.day}, {day.year}"
    return ""


def _date_of(chunk: Chunk) -> tuple[int, ...]:
    """Return year, month and day of the end of a report, else those that its title names; nothing if it names none."""
    named = dates(_last_day(chunk) or chunk.title)
    return (max(named.years), max(named.months, default=0), max(named.days, default=0)) if named.years else ()


def _measures(table: Table) -> int:
    """Return how many measures the labels of the rows name."""
    measures = terms().measures
    return len({item.concept for row in table.rows for item in items(row.label) if 0 <= item.concept < measures})


def _is_of_another(asked: Asked, table: Table) -> bool:
    """Return whether the caption names measures, and none of those asked for: each row is a part of another one."""
    named = {item.concept for item in items(table.caption) if 0 <= item.concept < terms().measures}
    return bool(named) and not named & {item.concept for item in asked.measures}


def _columns_of_shares(table: Table) -> set[int]:
    """Return the columns of percentages: mostly with percent signs, or with 100 for the first measure."""
    figures = [cell for cell in table.cells if is_figure(cell.text)]
    shares, every = (Counter(cell.column for cell in some) for some in ([c for c in figures if "%" in c.text], figures))
    out = {column for column, count in shares.items() if 2 * count > every[column]}
    for row in table.rows:
        if any(0 <= item.concept < terms().measures for item in items(row.label)):
            return out | {cell.column for cell in row.cells if _WHOLE.match(cell.text)}
    return out


_OF_ROWS = ("section", "titled", "place", "statement", "newest")
_OF_CELLS = (
    *("row", "column", "others", "all", "label", "literal", "own", "money", "year", "day", "length", "kind"),
    *("percent", "first", "nothing", "whole"),
)


class _AskedRow:
    """A row with regard to a question."""

    def __init__(self, table: _AskedTable, row: Row) -> None:
        self.table, self.row = table, row
        asked, columns = table.asked, table.table.columns
        first, *beside = naming(row)
        labels = [_NOTES.sub("", text) for text in (first.text, *(cell.text.split(",")[0] for cell in beside))]
        meant = meant_by(asked.points, row, columns, [first, *beside])
        is_of_day = any(one.day for one in meant)
        self.named = asked.names_of(labels[0]) | asked.names_of(row.section)
        self.named = (self.named | asked.named_at(one.span for one in meant)) - table.subject
        self.label = 1.0 if meant else max(map(asked.share_of, labels))
        self.section = asked.share_of(row.section) - 1 if named_in(row.section).items else 0.0
        self.literal = bool(meant) or any(map(asked.has_literally, labels))
        self.total = not asked.total and (first.column > 0 or is_total(labels[0]))
        self.of_other_days = not is_of_day and any(one.day for one in asked.points) and has_days(row, columns)
        self.cells = {cell.column: some for cell in row.cells if (some := self._named_by(cell) - table.subject)}
        self.beside = {first.column, *(cell.column for cell in beside)}
        self.dates = [asked.dates] if is_of_day else []
        if table.when:
            texts = [labels[0], row.section, *(one.text for one in row.cells[1:] if not is_figure(one.text))]
            self.dates += filter(None, map(dates, texts))

    def _named_by(self, cell: Cell) -> frozenset[int]:
        """Return what of the question a cell names; a figure names nothing unless the question has one."""
        asked = self.table.asked
        return frozenset() if is_figure(cell.text) and not asked.figures else asked.names_of(cell.text)

    def of(self, cell: Cell) -> tuple[float, ...]:
        """Return the features `_OF_CELLS` of a cell."""
        table, columns, asked, n = self.table, self.table.columns, self.table.asked, cell.column
        is_label = cell is self.row.cells[0]
        in_row = frozenset[int]() if is_label else self.named
        column, others = table.names[n] - in_row, frozenset[int]()
        if self.cells:
            left = self.beside if is_label else {n, self.row.cells[0].column}
            others = others.union(*(some for at, some in self.cells.items() if at not in left))
        total = asked.weight(in_row | column | others | table.around)
        figure = is_figure(cell.text)
        year, day, length = table.time(self.dates, n)
        if self.of_other_days:
            day = -1.0
        if asked.instant and columns.lengths[n]:
            length = -1.0
        elif columns.lengths[n] == QUARTER and not asked.dates:
            length = _USUAL
        percent = "%" in cell.text or columns.percents[n] or n in table.shares
        return (
            asked.weight(in_row),
            asked.weight(column),
            asked.weight(others - column - in_row),
            total,
            0.0 if is_label else self.label,
            self.literal and not is_label,
            asked.weight(self.cells.get(n, frozenset())),
            self._money(cell, figure=figure),
            year,
            day,
            length,
            self._kind(cell, figure=figure),
            (1.0 if percent == asked.percent else -1.0) if percent or asked.percent else 0.0,
            is_label,
            NOTHING.fullmatch(cell.text) is not None,
            not is_label and (self.total or columns.totals[n]),
        )

    def _kind(self, cell: Cell, *, figure: bool) -> float:
        """Return 1 for a number if the question asks for one, or for a time if it asks when, -1 for anything else."""
        asked = self.table.asked
        wants_number = asked.asks.number or asked.figure or asked.costs
        if not (wants_number or asked.asks.name):
            return 0.0
        if asked.when:
            return 1.0 if has_time(cell.text) else -1.0
        if not wants_number and is_day(cell.text):
            return -1.0
        return 1.0 if (figure or is_quantity(cell.text)) == wants_number else -1.0

    def _money(self, cell: Cell, *, figure: bool) -> float:
        """Return 1 for an amount of money if the question asks for one, -1 if it asks how many there are."""
        asked = self.table.asked
        if not (asked.money or asked.counts) or not figure:
            return 0.0
        if names_money(cell.text) or self.table.columns.money[cell.column]:
            return 1.0 if asked.money else -1.0
        return 0.0


def _lengths(headings: Sequence[Dates]) -> list[int]:
    """Return the length of time of each column; one that is not named is that of the dates to the left.

    Quarterly reports show the quarter before the year to date. Where no column is named, and dates stand there twice,
    the first are of quarters and the second are `TO_DATE`.
    """
    out, length = list[int](), 0
    for one in headings:
        length = one.length or (length if one.years or one.months else 0)
        out.append(length)
    named = [(frozenset(one.years), frozenset(one.months)) for one in headings]
    dated = [one for one in named if one[0]]
    if any(out) or len(dated) != 2 * len(set(dated)):
        return out
    return [(TO_DATE if one in named[:at] else QUARTER) if one[0] else 0 for at, one in enumerate(named)]


def _when(asked: Dates, places: Sequence[Dates], length: int) -> tuple[float, float, float]:
    """Return how the time of a cell fits the question: its year, its day, month or quarter, and its length.

    Args:
        asked: the times that the question names.
        places: those that name the time of the cell, the closest first.
        length: the months that its column covers, 0 if it does not say.
    """
    year = _agreement(asked.years, [one.years for one in places])
    if asked.years and not year:
        year = UNDATED
    parts = [
        _agreement(asked.months, [one.months for one in places]),
        _agreement(asked.days, [one.days for one in places]),
        _agreement(asked.quarters, [one.quarters for one in places]),
    ]
    day = -1.0 if min(parts) < 0 else max(parts)
    if asked.quarters and not any(one.quarters for one in places):
        # The quarters of calendar years, which may end some days later. Those of others are named by their last day.
        ends = {3 * quarter + late for quarter in asked.quarters for late in (0, 1)}
        day = min(1.0, 2 * _agreement(ends, [one.months for one in places]))
        day = day if day > 0 else day / 2
    wanted = asked.length or (QUARTER if asked.quarters else 0)
    shown = length or next((one.length for one in places if one.length), 0)
    same = wanted == shown or (shown == TO_DATE and wanted > QUARTER)
    return year, day, (1.0 if same else -1.0) if wanted and shown else 0.0


def _agreement(wanted: set[int], shown: Sequence[set[int]]) -> float:
    """Return how far the first place that names any agrees, 1 if completely, -1 if not at all; 0 if none names any."""
    first = next((some for some in shown if some), set[int]())
    if not wanted or not first:
        return 0.0
    return len(wanted & first) / len(wanted | first) if wanted & first else -1.0
