"""What ``where`` may say of a document's metadata: one small language, translated by every index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Scalar = str | int | float | bool
"""A value of metadata. Dates are ISO 8601 text, which sorts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compare:
    """A metadata value against a constant. A list in the metadata matches when any member does."""

    key: str
    op: Literal["=", "!=", "<", "<=", ">", ">="]
    value: Scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class In:
    key: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exists:
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class And:
    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Or:
    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Not:
    part: Filter


Filter = Compare | In | Exists | And | Or | Not
"""What ``where`` may say. Evaluated inside every index, before ranking."""
