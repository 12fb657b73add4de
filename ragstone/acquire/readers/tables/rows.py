"""A row of a table or of a database as a document: which of its fields are the id, the title, the text and facts."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.acquire.readers.decode import clean
from ragstone.acquire.readers.tables.fields import Json, as_fact, as_list, as_text, as_time, typed, without_markup
from ragstone.acquire.readers.tables.records import LONGEST_FACT, MOST_FACTS, record_spans, record_text, record_title
from ragstone.core.errors import SourceError
from ragstone.core.filters import Scalar
from ragstone.core.frozen import frozen
from ragstone.core.named_groups import Named, is_access_list, named_in
from ragstone.core.records import Span
from ragstone.settings.acquire import ColumnSettings

_OTHERS = 2
"""Facts beside those of a row: the path and the kind of its table."""


@frozen
class Row:
    """What the fields of a row say. ``key`` is empty if it has no id, and ``named`` is None if it names no groups."""

    key: str
    text: str
    title: str
    url: str
    named: Named | None
    facts: dict[str, Scalar | tuple[Scalar, ...]]


def required(columns: ColumnSettings) -> list[str]:
    """Return the columns that hold text and must not be missing."""
    return [column for column in columns.text if not column.endswith("?")]


def has_text(names: Sequence[str], columns: ColumnSettings, source: str, setting: str) -> bool:
    """Return whether a table has the columns of text.

    Args:
        names: its columns.
        columns: which of them mean what.
        source: the table, for the error message.
        setting: the path of ``columns`` in the settings.

    Raises:
        SourceError: it lacks a column that the settings name, rather than the default.
    """
    have = {name.casefold() for name in names}
    lacking = next((wanted for wanted in required(columns) if wanted.casefold() not in have), None)
    if lacking is None or columns.text == ColumnSettings().text:
        return lacking is None
    named = ", ".join(name for name in names if name) or "none"
    raise SourceError(
        f"{source} has no column '{lacking}', from which the text is taken; its columns are {named}. "
        f"The setting {setting}.text names the columns of text"
    )


def read_row(
    fields: dict[str, Json], columns: ColumnSettings, readers: str, *, is_record: bool, is_typed: bool = True
) -> Row:
    """Return what the fields of a row say.

    Args:
        fields: by their names as written. Of names that differ in case only, the first counts.
        columns: which of them mean what.
        readers: the column with access groups.
        is_record: whether the text is made of all fields, because the columns of text are missing.
        is_typed: whether values have the types that they were given, and not those that they look like.
    """
    texts = [column.removesuffix("?") for column in columns.text]

    def pick(*wanted: str) -> list[str]:
        return list(_picked(fields, columns, wanted).values())

    used = set[str]() if is_record else {one.casefold() for one in (columns.id, columns.url, *columns.title, *texts)}
    lists = access_lists(fields, readers, is_record=is_record)
    facts: dict[str, Scalar | tuple[Scalar, ...]] = {}
    for column, value in fields.items():
        if column in lists:
            continue
        fact = _fact(columns, column.casefold(), value, is_typed=is_typed)
        too_much = is_record and (len(facts) >= MOST_FACTS - _OTHERS or len(str(fact)) > LONGEST_FACT)
        if column.casefold() not in used and fact is not None and not too_much:
            facts[clean(column)] = fact
    shown = {column: value for column, value in fields.items() if column not in lists}
    title = " ".join(pick(*columns.title)) or (record_title(shown) if is_record else "")
    return Row(
        key=row_key(fields, columns),
        text=record_text(shown) if is_record else "\n\n".join(pick(*texts)),
        title=" ".join(title.split()),
        url="".join(pick(columns.url)).strip(),
        named=named_in(fields, readers, describes=not is_record),
        facts=facts,
    )


def row_key(fields: dict[str, Json], columns: ColumnSettings) -> str:
    """Return the id of a row; empty if it has none."""
    return "".join(_picked(fields, columns, [columns.id]).values()).strip()


def access_lists(fields: dict[str, Json], readers: str, *, is_record: bool) -> dict[str, Json]:
    """Return the fields that name who may read a row; who reads the others need not know them."""
    return {
        column: value
        for column, value in fields.items()
        if is_access_list(column, value, readers, describes=not is_record)
    }


def text_spans(fields: dict[str, Json], columns: ColumnSettings, readers: str, *, is_record: bool) -> dict[str, Span]:
    """Return where the fields of a row stand in its text, by their names as written; the arguments are `read_row`'s."""
    if is_record:
        lists = access_lists(fields, readers, is_record=True)
        return record_spans({column: value for column, value in fields.items() if column not in lists})
    spans, at = dict[str, Span](), 0
    for column, text in _picked(fields, columns, [column.removesuffix("?") for column in columns.text]).items():
        spans[column] = Span(start=at, end=at + len(text))
        at += len(text) + len("\n\n")
    return spans


def _picked(fields: dict[str, Json], columns: ColumnSettings, wanted: Sequence[str]) -> dict[str, str]:
    """Return the text of the wanted fields that have one, in the order that they are wanted in."""
    names = {name.casefold(): name for name in reversed(fields)}
    found = [(name, as_text(fields[name])) for one in wanted if (name := names.get(one.casefold())) is not None]
    tidied = [(name, without_markup(text) if columns.tidy else text) for name, text in found]
    return {name: text for name, text in tidied if text.strip()}


def _fact(columns: ColumnSettings, column: str, value: Json, *, is_typed: bool) -> Scalar | tuple[Scalar, ...] | None:
    """Return a field as metadata, of the type that the settings name."""
    if isinstance(value, str) and value.strip():
        if column in map(str.casefold, columns.dates):
            return as_fact(as_time(value))
        if column in map(str.casefold, columns.lists):
            return as_fact([*as_list(value)])
    return as_fact(typed(value) if not is_typed and isinstance(value, str) else value)
