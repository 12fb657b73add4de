"""In how many periods a figure is beyond a limit: "How many years did revenue exceed $5 million?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from ragstone.language.money import MARK

_LIMIT = re.compile(
    r"\bhow many (?:of the )?(?:fiscal |financial |calendar )?(?:years|quarters|periods|months)\b[^?]{0,300}?"
    r"\b(?:(?P<above>exceed(?:s|ed)?|above|over|more than|greater than|higher than|larger than)"
    r"|(?P<below>below|under|less than|lower than|fewer than|smaller than))"
    rf" (?:{MARK} ?)?(?P<limit>\d[\d,]*(?:\.\d+)?)(?! ?%)(?: (?P<scale>thousand|million|billion))?\b",
    re.IGNORECASE,
)
_SCALES = {"thousand": 3, "million": 6, "billion": 9}
_SCALE = re.compile(r"\b(thousand|million|billion)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A limit of a question: the figures ``above`` it or below it count; ``scale`` is a power of ten."""

    above: bool
    value: Decimal
    scale: int


def limit_of(question: str) -> Limit | None:
    """Return the limit beyond which a question counts periods; None if it counts none."""
    found = _LIMIT.search(question.lower())
    if not found:
        return None
    try:
        value = Decimal(found["limit"].replace(",", ""))
    except InvalidOperation:
        return None
    return Limit(above=bool(found["above"]), value=value, scale=_SCALES.get(found["scale"] or "", 0))


def without_limit(question: str) -> str:
    """Return a question without the limit beyond which it counts, which no table has to name."""
    found = _LIMIT.search(question.lower())
    if not found or len(question) != len(question.lower()):
        return question
    start = found.start("above") if found["above"] else found.start("below")
    return f"{question[:start].rstrip()}{question[found.end() :]}"


def counted(values: Sequence[Decimal], limit: Limit, unit: str) -> str:
    """Return how many figures are beyond a limit, as "7 > 5, 4 ≤ 5: 1"; empty if their scales cannot be compared.

    Args:
        values: of one row.
        limit: of the question.
        unit: in what the table counts, such as "in millions"; empty if it does not say.
    """
    scale = _SCALE.search(unit)
    own = _SCALES[scale[1]] if scale else 0
    if (own == 0) != (limit.scale == 0):
        return ""
    least = limit.value.scaleb(limit.scale - own)
    beyond = [value > least if limit.above else value < least for value in values]
    signs = (">", "≤") if limit.above else ("<", "≥")
    said = (
        f"{_shown(value)} {signs[0 if is_beyond else 1]} {_shown(least)}"
        for value, is_beyond in zip(values, beyond, strict=True)
    )
    return f"{', '.join(said)}: {sum(beyond)}"


def _shown(value: Decimal) -> str:
    whole = value.to_integral_value()
    return f"{whole if value == whole else value:,f}".replace("-", "−")
