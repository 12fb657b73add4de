"""SQL: dumps of a database, whose rows become tables, and other files, which are read as code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ragstone.acquire.readers.parsed import File, Parsed, Writer
from ragstone.acquire.readers.text import code
from ragstone.acquire.readers.text.plain import text_of

_NAME = r"""(?:[\w$]+|"[^"]+"|`[^`]+`|\[[^\]]+\])"""
_TABLE = rf"({_NAME}(?:\.{_NAME}){{0,3}})"
_START = re.compile(
    rf"(?im)^[ \t]*(?:(?P<kind>INSERT)\s+(?:IGNORE\s+)?INTO\s+{_TABLE}\s*(?:\(([^()]*)\)\s*)?VALUES\s*"
    rf"|COPY\s+{_TABLE}\s*\(([^()]*)\)\s*FROM\s+stdin\b[^\n]*\n"
    rf"|CREATE\s+(?:\w+\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?{_TABLE}\s*\()"
)
_VALUE = re.compile(r"""\s*(?:[NE]?'((?:[^'\\]|''|\\.)*)'|([^\s,()'][^,()']*(?:\([^()']*\))?))\s*([,)])""", re.DOTALL)
_BETWEEN = re.compile(r"\s*,?\s*\(")
_COLUMN = re.compile(rf"^\s*({_NAME})\s+\w", re.MULTILINE)
_NO_COLUMN = ("primary", "unique", "key", "constraint", "foreign", "check", "index", "fulltext")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "", "Z": ""}
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_MOST_ROWS = 100_000


@dataclass(slots=True)
class _Rows:
    """The rows of a table, and the names of their columns if they are known."""

    columns: list[str] = field(default_factory=list[str])
    rows: list[list[str]] = field(default_factory=list[list[str]])


def parse(file: File) -> Parsed:
    """Return the tables of a dump below their names. A file without rows is read as code.

    Raises:
        Unreadable: there is no text in it, or what `code.parse` refuses.
    """
    text, facts = text_of(file)
    tables = _tables(text)
    if not any(one.rows for one in tables.values()):
        return code.parse(file)
    writer = Writer()
    for name, table in tables.items():
        if table.rows:
            writer.heading(name, 1)
            width = max(map(len, table.rows))
            named = [table.columns] if len(table.columns) == width else []
            rows = table.rows[:_MOST_ROWS]
            writer.table([*named, *rows], caption=name, header=len(named))
            writer.left_out("row", len(table.rows) - len(rows), [name])
    return writer.parsed(title=file.path.stem, facts={"kind": "sql", **facts})


def _tables(text: str) -> dict[str, _Rows]:
    """Return the tables that a dump fills, by their names."""
    tables, at = dict[str, _Rows](), 0
    while found := _START.search(text, at):
        at = found.end()
        _, inserted, columns, copied, copied_columns, made = found.groups()
        table = tables.setdefault(_plain((inserted or copied or made).rpartition(".")[2]), _Rows())
        if made:
            # The lines of a table that is made name a column each; it ends with a statement.
            end = text.find(";", at)
            lines = _COLUMN.finditer(text, at, end if end >= 0 else len(text))
            table.columns = [_plain(one[1]) for one in lines if one[1].lower() not in _NO_COLUMN]
            continue
        if named := columns or copied_columns:
            table.columns = [_plain(one.strip()) for one in named.split(",")]
        if inserted:
            at = _insert(text, at, table)
        else:
            end = text.find("\n\\.", at - 1)
            at, lines = (end, text[at:end]) if end >= 0 else (len(text), text[at:])
            table.rows += [[_unescaped(cell) for cell in line.split("\t")] for line in lines.splitlines()]
    return tables


def _insert(text: str, at: int, table: _Rows) -> int:
    """Add the rows in brackets that begin at a place, and return the place behind them."""
    while opened := _BETWEEN.match(text, at):
        values, at = list[str](), opened.end()
        for value, end, is_last in _values(text, at):
            values.append(value)
            at = end
            if is_last:
                table.rows.append(values)
                break
        else:
            return at
    return at


def _values(text: str, at: int) -> Iterator[tuple[str, int, bool]]:
    """Yield the values of a row, the place behind each, and whether it is the last."""
    while found := _VALUE.match(text, at):
        words, bare, mark = found.groups()
        at = found.end()
        value = _unescaped(words.replace("''", "'")) if words is not None else bare.strip()
        yield "" if words is None and value.upper() == "NULL" else value, at, mark == ")"


def _unescaped(value: str) -> str:
    if value == r"\N":
        return ""
    return _ESCAPED.sub(lambda found: _ESCAPES.get(found[1], found[1]), value) if "\\" in value else value


def _plain(name: str) -> str:
    return name.strip('"`[]')
