"""What was typed, as the engine wants it."""

from __future__ import annotations

import re

from ragstone.contracts import Span
from ragstone.errors import UsageError

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def text(typed: str) -> str:
    """The words, with bytes that are no text replaced: no index and no JSON could hold them."""
    return typed.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def span(typed: str | None, length: int) -> Span:
    """``START:END`` within a text of some length; all of it where nothing was typed.

    Raises:
        UsageError: it is no span, or goes beyond the text.
    """
    if typed is None:
        return Span(start=0, end=length)
    start, colon, end = typed.partition(":")
    if not (colon and start.isdecimal() and end.isdecimal()):
        raise UsageError(f"--span {typed} is no span; write two numbers, such as --span 0:200")
    span = Span(start=int(start), end=int(end))
    if not span.start <= span.end <= length:
        raise UsageError(f"--span {typed} is not within the document, whose characters are 0:{length}")
    return span


def seconds(typed: str) -> float:
    """A length of time such as ``30s``, ``15m``, ``1.5h`` or ``2d``; a number alone is seconds.

    Raises:
        UsageError: it is none.
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([smhd]?)", typed.strip())
    if not found or not float(found[1]):
        raise UsageError(f"'{typed}' is no length of time; write a number and a unit, such as 30s, 15m, 1h or 2d")
    return float(found[1]) * _UNITS[found[2]]
