"""Plots as Vega-Lite specifications with their data inside. Streamlit draws them, in the colours of its theme."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragstone.review.compare import Compared, Comparison
from ragstone.serve.lab.figures import Reliability
from ragstone.serve.lab.sides import NAMES
from ragstone.serve.lab.stages import FUSION, Cell, Row, Stages, shown
from ragstone.serve.render import cut

Spec = dict[str, Any]
Rows = Sequence[Mapping[str, Any]]

COLOURS = ("#3d87ad", "#c0703a")
"""Of side A and of side B; they are told apart in light and dark, and by those who do not see red or green."""
_GOOD, _BAD, _EVEN = "#3f9c68", "#cc5a48", "#8a939b"
_SIDE: Spec = {
    "field": "side",
    "type": "nominal",
    "scale": {"domain": list(NAMES), "range": list(COLOURS)},
    "legend": {"title": None, "orient": "top"},
}
_LONGEST = 90
"""Characters of a question or a title in a tooltip or an axis."""


def ways(it: Stages) -> Spec:
    """The rank of each chunk from stage to stage: a line from each search to the fusion, and one from there on."""
    rows = [
        {
            "chunk": cut(row.chunk.title or row.chunk.document_id, _LONGEST),
            "line": f"{row.chunk.id} {line}",
            "stage": shown(name),
            "rank": cell.rank,
            "fate": "in the evidence" if row.place else "not chosen",
        }
        for row in it.rows
        for line, name, cell in _lines(it, row)
    ]
    fates = ["in the evidence", "not chosen"]
    return {
        "data": {"values": rows},
        "height": 320,
        "encoding": {
            "x": {
                "field": "stage",
                "type": "nominal",
                "sort": [shown(name) for name in it.names],
                "axis": {"labelAngle": 0, "title": None, "orient": "top"},
            },
            "y": {
                "field": "rank",
                "type": "quantitative",
                "scale": {
                    "type": "log",
                    "domain": [0.9, 1.1 * max(row["rank"] for row in rows)],
                    "reverse": True,
                    "nice": False,
                },
                "axis": {"title": "rank", "values": [1, 2, 3, 5, 10, 20, 50, 100, 200, 400, 1000]},
            },
            "color": {
                "field": "fate",
                "type": "nominal",
                "scale": {"domain": fates, "range": [_GOOD, _EVEN]},
                "legend": {"title": None, "orient": "bottom"},
            },
            "detail": {"field": "line"},
            "opacity": {"condition": {"test": f"datum.fate == '{fates[0]}'", "value": 1}, "value": 0.4},
            "tooltip": [{"field": "chunk"}, {"field": "stage"}, {"field": "rank"}],
        },
        "layer": [
            {"mark": {"type": "line", "strokeWidth": 1.8}},
            {"mark": {"type": "circle", "size": 70}},
        ],
    }


def _lines(it: Stages, row: Row) -> Iterator[tuple[str, str, Cell]]:
    """The points of a chunk's lines: which line, which stage, and the place there."""
    at = dict(zip(it.names, row.cells, strict=True))
    middle = it.names.index(FUSION)
    for leg in it.names[:middle]:
        for name in (leg, FUSION):
            if (cell := at[name]) and at[leg]:
                yield leg, name, cell
    for name in it.names[middle:]:
        if cell := at[name]:
            yield "on", name, cell


def measures(compared: Sequence[Compared]) -> Spec:
    """The mean of each measure with its interval, on both sides."""
    rows = [
        {"measure": one.measure, "side": name, "mean": it.mean, "low": it.low, "high": it.high}
        for one in compared
        for name, it in zip(NAMES, (one.a, one.b), strict=True)
    ]
    return _intervals(rows, "measure", [one.measure for one in compared])


def differences(compared: Sequence[Compared]) -> Spec:
    """B minus A of each measure with its interval, and a line at no difference."""
    rows = [
        {
            "measure": one.measure,
            "mean": one.difference.mean,
            "low": one.difference.low,
            "high": one.difference.high,
            "p": one.difference.p,
            "said": "better" if one.difference.low > 0 else "worse" if one.difference.high < 0 else "may be chance",
        }
        for one in compared
    ]
    y = {"field": "measure", "type": "nominal", "sort": [one.measure for one in compared], "axis": {"title": None}}
    colour = {
        "field": "said",
        "type": "nominal",
        "scale": {"domain": ["better", "worse", "may be chance"], "range": [_GOOD, _BAD, _EVEN]},
        "legend": {"title": None, "orient": "top"},
    }
    tooltip = [
        {"field": "measure"},
        *({"field": name, "format": "+.4f"} for name in ("mean", "low", "high")),
        {"field": "p", "format": ".4f"},
    ]
    x = {"type": "quantitative", "axis": {"title": "B minus A"}}
    return {
        "height": {"step": 34},
        "layer": [
            {
                "data": {"values": [{"zero": 0}]},
                "mark": {"type": "rule", "strokeDash": [4, 4], "color": _EVEN},
                "encoding": {"x": {"field": "zero", **x}},
            },
            {
                "data": {"values": rows},
                "mark": {"type": "rule", "strokeWidth": 3},
                "encoding": {
                    "y": y,
                    "x": {"field": "low", **x},
                    "x2": {"field": "high"},
                    "color": colour,
                    "tooltip": tooltip,
                },
            },
            {
                "data": {"values": rows},
                "mark": {"type": "circle", "size": 110, "opacity": 1},
                "encoding": {"y": y, "x": {"field": "mean", **x}, "color": colour, "tooltip": tooltip},
            },
        ],
    }


