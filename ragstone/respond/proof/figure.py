"""A figure of a text, and when two figures are the same: by value and unit.

"$39,669 million", "39.7 billion dollars" and a cell 39,669 of a table "in millions" are one figure; so are "a year" and
"12 months", "a quarter" and "25%", "1.000" and "1,000". One with fewer digits may be a rounded one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragstone.core.frozen import frozen
from ragstone.core.records import Span

BASE = {
    "s": ("time", 1.0), "min": ("time", 60.0), "h": ("time", 3600.0), "day": ("time", 86400.0),
    "week": ("time", 604800.0), "month": ("time", 2629800.0), "year": ("time", 31557600.0),
    "decade": ("time", 315576000.0), "mm": ("length", 0.001), "cm": ("length", 0.01), "m": ("length", 1.0),
    "km": ("length", 1000.0), "inch": ("length", 0.0254), "ft": ("length", 0.3048), "mi": ("length", 1609.344),
    "mg": ("mass", 1e-6), "g": ("mass", 0.001), "kg": ("mass", 1.0), "t": ("mass", 1000.0), "lb": ("mass", 0.45359),
    "ml": ("volume", 0.001), "l": ("volume", 1.0), "kb": ("data", 1e3), "mb": ("data", 1e6), "gb": ("data", 1e9),
    "tb": ("data", 1e12),
}  # fmt: skip
"""What a unit measures, and how much of the base unit it is."""
LONG = frozenset({"month", "year", "decade"})
"""Units of time that have no fixed number of days."""
DATE = "day of a month"
"""The kind of the number of a day beside its month."""
NAMED = frozenset({"month name", DATE, "clock", "code", "century", "quarter"})
"""What stands in the place of a unit and is compared with its like only."""
DEGREES = "°"
"""The unit of a figure in degrees of any scale, with which those of each scale begin."""
HALF_DAY = re.compile(r"[ap]\.?m", re.IGNORECASE)
_NO_WORD = re.compile(r"\W")
_APART = frozenset(".,'’\u00a0\u202f ")
_LOOSE = 0.015
"""Share by which converted units may differ: a month may have 30 days."""
BARE = 100
"""From here on a number without a unit may have the unit that a sentence gives it."""


@frozen
class Figure:
    """A figure: its readings (1.000 has two), its unit or kind, and half of its last digit.

    ``scale`` is what a word such as "million" multiplied it by, ``counted`` a small number that may count things,
    ``rough`` one after a word such as "about", ``in_cell`` one of a table, and ``hour`` one of a range that may be the
    hours of a day.
    ``unit`` is a unit of the lexicon, a currency, "%", or one of `NAMED`; "" for a bare number.
    """

    span: Span
    shown: str
    values: tuple[float, ...]
    unit: str = ""
    step: float = 0.0
    counted: bool = False
    rough: bool = False
    in_cell: bool = False
    hour: bool = False
    scale: float = 1.0

    @property
    def measure(self) -> str:
        """What the figure measures: a dimension, or the unit itself."""
        return BASE[self.unit][0] if self.unit in BASE else self.unit

    @property
    def factor(self) -> float:
        """How much of the base unit its unit is."""
        return BASE[self.unit][1] if self.unit in BASE else 1.0

    def base(self) -> Iterator[float]:
        """Yield the readings in the base unit."""
        return (value * self.factor for value in self.values)


def is_period(one: Figure) -> bool:
    """Return whether a figure is a year, a quarter or a month."""
    return one.unit in ("quarter", "month name") or is_year(one)


def is_year(one: Figure) -> bool:
    """Return whether a bare figure may be a year, which has no digits apart: 2023, but not 2,023."""
    is_bare = not one.unit and one.scale == 1 and _APART.isdisjoint(one.shown)
    return is_bare and bool(one.values) and one.values[0] == int(one.values[0]) and 1500 <= one.values[0] <= 2100


def kind_of(one: Figure) -> str:
    """Return what a bare figure seems to be: "year" or "number"; "unit" for one that has a unit."""
    if one.unit or not one.values:
        return one.unit and "unit"
    return "year" if is_year(one) else "number"


def same(own: Figure, other: Figure) -> bool:
    """Return whether ``other`` says what ``own`` says."""
    if own.unit == other.unit == "code":
        return code_of(own.shown) == code_of(other.shown)
    if own.unit == "century" and other.unit in ("", "century"):
        last = 100 * own.values[0]
        return own.values == other.values or any(last - 100 < year <= last for year in other.values)
    if not own.unit and other.unit == "century":
        return own.values == other.values  # "20. Jahrhundert" is read as a bare number
    if own.unit == "clock" and not other.unit and other.hour:
        hour, halved = own.values[0] / 60, HALF_DAY.search(own.shown) is not None
        return any(value == hour or (halved and 0 < value <= 12 and value % 12 == hour % 12) for value in other.values)
    if DATE in (own.unit, other.unit) and {own.unit, other.unit} <= {DATE, "", "ordinal"}:
        return own.values == other.values  # a range or a table may name the month elsewhere
    if _may_be_one(own.unit, other.unit):
        return any(near(mine, theirs, own.step) for mine in own.values for theirs in other.values)
    if own.measure != other.measure and not NAMED.isdisjoint((own.unit, other.unit)):
        return False
    if own.scale > 1 and other.scale == 1 and not other.unit and (own.unit or other.in_cell):
        step = own.step / own.scale  # the document may say elsewhere that its amounts are in millions
        if any(near(mine / own.scale, theirs, step) for mine in own.values for theirs in other.values):
            return True
    step = own.step
    if own.measure == other.measure:
        loose = own.unit != other.unit and (own.measure != "time" or (own.unit in LONG) != (other.unit in LONG))
        step *= own.factor
        return any(near(mine, theirs, step, loose=loose) for mine in own.base() for theirs in other.base())
    if {own.unit, other.unit} == {"%", ""}:
        by = 100.0 if own.unit == "%" else 0.01
        if any(near(mine, theirs * by, step) for mine in own.values for theirs in other.values if theirs * by <= 100):
            return True
    if own.unit and other.unit and "ordinal" not in (own.unit, other.unit):
        return False
    if own.unit and not other.unit and not other.in_cell and other.values[0] < BARE:
        return False
    return any(near(mine, theirs, step) for mine in own.values for theirs in other.values)


def _may_be_one(unit: str, other: str) -> bool:
    """Return whether two units may be the same: pounds are money or a weight, and degrees may be of Celsius."""
    if {unit, other} == {"lb", "gbp"}:
        return True
    return unit != other and DEGREES in (unit, other) and unit[:1] == other[:1] == DEGREES


def code_of(text: str) -> str:
    """Return the letters and digits of a text, in which codes are compared: B-12 and b12 are one."""
    return _NO_WORD.sub("", text).lower()


def near(mine: float, theirs: float, step: float, *, loose: bool = False) -> bool:
    """Return whether two values differ by no more than a step, rounding or, if ``loose``, a small share of them."""
    most = max(step, 1e-6 * abs(mine), (_LOOSE * abs(mine)) if loose else 0.0)
    return abs(mine - theirs) <= most * (1 + 1e-6)
