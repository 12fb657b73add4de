"""The filter language as a condition of SQL over the catalog's ``documents d``, ``chunks c`` and ``facts``.

SQLite has whole numbers of 64 bits; those beyond are kept, and compared, as the nearest float.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import assert_never

from ragstone.contracts import And, Compare, Exists, Filter, In, Not, Or, Scalar

COLUMNS = ("id", "title", "url", "source")
"""Keys that every document has; metadata of the same name is found too."""

Value = str | int | float | bytes
_OPERATORS = {"=": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


def to_sql(where: Filter) -> tuple[str, list[Value]]:
    """A condition, and the values for its question marks."""
    match where:
        case Compare(key=key, op="!=", value=value):
            return to_sql(Not(part=Compare(key=key, op="=", value=value)))
        case Compare(op=op, value=bool()) if op != "=":
            return "FALSE", []  # truth has no order
        case Compare(value=float() as number) if math.isnan(number):
            return "FALSE", []
        case Compare(key=key, op=op, value=value):
            return _fact(key, f"value {_OPERATORS[op]} ?", [stored(value)], _kind(value))
        case In(key=key, values=values):
            parts = tuple(Compare(key=key, op="=", value=value) for value in values)
            return to_sql(Or(parts=parts))
        case Exists(key=key):
            return _fact(key, "TRUE", [], None)
        case And(parts=parts):
            return _joined(parts, " AND ", "TRUE")
        case Or(parts=parts):
            return _joined(parts, " OR ", "FALSE")
        case Not(part=part):
            condition, values = to_sql(part)
            return f"NOT {condition}", values
        case _:
            assert_never(where)


def _joined(parts: Sequence[Filter], word: str, empty: str) -> tuple[str, list[Value]]:
    conditions = [to_sql(part) for part in parts]
    return f"({word.join(sql for sql, _ in conditions) or empty})", [
        value for _, values in conditions for value in values
    ]


def _fact(key: str, test: str, values: list[Value], kind: str | None) -> tuple[str, list[Value]]:
    """SQLite orders values of different types among each other; a filter never compares across types."""
    typed = f" AND typeof(value) IN ({kind})" if kind else ""
    having = f"FROM facts WHERE key = ? AND {test}{typed}"
    facts = (
        f"(d.document IN (SELECT document {having} AND chunk IS NULL)"
        f" OR c.row IN (SELECT chunk {having} AND chunk IS NOT NULL))"
    )
    if key not in COLUMNS:
        return facts, [key, *values, key, *values]
    column = f"(d.{key} <> '' AND {test.replace('value', f'd.{key}')}{typed.replace('value', f'd.{key}')})"
    return f"({column} OR {facts})", [*values, key, *values, key, *values]


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
