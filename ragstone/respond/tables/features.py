"""The features of each cell of a table with regard to a question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date
from math import log

from ragstone.core.frozen import frozen
from ragstone.core.record import record_of
from ragstone.core.records import Chunk, Hit
from ragstone.core.table import Cell, Row, Table, table_of
from ragstone.language.contacts import is_of_contact
from ragstone.language.money import MARK, names_money
from ragstone.respond.tables.asked import Asked, Item, Named, items, named_in, terms
from ragstone.respond.tables.cell_kinds import NOTHING, fits, is_day, is_figure, is_index, is_quantity, is_total, naming
from ragstone.respond.tables.dates import QUARTER, TO_DATE, Dates, dates, dates_of, has_time
from ragstone.respond.tables.ranges import ages_within, has_days, meant_by

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
_WORD = re.compile(r"[^\W_]+")
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


@frozen
class CellFeatures:
    """What is known of a cell; shares are of the question's words by weight, if not said otherwise.

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

    row: float
    column: float
    others: float
    all: float
    label: float
    section: float
    heading: float
    literal: float
    own: float
    money: float
    asks: float
    year: float
    day: float
    length: float
    latest: float
    kind: float
    percent: float
    change: float
    first: float
    index: float
    nothing: float
    whole: float
    titled: float
    place: float
    statement: float
    newest: float


def title_of(table: Table, chunk: Chunk) -> str:
    """Return the words of the title of a table and of where it is; the title of a row of a data file is its label."""
    return chunk.path if table.file else f"{chunk.title} {chunk.path}"


class _AskedTable:
    """A table with regard to a question: what its columns, caption and titles name."""

    def __init__(self, asked: Asked, chunk: Chunk, table: Table) -> None:
        self.asked, self.table = asked, table
        title = title_of(table, chunk)
        self.around = asked.named_by(named_in(title if table.file else f"{table.caption} {title} {chunk.context}"))
        self.subject = asked.named_by(named_in(title))
        headings = [named_in(" ".join(path)) for path in table.columns]
        self.money = [names_money(" ".join(path)) for path in table.columns]
        self.reaches = [
            is_of_contact(asked.asks.contact, " ".join(path)) if asked.asks.contact else False for path in table.columns
        ]
        aged = [asked.named_at(one.span for one in ages_within(asked.points, " ".join(path))) for path in table.columns]
        self.columns = [
            asked.named_by(one)
            | of_age
            | (asked.priced if is_money or one.has_any(asked.prices) else frozenset[int]())
            | (asked.reached if reaches else frozenset[int]())
            for one, of_age, is_money, reaches in zip(headings, aged, self.money, self.reaches, strict=True)
        ]
        self.wanted = [
            reaches or any(map(one.has, asked.wanted)) for one, reaches in zip(headings, self.reaches, strict=True)
        ]
        self.places = [fits(asked, " ".join(path).lower()) for path in table.columns]
        self.headings = [
            1.0 if reaches or of_age else _share(asked, named_in(_NOTES.sub("", " ".join(path))))
            for path, of_age, reaches in zip(table.columns, aged, self.reaches, strict=True)
        ]
        self.indices = [bool(path) and is_index(path[-1]) for path in table.columns]
        self.dates = [dates_of(path) for path in table.columns]
        self.lengths = _lengths(self.dates)
        # The fiscal period in a title is not of the calendar years of columns; `_in_days` compares it.
        title = table.file or chunk.title.replace(_fiscal_period(chunk) or "\n", "")
        self.about = [dates_of(table.corner), dates(table.caption), dates(title)]
        years = [max(one.years, default=0) for one in self.dates]
        self.latest = [bool(year) and year == max(years) for year in years]
        self.totals = [is_total(" ".join(path)) for path in table.columns]
        self.changes = [bool(terms().changes.search(" ".join(path).lower())) for path in table.columns]
        percents = _columns_of_shares(table)
        self.percents = [
            n in percents or bool(terms().percents.search(" ".join(path).lower()))
            for n, path in enumerate(table.columns)
        ]
        self.plain = f" {_plain(asked.text)} "
        self.when = [asked.dates, *_in_days(asked.dates, chunk)]
        self.statement = log(1 + _measures(table)) if asked.measures and not _is_of_another(asked, table) else 0.0
        self.date = () if table.file else _date_of(chunk)
        self.wants_day = any(one.day for one in asked.points)


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
        if table := table_of(hit.chunk) or record_of(hit.chunk):
            place = places.setdefault(table.file or hit.chunk.id, len(places))
            cells += [
                TableCell(hit=hit, place=place, table=table, row=row, cell=cell)
                for row in table.rows
                for cell in row.cells
                if cell.text and not _MARK.fullmatch(cell.text) and not cell.text.startswith(_PICTURE)
            ]
    return cells


def features_of(asked: Asked, cells: Sequence[TableCell]) -> list[CellFeatures]:
    """Return the features of cells, given table after table and row after row."""
    first = {id(one.table): one for one in reversed(cells)}
    tables = {at: _AskedTable(asked, one.hit.chunk, one.table) for at, one in first.items()}
    newest = _newest([*tables.values()])
    out: list[CellFeatures] = []
    row: _AskedRow | None = None
    for one in cells:
        if row is None or row.row is not one.row:
            row = _AskedRow(tables[id(one.table)], one.row, newest)
        out.append(row.features(one.cell, one.place))
    return out


def _newest(tables: Sequence[_AskedTable]) -> tuple[int, ...]:
    """Return the date of the latest document among those whose titles name most of what the question names."""
    titled = [(one.asked.weight(one.subject), one.date) for one in tables]
    most = max((weight for weight, _ in titled), default=0.0)
    return max((date for weight, date in titled if weight == most), default=())


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


