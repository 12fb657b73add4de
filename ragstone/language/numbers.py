"""What a number says however it is written: 10,000.00 and 10.000,00 are both ten thousand."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

_GROUPED = re.compile(
    r"(?P<whole>[1-9]\d{0,2}(?P<mark>[.,\u00a0\u202f ])\d{3}(?:(?P=mark)\d{3})*)(?:(?!(?P=mark))[.,](?P<part>\d+))?"
)
"""A number whose thousands one mark groups, and whose decimals stand behind another."""
_EARLIEST, _LATEST = 1500, 2199


def normalised(shown: str) -> str:
    """Return a number without marks between thousands and zeros that say nothing, and with a point before decimals.

    What has more marks than a number, such as a version, keeps all of its parts: "1.10.4".
    """
    if grouped := _GROUPED.fullmatch(shown):
        whole = re.sub(r"\D", "", grouped["whole"])
        shown = f"{whole}.{grouped['part'] or 0}"
    whole, _, part = re.sub(r"[,\u00a0\u202f]", ".", shown).rpartition(".")
    return f"{whole}.{part}".rstrip("0").rstrip(".") if whole else part.lstrip("0") or "0"


def value_of(number: str) -> Decimal | None:
    """Return the value of a normalised number; None for a version or for what is no number."""
    try:
        return Decimal(number) if number[:1].isdigit() else None
    except InvalidOperation:
        return None


def is_year(number: str) -> bool:
    """Return whether the digits of a number may be those of a year."""
    return len(number) == len(str(_LATEST)) and number.isdecimal() and _EARLIEST <= int(number) <= _LATEST
