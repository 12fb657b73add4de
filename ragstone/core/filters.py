"""The filter language for ``where``: conditions on metadata, which every index translates."""

from __future__ import annotations

from typing import Literal

from ragstone.core.frozen import frozen

Scalar = str | int | float | bool
"""A metadata value. Dates are ISO 8601 text, which sorts by time."""


@frozen
class Compare:
    """A comparison of a metadata value with a constant. A list matches if any member does."""

    key: str
    op: Literal["=", "!=", "<", "<=", ">", ">="]
    value: Scalar


@frozen
class In:
    key: str
    values: tuple[Scalar, ...]


@frozen
class Exists:
    key: str


@frozen
class And:
    parts: tuple[Filter, ...]


@frozen
class Or:
    parts: tuple[Filter, ...]


@frozen
class Not:
    part: Filter


Filter = Compare | In | Exists | And | Or | Not
"""A condition for ``where``. Every index evaluates it before ranking."""


def filter_key(where: Filter) -> str:
    """Return a text that is equal only for equal filters; it distinguishes 1 from true, unlike Python."""
    match where:
        case Compare(key=key, op=op, value=value):
            return f"{key!r} {op} {_literal(value)}"
        case In(key=key, values=values):
            return f"{key!r} in [{', '.join(map(_literal, values))}]"
        case Exists(key=key):
            return f"exists {key!r}"
        case Not(part=part):
            return f"not {filter_key(part)}"
        case And(parts=parts) | Or(parts=parts):
            return f"{type(where).__name__} ({', '.join(map(filter_key, parts))})"


def _literal(value: Scalar) -> str:
    return f"{value:x}" if isinstance(value, int) and not isinstance(value, bool) else repr(value)
