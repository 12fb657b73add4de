"""SQL: dumps of a database, whose rows become tables, and other files, which are read as code."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ragstone.acquire.readers.parsed import File, Parsed, Writer
from ragstone.acquire.readers.text import code
from ragstone.acquire.readers.text.plain import text_of

_NAME = r"""(?:[\w$]+|"[^"\n]+"|`[^`\n]+`|\[[^\]\n]+\])"""
_TABLE = rf"({_NAME}(?:\.{_NAME}){{0,3}})"
_START = re.compile(
    rf"(?im)^[ \t]*(?:INSERT\s+(?:IGNORE\s+)?(?:INTO\s+)?{_TABLE}\s*(?:\(([^()]*)\)\s*)?VALUES\s*"
    rf"|COPY\s+{_TABLE}\s*\(([^()]*)\)\s*FROM\s+stdin\b[^\n]*\n"
    rf"|CREATE\s+(?:\w+\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?{_TABLE}\s*\()"
)
_OPENED = re.compile(r"\s*,?\s*\(\s*")
_STRING = re.compile(r"\w*'((?:[^']|'')*)'")
_ESCAPED_STRING = re.compile(r"\w*'((?:[^'\\]|''|\\.)*)'", re.DOTALL)
_BARE = re.compile(r"[^,()';]+")
_COLUMN = re.compile(rf"^[ \t]*({_NAME})[ \t]+\w", re.MULTILINE)
_NO_COLUMN = ("primary", "unique", "key", "constraint", "foreign", "check", "index", "fulltext")
_MYSQL = re.compile(r"`|\b(?:MySQL|MariaDB) dump\b")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "", "Z": ""}
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_MOST_ROWS = 100_000
_LONGEST_CREATE = 20_000
"""Characters of a statement in which the columns of a new table are looked for."""
_DUMP = 0.5
"""Share of a file from which on rows make it a dump; one with fewer is code with a few rows in it."""


@dataclass(slots=True)
class _Rows:
    """The rows of a table with the same columns, if their names are known, and how many were not understood."""

    columns: list[str]
    rows: list[list[str]] = field(default_factory=list[list[str]])
    lost: int = 0


def parse(file: File) -> Parsed:
    """Return the tables of a dump below their names. A file that is mostly other statements is read as code.

    Raises:
        Unreadable: there is no text in it, or what `code.parse` refuses.
    """
    text, facts = text_of(file)
    tables, covered = _tables(text)
    if covered < _DUMP * len(text) or not any(one.rows for _, one in tables):
        return code.parse(file)
    writer = Writer()
    for name, table in tables:
        writer.left_out("row", table.lost + max(0, len(table.rows) - _MOST_ROWS), [name])
        if table.rows:
            writer.heading(name, 1)
            width = max(map(len, table.rows))
            named = [table.columns] if len(table.columns) == width else []
            writer.table([*named, *table.rows[:_MOST_ROWS]], caption=name, header=len(named))
    return writer.parsed(title=file.path.stem, facts={"kind": "sql", **facts})


def _tables(text: str) -> tuple[list[tuple[str, _Rows]], int]:
    """Return the tables that a dump fills, with their names, and the characters of the statements that say so."""
    made, filled = dict[str, list[str]](), dict[tuple[str, tuple[str, ...]], _Rows]()
    string, at, covered = _ESCAPED_STRING if _MYSQL.search(text) else _STRING, 0, 0
    found = _START.search(text)
    while found:
        at = found.end()
        inserted, columns, copied, copied_columns, new = found.groups()
        name = ".".join(map(_plain, (inserted or copied or new).split(".")))
        if new:
            following = _START.search(text, at)
            end = min(following.start() if following else len(text), at + _LONGEST_CREATE)
            closed = text.find(";", at, end)
            at = closed if closed >= 0 else end
            names = (_plain(one[1]) for one in _COLUMN.finditer(text, found.end(), at))
            made[name] = [one for one in names if one.lower() not in _NO_COLUMN]
        else:
            given = columns or copied_columns
            named = [_plain(one.strip()) for one in given.split(",")] if given else made.get(name, [])
            table = filled.setdefault((name, tuple(named)), _Rows(columns=named))
            at = _inserted(text, at, table, string) if inserted else _copied(text, at, table)
        covered += at - found.start()
        found = _START.search(text, at)
    return [(name, table) for (name, _), table in filled.items()], covered


def _copied(text: str, at: int, table: _Rows) -> int:
    """Add the lines of a ``COPY`` that begin at a place, and return the place behind them."""
    end = text.find("\n\\.", at - 1)
    end = end if end >= 0 else len(text)
    for line in text[at:end].splitlines():
        table.rows.append(["" if cell == r"\N" else _unescaped(cell) for cell in line.split("\t")])
    return end


def _inserted(text: str, at: int, table: _Rows, string: re.Pattern[str]) -> int:
    """Add the rows in brackets that begin at a place, and return the place behind them."""
    while opened := _OPENED.match(text, at):
        values, at = _values(text, opened.end(), string)
        if values:
            table.rows.append(values)
        else:
            table.lost += 1
    return at


def _values(text: str, at: int, string: re.Pattern[str]) -> tuple[list[str], int]:
    """Return the values of a row and the place behind its bracket; no values if it does not end."""
    values, parts, depth, is_text = list[str](), list[str](), 0, False
    while at < len(text):
        if quoted := string.match(text, at):
            written = quoted[1].replace("''", "'")
            is_escaped = string is _ESCAPED_STRING or quoted[0][:1] in "eE"
            parts.append(_unescaped(written) if is_escaped and not depth else quoted[0] if depth else written)
            at, is_text = quoted.end(), True
            continue
        if bare := _BARE.match(text, at):
            parts.append(bare[0])
            at = bare.end()
            continue
        mark, at = text[at], at + 1
        if mark in "';":
            return [], at
        if not depth and mark in ",)":
            value = "".join(parts).strip()
            values.append("" if value.upper() == "NULL" and not is_text else value)
            parts.clear()
            is_text = False
            if mark == ")":
                return values, at
        else:
            parts.append(mark)
            depth += {"(": 1, ")": -1}.get(mark, 0)
    return [], at


def _unescaped(value: str) -> str:
    return _ESCAPED.sub(lambda found: _ESCAPES.get(found[1], found[1]), value) if "\\" in value else value


def _plain(name: str) -> str:
    return name.strip('"`[]')
