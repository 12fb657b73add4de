"""Plots of what is being learned, as Vega-Lite specifications with their data inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.policies.standing import Moment, OnTrial
from ragstone.serve.lab.figures import wilson
from ragstone.serve.render_policy import moment

Spec = dict[str, Any]

_LEAST, _MOST = 1e-3, 1e4
"""Evidence beyond is drawn at the edge; the figure beside the pointer is the true one."""
_EVEN = "#8a939b"
_SCHEME = ("#3d87ad", "#c0703a", "#3f9c68", "#8c6bb1", "#cc5a48", "#b59a2d")
"""A challenger each, in turn."""


def evidence(moments: Sequence[Moment]) -> Spec:
    """The evidence for each challenger by the opinions counted, and the bar of its trial, broken."""
    rows = [
        {
            "challenger": f"version {point.version}, {point.trial}",
            "opinions": one.votes,
            "drawn": min(_MOST, max(_LEAST, point.evidence)),
            "evidence": point.evidence,
            "bar": point.bar,
            "when": moment(one.at),
            "what": one.action,
        }
        for one in moments
        for point in one.points
    ]
    last = {row["challenger"]: row for row in rows}
    known = list(last)
    x = {"field": "opinions", "type": "quantitative", "axis": {"title": "opinions counted"}, "scale": {"zero": False}}
    log = {"type": "log", "nice": False, "domain": _domain(rows)}
    y = {"type": "quantitative", "scale": log, "axis": {"title": "evidence", "format": "~g", "tickCount": 6}}
    colour = {
        "field": "challenger",
        "type": "nominal",
        "scale": {"domain": known, "range": [_SCHEME[place % len(_SCHEME)] for place in range(len(known))]},
        "legend": {"title": None, "orient": "top"},
    }
    tooltip = [
        *({"field": name} for name in ("challenger", "when", "what", "opinions")),
        *({"field": name, "type": "quantitative", "format": ".3~g"} for name in ("evidence", "bar")),
    ]
    return {
        "data": {"values": rows},
        "height": 320,
        "layer": [
            {
                "data": {"values": [{"one": 1}]},
                "mark": {"type": "rule", "color": _EVEN, "opacity": 0.5},
                "encoding": {"y": {"field": "one", **y}},
            },
            {
                "mark": {"type": "line", "strokeDash": [6, 4], "strokeWidth": 2},
                "encoding": {"x": x, "y": {"field": "bar", **y}, "color": colour},
            },
            {
                "data": {"values": [{**row, "told": f"bar {row['bar']:.3g}"} for row in last.values()]},
                "mark": {"type": "text", "align": "right", "dy": 11},
                "encoding": {"x": x, "y": {"field": "bar", **y}, "text": {"field": "told"}, "color": colour},
            },
            {
                "mark": {"type": "line", "strokeWidth": 2, "interpolate": "step-after"},
                "encoding": {"x": x, "y": {"field": "drawn", **y}, "color": colour},
            },
            {
                "mark": {"type": "circle", "size": 45, "opacity": 1},
                "encoding": {"x": x, "y": {"field": "drawn", **y}, "color": colour, "tooltip": tooltip},
            },
        ],
    }


def _domain(rows: Sequence[dict[str, Any]]) -> list[float]:
    values = [1.0, *(row["drawn"] for row in rows), *(row["bar"] for row in rows)]
    return [min(values) / 1.5, max(values) * 1.5]


def liked(arms: Sequence[OnTrial]) -> Spec:
    """The share of votes up of each arm, with its 95% interval: the fewer votes, the wider.

    Several votes of one person tell less than the interval says.
    """
    rows = []
    for one in arms:
        arm = one.arm
        if arm.ups is not None:
            low, high = wilson(arm.ups, arm.votes)
            name = f"version {arm.version}, {one.role}"
            rows.append({"arm": name, "votes": arm.votes, "liked": arm.ups, "low": low, "high": high})
    y = {
        "field": "arm",
        "type": "nominal",
        "sort": [row["arm"] for row in rows],
        "axis": {"title": None, "labelLimit": 240},
    }
    share = {"type": "quantitative", "scale": {"domain": [0, 1]}}
    axis = {"title": "share of votes up, with its 95% interval as if each were another person's", "format": "%"}
    tooltip = [
        {"field": "arm"},
        {"field": "votes"},
        *({"field": name, "format": ".0%"} for name in ("liked", "low", "high")),
    ]
    return {
        "data": {"values": rows},
        "height": {"step": 30},
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 3, "color": _SCHEME[0]},
                "encoding": {"y": y, "x": {"field": "low", **share, "axis": axis}, "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "circle", "size": 110, "opacity": 1, "color": _SCHEME[0]},
                "encoding": {"y": y, "x": {"field": "liked", **share, "axis": axis}, "tooltip": tooltip},
            },
        ],
    }
