"""CSV, TSV, JSON Lines and JSON: each row is a document. Rows are read one at a time."""

from __future__ import annotations

import csv
import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import chain, dropwhile, islice
from typing import TextIO, cast

from ragstone.acquire.readers.decode import LONGEST_LINE, Encoding, Unreadable, clean, detect
from ragstone.acquire.readers.parsed import File, Parsed
from ragstone.acquire.readers.tables.fields import Json
from ragstone.acquire.readers.tables.figures import is_figure
from ragstone.acquire.readers.tables.rows import has_text, read_row, required, row_key, text_spans
from ragstone.acquire.readers.text import openapi
from ragstone.acquire.readers.text.plain import text_of
from ragstone.core.filters import Scalar
from ragstone.core.frozen import frozen
from ragstone.core.named_groups import facts_of, is_access_name, named_anywhere
from ragstone.core.reading import AS_TEXT, LEFT_OUT
from ragstone.core.records import Document, Skipped, Span

_DELIMITERS = {".csv": ",;\t|", ".tsv": "\t,;|"}
"""In order of preference, if the header does not decide."""
_FLATTENED = ("meta", "metadata")
_FIRST_LINES = 30
"""Lines in which the header of a table is looked for."""
_HINT = re.compile(r"sep=(.)\s*", re.IGNORECASE)
"""The line by which Excel learns the delimiter."""
_COMMENTS = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*(?:(?!\*/).)*\*/', re.DOTALL)
_TRAILING = re.compile(r",(\s*[\]}])")


@frozen
class _Row:
    """The fields of a row by their names as written, and a ``label`` by which a user finds the row.

    In a table without the columns of text, each row ``is_record``: its text is made of all its fields.
    """

    label: str
    number: int
    fields: dict[str, Json]
    is_record: bool


@frozen
class TableRow:
    """A row of a table as it is written, and the ``id`` and ``text`` of the document made of it.

    ``cells`` are by the names of their columns; ``spans`` tell where those that the text is made of stand in it.
    """

    id: str
    text: str
    cells: Mapping[str, str]
    spans: Mapping[str, Span]


@frozen
class _Start:
    """How the rows of a table begin: their delimiter, the first lines, and the header if none is written.

    ``above`` counts the lines of words above the header.
    """

    delimiter: str
    lines: list[str]
    header: list[str] = field(default_factory=list[str])
    above: int = 0


@frozen
class _Table:
    """A table while it is read. ``notices`` say what was guessed or left out."""

    file: File
    kind: str
    encoding: Encoding
    notices: list[str] = field(default_factory=list[str])

    def open(self) -> TextIO:
        return self.file.path.open(encoding=self.encoding.name, errors="replace")

    def skip(self, label: str, reason: str) -> Skipped:
        return Skipped(source=self.file.source, reason=f"{label}: {reason}")


def read_csv(file: File) -> Iterator[Document | Skipped]:
    """Yield the rows of a CSV or TSV file with a header.

    Raises:
        SourceError: the header lacks a column that the settings name for the text.
    """
    table = _Table(file=file, kind="csv", encoding=detect(file.path, file.settings))
    with table.open() as stream:
        yield from _documents(table, _csv_rows(table, stream))


def rows_near(file: File, id: str, count: int) -> list[TableRow]:
    """Return the row of a CSV or TSV file that a document was made of, between up to ``count`` rows on either side.

    Rows of which no document is made are left out. There are none if no row makes this document.

    Raises:
        Unreadable, SourceError: as of `read_csv`.
    """
    table = _Table(file=file, kind="csv", encoding=detect(file.path, file.settings))
    before, near, ids = deque[_Row](maxlen=count), list[_Row](), set[str]()
    with table.open() as stream:
        for row in _csv_rows(table, stream):
            if isinstance(row, Skipped) or (own := _id(table, row)) in ids:
                continue
            ids.add(own)
            if near:
                near.append(row)
            elif own == id:
                near = [*before, row]
            else:
                before.append(row)
            if len(near) > len(before) + count:
                break
    return [_as_written(table, row) for row in near]


def read_jsonl(file: File) -> Iterator[Document | Skipped]:
    """Yield the objects of a JSON Lines file.

    Raises:
        SourceError: the first object lacks a field that the settings take text from.
    """
    table = _Table(file=file, kind="jsonl", encoding=detect(file.path, file.settings))
    with table.open() as stream:
        yield from _documents(table, _jsonl_rows(table, stream))


