"""The filter language as sets of rows: a question to the catalog's tables for each comparison, then set algebra.

One comparison lets a part of the chunks through, which an index of SQLite finds; "and", "or" and "not" over such
parts are operations on sorted arrays. As one condition of SQL it would be tried on every chunk.

SQLite has whole numbers of 64 bits; those beyond are kept, and compared, as the nearest float.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import reduce
from typing import TYPE_CHECKING, Protocol, assert_never

import numpy as np

from ragstone.conditions import And, Compare, Exists, Filter, In, Not, Or, Scalar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

COLUMNS = ("id", "title", "url", "source")
"""Keys that every document has; metadata of the same name is found too."""

Value = str | int | float | bytes


class Dialect(Protocol):
    """How a database asks for the chunks with a fact."""

    @property
    def joined(self) -> str:
        """The rows that a query gives, ``{}``, as one text with commas."""
        ...

    def fact(self, key: str, op: str, value: Scalar | None) -> tuple[str, list[Value]]:
        """The query for chunks of which a value of this key compares so, or that have one; and its values."""
        ...


Ask = Callable[[str, list[Value]], "Rows"]
"""From a query with places for values, and these, to the rows it gives: ascending, each once."""
_OPERATORS = {"=": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_EVERYTHING = "SELECT row FROM chunks"
AT_ONCE = 1_000_000
"""Rows of the parts of an "or" that are put together at once, at least."""


def passing(where: Filter, ask: Ask, dialect: Dialect) -> Rows:
    """The rows, ascending, of the chunks that a filter lets through."""
    match where:
        case Compare(key=key, op="!=", value=value):
            return passing(Not(part=Compare(key=key, op="=", value=value)), ask, dialect)
        case Compare(op=op, value=bool()) if op != "=":
            return _none()  # truth has no order
        case Compare(value=float() as number) if math.isnan(number):
            return _none()
        case Compare(key=key, op=op, value=value):
            return ask(*dialect.fact(key, _OPERATORS[op], value))
        case In(key=key, values=values):
            return passing(Or(parts=tuple(Compare(key=key, op="=", value=value) for value in values)), ask, dialect)
        case Exists(key=key):
            return ask(*dialect.fact(key, "", None))
        case And(parts=()):
            return ask(_EVERYTHING, [])
        case And(parts=parts):
            found = (passing(one, ask, dialect) for one in parts)
            return reduce(lambda a, b: np.intersect1d(a, b, assume_unique=True), found)
        case Or(parts=parts):
            return united(passing(one, ask, dialect) for one in parts)
        case Not(part=part):
            return np.setdiff1d(ask(_EVERYTHING, []), passing(part, ask, dialect), assume_unique=True)
        case _:
            assert_never(where)


def united(parts: Iterable[Rows]) -> Rows:
    """The rows, ascending, that are in any of the parts. Many at once: one by one, all would be sorted for each."""
    whole, waiting, count = _none(), list["Rows"](), 0
    for part in parts:
        waiting.append(part)
        count += len(part)
        if count > max(len(whole), AT_ONCE):
            whole, waiting, count = np.unique(np.concatenate([whole, *waiting])), [], 0
    return np.unique(np.concatenate([whole, *waiting]))


def told(where: Filter) -> str:
    """What a filter says, the same only for filters that let the same through; 1 and true, which are equal, are not."""
    match where:
        case Compare(key=key, op=op, value=value):
            return f"{key!r} {op} {stored(value)!r}"
        case In(key=key, values=values):
            return f"{key!r} in {[stored(value) for value in values]!r}"
        case Exists(key=key):
            return f"exists {key!r}"
        case Not(part=part):
            return f"not {told(part)}"
        case And(parts=parts) | Or(parts=parts):
            return f"{type(where).__name__} ({', '.join(map(told, parts))})"


def _none() -> Rows:
    return np.empty(0, dtype=np.int64)


class _SQLite:
    joined = "SELECT group_concat(row) FROM ({})"

    def fact(self, key: str, op: str, value: Scalar | None) -> tuple[str, list[Value]]:
        """SQLite orders values of different types among each other; a filter never compares across types."""
        test = "TRUE" if value is None else f"value {op} ?"
        values = [] if value is None else [stored(value)]
        typed = "" if value is None else f" AND typeof(value) IN ({_kind(value)})"
        having = f"FROM facts WHERE key = ? AND {test}{typed}"
        sql = (
            f"SELECT row FROM chunks WHERE document IN (SELECT document {having} AND chunk IS NULL)"  # noqa: S608
            f" UNION ALL SELECT chunk {having} AND chunk IS NOT NULL"
        )
        if key not in COLUMNS:
            return sql, [key, *values, key, *values]
        column = f"d.{key} <> '' AND {test.replace('value', f'd.{key}')}{typed.replace('value', f'd.{key}')}"
        sql = f"{sql} UNION ALL SELECT c.row FROM chunks c JOIN documents d USING (document) WHERE {column}"  # noqa: S608
        return sql, [key, *values, key, *values, *values]


SQLITE: Dialect = _SQLite()


def _kind(value: Scalar) -> str:
    if isinstance(value, bool):
        return "'blob'"
    return "'text'" if isinstance(value, str) else "'integer', 'real'"


def stored(value: Scalar) -> Value:
    """A metadata value as the database has it, the same in facts and in filters.

    A truth value is a blob, so that it equals no number; so is NaN, which equals nothing, but exists.
    """
    if isinstance(value, bool):
        return bytes([value])
    if isinstance(value, float) and math.isnan(value):
        return b"nan"
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return value
