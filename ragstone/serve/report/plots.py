"""Plots as inline SVG: their colours come from the page's style, so they follow its dark mode."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.review.significance import Difference, Interval
from ragstone.serve.render import cut
from ragstone.serve.report.markup import Markup, tag

WIDTH = 760
_ROW, _TOP, _FOOT = 26, 8, 26
_LABEL = 44
"""Characters of a row's label."""
_VALUE = 150
"""Width that the figures at the right need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A mean and its interval; ``style`` is a class of the page's style: dot, up, down or even."""

    label: str
    mean: float
    low: float
    high: float
    figures: str
    style: str = "dot"

    @classmethod
    def of(cls, label: str, it: Interval | Difference, figures: str = "", style: str = "dot") -> Row:
        """A row for an interval; its mean is the figure where none is given."""
        return cls(
            label=label, mean=it.mean, low=it.low, high=it.high, figures=figures or f"{it.mean:.3f}", style=style
        )


def intervals(rows: Sequence[Row], *, label: str, zero: bool = False) -> Markup:
    """A dot and a whisker for each row on a common scale.

    Args:
        rows: from top to bottom.
        label: what is shown, for those who cannot see it.
        zero: differences: the scale holds 0, with a line there.
    """
    left = min(_LABEL, max(len(row.label) for row in rows)) * 7.2 + 16
    right = WIDTH - _VALUE
    low, high = min(row.low for row in rows), max(row.high for row in rows)
    ticks = _ticks(min(low, 0.0), max(high, 0.0)) if zero else _ticks(low, high)
    first, last = ticks[0], ticks[-1]

    def x(value: float) -> float:
        return left + (value - first) / (last - first) * (right - left)

    bottom = _TOP + _ROW * len(rows)
    parts = []
    for tick in ticks:
        at_zero = zero and abs(tick) < 1e-9
        parts.append(_line(x(tick), _TOP, x(tick), bottom, "zero" if at_zero else "rule"))
        shown = f"{tick:+.3g}" if zero and not at_zero else f"{tick:.3g}"
        parts.append(_text(shown, x(tick), bottom + 17, "middle", "dim"))
    for place, row in enumerate(rows):
        y = _TOP + _ROW * (place + 0.5)
        parts += [
            _text(cut(row.label, _LABEL), left - 12, y + 4, "end"),
            _line(x(row.low), y, x(row.high), y, f"span {row.style}"),
            tag("circle", at={"cx": x(row.mean), "cy": y, "r": 4.5, "class": row.style}),
            _text(row.figures, right + 14, y + 4, "start", "dim"),
        ]
    return _figure(parts, bottom + _FOOT, label)


def bars(counts: Sequence[tuple[str, int]], *, label: str) -> Markup:
    """Counts as standing bars, each with its number."""
    height, most = 130, max([count for _, count in counts] + [1])
    step = min(90.0, (WIDTH - 20) / len(counts))
    parts = [_line(10, height + 18, 10 + step * len(counts), height + 18, "rule")]
    for place, (name, count) in enumerate(counts):
        x, tall = 10 + step * place, count / most * (height - 8)
        parts += [
            _bar(x + step * 0.15, height + 18 - tall, step * 0.7, tall, "bar"),
            _text(str(count), x + step / 2, height + 12 - tall, "middle"),
            _text(name, x + step / 2, height + 35, "middle", "dim"),
        ]
    return _figure(parts, height + 44, label)


def waterfall(changes: Sequence[float], *, label: str) -> Markup:
    """Each question that changed as a thin bar, the largest gain first: how much was won, and how much lost."""
    height, middle = 150, 75.0
    most = max(abs(change) for change in changes)
    step = min(16.0, (WIDTH - 20) / len(changes))
    parts = [_line(10, middle, 10 + step * len(changes), middle, "zero")]
    for place, change in enumerate(changes):
        tall = max(1.0, abs(change) / most * (middle - 6))
        y = middle - tall if change > 0 else middle
        style = "up" if change > 0 else "down"
        parts.append(_bar(10 + step * place, y, max(1.0, step - 1.5), tall, style))
    return _figure(parts, height, label)


def curves(lines: Sequence[tuple[str, Sequence[float]]], *, last: float, across: str, label: str) -> Markup:
    """Lines from 0 to ``last``, each named at its end; names that would overlap are moved apart.

    Args:
        lines: names, and values at even distances.
        last: where the last value stands.
        across: what is counted from left to right.
        label: what is shown, for those who cannot see it.
    """
    height, left, right = 260, 60, WIDTH - _VALUE
    values = [value for _, line in lines for value in line]
    ticks = _ticks(min(values), max(values))

    def y(value: float) -> float:
        return _TOP + height - (value - ticks[0]) / (ticks[-1] - ticks[0]) * height

    parts = []
    for tick in ticks:
        parts += [
            _line(left, y(tick), right, y(tick), "rule"),
            _text(f"{tick:.3g}", left - 8, y(tick) + 4, "end", "dim"),
        ]
    for share in (0.0, 0.5, 1.0):
        x = left + share * (right - left)
        parts.append(_text(f"{share * last:,.0f}", x, _TOP + height + 17, "middle", "dim"))
    parts.append(_text(across, (left + right) / 2, _TOP + height + 34, "middle", "dim"))
    below = -math.inf
    for place, (name, line) in enumerate(sorted(lines, key=lambda one: -one[1][-1])):
        step = (right - left) / max(len(line) - 1, 1)
        points = " ".join(f"{left + step * at:.1f},{y(value):.1f}" for at, value in enumerate(line))
        parts.append(tag("polyline", at={"points": points, "class": f"curve c{place % 5}"}))
        below = max(y(line[-1]) + 4, below + 15)
        parts.append(_text(name, right + 10, below, "start", f"c{place % 5}"))
    return _figure(parts, _TOP + height + 44, label)


def _figure(parts: Sequence[Markup], height: float, label: str) -> Markup:
    drawn = tag("svg", *parts, at={"viewBox": f"0 0 {WIDTH} {height:.0f}", "role": "img", "aria-label": label})
    return tag("div", drawn, at={"class": "scroll"})


def _line(x1: float, y1: float, x2: float, y2: float, style: str) -> Markup:
    return tag("line", at={"x1": x1, "y1": y1, "x2": x2, "y2": y2, "class": style})


def _bar(x: float, y: float, width: float, height: float, style: str) -> Markup:
    return tag("rect", at={"x": x, "y": y, "width": width, "height": height, "class": style})


def _text(text: str, x: float, y: float, anchor: str, style: str = "") -> Markup:
    return tag("text", text, at={"x": x, "y": y, "text-anchor": anchor, "class": style})


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers, four to eight of them, from at most ``low`` to at least ``high``."""
    reach = max(high - low, 1e-3)
    power = 10 ** math.floor(math.log10(reach / 4))
    step = next(factor * power for factor in (1, 2, 5, 10) if reach / (factor * power) <= 6)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 10) for number in range(first, max(last, first + 1) + 1)]
