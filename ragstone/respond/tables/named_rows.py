"""What a question names of a whole table: the values that rows must have, and the columns that are meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragstone.core.frozen import frozen
from ragstone.core.question import Comparison
from ragstone.language import lexicon
from ragstone.language.days import dates_in
from ragstone.language.facts import Word, words
from ragstone.language.money import currency_of
from ragstone.respond.tables.whole_table import Column, WholeTable, column_values
from ragstone.respond.tables.wording import contains, is_same, normalized, singular

_SHORT = 3
"""Letters of a word that may be in many values."""


@frozen
class Condition:
    """What some rows have in a column, as a sign and a value, and the numbers of these rows."""

    column: Column
    shown: str
    rows: frozenset[int]


def period_conditions(asked: Sequence[Word], whole: WholeTable) -> tuple[list[Condition] | None, Sequence[Word]]:
    """Return the period that the question names as a condition, and the words left.

    None if columns of days do not agree on the rows of this period. Without such a column the words stay.
    """
    years = {int(word.value) for word in asked if word.value.isdigit() and len(word.value) == len("2026")}
    months = {word.value for word in asked if word.value.startswith("month ")}
    if len(years) != 1 or len(months) > 1:
        return [], asked
    found = list[Condition]()
    for column in whole.columns:
        named = {n: dates_in(one.cell.text) for n, one in column.cells.items()}
        if all(len(days) == 1 for days in named.values()):
            days = {n: days[0][1] for n, days in named.items()}
            fit = [n for n, day in days.items() if day.year in years and (not months or f"month {day.month}" in months)]
            shown = " ".join(word.lower for word in asked if word.value in months or word.value in map(str, years))
            found.append(Condition(column=column, shown=f": {shown}", rows=frozenset(fit)))
    if not found:
        return [], asked
    if len({one.rows for one in found}) > 1:
        return None, asked
    said = {*months, *map(str, years)}
    return found[:1], [word for word in asked if word.value not in said]


def value_conditions(
    asked: Sequence[Word], whole: WholeTable, *, partly: bool = False
) -> tuple[list[Condition] | None, list[Word]]:
    """Return the values that the question names, and the words left; None if it is not clear what a word means.

    A value counts that is the whole of a cell, in one column only, and part of no other value of that column; or, if
    asked for, ``partly`` named, as "Anna" of the only value with this word.
    """
    named = [singular(word.lower) for word in asked]
    values: dict[tuple[str, ...], list[Column]] = {}
    for column in whole.columns:
        for value in {normalized(one.cell.text) for one in column.cells.values()}:
            values.setdefault(tuple(map(singular, value.split())), []).append(column)
    out: list[Condition] = []
    rest: list[Word] = []
    at = 0
    while at < len(named):
        size = next((n for n in range(min(6, len(named) - at), 0, -1) if tuple(named[at : at + n]) in values), 0)
        names_column = any(singular(named[at]) in column.words for column in whole.columns)
        if not size and partly and not names_column and (only := _only_with(named[at:], values)):
            (column, value), size = only
            out.append(_condition(column, " ".join(value)))
            at += size
            continue
        if not size or (size == 1 and names_column):
            rest.append(asked[at])
            at += 1
            continue
        key = tuple(named[at : at + size])
        columns = values[key]
        if len(columns) > 1:
            return None, []
        (column,) = columns
        forms = {normalized(one.cell.text) for one in column.cells.values()}
        own = [form for form in forms if tuple(map(singular, form.split())) == key]
        if len(own) != 1 or any(contains(form, own[0]) for form in forms if form != own[0]):
            return None, []
        out.append(_condition(column, own[0]))
        at += size
    if len({id(one.column) for one in out}) < len(out):
        return None, []  # two values of one column: either, or the one against the other
    return out, rest


def _condition(column: Column, value: str) -> Condition:
    """Return the condition that a column has a value, in lower case and perhaps with other endings."""
    own = {n: one.cell.text for n, one in column.cells.items() if _singulars(one.cell.text) == _singulars(value)}
    return Condition(column=column, shown=f" = {next(iter(own.values()))}", rows=frozenset(own))


def _singulars(text: str) -> tuple[str, ...]:
    return tuple(map(singular, normalized(text).split()))


def _only_with(
    named: Sequence[str], values: Mapping[tuple[str, ...], list[Column]]
) -> tuple[tuple[Column, tuple[str, ...]], int] | None:
    """Return the only value that has the next words in a row, its column, and how many words; None if several have."""
    for size in range(min(6, len(named)), 0, -1):
        part = " ".join(named[:size])
        found = [
            (column, value)
            for value, columns in values.items()
            if contains(" ".join(value), part)
            for column in columns
        ]
        if len(found) == 1 and len(part) > _SHORT:
            return found[0], size
        if found:
            return None
    return None


def measure_columns(rest: Sequence[Word], columns: Iterable[Column], also: Iterable[str] = ()) -> list[Column]:
    """Return the columns whose heading the question names wholly, but for its unit; the longer of two."""
    said = {*(singular(word.lower) for word in rest), *also}
    found = [one for one in columns if one.words and all(any(is_same(a, b) for b in said) for a in _bare(one))]
    return [one for one in found if not any(set(one.words) < set(other.words) for other in found)]


def _bare(column: Column) -> tuple[str, ...]:
    """Return the words of a heading without its unit, unless it has no others."""
    return tuple(one for one in column.words if not (lexicon().unit(one) or currency_of(one))) or column.words


def meant_words(wanted: Comparison) -> set[str]:
    """Return the words of the columns that an adjective or a verb means, as headings are compared."""
    return {singular(one) for one in wanted.columns}


def is_explained(word: Word, whole: WholeTable, columns: Sequence[Column]) -> bool:
    """Return whether a word names a column that is used, or its unit, or the table, or any of its rows."""
    own, unit = singular(word.lower), lexicon().unit(word.lower)
    named = [*whole.named, *(one for column in columns for one in column.words)]
    return any(is_same(own, one) for one in named) or any(unit and unit in _units(one) for one in columns)


def is_other_figure(word: Word, whole: WholeTable, but: Sequence[Column]) -> bool:
    """Return whether a word names a column of numbers, other than some."""
    own = singular(word.lower)
    return any(
        is_same(own, one)
        for column in whole.columns
        if column not in but and column_values(column)
        for one in column.words
    )


def subject_of(rest: Sequence[Word], whole: WholeTable) -> Column | None:
    """Return the column of which the question wants a cell: the first that it names, else the one that names rows."""
    for word in rest:
        for column in whole.columns:
            if column.words and is_same(singular(word.lower), column.words[-1]) and not column_values(column):
                return column
    first = whole.rows[0].row.cells[0].header
    return next((one for one in whole.columns if one.name == " ".join(first)), None)


def _units(column: Column) -> set[str]:
    """Return the units that a heading and the first cell below it name."""
    said = words(f"{column.name} {next(iter(column.cells.values())).cell.text}".lower())
    return {word.unit or lexicon().unit(word.lower) for word in said}
