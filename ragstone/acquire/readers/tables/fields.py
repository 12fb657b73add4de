"""Cells of a table and fields of a JSON record, as text and as metadata."""

from __future__ import annotations

import html
import math
import re
from datetime import date, datetime, time, timedelta
from typing import Any, TypeAlias

from ragstone.acquire.readers.decode import clean
from ragstone.core.filters import Scalar

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"

# No leading zeros, so that "007" stays text; no more digits than 64 bits hold.
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,17})", re.ASCII)
_DECIMAL = re.compile(r"-?(?:0|[1-9]\d*)\.\d+(?:[eE][-+]?\d+)?", re.ASCII)
_DAY_FIRST = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}|\d{2})(?:[ T]+(\d{1,2}):(\d\d)(?::(\d\d))?)?", re.ASCII)
# A tag has a letter right after its bracket, so that "a < b" is kept.
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
# No second opening inside: otherwise a text made of openings is searched to its end for each of them.
_UNSEEN = re.compile(
    r"<(script|style)\b(?:(?!<(?:script|style)\b).)*?</\1\s*>|<!--(?:(?!<!--).)*?-->", re.DOTALL | re.IGNORECASE
)
_BREAK = re.compile(r"<(?:br|/p|/div|/li|/h[1-6]|/tr)\b[^<>]*>", re.IGNORECASE)


def as_text(value: Json) -> str:
    """Return a field as text. A list of texts has one per line; other nested values are empty."""
    match value:
        case str():
            return clean(value)
        case int() | float():
            return str(value)
        case list():
            lines = [item for item in value if isinstance(item, str)]
            return clean("\n".join(lines)) if len(lines) == len(value) else ""
        case _:
            return ""


def as_fact(value: Json) -> Scalar | tuple[Scalar, ...] | None:
    """Return a field as metadata; None if it is empty, nested deeper than one list, or no finite number."""
    match value:
        case str():
            return clean(value).strip() or None
        case bool():
            return value
        case int():
            return value if abs(value) < 1 << 63 else str(value)
        case float():
            return value if math.isfinite(value) else None
        case list() if not any(isinstance(item, list | dict) for item in value):
            return tuple(fact for item in value if isinstance(fact := as_fact(item), Scalar)) or None
        case _:
            return None


def typed(cell: str) -> str | int | float | bool:
    """Return a cell as a number or truth value if it is written as one."""
    bare = cell.strip()
    if bare.lower() in ("true", "false"):
        return bare.lower() == "true"
    if _INTEGER.fullmatch(bare):
        return int(bare)
    if _DECIMAL.fullmatch(bare) and math.isfinite(float(bare)):
        return float(bare)
    return cell


def as_time(cell: str) -> str:
    """Return a time as ISO 8601, read from ISO 8601 or with the day before the month; other text stays unchanged."""
    bare = cell.strip()
    try:
        if found := _DAY_FIRST.fullmatch(bare):
            day, month, year, hour, minute, second = (int(part or 0) for part in found.groups())
            moment = datetime(year + 2000 if year < 100 else year, month, day, hour, minute, second)
            return moment.isoformat() if found[4] else moment.date().isoformat()
        moment = datetime.fromisoformat(bare)
    except ValueError:
        return cell
    return moment.isoformat() if ":" in bare or "T" in bare else moment.date().isoformat()


def as_list(cell: str) -> tuple[str, ...]:
    """Return the items of a list in a cell: ``['a', 'b']``, ``a; b``, ``a | b``, or a single item."""
    bare = cell.strip()
    if bare.startswith("[") and bare.endswith("]"):
        # Quotes are optional and of either kind, so this is neither JSON nor Python.
        items = re.findall(r"\"([^\"]*)\"|'((?:[^']|'(?!\s*[,\]]))*)'|([^,\[\]\"']+)", bare)
        parts = ["".join(item) for item in items]
    else:
        parts = re.split(r"[;|]", bare)
    return tuple(part.strip() for part in parts if part.strip())


def without_markup(text: str) -> str:
    """Return text without markup, entities, runs of spaces and empty lines."""
    if "<" in text:
        text = _TAG.sub("", _BREAK.sub("\n", _UNSEEN.sub("", text)))
    lines = (" ".join(line.split()) for line in html.unescape(text).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def shown(cell: Any) -> str:
    """Return a cell as a spreadsheet shows it by default."""
    match cell:
        case None:
            return ""
        case bool():
            return "TRUE" if cell else "FALSE"
        case float() if cell.is_integer() and abs(cell) < 1e15:
            return str(int(cell))
        case datetime() if cell.time() == time():
            return cell.date().isoformat()
        case datetime() | date() | time():
            return cell.isoformat()
        case timedelta():
            minutes, seconds = divmod(round(cell.total_seconds()), 60)
            clock = f"{minutes // 60}:{minutes % 60:02}"
            return f"{clock}:{seconds:02}" if seconds else clock
        case _:
            return str(cell)
