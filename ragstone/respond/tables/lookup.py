"""Look up the cells that answer a question: one, or one for each period that the question names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from ragstone.core.frozen import frozen
from ragstone.core.question import Extreme
from ragstone.core.table import Cell, Row
from ragstone.language import lexicon, plain
from ragstone.language.contacts import has_contact, is_of_contact
from ragstone.language.days import dates_in
from ragstone.language.money import MARK
from ragstone.respond.requirements.periods import all_of_years
from ragstone.respond.requirements.unmet import CAP, Lack
from ragstone.respond.tables.asked import Asked, terms
from ragstone.respond.tables.calculate import are_comparable, calculation, value_of
from ragstone.respond.tables.cell_kinds import is_figure, naming
from ragstone.respond.tables.cell_model import certainty_of, probability, scores, shares
from ragstone.respond.tables.dates import dates, dates_of, has_time
from ragstone.respond.tables.features import (
    FEATURES,
    CellFeatures,
    Features,
    TableCell,
    features_of,
    of_cell,
    values_of,
)
from ragstone.respond.tables.ranges import columns_of, of_days
from ragstone.respond.tables.wording import lower_words, singular

_SIGNS = re.compile(rf"\s|{MARK}")
_NUMBER = re.compile(r"[\W\d_]+")
_FROM_TO = re.compile(r"\bfrom\b.*\bto\b", re.IGNORECASE)
_UNCODED = re.compile(r"[\W_]")
_EXPLAINED = 0.85
"""The probability of a cell beside a code, as of a sentence that explains one."""
_KEYS = 3
"""Cells that are shown with the answer, so that a reader knows its row."""
_MOST_ROWS = 6
"""Rows that answer together; more of them only have something in common."""
_SEVERAL = 0.8
"""The largest probability of cells of several rows, of which the question may mean one."""
_MOST_COLUMNS = 2
"""Dates of a row that answer together, such as its arrival and departure."""
_OF_NO_ROW = frozenset(["place", "newest", "statement", "label"])
"""The features that do not say how well the question means a row."""
_ALIKE = 0.05
"""Difference of the scores of two prices between which the question does not choose."""
_OPEN = 0.1
"""Share of a question that no table needs to name."""
_WHOLLY = 0.999
"""Share of a question that a table names together with its titles, up to rounding, if it names all."""


@frozen
class Looked:
    """The cells that answer a question most likely, and the probability that they are right.

    More than one are cells of one row: those of the periods that the question names, the prices with and without
    tax, or those among which the first is the largest or smallest. ``figure`` says that the first is a figure, and
    that the question does not ask for a name, place or time. ``calculation`` is what is calculated from the cells,
    as it is shown; empty if nothing is. ``keys`` are other cells of the row of a data file by which a reader knows
    it, and ``row`` is the probability that this row answers, whichever cell does. ``after_label`` are its cells
    after the first, in their order; none if the question asks for a price or otherwise says which column it means.
    ``whole`` says that the row of a data file is shown. ``lacks`` is what the question fixes and the table lacks.
    ``place`` is the heading of the table, if another one of the document has the same row and column with another
    value.
    """

    cells: tuple[TableCell, ...]
    probability: float
    figure: bool = False
    calculation: str = ""
    keys: tuple[Cell, ...] = ()
    row: float = 0.0
    after_label: tuple[TableCell, ...] = ()
    whole: bool = False
    lacks: tuple[Lack, ...] = ()
    place: str = ""


def look_up(asked: Asked, candidates: Sequence[TableCell]) -> Looked | None:
    """Return the cells that answer, among those of the tables; None if none of them can.

    Only a figure tells how much or how many, and only a time tells when.
    """
    if asked.when and not asked.asks.extreme:
        candidates = [one for one in candidates if has_time(one.cell.text)]
    if asked.points:
        candidates = _without_ranges(asked, candidates)
    if asked.quantity:
        candidates = [one for one in candidates if any(map(str.isdigit, one.cell.text))]
    if not asked.items or not candidates:
        return None
    features = features_of(asked, candidates)
    scored = scores(features)
    explained = [n for n, one in enumerate(candidates) if asked.asks.codes and _explains_code(asked, one)]
    if len({id(candidates[n].row) for n in explained}) == 1:
        cell = candidates[max(explained, key=lambda n: scored[n])]
        return Looked(cells=(cell,), probability=_EXPLAINED, keys=_keys(asked, cell))
    if wanted := asked.asks.extreme:
        return _compared(asked, candidates, features, scored, wanted)
    share = shares(scored)
    best = int(np.argmax(scored))
    own = of_cell(features, best)
    if not _is_named(own):
        return None
    cells = of_periods(asked, candidates, features, scored.tolist(), best)
    if len(cells) == 1 and own.money > 0:
        cells = _alike(candidates, [one > 0 for one in features.money.tolist()], scored, best)
    elif asked.asks.contact:
        cells = _alike(candidates, [_reaches(asked, one) for one in candidates], scored, best)
    if len(cells) == 1:
        cells = _of_like_rows(asked, candidates, features, best)
    orders = _orders(asked, candidates[best])
    whole = together(candidates, share, cells)
    certainty = certainty_of(asked, own, whole, lone=are_of_one(candidates), orders=orders)
    calculated = calculation(asked.asks.operation, [one.cell for one in cells])
    if calculated:
        certainty = certainty.calculated
    most = 1.0 if len({id(one.row) for one in cells}) == 1 else _SEVERAL
    if not _is_asked_for(asked, candidates[best], own) or not _fits(asked, cells):
        most = CAP
    return Looked(
        cells=cells,
        calculation=calculated,
        probability=min(most, probability(certainty)),
        figure=is_figure(candidates[best].cell.text) and not (asked.who_or_where or asked.time),
        keys=_keys(asked, candidates[best]),
        row=min(most, _of_row(asked, candidates, own, share, best)),
        after_label=_after_label(candidates[best].row, own, candidates, features),
        place=_place(candidates, candidates[best]),
    )


def _without_ranges(asked: Asked, candidates: Sequence[TableCell]) -> Sequence[TableCell]:
    """Return the cells without those of columns with ranges, if a number or day of the question lies within one."""
    rows = {id(one.row): one for one in candidates}
    left = {
        (one.source, one.table.columns[at])
        for one in rows.values()
        for at in columns_of(asked.points, one.row, one.table.columns, naming(one.row))
    }
    return [one for one in candidates if (one.source, one.cell.header) not in left] if left else candidates


def _is_asked_for(asked: Asked, table_cell: TableCell, features: CellFeatures[float]) -> bool:
    """Return whether a cell may be what the question asks for, by its column; any may if the tables have all its words.

    "What is the weight of the mill?" names a row, and its weight is in no column, so that its price does not answer.
    """
    heading = table_cell.cell.head
    fits = features.first + max(0.0, features.heading) + features.column + max(0.0, features.asks)
    if fits or features.all > 1 - _OPEN or not heading.strip() or dates_of(table_cell.cell.header):
        return True
    if asked.time and dates(table_cell.cell.text):
        return True
    return features.money > 0 or (asked.money and lexicon().asks_money.search(plain(heading)) is not None)


def _orders(asked: Asked, table_cell: TableCell) -> bool:
    """Return whether the words that order are no part of the name of a cell, as "before" is in "Result before tax"."""
    named = set(lower_words(" ".join([*table_cell.cell.label, *table_cell.cell.header])))
    return not asked.ordering <= named


def _explains_code(asked: Asked, table_cell: TableCell) -> bool:
    """Return whether a row begins with the code whose meaning is all that is asked for: "What does E-104 mean?".

    A number alone is no code here, because it may count the rows.
    """
    first = table_cell.row.cells[0]
    code = _UNCODED.sub("", first.text).lower()
    digits = code.lstrip(ascii_lowercase)
    return table_cell.cell is not first and code != digits and any(one in (code, digits) for one in asked.asks.codes)


def _keys(asked: Asked, best: TableCell) -> tuple[Cell, ...]:
    """Return the cells that show why the row is the one: those that the question names, and the one that names the row.

    In the table of a document the label names the row, and does so alone, unless the label itself is the answer.
    """
    first = best.row.cells[0]
    others = [cell for cell in best.row.cells if cell is not best.cell]
    named = [cell for cell in others if asked.weight(asked.names_of(cell.text)) > 0]
    named += [
        cell for cell in of_days(asked.points, best.row, best.table.columns) if cell in others and cell not in named
    ]
    if not best.table.file:
        return tuple(named[:_KEYS]) if best.cell is first else ()
    return tuple([*([first] if first in others and first not in named else []), *named][:_KEYS])


def _place(candidates: Sequence[TableCell], best: TableCell) -> str:
    """Return the heading of a table; empty unless a table under another heading says something else in such a cell."""
    heading, document_id = best.hit.chunk.heading, best.hit.chunk.document_id
    others = (one for one in candidates if one.hit.chunk.document_id == document_id and _bare(one) != _bare(best))
    cells = {(one.cell.label, one.cell.header) for one in others if one.hit.chunk.heading != heading}
    return heading if (best.cell.label, best.cell.header) in cells else ""


def _of_row(
    asked: Asked,
    candidates: Sequence[TableCell],
    own: CellFeatures[float],
    share: NDArray[np.float64],
    best: int,
) -> float:
    """Return the probability that the row of a cell has the answer in one of its cells."""
    whole = sum(float(part) for part, one in zip(share, candidates, strict=True) if one.row is candidates[best].row)
    orders = _orders(asked, candidates[best])
    certainty = certainty_of(asked, own, whole, lone=are_of_one(candidates), orders=orders)
    return probability(replace(certainty, mistyped=0.0, first=0.0))


def _after_label(
    row: Row, own: CellFeatures[float], candidates: Sequence[TableCell], features: Features
) -> tuple[TableCell, ...]:
    """Return the cells of the row after the one that names it; none if the question says which column it means.

    Those of other years are left out if the question names one, and those of other ranges if it lies within one.
    """
    if own.money > 0 or own.asks > 0:
        return ()
    year, heading = features.year.tolist(), features.heading.tolist()
    return tuple(
        one
        for n, one in enumerate(candidates)
        if one.row is row
        and one.cell is not row.cells[0]
        and not (own.year > 0 and year[n] < 0)
        and not (own.heading >= 1 and heading[n] < 1)
    )


def _alike(
    candidates: Sequence[TableCell], fit: Sequence[bool], scored: NDArray[np.float64], best: int
) -> tuple[TableCell, ...]:
    """Return the cells of the row that fit as well as the best one: prices with and without tax, all its telephones.

    The best cell alone if none fits.
    """
    row = candidates[best].row
    alike = (n for n, one in enumerate(candidates) if one.row is row and scored[best] - scored[n] < _ALIKE)
    return tuple(candidates[n] for n in alike if fit[n]) or (candidates[best],)


def _of_like_rows(
    asked: Asked, candidates: Sequence[TableCell], features: Features, best: int
) -> tuple[TableCell, ...]:
    """Return the best cell, and those that the question means as well: of other rows, or of another table.

    All dates of these rows answer a question that asks when, those of the latest row first. The best cell stands alone
    if there are too many, if the question has all words of its label, if it has words that the table lacks, or if it
    names no row.
    """
    own, chosen = of_cell(features, best), candidates[best]
    asks = {singular(word) for word in lower_words(asked.text)}
    unsaid = 0 if chosen.table.file else _unsaid(chosen, asks)
    is_named = not chosen.table.file and not unsaid
    if own.first or not own.row + own.others or own.all < _WHOLLY or own.year < 0:
        return (chosen,)

    def is_alike(one: TableCell) -> bool:
        if one.source != chosen.source or not (one.cell.header == chosen.cell.header or asked.when):
            return False
        if one.row is not chosen.row:
            in_other_table = (
                one.hit.chunk.heading != chosen.hit.chunk.heading or one.table.columns != chosen.table.columns
            )
            if one.cell.label != chosen.cell.label and (is_named or in_other_table):
                return False  # another thing than the one named
            if not one.table.file and _unsaid(one, asks) != unsaid:
                return False  # its label says more or less
            if in_other_table and _bare(one) == _bare(chosen):
                return False  # the same again
        return True

    alike = [candidates[n] for n in np.flatnonzero(_rated_alike(features, best)).tolist() if is_alike(candidates[n])]
    rows = dict.fromkeys(id(one.row) for one in alike)
    if len(rows) > _MOST_ROWS or len(alike) > _MOST_COLUMNS * len(rows) or chosen not in alike:
        return (chosen,)
    if asked.when:
        days = {row: max(_last_day(one.cell.text) for one in alike if id(one.row) == row) for row in rows}
        return tuple(sorted(alike, key=lambda one: days[id(one.row)], reverse=True))
    return tuple(sorted(alike, key=lambda one: one is not chosen))


def _unsaid(table_cell: TableCell, asks: set[str]) -> int:
    """Return how many words of the label of a row are not in the question."""
    return sum(singular(word) not in asks for word in lower_words(table_cell.row.label))


def _rated_alike(features: Features, best: int) -> NDArray[np.bool_]:
    """Return which cells, shape (cells,), the question means as well as the best one, by what it says of their rows."""
    values = values_of(features)[:, [name not in _OF_NO_ROW for name in FEATURES]]
    return (values == values[best]).all(axis=1)


def _last_day(text: str) -> int:
    return max((day.toordinal() for _, day in dates_in(text)), default=0)


def _reaches(asked: Asked, table_cell: TableCell) -> bool:
    """Return whether a cell is the number or address that is asked for, by itself or by its heading."""
    contact, cell = asked.asks.contact, table_cell.cell
    if contact is None:
        return False
    if is_of_contact(contact, cell.head):
        return any(map(str.isdigit, cell.text)) or has_contact(contact, cell.text)
    return contact != "mobile" and has_contact(contact, cell.text)


def _fits(asked: Asked, cells: Sequence[TableCell]) -> bool:
    """Return whether cells tell how to reach somebody, if the question asks that; any cells fit other questions."""
    return asked.asks.contact is None or all(_reaches(asked, one) for one in cells)


def _is_named(features: CellFeatures[float]) -> bool:
    """Return whether the question names the row or column; or the period, in a table about the rest of it."""
    return features.row + features.column + features.others > 0 or (features.year > 0 and features.all > _WHOLLY)


def _compared(
    asked: Asked,
    candidates: Sequence[TableCell],
    features: Features,
    scored: NDArray[np.float64],
    wanted: Extreme,
) -> Looked | None:
    """Return the figures of the row that the question names, of one kind of period, the largest or smallest first."""
    row = _row_of_periods(asked, candidates, features, scored)
    if row is None:
        return None
    # A row of losses is compared by their amounts.
    sign = -1 if all(value <= 0 for value in row.values) else 1
    order = sorted(range(len(row.values)), key=lambda n: sign * row.values[n], reverse=wanted == "largest")
    if row.values[order[0]] == row.values[order[1]]:
        return None
    return Looked(cells=tuple(row.cells[n] for n in order), probability=row.probability)


@frozen
class _Row:
    """The figures of a row for periods of one kind, with their values, and the probability that it is the row."""

    cells: tuple[TableCell, ...]
    values: Sequence[Decimal]
    probability: float


def _row_of_periods(
    asked: Asked, candidates: Sequence[TableCell], features: Features, scored: NDArray[np.float64]
) -> _Row | None:
    """Return the row that the question names; None if it has one period, or a figure that is not understood."""
    dated = [n for n, one in enumerate(candidates) if not features.first[n] and len(_years(one)) == 1]
    values = {n: value for n in dated if (value := value_of(candidates[n].cell.text)) is not None}
    if not values:
        return None
    pool = [*values]
    share = shares(scored[pool])
    best = pool[int(np.argmax(share))]
    row = [n for n in pool if candidates[n].row is candidates[best].row]
    kind = [n for n in row if _undated(candidates[n]) == _undated(candidates[best])]
    if any(_is_unread(candidates[n], candidates[best]) for n in dated if n not in values):
        return None
    if len(kind) < 2 or not are_comparable([candidates[n].cell for n in kind]):
        return None
    within = set(row)
    whole = sum(float(part) for n, part in zip(pool, share, strict=True) if n in within)
    certainty = certainty_of(asked, of_cell(features, best), whole, lone=are_of_one(candidates), orders=asked.orders)
    return _Row(
        cells=tuple(candidates[n] for n in kind),
        values=[values[n] for n in kind],
        probability=probability(certainty.calculated),
    )


def _is_unread(one: TableCell, best: TableCell) -> bool:
    """Return whether a cell that was not read as a number has digits, in the row and kind of period of the best."""
    return one.row is best.row and _undated(one) == _undated(best) and any(map(str.isdigit, one.cell.text))


def _undated(one: TableCell) -> tuple[str, ...]:
    """Return the headings of a cell from its year down, without numbers: those of the same kind of period are equal."""
    header = [part for part in one.cell.header if not part.startswith("(")]
    first = next((n for n, part in enumerate(header) if dates(part).years), 0)
    return tuple(_NUMBER.sub("", part) for part in header[first:])


def are_of_one(candidates: Sequence[TableCell]) -> bool:
    """Return whether all cells are of one document."""
    return len({one.source for one in candidates}) == 1


def together(candidates: Sequence[TableCell], share: NDArray[np.float64], cells: Sequence[TableCell]) -> float:
    """Return the probability of cells and of all that say the same, if one of the candidates is right.

    Totals are repeated by tables of one document, and by those of one company.
    """
    said = {(_bare(one), source) for one in cells for source in _sources(one)}
    same = [any((_bare(one), source) in said for source in _sources(one)) for one in candidates]
    return float(share[np.array(same)].sum())


def _bare(one: TableCell) -> str:
    return _SIGNS.sub("", one.cell.text)


def _sources(one: TableCell) -> Iterator[str]:
    yield one.source
    if company := one.hit.chunk.metadata.get("company"):
        yield f"company {company}"


def of_periods(
    asked: Asked, candidates: Sequence[TableCell], features: Features, scored: Sequence[float], best: int
) -> tuple[TableCell, ...]:
    """Return the best cell; if the question names several years, the best of its row for each, the latest first.

    A cell that says how much something changed between these years answers alone.
    A sum or mean "from 2017 to 2019" is that of all years between, too, and one of all years is of those of the row.
    """
    years, calculates = asked.dates.years, asked.asks.operation in ("sum", "mean")
    if calculates and not years and terms().every_year.search(plain(asked.text)):
        years = {year for one in candidates if one.row is candidates[best].row for year in _years(one)}
    if features.change[best] > 0 or (len(years) > 1 and years <= _years(candidates[best])):
        return (candidates[best],)
    if len(years) < 2:
        return (candidates[best],)
    if len(years) == 2 and calculates and (all_of_years().search(asked.text) or _FROM_TO.search(asked.text)):
        years = set(range(min(years), max(years) + 1))
    chosen: dict[int, int] = {}
    for n, one in enumerate(candidates):
        if one.row is candidates[best].row and not features.first[n] and not features.change[n]:
            for year in years & _years(one):
                if year not in chosen or scored[n] > scored[chosen[year]]:
                    chosen[year] = n
    several = [candidates[n] for n in sorted(set(chosen.values()), key=lambda n: -max(_years(candidates[n])))]
    return tuple(several) if len(several) == len(years) else (candidates[best],)


def _years(one: TableCell) -> set[int]:
    return dates_of(one.cell.header).years
