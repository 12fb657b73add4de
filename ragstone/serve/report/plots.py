"""Plots as inline SVG. The page's style colours them, so they follow its dark mode.

Ours, because a report fetches nothing and runs no script: Vega needs scripts, and its converter to SVG is a wheel of
30 MB; matplotlib takes 9 MB and cannot follow the dark mode.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ragstone.serve.report.markup import Markup, tag
from ragstone.serve.views.blocks import Bars, Changes, Intervals, Plot, cut

WIDTH = 760
_ROW, _TOP, _FOOT = 26, 8, 26
_LABEL = 44
"""Characters of a row's label."""
_VALUE = 150
"""Width of the figures at the right."""


def plot(plot: Plot) -> Markup:
    """Return the drawing of a plot."""
    match plot:
        case Intervals():
            return _intervals(plot)
        case Bars():
            return _bars(plot)
        case Changes():
            return _changes(plot)


def _intervals(plot: Intervals) -> Markup:
    """Draw a dot and a whisker for each mean on a common scale."""
    left = min(_LABEL, max(len(dot.label) for dot in plot.dots)) * 7.2 + 16
    right = WIDTH - _VALUE
    low, high = min(dot.low for dot in plot.dots), max(dot.high for dot in plot.dots)
    ticks = _ticks(min(low, 0.0), max(high, 0.0)) if plot.zero else _ticks(low, high)
    first, last = ticks[0], ticks[-1]

    def x(value: float) -> float:
        return left + (value - first) / (last - first) * (right - left)

    bottom = _TOP + _ROW * len(plot.dots)
    parts: list[Markup] = []
    for tick in ticks:
        at_zero = plot.zero and abs(tick) < 1e-9
        parts.append(_line(x(tick), _TOP, x(tick), bottom, "zero" if at_zero else "rule"))
        shown = f"{tick:+.3g}" if plot.zero and not at_zero else f"{tick:.3g}"
        parts.append(_text(shown, x(tick), bottom + 17, "middle", "dim"))
    for place, dot in enumerate(plot.dots):
        y = _TOP + _ROW * (place + 0.5)
        parts += [
            _text(cut(dot.label, _LABEL), left - 12, y + 4, "end"),
            _line(x(dot.low), y, x(dot.high), y, f"span {dot.style}"),
            tag("circle", at={"cx": x(dot.mean), "cy": y, "r": 4.5, "class": dot.style}),
            _text(dot.figures, right + 14, y + 4, "start", "dim"),
        ]
    return _figure(parts, bottom + _FOOT, plot.label)


def _bars(plot: Bars) -> Markup:
    """Draw counts as vertical bars, each with its number."""
    height, most = 130, max(1, *(count for _, count in plot.counts))
    step = min(90.0, (WIDTH - 20) / len(plot.counts))
    parts = [_line(10, height + 18, 10 + step * len(plot.counts), height + 18, "rule")]
    for place, (name, count) in enumerate(plot.counts):
        x, tall = 10 + step * place, count / most * (height - 8)
        parts += [
            _bar(x + step * 0.15, height + 18 - tall, step * 0.7, tall, "bar"),
            _text(str(count), x + step / 2, height + 12 - tall, "middle"),
            _text(name, x + step / 2, height + 35, "middle", "dim"),
        ]
    return _figure(parts, height + 44, plot.label)


def _changes(plot: Changes) -> Markup:
    """Draw each change as a thin bar."""
    height, middle = 150, 75.0
    most = max(abs(change) for change in plot.values)
    step = min(16.0, (WIDTH - 20) / len(plot.values))
    parts = [_line(10, middle, 10 + step * len(plot.values), middle, "zero")]
    for place, change in enumerate(plot.values):
        tall = max(1.0, abs(change) / most * (middle - 6))
        y = middle - tall if change > 0 else middle
        parts.append(_bar(10 + step * place, y, max(1.0, step - 1.5), tall, "up" if change > 0 else "down"))
    return _figure(parts, height, plot.label)


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
    """Return four to eight round numbers, from at most ``low`` to at least ``high``."""
    reach = max(high - low, 1e-3)
    power = 10 ** math.floor(math.log10(reach / 4))
    step = next(factor * power for factor in (1, 2, 5, 10) if reach / (factor * power) <= 6)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 10) for number in range(first, max(last, first + 1) + 1)]
