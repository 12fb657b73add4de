"""In how many periods a figure is beyond a limit: "How many years did revenue exceed $5 million?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from ragstone.core.question import PeriodLimit

SCALES = {"thousand": 3, "million": 6, "billion": 9}
_SCALE = re.compile(r"\b(thousand|million|billion)")


def counted(values: Sequence[Decimal], limit: PeriodLimit, unit: str) -> str:
    """Return how many figures are beyond a limit, as "7 > 5, 4 ≤ 5: 1"; empty if their scales cannot be compared.

    Args:
        values: of one row.
        limit: of the question.
        unit: in what the table counts, such as "in millions"; empty if it does not say.
    """
    scale = _SCALE.search(unit)
    own = SCALES[scale[1]] if scale else 0
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
