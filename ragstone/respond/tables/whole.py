"""Answers from all rows of a table: the row with the largest or smallest value of a column, or those that fit.

Nothing is guessed: each word of the question must name a column, the table, or a whole value that some rows have, and
every value of the column compared must be a number of one unit. Otherwise there is no answer of this kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache

from ragstone.core.frozen import frozen
from ragstone.core.question import Comparison, RowLimit
from ragstone.core.records import Hit
from ragstone.language import lexicon, plain
from ragstone.language.facts import Word, words
from ragstone.language.money import currencies, currency_of
from ragstone.language.numbers import is_year
from ragstone.respond.tables.cell_kinds import naming
from ragstone.respond.tables.features import TableCell
from ragstone.respond.tables.lookup import Looked
from ragstone.respond.tables.named_rows import (
    Condition,
    is_explained,
    is_other_figure,
    meant_words,
    measure_columns,
    period_conditions,
    subject_of,
    value_conditions,
)
from ragstone.respond.tables.whole_table import MIN_ROWS, Column, WholeTable, column_values, whole_tables
from ragstone.respond.tables.wording import is_same, normalized, singular

EXACT = 0.8
"""Probability of an answer from all rows: what of it may be wrong is what the question means, not what is compared."""
SHOWN = 10
"""Counted rows that are cited."""
LISTED = 30
"""Rows of a list that are shown and cited."""
_TIES = 3
"""Rows with the same largest value that are shown."""
_LONGEST_UNIT = 12
_ROW = frozenset(["row", "record", "entry", "entries", "item", "line"])
"""Words for the rows of any table."""


@frozen
class FittingRows:
    """The rows of a table that fit, each by the cell that names it, of how many, and what was compared in words."""

    cells: tuple[TableCell, ...]
    examined: int
    said: str


def fitting_rows(wanted: Comparison, rows: Sequence[Sequence[Hit]]) -> FittingRows | None:
    """Return the rows that a question wants listed; None if no table, or more than one, has what it names.

    Args:
        wanted: what the question says of the rows.
        rows: all rows of each file or document whose tables may be meant.
    """
    found = [(whole, *one) for whole in whole_tables(rows) if (one := _fitting(wanted, whole))]
    if len(found) != 1:
        return None
    ((whole, fit, conditions),) = found
    return FittingRows(
        cells=tuple(whole.rows[n] for n in fit.rows),
        examined=len(whole.rows),
        said=_of(whole, conditions, len(whole.rows), fit.limit),
    )


def compared_rows(wanted: Comparison, rows: Sequence[Sequence[Hit]]) -> Looked | None:
    """Return the answer from all rows of a table; None if no table, or more than one, has what the question compares.

    Args:
        wanted: what the question compares.
        rows: all rows of each file or document whose tables may be meant.
    """
    found = [one for whole in whole_tables(rows) if (one := _answer(wanted, whole))]
    return found[0] if len(found) == 1 else None


def _answer(wanted: Comparison, whole: WholeTable) -> Looked | None:
    if wanted.wanted in ("rows", "some rows"):
        return _listed(wanted, whole)
    dated, telling = period_conditions(wanted.words, whole) if wanted.wanted in ("sum", "count") else ([], wanted.words)
    conditions, rest = value_conditions(telling, whole, partly=wanted.wanted == "sum")
    if conditions is None or dated is None:
        return None
    conditions = [*conditions, *dated]
    fit = set(range(len(whole.rows))).intersection(*(one.rows for one in conditions))
    if wanted.wanted in ("count", "distinct"):
        return _counted(wanted, whole, conditions, rest, fit)
    if wanted.wanted == "sum":
        return _summed(whole, conditions, rest, sorted(fit))
    return _largest(wanted, whole, conditions, rest, fit)


def _largest(
    wanted: Comparison, whole: WholeTable, conditions: Sequence[Condition], rest: Sequence[Word], fit: set[int]
) -> Looked | None:
    named = [one for one in measure_columns(rest, whole.columns, meant_words(wanted)) if column_values(one)]
    if not named:
        named = [one for one in whole.columns if set(one.words) & meant_words(wanted) and column_values(one)]
    subject = subject_of(rest, whole)
    if subject is None:
        return None
    if len(named) > 1:  # "dealer" is what is wanted, and not "dealer since"
        named = [one for one in named if not {*one.words} <= {*subject.words}]
    if len(named) != 1:
        return None
    (measure,) = named
    if not all(is_explained(word, whole, [measure, subject]) for word in rest):
        return None
    values = column_values(measure)
    among = {n: value for n, value in values.items() if n in fit}
    if len(among) < MIN_ROWS:
        return None
    best = max(among.values()) if wanted.wanted == "largest" else min(among.values())
    rows = [n for n, value in among.items() if value == best]
    if len(rows) > _TIES or any(n not in subject.cells for n in rows):
        return None
    cells = [cell for n in rows for cell in (subject.cells[n], measure.cells[n])]
    cells = cells if subject is not measure else cells[::2]
    sign = "max" if wanted.wanted == "largest" else "min"
    shown = f"{sign}({measure.name}) = {measure.cells[rows[0]].cell.text}"
    return _looked(cells, f"{_of(whole, conditions, len(among))}: {shown}", conditions)


@frozen
class _Fit:
    """The rows that have all that the question says, in order, the column that names them, and their limit in words."""

    rows: list[int]
    subject: Column
    limit: str


@frozen
class _Limited:
    """The columns that a limit is for, the rows within it, and the limit in words."""

    columns: list[Column]
    rows: set[int]
    said: str


def _fit(wanted: Comparison, whole: WholeTable, rest: Sequence[Word], fit: set[int]) -> _Fit | None:
    """Return the rows that fit within the limit, if there is one; None if some words of the question are not clear."""
    subject = subject_of(rest, whole)
    if subject is None:
        return None
    used, said = [subject], ""
    own = {*subject.words} if len(subject.words) == 1 else set[str]()
    if wanted.limit:
        if (limited := _within(wanted, wanted.limit, rest, whole, subject)) is None:
            return None
        fit, said = fit & limited.rows, limited.said
        used += limited.columns
        own.update(word for one in limited.columns for word in one.words)
    others = [word for word in rest if not _is_row(word)]
    if not fit or not all(is_explained(word, whole, used) for word in others):
        return None
    if any(is_other_figure(word, whole, used) for word in others if singular(word.lower) not in own):
        return None  # "the number of deaths" is a figure
    rows = sorted(n for n in fit if n in subject.cells)
    return _Fit(rows=rows, subject=subject, limit=said) if len(rows) == len(fit) else None


def _within(
    wanted: Comparison, limit: RowLimit, rest: Sequence[Word], whole: WholeTable, subject: Column
) -> _Limited | None:
    """Return what a limit is for; None if it is not clear. Of several prices of a row the largest is what one pays."""
    figures = [one for one in whole.columns if one.words != subject.words and column_values(one)]
    named = measure_columns(rest, figures, meant_words(wanted))
    named = named or [one for one in figures if set(one.words) & meant_words(wanted)]
    money = [currencies(f"{one.name} {next(iter(one.cells.values())).cell.text}") for one in named]
    if not named or (len(named) > 1 and not all(money)):
        return None
    if limit.currency and any(one and limit.currency not in one for one in money):
        return None
    values: dict[int, Decimal] = {}
    for column in named:
        for n, value in column_values(column, limit.decimal).items():
            values[n] = max(value, values.get(n, value))
    rows = {n for n, one in values.items() if limit.admits(one)}
    return _Limited(columns=named, rows=rows, said=_said(limit, " / ".join(one.name for one in named)))


def _said(limit: RowLimit, name: str) -> str:
    """Return what a limit says of a column, as "price < 100" or "50 ≤ price ≤ 100"."""
    below, above = ("≤", "≥") if limit.included else ("<", ">")
    if limit.least is None:
        return f"{name} {below} {limit.most:,}"
    if limit.most is None:
        return f"{name} {above} {limit.least:,}"
    return f"{limit.least:,} {below} {name} {below} {limit.most:,}"


def _fitting(wanted: Comparison, whole: WholeTable) -> tuple[_Fit, list[Condition]] | None:
    """Return the rows that a question wants listed, and the values that they have."""
    conditions, rest = value_conditions(wanted.words, whole)
    if conditions is None or not (wanted.words or wanted.limit):
        return None
    if wanted.wanted == "some rows" and not conditions and not wanted.limit:
        return None  # "Which products do you recommend?"
    among = set(range(len(whole.rows))).intersection(*(one.rows for one in conditions))
    fit = _fit(wanted, whole, rest, among)
    return fit and (fit, conditions)


def _listed(wanted: Comparison, whole: WholeTable) -> Looked | None:
    if (found := _fitting(wanted, whole)) is None:
        return None
    fit, conditions = found
    first = whole.rows[0].row.cells[0].header
    if any(one.column.name in (fit.subject.name, " ".join(first)) for one in conditions):
        return None  # a row by its name is looked up
    shown, count = fit.rows[:LISTED], f"{len(fit.rows):,}"
    if len(shown) < len(fit.rows):
        count = f"{len(shown)} / {count}"
    head = _of(whole, conditions, len(whole.rows), fit.limit)
    cells = [fit.subject.cells[n] for n in shown]
    if not any(is_same(singular(word.lower), one) for word in wanted.words for one in fit.subject.words):
        cells = [_naming(one) for one in cells]  # it asks for no numbers
    return _looked(cells, f"{head}: {count}", conditions)


def _naming(named: TableCell) -> TableCell:
    """Return what says most of a row: the name behind a number of an article, instead of that number."""
    return replace(named, cell=naming(named.row)[-1]) if named.cell is named.row.cells[0] else named


def _counted(
    wanted: Comparison, whole: WholeTable, conditions: Sequence[Condition], rest: Sequence[Word], fit: set[int]
) -> Looked | None:
    if (found := _fit(wanted, whole, rest, fit)) is None:
        return None
    is_all = not conditions and not wanted.limit and wanted.wanted == "count"
    if is_all and not any(map(_is_row, rest)) and not _are_rows(rest, whole, found.subject):
        return None  # it may ask for a figure that a row has
    rows, subject, said = found.rows, found.subject, found.limit
    texts = {normalized(subject.cells[n].cell.text): n for n in reversed(rows)}
    if wanted.wanted == "count" and not all(map(_is_row, rest)) and len(texts) < len(rows):
        return None  # several rows of one thing
    if wanted.wanted == "distinct":
        rows = [*texts.values()][::-1]
        said = ", ".join(filter(None, [said, subject.name]))
    head = _of(whole, conditions, len(whole.rows), said)
    return _looked([subject.cells[n] for n in rows[:SHOWN]], f"{head}: {len(rows):,}", conditions)


def _are_rows(rest: Sequence[Word], whole: WholeTable, subject: Column) -> bool:
    """Return whether the rows are what words name, as the "stations" of stations.csv, which has a column of them."""
    named = [singular(word.lower) for word in rest]
    return bool(named) and all(one in whole.named and one in subject.words for one in named)


def _is_row(word: Word) -> bool:
    return bool(_ROW & {word.lower, word.lower.removesuffix("s")})


def _of(whole: WholeTable, conditions: Sequence[Condition], rows: int, said: str = "") -> str:
    """Return what was compared, as "stations.csv (52 rows), Country = Germany"."""
    shown = [f"{one.column.name}{one.shown}" for one in conditions]
    return ", ".join(filter(None, [f"{whole.name} ({rows:,} rows)", *shown, said]))


def _summed(
    whole: WholeTable, conditions: Sequence[Condition], rest: Sequence[Word], rows: Sequence[int]
) -> Looked | None:
    """Return the sum of a column over the rows that fit, with its parts; None if it is not clear what to sum.

    Figures of several units, rates, prices and years are no parts of a sum, and a table that sums up its own rows, or
    sections of them, is no list of parts: outside data files, the question must say which rows it means.
    """
    if len(rows) < MIN_ROWS or not (conditions or whole.rows[0].table.file):
        return None
    measures = measure_columns(rest, [one for one in whole.columns if column_values(one)])
    if len(measures) != 1 or _is_unsummed(measures[0]):
        return None
    (measure,) = measures
    values = column_values(measure)
    used = [measure, *(one.column for one in conditions)]
    if any(n not in values for n in rows) or not all(is_explained(word, whole, used) for word in rest):
        return None
    if any(_are_of_several_units(column, rows) for column in whole.columns):
        return None
    parts = [values[n] for n in rows]
    terms = " + ".join(f"{one:,}" for one in parts) if len(parts) <= SHOWN else f"{measure.name} × {len(parts)}"
    head = _of(whole, conditions, len(whole.rows), f"sum({measure.name})")
    total = f"{head}: {terms} = {sum(parts, start=Decimal()):,}"
    return _looked([measure.cells[n] for n in rows[:SHOWN]], total, conditions)


def _is_unsummed(column: Column) -> bool:
    """Return whether a column has rates, prices, years or the like, whose sum says nothing."""
    years = [value for value in column_values(column).values() if is_year(str(value))]
    said = {word.lower for word in words(column.name.lower())}
    return len(years) == len(column.cells) or bool(said & _unsummed())


@cache
def _unsummed() -> frozenset[str]:
    return frozenset(map(plain, lexicon().table_words["unsummed"]))


def _are_of_several_units(column: Column, rows: Sequence[int]) -> bool:
    """Return whether a column says that rows have several units, as one of currencies or units does."""
    texts = [column.cells[n].cell.text.strip().lower() for n in rows if n in column.cells]
    units = {lexicon().unit(one) or currency_of(one) for one in texts if len(one) <= _LONGEST_UNIT}
    return len(texts) == len(rows) and "" not in units and len({*texts}) > 1 and len(units) > 1


def _looked(cells: Sequence[TableCell], calculation: str, conditions: Sequence[Condition]) -> Looked:
    rows = {id(one.row): one.row for one in cells}
    keys = [one.column.cells for one in conditions]
    first = next(iter(rows.values()))
    named = [cell for cell in first.cells if any(cell is one.cell for some in keys for one in some.values())]
    return Looked(cells=tuple(cells), probability=EXACT, calculation=calculation, keys=tuple(named))