def read_json(file: File) -> Parsed | Iterator[Document | Skipped]:
    """Return the objects of a JSON array as rows, and an OpenAPI description as text; else one indented text.

    Raises:
        SourceError: the first object of an array lacks a field that the settings take text from.
    """
    text, facts = text_of(file)
    try:
        content: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        return _commented(file, text, facts, str(error))
    if not content:
        raise Unreadable("empty")
    if isinstance(content, list) and all(isinstance(one, dict) for one in content):
        table = _Table(file=file, kind="json", encoding=Encoding(name="utf-8", note=str(facts.get("decoding", ""))))
        return _documents(table, _json_rows(table, cast("list[dict[str, Json]]", content)))
    named = facts_of(named_anywhere(content, file.settings.access.column))
    if openapi.is_description(content):
        return openapi.parsed(content, {**facts, **named})
    pretty = clean(json.dumps(content, ensure_ascii=False, indent=2))
    return Parsed(text=pretty, facts={"kind": "json", **facts, **named})


def _commented(file: File, text: str, facts: Mapping[str, Scalar], error: str) -> Parsed:
    """Return JSON with comments or with commas at the end of lists, as programs have in their settings, as text.

    Raises:
        Unreadable: it is no such JSON, so that nothing says who may read it.
    """
    try:
        content: Json = json.loads(_TRAILING.sub(r"\1", _COMMENTS.sub(lambda found: found[1] or " ", text)))
    except (ValueError, RecursionError):
        raise Unreadable(f"damaged: not JSON: {error}") from None
    named = facts_of(named_anywhere(content, file.settings.access.column))
    note = "; ".join(one for one in (str(facts.get("decoding", "")), f"JSON with comments, {AS_TEXT}") if one)
    return Parsed(text=text, facts={"kind": "json", **facts, "decoding": note, **named})


# ---------------------------------------------------------------- rows


def _csv_rows(table: _Table, stream: TextIO) -> Iterator[_Row | Skipped]:
    # The limit holds for the whole process, so it is never lowered.
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))
    lines = (clean(line) for line in stream)
    start = _start(table, lines)
    reader = csv.reader(chain(start.lines, lines), delimiter=start.delimiter, strict=True)
    try:
        header = start.header or _named([column.strip() for column in next(reader)])
    except csv.Error as error:
        raise Unreadable(f"header: {error}") from error
    is_record = not _has_text(table, header)
    number = 0
    if start.above:
        lines_above = "1 line" if start.above == 1 else f"{start.above} lines"
        table.notices.append(f"{lines_above} above the header {LEFT_OUT}")
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            number += 1
            if "field larger" in str(error):
                # The reader is inside a cell and cannot find the next row.
                yield table.skip(f"row {number} and all after it", "a cell has no end; is a quote never closed?")
                return
            unclosed = "unexpected end" in str(error)
            yield table.skip(f"row {number}", "a quote is opened and never closed" if unclosed else str(error))
            continue
        if not cells:
            continue
        number += 1
        if len(cells) > len(header):
            yield table.skip(f"row {number}", f"{len(cells)} cells, but the header has {len(header)}")
            continue
        # Cells missing at the end are missing values.
        fields: dict[str, Json] = dict(zip(header, cells, strict=False))
        yield _Row(label=f"row {number}", number=number, fields=fields, is_record=is_record)


def _start(table: _Table, lines: Iterator[str]) -> _Start:
    """Return where the rows of a table begin, from its first lines.

    Raises:
        Unreadable: there are no lines.
    """
    written = [*dropwhile(lambda line: not line.strip(), islice(lines, _FIRST_LINES))]
    hint = _HINT.fullmatch(written[0]) if written else None
    written = written[1:] if hint else written
    # An empty line may stand in a cell, so that it is kept.
    places = [number for number, line in enumerate(written) if line.strip()]
    first = [written[number] for number in places]
    if not first:
        raise Unreadable("empty")
    wanted = {column.casefold() for column in required(table.file.settings.columns)}

    def cells(line: str, delimiter: str) -> list[str]:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]

    def fit(delimiter: str) -> tuple[bool, int]:
        columns = cells(first[0], delimiter)
        return wanted <= {column.casefold() for column in columns}, len(columns)

    delimiters = hint[1] if hint else _DELIMITERS.get(table.file.suffix, ",")
    delimiter = max(delimiters, key=fit)
    if fit(delimiter) < (True, 2):
        # No header: lines of words may stand above it.
        for one in delimiters:
            if above := _lines_above([cells(line, one) for line in first]):
                return _Start(delimiter=one, lines=written[places[above] :], above=above)
    rows = [cells(line, delimiter) for line in first]
    is_headless = _is_data(rows) and not fit(delimiter)[0]
    header = [f"column {n}" for n in range(1, len(rows[0]) + 1)] if is_headless else []
    return _Start(delimiter=delimiter, lines=written[places[0] :], header=header)