def latencies(sides: Mapping[str, Sequence[float]]) -> Spec:
    """The share of questions that took no longer than so many milliseconds, on each side."""
    rows = [
        {"side": name, "milliseconds": value, "share": place / len(values)}
        for name, values in sides.items()
        for place, value in enumerate(sorted(values), start=1)
    ]
    return {
        "data": {"values": rows},
        "height": 320,
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2.5},
        "encoding": {
            "x": {
                "field": "milliseconds",
                "type": "quantitative",
                "scale": {"type": "log", "nice": False},
                "axis": {"title": "milliseconds a question"},
            },
            "y": {"field": "share", "type": "quantitative", "axis": {"title": "questions done", "format": "%"}},
            "color": _SIDE,
            "tooltip": [
                {"field": "side"},
                {"field": "milliseconds", "format": ".1f"},
                {"field": "share", "format": ".0%"},
            ],
        },
    }


def reliabilities(sides: Mapping[str, Reliability]) -> Spec:
    """What was promised against what came true; on the diagonal promises hold."""
    rows = [
        {
            "side": name,
            "promised": one.promised,
            "share": one.share,
            "low": one.low,
            "high": one.high,
            "questions": one.count,
        }
        for name, it in sides.items()
        for one in it.bins
    ]
    unit = {"type": "quantitative", "scale": {"domain": [0, 1]}}
    x = {"field": "promised", **unit, "axis": {"title": "promised"}}
    tooltip = [
        {"field": "side"},
        {"field": "questions"},
        *({"field": name, "format": ".2f"} for name in ("promised", "share", "low", "high")),
    ]
    return {
        "height": 320,
        "layer": [
            {
                "data": {"values": [{"x": 0, "y": 0}, {"x": 1, "y": 1}]},
                "mark": {"type": "line", "strokeDash": [4, 4], "color": _EVEN},
                "encoding": {"x": {"field": "x", **unit}, "y": {"field": "y", **unit}},
            },
            {
                "data": {"values": rows},
                "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.6},
                "encoding": {"x": x, "y": {"field": "low", **unit}, "y2": {"field": "high"}, "color": _SIDE},
            },
            {
                "data": {"values": rows},
                "mark": {"type": "circle", "opacity": 1},
                "encoding": {
                    "x": x,
                    "y": {"field": "share", **unit, "axis": {"title": "came true"}},
                    "color": _SIDE,
                    "size": {
                        "field": "questions",
                        "type": "quantitative",
                        "legend": None,
                        "scale": {"range": [60, 400]},
                    },
                    "tooltip": tooltip,
                },
            },
        ],
    }


def changes(comparison: Comparison) -> Spec:
    """Each question whose measure differs, as a bar, the largest gain of B first."""
    rows = [
        {
            "place": place,
            "question": cut(one.text, _LONGEST),
            "change": one.b - one.a,
            "rank": f"{one.first_a or '-'} to {one.first_b or '-'}",
            "said": "B better" if one.b > one.a else "A better",
        }
        for place, one in enumerate(comparison.changed, start=1)
    ]
    return {
        "data": {"values": rows},
        "height": 260,
        "mark": {"type": "bar"},
        "encoding": {
            "x": {"field": "place", "type": "ordinal", "axis": None},
            "y": {"field": "change", "type": "quantitative", "axis": {"title": f"{comparison.metric}, B minus A"}},
            "color": {
                "field": "said",
                "type": "nominal",
                "scale": {"domain": ["B better", "A better"], "range": [_GOOD, _BAD]},
                "legend": {"title": None, "orient": "top"},
            },
            "tooltip": [{"field": "question"}, {"field": "change", "format": "+.3f"}, {"field": "rank"}],
        },
    }


def _intervals(rows: Rows, label: str, order: Sequence[str]) -> Spec:
    y = {"field": label, "type": "nominal", "sort": list(order), "axis": {"title": None}}
    beside = {"field": "side", "type": "nominal"}
    x = {"type": "quantitative", "scale": {"zero": False}, "axis": {"title": "mean, with its 95% interval"}}
    tooltip = [
        {"field": label},
        {"field": "side"},
        *({"field": name, "format": ".4f"} for name in ("mean", "low", "high")),
    ]
    return {
        "data": {"values": rows},
        "height": {"step": 17},
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 3},
                "encoding": {
                    "y": y,
                    "yOffset": beside,
                    "x": {"field": "low", **x},
                    "x2": {"field": "high"},
                    "color": _SIDE,
                    "tooltip": tooltip,
                },
            },
            {
                "mark": {"type": "circle", "size": 110, "opacity": 1},
                "encoding": {
                    "y": y,
                    "yOffset": beside,
                    "x": {"field": "mean", **x},
                    "color": _SIDE,
                    "tooltip": tooltip,
                },
            },
        ],
    }
