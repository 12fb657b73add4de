"""Things that a table compares: one column names them, and the other columns, or the whole table, say in what.

"Price" is the heading of a column; "Bikes sold" may be the heading of a table whose columns are quarters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from ragstone.core.frozen import frozen
from ragstone.core.record import rows_in
from ragstone.core.records import Hit
from ragstone.language.facts import alike_in_topic, words
from ragstone.respond.passage_structure import without_asides
from ragstone.respond.tables.answer import unit_of
from ragstone.respond.tables.asked import items, named_in
from ragstone.respond.tables.dates import QUARTER, dates
from ragstone.respond.tables.features import TableCell
from ragstone.respond.tables.wording import distinct, has_words


@frozen
class Attribute:
    """What is compared: the cells of one column, None for a thing that no row names; no cells if no table has it.

    ``name`` tells what the cells are, and ``aspect`` what to ask for if there is none.
    """

    name: str
    aspect: str
    cells: tuple[TableCell | None, ...] = ()


def attributes_of(things: Sequence[str], hits: Sequence[Sequence[Hit]], aspects: Sequence[str]) -> list[Attribute]:
    """Return the attributes that some aspects mean, or without aspects those of the table that says most.

    A table counts if one column names at least two of the things: "Otter" may be the name of a row, or what the article
    of another row fits. An aspect that no table has is an attribute without cells.

    Args:
        things: their names.
        hits: what was found for each thing.
        aspects: in what to compare the things, in the words of the question.
    """
    named = [_naming(thing, things, found) for thing, found in zip(things, hits, strict=True)]
    places = dict.fromkeys(map(_place, chain.from_iterable(named)))
    at_places = ([[one for one in some if _place(one) == place] for some in named] for place in places)
    tables = [_Rows(things, some) for some in at_places if sum(map(bool, some)) > 1]
    if not aspects:
        most = max(tables, key=lambda one: (one.count, one.first, len(one.headings), -one.column), default=None)
        return most.below(most.headings) if most else []
    meant = [[one for table in tables if (one := table.meant(aspect))] for aspect in aspects]
    known = Counter(id(one.table) for some in meant for one in some)
    attributes = dict[str, Attribute]()
    for aspect, some in zip(aspects, meant, strict=True):
        best = max(some, key=lambda one: (one.by_heading, known[id(one.table)], *one.worth), default=None)
        attributes |= {one.name: one for one in (best.attributes if best else [Attribute(name=aspect, aspect=aspect)])}
    return [attributes[name] for name in distinct(attributes)]


class _Rows:
    """The rows of a table that name things in one column, for each thing those with the shortest names first."""

    def __init__(self, things: Sequence[str], named: Sequence[Sequence[TableCell]]) -> None:
        self._named = named
        found = [some[0] for some in named if some]
        self.count, self.column, self._title = len(found), found[0].cell.column, _title(found[0])
        self.first = sum(_begins(some[0].cell.text, thing) for some, thing in zip(named, things, strict=True) if some)
        others = (cell for one in found for cell in one.row.cells if cell.column != self.column and cell.header)
        self.headings = distinct(cell.head for cell in others)

    def below(self, headings: Sequence[str]) -> list[Attribute]:
        """Return the cells below some headings."""
        names = [next(iter(some), None) for some in self._named]
        return [Attribute(name=one, aspect=one, cells=_below(one, names)) for one in headings]

    def meant(self, aspect: str) -> _Meant | None:
        """Return the cells that an aspect means; None if it means none.

        They are below the headings that have its words. If only what stands above the rows has them, a heading counts
        that just says when, the latest of several, or that of the only column.
        """
        if headings := [one for one in self.headings if has_words(one, aspect)]:
            return _Meant(table=self, attributes=self.below(headings), by_heading=True)
        rows: Sequence[Sequence[TableCell]]
        rows = [[one for one in some if _is_about(one.row.section, aspect)] for some in self._named]
        if sum(map(bool, rows)) < 2:
            rows = self._named if _is_about(self._title, aspect) else ()
        if any(len(some) > 1 and some[0].cell.text == some[1].cell.text for some in rows):
            return None  # two rows are named alike
        found = [some[0] for some in rows if some]
        if not any(one.row.cells[-1].column == len(one.table.columns) - 1 for one in found):
            return None  # it names none, or rows that end before the headings do may be below the wrong ones
        times = {one: when for one in self.headings if (when := _when(one))}
        if not times and len(self.headings) == 1 and all(len(one.row.cells) == 2 for one in found):
            times = {self.headings[0]: (0, 0)}
        if not times:
            return None
        latest = max(times, key=lambda one: times[one])
        cells = _below(latest, [next(iter(some), None) for some in rows])
        unit = next((unit_of(one) for one in cells if one), "")
        attribute = Attribute(name=" · ".join(filter(None, (aspect, latest, unit))), aspect=aspect, cells=cells)
        return _Meant(table=self, attributes=[attribute], date=times[latest])


@frozen
class _Meant:
    """What of a table an aspect means; ``date`` is the year and the month of its heading, if it only says when."""

    table: _Rows
    attributes: Sequence[Attribute]
    by_heading: bool = False
    date: tuple[int, int] = (0, 0)

    @property
    def worth(self) -> tuple[int | tuple[int, int], ...]:
        """How well the table names the things, and how late the date is; more is better."""
        return self.table.count, self.table.first, self.date, -self.table.column


def _below(heading: str, names: Sequence[TableCell | None]) -> tuple[TableCell | None, ...]:
    """Return the cells below a heading in the rows of some cells."""
    return tuple(
        next((replace(one, cell=cell) for cell in one.row.cells if cell.head == heading), None) if one else None
        for one in names
    )


def _naming(thing: str, things: Sequence[str], hits: Sequence[Hit]) -> list[TableCell]:
    """Return the cells of tables that name a thing and no other one, the shortest first."""
    others = [one for one in things if not has_words(one, thing) and not has_words(thing, one)]
    named = [
        TableCell(hit=hit, place=0, table=table, row=row, cell=cell)
        for hit in hits
        if (table := rows_in(hit.chunk))
        for row in table.rows
        for cell in row.cells
        if has_words(cell.text, thing) and not any(has_words(cell.text, one) for one in others)
    ]
    return sorted(named, key=lambda one: len(one.cell.text))


def _place(name: TableCell) -> tuple[object, ...]:
    """Return what tells a column of names from others: the data file, or document, headings and title of a table."""
    table = name.table
    return table.file or (name.hit.chunk.document_id, table.columns, _title(name)), name.cell.column


def _title(name: TableCell) -> str:
    """Return the title of a table: its caption, or the heading above it, which may be the end of the caption."""
    caption, heading = name.table.caption, name.hit.chunk.heading
    return heading if caption.endswith(heading) and heading else caption or heading


def _is_about(title: str, aspect: str) -> bool:
    """Return whether a title names an aspect: "Net sales" means revenue, and "Unearned revenue" does not."""
    wanted = items(aspect)
    return bool(wanted) and all(map(named_in(title).has, wanted))


def _begins(text: str, thing: str) -> bool:
    """Return whether a text begins with the first word of a thing."""
    said, name = (next(iter(words(one)), None) for one in (text, thing))
    return said is not None and name is not None and alike_in_topic(name.lower, said.lower)


def _when(heading: str) -> tuple[int, int] | None:
    """Return the year of a heading and its last month, 0 if it names none; None if it says more than when."""
    text = without_asides(heading)
    found = dates(text)
    if not found.years or any(not word.stop and not found.covers(word.span) for word in words(text)):
        return None
    return max(found.years), max([*found.months, *(QUARTER * one for one in found.quarters)], default=0)
