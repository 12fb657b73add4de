"""Metadata as PostgreSQL keeps it for filters, and filters as it is asked.

A value is a text, a number, or neither: a truth value, or NaN, which equal no number. Numbers are ``numeric``, so that
whole ones and floats are compared exactly, as SQLite does.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import isinf

from ragstone.access import READERS
from ragstone.conditions import Scalar
from ragstone.index.catalog.filters import COLUMNS, Value, stored

LOOSE = {"=": "=", "<": "<=", "<=": "<=", ">": ">=", ">=": ">="}
"""How the beginnings of two texts compare that compare so themselves; an index knows the beginnings."""


def columns_of(value: Value) -> tuple[str, str, str | None]:
    """Kind, text and number of a stored value."""
    if isinstance(value, str):
        return "t", value, None
    if isinstance(value, bytes):
        return "b", value.hex(), None
    return "n", "", number(value)


def number(value: float) -> str:
    """Exactly, in decimal digits."""
    if isinstance(value, float) and isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return format(Decimal(value), "f")


class _Postgres:
    joined = "SELECT string_agg(row::text, ',') FROM ({}) AS found (row)"

    def fact(self, key: str, op: str, value: Scalar | None) -> tuple[str, list[Value]]:
        test, values = _test(op, value)
        having = f"FROM facts WHERE left(key, 100) = left(%s, 100) AND key = %s{test}"
        sql = (
            f"SELECT row FROM chunks WHERE document IN (SELECT document {having} AND chunk IS NULL)"  # noqa: S608
            f" UNION ALL SELECT chunk {having} AND chunk IS NOT NULL"
        )
        asked: list[Value] = [key, key, *values]
        if key not in COLUMNS or not (value is None or isinstance(value, str)):
            return sql, [*asked, *asked]
        own = "" if value is None else f" AND left(d.{key}, 500) {LOOSE[op]} left(%s, 500) AND d.{key} {op} %s"
        sql += f" UNION ALL SELECT c.row FROM chunks c JOIN documents d USING (document) WHERE d.{key} <> ''{own}"  # noqa: S608
        return sql, [*asked, *asked, *values]


POSTGRES = _Postgres()


def _test(op: str, value: Scalar | None) -> tuple[str, list[Value]]:
    """What is asked of a fact, as SQL."""
    if value is None:
        return "", []
    kind, text, digits = columns_of(stored(value))
    if digits is not None:
        return f" AND kind = 'n' AND number {op} %s::numeric", [digits]
    if kind == "b":
        return " AND kind = 'b' AND left(value, 100) = left(%s, 100) AND value = %s", [text, text]
    return f" AND kind = 't' AND left(value, 100) {LOOSE[op]} left(%s, 100) AND value {op} %s", [text, text]


def readable(groups: Sequence[str] | None) -> tuple[str, list[object]]:
    """A condition on a document ``d`` that lets through what these groups may read, and its values."""
    if groups is None:
        return "TRUE", []
    names = "SELECT 1 FROM facts f WHERE f.document = d.document AND f.chunk IS NULL AND f.key = %s"
    own = "AND f.kind = 't' AND f.value = ANY(%s)"
    return f"(NOT EXISTS ({names}) OR EXISTS ({names} {own}))", [READERS, READERS, list(groups)]
