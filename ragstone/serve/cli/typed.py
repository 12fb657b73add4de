"""Arguments as the engine takes them: texts, spans and durations."""

from __future__ import annotations

import re
from pathlib import Path

from ragstone.core.errors import UsageError
from ragstone.core.records import Span

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def text(typed: str) -> str:
    """Return a typed text with undecodable bytes replaced: no index and no JSON could hold them."""
    return typed.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def file(path: Path) -> str:
    """Return the text of a file.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def span(typed: str | None, length: int) -> Span:
    """Return the span ``START:END`` of a text of this length, or all of it if nothing was typed.

    Raises:
        UsageError: it is not a span, or it ends beyond the text.
    """
    if typed is None:
        return Span(start=0, end=length)
    start, colon, end = typed.partition(":")
    if not (colon and start.isdecimal() and end.isdecimal()):
        raise UsageError(f"--span {typed} is not a span; write two numbers, such as --span 0:200")
    span = Span(start=int(start), end=int(end))
    if not span.start <= span.end <= length:
        raise UsageError(f"--span {typed} is not within the document, which has the characters 0:{length}")
    return span


def seconds(typed: str) -> float:
    """Return the seconds of a duration such as ``30s``, ``15m``, ``1.5h`` or ``2d``.

    Raises:
        UsageError: it is not a duration.
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smhd]?)", typed.strip())
    if not found or not float(found[1]):
        raise UsageError(f"'{typed}' is not a duration; write a number and a unit, such as 30s, 15m, 1h or 2d")
    return float(found[1]) * _UNITS[found[2]]