class _AskedRow:
    """A row with regard to a question."""

    def __init__(self, table: _AskedTable, row: Row, newest: tuple[int, ...]) -> None:
        self.table, self.row = table, row
        self.newest = bool(newest) and table.date == newest
        asked, section = table.asked, named_in(row.section)
        first, *beside = naming(row)
        labels = [_NOTES.sub("", text) for text in (first.text, *(cell.text.split(",")[0] for cell in beside))]
        named = [*map(named_in, labels)]
        self.named = asked.named_by(named[0]) | asked.named_by(section)
        self.names = len(labels)
        self.total = is_total(labels[0]) or row.cells[0].column > 0
        self.label = max(_share(asked, one) for one in named)
        self.section = _share(asked, section) - 1 if section.items else 0.0
        self.literal = any(
            any(map(_tells, one.items)) and f" {_plain(label)} " in table.plain
            for one, label in zip(named, labels, strict=True)
        )
        self.meant = meant_by(asked.points, row, table.table.columns, [first, *beside])
        if self.meant:
            self.named |= asked.named_at(one.span for one in self.meant)
            self.label, self.literal = 1.0, True
        is_of_day = any(one.day for one in self.meant)
        self.of_other_days = not is_of_day and table.wants_day and has_days(row, table.table.columns)
        self.cells = {cell.column: self._named_by(cell) for cell in row.cells[1:]}
        self.dates = [
            *([asked.dates] if is_of_day else []),
            dates(labels[0]),
            dates(row.section),
            *(dates(c.text) for c in row.cells[1:] if not is_figure(c.text)),
        ]

    def _named_by(self, cell: Cell) -> frozenset[int]:
        """Return what of the question a cell names; a figure names nothing unless the question has one."""
        asked = self.table.asked
        if is_figure(cell.text) and not asked.figures:
            return frozenset()
        return asked.named_by(named_in(cell.text))

    def features(self, cell: Cell, place: int) -> CellFeatures:
        table, asked, n = self.table, self.table.asked, cell.column
        is_label = cell is self.row.cells[0]
        in_row = frozenset[int]() if is_label else self.named - table.subject
        column = table.columns[n] - table.subject
        own = self._named_by(cell) if is_label else self.cells[n]
        beside = [one.column for one in self.row.cells[1 : self.names]] if is_label else []
        others = frozenset[int]().union(*(some for at, some in self.cells.items() if at not in (n, *beside)))
        others -= table.subject
        together = in_row | column | others
        figure = is_figure(cell.text)
        places = [table.dates[n], *self.dates, *table.about]
        year, day, length = max((_when(one, places, table.lengths[n]) for one in table.when), key=sum)
        if self.of_other_days:
            day = -1.0
        if table.lengths[n] == QUARTER and not asked.dates:
            length = _USUAL
        if asked.instant and table.lengths[n]:
            length = -1.0
        wants_now = not asked.dates.years
        percent = "%" in cell.text or table.percents[n]
        total = (self.total or table.totals[n]) and not is_label
        return CellFeatures(
            row=asked.weight(in_row),
            column=asked.weight(column - in_row),
            others=asked.weight(others - column - in_row),
            all=asked.weight(together | table.around),
            label=0.0 if is_label else self.label,
            section=self.section,
            heading=table.headings[n],
            literal=float(self.literal and not is_label),
            own=asked.weight(own - table.subject),
            money=self._money(cell),
            asks=max(float(table.wanted[n]), table.places[n]),
            year=year,
            day=day,
            length=length,
            latest=float(wants_now and table.latest[n]),
            kind=self._kind(cell, figure=figure),
            percent=(1.0 if percent == asked.percent else -1.0) if percent or asked.percent else 0.0,
            change=-1.0 if table.changes[n] and not asked.change else float(table.changes[n]),
            first=float(is_label),
            index=float(table.indices[n] and not table.headings[n]),
            nothing=float(bool(NOTHING.fullmatch(cell.text))),
            whole=float(total and not asked.total),
            titled=asked.weight(table.subject),
            place=log(1 + place) * (_PLACED if asked.measures else 1.0),
            statement=table.statement * asked.weight(together | table.around),
            newest=float(self.newest and wants_now) * (_RECENT if asked.recent else 1.0),
        )

    def _kind(self, cell: Cell, *, figure: bool) -> float:
        """Return 1 for a number if the question asks for one, or for a time if it asks when, -1 for anything else."""
        asked = self.table.asked
        wants_number = asked.number or asked.figure or asked.costs
        if not (wants_number or asked.name):
            return 0.0
        if asked.when:
            return 1.0 if has_time(cell.text) else -1.0
        if not wants_number and is_day(cell.text):
            return -1.0
        return 1.0 if (figure or is_quantity(cell.text)) == wants_number else -1.0

    def _money(self, cell: Cell) -> float:
        """Return 1 for an amount of money if the question asks for one, -1 if it asks how many there are."""
        table, asked = self.table, self.table.asked
        if not (asked.money or asked.counts) or not is_figure(cell.text):
            return 0.0
        if names_money(cell.text) or table.money[cell.column]:
            return 1.0 if asked.money else -1.0
        return 0.0


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _share(asked: Asked, named: Named) -> float:
    """Return the share of the things that a text names that the question names, too; times do not count."""
    some = [one for one in named.items if not _is_time(one)]
    return sum(map(asked.named.has, some)) / len(some) if some else 0.0


def _tells(item: Item) -> bool:
    """Return whether a thing says more than "total" does."""
    return item.concept >= 0 or not all(word.lower in terms().weak for word in item.words)


def _is_time(item: Item) -> bool:
    return item.concept < 0 and all(word.value or word.lower in terms().frame for word in item.words)


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