def _lines_above(rows: Sequence[Sequence[str]]) -> int:
    """Return how many lines of words stand above a table: those before the first of many rows of one length."""
    for number, row in enumerate(rows):
        if len(row) > 1:
            following = rows[number : number + _FIRST_LINES]
            return number if len(following) > 1 and all(len(one) == len(row) for one in following) else 0
    return 0


def _is_data(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row is data like the rows below it: a figure above figures."""
    if len(rows) < 2 or len(rows[0]) < 2 or not all(rows[0]):
        return False
    columns = ([row[n] for row in rows[1:] if n < len(row) and row[n]] for n in range(len(rows[0])))
    return any(
        is_figure(cell) and below and all(map(is_figure, below)) for cell, below in zip(rows[0], columns, strict=True)
    )


def _named(header: Sequence[str]) -> list[str]:
    """Return the names of columns, each of them different."""
    names: list[str] = []
    for number, name in enumerate(header, 1):
        own = name or f"column {number}"
        copies = 1
        while own in names:
            copies += 1
            own = f"{name or 'column'} ({copies})"
        names.append(own)
    return names


def _jsonl_rows(table: _Table, stream: TextIO) -> Iterator[_Row | Skipped]:
    is_record: bool | None = None
    for number, line in enumerate(stream, 1):
        label = f"line {number}"
        if not line.strip():
            continue
        try:
            record: Json = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield table.skip(label, f"not JSON: {error}")
            continue
        if not isinstance(record, dict):
            yield table.skip(label, "not a JSON object")
            continue
        fields = _flat(table, record)
        is_record = not _has_text(table, list(fields)) if is_record is None else is_record
        yield _Row(label=label, number=number, fields=fields, is_record=is_record)


def _json_rows(table: _Table, records: list[dict[str, Json]]) -> Iterator[_Row]:
    is_record = not _has_text(table, list(_flat(table, records[0])))
    for number, record in enumerate(records, 1):
        yield _Row(label=f"object {number}", number=number, fields=_flat(table, record), is_record=is_record)


def _has_text(table: _Table, columns: list[str]) -> bool:
    return has_text(columns, table.file.settings.columns, table.file.source, "acquire.columns")


def _flat(table: _Table, record: dict[str, Json]) -> dict[str, Json]:
    """Lift nested fields one level: those of ``meta`` keep their names, others become ``outer.inner``.

    An access list stays as it is written.
    """
    readers = table.file.settings.access.column
    flat: dict[str, Json] = {}
    for key, value in record.items():
        if isinstance(value, dict) and not is_access_name(key, readers):
            prefix = "" if key.casefold() in _FLATTENED else f"{key}."
            for inner, below in value.items():
                flat.setdefault(prefix + inner, below)
        else:
            flat[key] = value
    return flat


# ---------------------------------------------------------------- documents


def _documents(table: _Table, rows: Iterator[_Row | Skipped]) -> Iterator[Document | Skipped]:
    ids: set[str] = set()
    empty = True
    for row in rows:
        empty = False
        result = row if isinstance(row, Skipped) else _document(table, row)
        if isinstance(row, _Row) and isinstance(result, Document):
            if result.id in ids:
                result = table.skip(row.label, f"an earlier row has the same id, {result.id}")
            else:
                ids.add(result.id)
        yield result
    if empty:
        raise Unreadable("no rows")


def _as_written(table: _Table, row: _Row) -> TableRow:
    settings, cells = table.file.settings, {name: str(cell) for name, cell in row.fields.items()}
    columns, readers = settings.columns, settings.access.column
    text = read_row(row.fields, columns, readers, is_record=row.is_record).text
    spans = text_spans(row.fields, columns, readers, is_record=row.is_record)
    return TableRow(id=_id(table, row), text=text, cells=cells, spans=spans)


def _id(table: _Table, row: _Row) -> str:
    return f"{table.file.name}#{row_key(row.fields, table.file.settings.columns) or row.number}"


def _document(table: _Table, row: _Row) -> Document | Skipped:
    settings = table.file.settings
    columns = settings.columns
    # CSV has no types: a value has the type that it looks like.
    read = read_row(row.fields, columns, settings.access.column, is_record=row.is_record, is_typed=table.kind != "csv")
    if not read.text:
        texts = ", ".join(column.removesuffix("?") for column in columns.text)
        return table.skip(row.label, "empty" if row.is_record else f"no text in {texts}")
    key = read.key or str(row.number)
    metadata: dict[str, Scalar | tuple[Scalar, ...]] = {"path": table.file.name, "kind": table.kind}
    if notes := [note for note in (table.encoding.note, *table.notices) if note]:
        metadata["decoding"] = "; ".join(notes)
    metadata |= facts_of(read.named)
    return Document(
        id=f"{table.file.name}#{key}",
        text=read.text,
        source=f"{table.file.source}#{key}",
        title=read.title,
        url=read.url,
        metadata=metadata | read.facts,
    )
