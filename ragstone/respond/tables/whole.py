"""Answers from all rows of a table: the row with the largest or smallest value of a column, or those that fit.

Nothing is guessed: each word of the question must name a column, the table, or a whole value that some rows have, and
every value of the column compared must be a number of one unit. Otherwise there is no answer of this kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache

from ragstone.core.frozen import frozen
from ragstone.core.naming import name_of
from ragstone.core.question import Comparison, RowLimit
from ragstone.core.record import record_of
from ragstone.core.records import Chunk, Hit
from ragstone.core.table import Cell, Row, Table, table_of
from ragstone.language import lexicon, plain
from ragstone.language.days import dates_in
from ragstone.language.facts import Word, words
from ragstone.language.money import MARK, currencies, currency_of
from ragstone.language.words import any_of
from ragstone.respond.tables.calculate import DOTTED, value_of
from ragstone.respond.tables.cell_kinds import NOTHING, naming
from ragstone.respond.tables.features import TableCell
from ragstone.respond.tables.lookup import Looked
from ragstone.respond.tables.wording import contains, heading_words, is_same, lower_words, normalized, singular

EXACT = 0.8
"""Probability of an answer from all rows: what of it may be wrong is what the question means, not what is compared."""
SHOWN = 10
"""Counted rows that are cited."""
LISTED = 30
"""Rows of a list that are shown and cited."""
_MIN_ROWS = 2
_TIES = 3
"""Rows with the same largest value that are shown."""
_UNIT = re.compile(rf"(?P<before>{MARK}?)\s*(?P<figure>[-−–(]?\d[\d,]*(?:\.\d+)?\)?)\s*(?P<after>[^\d\s]{{0,12}})")
_DECIMAL_POINT = re.compile(r"\d\.\d{1,2}(?!\d)|\d,\d{3}")
_DECIMAL_COMMA = re.compile(r"\d,\d{1,2}(?!\d)")
_SHORT = 3
"""Letters of a word that may be in many values."""
_EARLIEST, _LATEST = 1500, 2199
_LONGEST_UNIT = 12
_SWAPPED = str.maketrans(",.", ".,")
_ROW = frozenset(["row", "record", "entry", "entries", "item", "line"])
"""Words for the rows of any table."""


@frozen
class _Column:
    """A column of a table: its heading, the words of that, and its cells by the number of the row."""

    name: str
    words: tuple[str, ...]
    cells: dict[int, TableCell]


@frozen
class _Whole:
    """All rows of a table, in order, and its columns; ``named`` are the words of what names the table."""

    name: str
    named: frozenset[str]
    rows: Sequence[TableCell]
    columns: Sequence[_Column]


@frozen
class _Condition:
    """What some rows have in a column, as a sign and a value, and the numbers of these rows."""

    column: _Column
    shown: str
    rows: frozenset[int]


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
    found = [(whole, *one) for whole in _tables(rows) if (one := _fitting(wanted, whole))]
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
    found = [one for whole in _tables(rows) if (one := _answer(wanted, whole))]
    return found[0] if len(found) == 1 else None


def _tables(rows: Sequence[Sequence[Hit]]) -> Iterator[_Whole]:
    """Yield the tables of files and documents whose rows can all be read."""
    groups: dict[tuple[int, str], list[tuple[Hit, Table | None]]] = {}
    for n, hits in enumerate(rows):
        for hit in hits:
            table = record_of(hit.chunk) or table_of(hit.chunk)
            groups.setdefault((n, _heads(hit.chunk)), []).append((hit, table))
    yield from (whole for some in groups.values() if (whole := _whole(some)))


def _heads(chunk: Chunk) -> str:
    """Return what the rows of one table of a document have in common; empty for the rows of a data file."""
    if not chunk.facts.get("is_table"):
        return ""
    return "\n".join(str(chunk.facts.get(one)) for one in ("table_caption", "table_header"))


def _whole(parts: Sequence[tuple[Hit, Table | None]]) -> _Whole | None:
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
                columns.setdefault(" ".join(cell.header), {})[number] = _found(hit, table, row, cell)
    if len(rows) < _MIN_ROWS or not columns:
        return None
    first = parts[0][0].chunk
    title = "" if rows[0].table.file else first.title
    about = f"{name} {title} {rows[0].table.caption} {first.facts.get('section', '')}"
    return _Whole(
        name=name.rpartition("/")[2],
        named=frozenset(map(singular, lower_words(about))),
        rows=rows,
        columns=[_Column(name=one, words=tuple(heading_words(one)), cells=cells) for one, cells in columns.items()],
    )


def _found(hit: Hit, table: Table, row: Row, cell: Cell) -> TableCell:
    return TableCell(hit=hit, place=0, table=table, row=row, cell=cell)


def _answer(wanted: Comparison, whole: _Whole) -> Looked | None:
    if wanted.wanted in ("rows", "some rows"):
        return _listed(wanted, whole)
    dated, telling = _dated(wanted.words, whole) if wanted.wanted in ("sum", "count") else ([], wanted.words)
    conditions, rest = _conditions(telling, whole, partly=wanted.wanted == "sum")
    if conditions is None or dated is None:
        return None
    conditions = [*conditions, *dated]
    fit = set(range(len(whole.rows))).intersection(*(one.rows for one in conditions))
    if wanted.wanted in ("count", "distinct"):
        return _counted(wanted, whole, conditions, rest, fit)
    if wanted.wanted == "sum":
        return _summed(whole, conditions, rest, sorted(fit))
    return _largest(wanted, whole, conditions, rest, fit)


# ---------------------------------------------------------------- what the question names


def _dated(asked: Sequence[Word], whole: _Whole) -> tuple[list[_Condition] | None, Sequence[Word]]:
    """Return the period that the question names as a condition, and the words left.

    None if columns of days do not agree on the rows of this period. Without such a column the words stay.
    """
    years = {int(word.value) for word in asked if word.value.isdigit() and len(word.value) == len("2026")}
    months = {word.value for word in asked if word.value.startswith("month ")}
    if len(years) != 1 or len(months) > 1:
        return [], asked
    found = list[_Condition]()
    for column in whole.columns:
        named = {n: dates_in(one.cell.text) for n, one in column.cells.items()}
        if all(len(days) == 1 for days in named.values()):
            days = {n: days[0][1] for n, days in named.items()}
            fit = [n for n, day in days.items() if day.year in years and (not months or f"month {day.month}" in months)]
            shown = " ".join(word.lower for word in asked if word.value in months or word.value in map(str, years))
            found.append(_Condition(column=column, shown=f": {shown}", rows=frozenset(fit)))
    if not found:
        return [], asked
    if len({one.rows for one in found}) > 1:
        return None, asked
    said = {*months, *map(str, years)}
    return found[:1], [word for word in asked if word.value not in said]


def _conditions(
    asked: Sequence[Word], whole: _Whole, *, partly: bool = False
) -> tuple[list[_Condition] | None, list[Word]]:
    """Return the values that the question names, and the words left; None if it is not clear what a word means.

    A value counts that is the whole of a cell, in one column only, and part of no other value of that column; or, if
    asked for, ``partly`` named, as "Anna" of the only value with this word.
    """
    named = [singular(word.lower) for word in asked]
    values: dict[tuple[str, ...], list[_Column]] = {}
    for column in whole.columns:
        for value in {normalized(one.cell.text) for one in column.cells.values()}:
            values.setdefault(tuple(map(singular, value.split())), []).append(column)
    out: list[_Condition] = []
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


def _condition(column: _Column, value: str) -> _Condition:
    """Return the condition that a column has a value, in lower case and perhaps with other endings."""
    own = {n: one.cell.text for n, one in column.cells.items() if _singulars(one.cell.text) == _singulars(value)}
    return _Condition(column=column, shown=f" = {next(iter(own.values()))}", rows=frozenset(own))


def _singulars(text: str) -> tuple[str, ...]:
    return tuple(map(singular, normalized(text).split()))


def _only_with(
    named: Sequence[str], values: Mapping[tuple[str, ...], list[_Column]]
) -> tuple[tuple[_Column, tuple[str, ...]], int] | None:
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


def _measures(rest: Sequence[Word], columns: Iterable[_Column], also: Iterable[str] = ()) -> list[_Column]:
    """Return the columns whose heading the question names wholly, but for its unit; the longer of two."""
    said = {*(singular(word.lower) for word in rest), *also}
    found = [one for one in columns if one.words and all(any(is_same(a, b) for b in said) for a in _bare(one))]
    return [one for one in found if not any(set(one.words) < set(other.words) for other in found)]


def _bare(column: _Column) -> tuple[str, ...]:
    """Return the words of a heading without its unit, unless it has no others."""
    return tuple(one for one in column.words if not (lexicon().unit(one) or currency_of(one))) or column.words


def _meant(wanted: Comparison) -> set[str]:
    """Return the words of the columns that an adjective or a verb means, as headings are compared."""
    return {singular(one) for one in wanted.columns}


def _is_explained(word: Word, whole: _Whole, columns: Sequence[_Column]) -> bool:
    """Return whether a word names a column that is used, or its unit, or the table, or any of its rows."""
    own, unit = singular(word.lower), lexicon().unit(word.lower)
    named = [*whole.named, *(one for column in columns for one in column.words)]
    return any(is_same(own, one) for one in named) or any(unit and unit in _units(one) for one in columns)


def _is_figure(word: Word, whole: _Whole, but: Sequence[_Column]) -> bool:
    """Return whether a word names a column of numbers, other than some."""
    own = singular(word.lower)
    return any(
        is_same(own, one) for column in whole.columns if column not in but and _values(column) for one in column.words
    )


def _subject(rest: Sequence[Word], whole: _Whole) -> _Column | None:
    """Return the column of which the question wants a cell: the first that it names, else the one that names rows."""
    for word in rest:
        for column in whole.columns:
            if column.words and is_same(singular(word.lower), column.words[-1]) and not _values(column):
                return column
    first = whole.rows[0].row.cells[0].header
    return next((one for one in whole.columns if one.name == " ".join(first)), None)


# ---------------------------------------------------------------- the answers


def _largest(
    wanted: Comparison, whole: _Whole, conditions: Sequence[_Condition], rest: Sequence[Word], fit: set[int]
) -> Looked | None:
    named = [one for one in _measures(rest, whole.columns, _meant(wanted)) if _values(one)]
    if not named:
        named = [one for one in whole.columns if set(one.words) & _meant(wanted) and _values(one)]
    subject = _subject(rest, whole)
    if subject is None:
        return None
    if len(named) > 1:  # "dealer" is what is wanted, and not "dealer since"
        named = [one for one in named if not {*one.words} <= {*subject.words}]
    if len(named) != 1:
        return None
    (measure,) = named
    if not all(_is_explained(word, whole, [measure, subject]) for word in rest):
        return None
    values = _values(measure)
    among = {n: value for n, value in values.items() if n in fit}
    if len(among) < _MIN_ROWS:
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
    subject: _Column
    limit: str


@frozen
class _Limited:
    """The columns that a limit is for, the rows within it, and the limit in words."""

    columns: list[_Column]
    rows: set[int]
    said: str


def _fit(wanted: Comparison, whole: _Whole, rest: Sequence[Word], fit: set[int]) -> _Fit | None:
    """Return the rows that fit within the limit, if there is one; None if some words of the question are not clear."""
    subject = _subject(rest, whole)
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
    if not fit or not all(_is_explained(word, whole, used) for word in others):
        return None
    if any(_is_figure(word, whole, used) for word in others if singular(word.lower) not in own):
        return None  # "the number of deaths" is a figure
    rows = sorted(n for n in fit if n in subject.cells)
    return _Fit(rows=rows, subject=subject, limit=said) if len(rows) == len(fit) else None


def _within(
    wanted: Comparison, limit: RowLimit, rest: Sequence[Word], whole: _Whole, subject: _Column
) -> _Limited | None:
    """Return what a limit is for; None if it is not clear. Of several prices of a row the largest is what one pays."""
    figures = [one for one in whole.columns if one.words != subject.words and _values(one)]
    named = _measures(rest, figures, _meant(wanted))
    named = named or [one for one in figures if set(one.words) & _meant(wanted)]
    money = [currencies(f"{one.name} {next(iter(one.cells.values())).cell.text}") for one in named]
    if not named or (len(named) > 1 and not all(money)):
        return None
    if limit.currency and any(one and limit.currency not in one for one in money):
        return None
    values: dict[int, Decimal] = {}
    for column in named:
        for n, value in _values(column, limit.decimal).items():
            values[n] = max(value, values.get(n, value))
    rows = {n for n, one in values.items() if limit.admits(one)}
    return _Limited(columns=named, rows=rows, said=_said(limit, " / ".join(one.name for one in named)))


def _units(column: _Column) -> set[str]:
    """Return the units that a heading and the first cell below it name."""
    said = words(f"{column.name} {next(iter(column.cells.values())).cell.text}".lower())
    return {word.unit or lexicon().unit(word.lower) for word in said}


def _said(limit: RowLimit, name: str) -> str:
    """Return what a limit says of a column, as "price < 100" or "50 ≤ price ≤ 100"."""
    below, above = ("≤", "≥") if limit.included else ("<", ">")
    if limit.least is None:
        return f"{name} {below} {limit.most:,}"
    if limit.most is None:
        return f"{name} {above} {limit.least:,}"
    return f"{limit.least:,} {below} {name} {below} {limit.most:,}"


def _fitting(wanted: Comparison, whole: _Whole) -> tuple[_Fit, list[_Condition]] | None:
    """Return the rows that a question wants listed, and the values that they have."""
    conditions, rest = _conditions(wanted.words, whole)
    if conditions is None or not (wanted.words or wanted.limit):
        return None
    if wanted.wanted == "some rows" and not conditions and not wanted.limit:
        return None  # "Which products do you recommend?"
    among = set(range(len(whole.rows))).intersection(*(one.rows for one in conditions))
    fit = _fit(wanted, whole, rest, among)
    return fit and (fit, conditions)


def _listed(wanted: Comparison, whole: _Whole) -> Looked | None:
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
    wanted: Comparison, whole: _Whole, conditions: Sequence[_Condition], rest: Sequence[Word], fit: set[int]
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


def _are_rows(rest: Sequence[Word], whole: _Whole, subject: _Column) -> bool:
    """Return whether the rows are what words name, as the "stations" of stations.csv, which has a column of them."""
    named = [singular(word.lower) for word in rest]
    return bool(named) and all(one in whole.named and one in subject.words for one in named)


def _is_row(word: Word) -> bool:
    return bool(_ROW & {word.lower, word.lower.removesuffix("s")})


def _of(whole: _Whole, conditions: Sequence[_Condition], rows: int, said: str = "") -> str:
    """Return what was compared, as "stations.csv (52 rows), Country = Germany"."""
    shown = [f"{one.column.name}{one.shown}" for one in conditions]
    return ", ".join(filter(None, [f"{whole.name} ({rows:,} rows)", *shown, said]))


def _summed(
    whole: _Whole, conditions: Sequence[_Condition], rest: Sequence[Word], rows: Sequence[int]
) -> Looked | None:
    """Return the sum of a column over the rows that fit, with its parts; None if it is not clear what to sum.

    Figures of several units, rates, prices and years are no parts of a sum, and a table that sums up its own rows, or
    sections of them, is no list of parts: outside data files, the question must say which rows it means.
    """
    if len(rows) < _MIN_ROWS or not (conditions or whole.rows[0].table.file):
        return None
    measures = _measures(rest, [one for one in whole.columns if _values(one)])
    if len(measures) != 1 or _is_unsummed(measures[0]):
        return None
    (measure,) = measures
    values = _values(measure)
    used = [measure, *(one.column for one in conditions)]
    if any(n not in values for n in rows) or not all(_is_explained(word, whole, used) for word in rest):
        return None
    if any(_are_of_several_units(column, rows) for column in whole.columns):
        return None
    parts = [values[n] for n in rows]
    terms = " + ".join(f"{one:,}" for one in parts) if len(parts) <= SHOWN else f"{measure.name} × {len(parts)}"
    head = _of(whole, conditions, len(whole.rows), f"sum({measure.name})")
    total = f"{head}: {terms} = {sum(parts, start=Decimal()):,}"
    return _looked([measure.cells[n] for n in rows[:SHOWN]], total, conditions)


def _is_unsummed(column: _Column) -> bool:
    """Return whether a column has rates, prices, years or the like, whose sum says nothing."""
    years = [value for value in _values(column).values() if _EARLIEST <= value <= _LATEST and value == int(value)]
    said = {word.lower for word in words(column.name.lower())}
    return len(years) == len(column.cells) or bool(said & _unsummed())


@cache
def _unsummed() -> frozenset[str]:
    return frozenset(map(plain, lexicon().table_words["unsummed"]))


def _are_of_several_units(column: _Column, rows: Sequence[int]) -> bool:
    """Return whether a column says that rows have several units, as one of currencies or units does."""
    texts = [column.cells[n].cell.text.strip().lower() for n in rows if n in column.cells]
    units = {lexicon().unit(one) or currency_of(one) for one in texts if len(one) <= _LONGEST_UNIT}
    return len(texts) == len(rows) and "" not in units and len({*texts}) > 1 and len(units) > 1


def _looked(cells: Sequence[TableCell], calculation: str, conditions: Sequence[_Condition]) -> Looked:
    rows = {id(one.row): one.row for one in cells}
    keys = [one.column.cells for one in conditions]
    first = next(iter(rows.values()))
    named = [cell for cell in first.cells if any(cell is one.cell for some in keys for one in some.values())]
    return Looked(cells=tuple(cells), probability=EXACT, calculation=calculation, keys=tuple(named))


def _values(column: _Column, decimal: str = ".") -> dict[int, Decimal]:
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
