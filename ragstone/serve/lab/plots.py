"""Plots as Altair charts with their data inside; Streamlit draws them in the colours of its theme."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from ragstone.learning.report import ArmReport, DecisionReport
from ragstone.review.compare import Comparison, MeasureComparison
from ragstone.serve.lab.settings import NAMES
from ragstone.serve.lab.stages import FUSION, StageCell, StageRow, Stages, stage_name
from ragstone.serve.lab.trial import Reliability, wilson
from ragstone.serve.views.blocks import cut, moment
from ragstone.serve.views.measured import conclusion

Rows = Sequence[Mapping[str, Any]]
Chart = alt.Chart | alt.LayerChart | alt.FacetChart

COLOURS = ("#3d87ad", "#c0703a")
"""Colours of sides A and B: distinct in light and dark, and for people who do not see red or green."""
_GOOD, _BAD, _NEUTRAL = "#3f9c68", "#cc5a48", "#8a939b"
_CHALLENGERS = (*COLOURS, "#3f9c68", "#8c6bb1", "#cc5a48", "#b59a2d")
_LEAST, _MOST = 1e-3, 1e4
"""Evidence beyond these is drawn at the edge; the tooltip shows the true figure."""
_LONGEST = 90
"""Characters of a question or a title in a tooltip."""


def stage_ranks(it: Stages) -> Chart:
    """Plot the rank of each chunk by stage: a line from each search to the fusion, and one from there on."""
    fates = ["in the evidence", "not chosen"]
    rows = [
        {
            "chunk": cut(row.chunk.title or row.chunk.document_id, _LONGEST),
            "line": f"{row.chunk.id} {line}",
            "stage": stage_name(name),
            "rank": cell.rank,
            "fate": fates[0] if row.place else fates[1],
        }
        for row in it.rows
        for line, name, cell in _lines(it, row)
    ]
    lowest = max(cell.rank for row in it.rows for cell in row.cells if cell)
    ranks = alt.Scale(type="log", domain=[0.9, 1.1 * lowest], reverse=True, nice=False)
    base = _chart(rows).encode(
        x=alt.X("stage:N", sort=[stage_name(name) for name in it.names], title=None).axis(labelAngle=0, orient="top"),
        y=alt.Y("rank:Q", scale=ranks).axis(values=[1, 2, 3, 5, 10, 20, 50, 100, 200, 400, 1000]),
        color=_colour("fate", fates, [_GOOD, _NEUTRAL], orient="bottom"),
        detail="line:N",
        opacity=alt.condition(f"datum.fate == '{fates[0]}'", alt.value(1), alt.value(0.4)),
        tooltip=["chunk:N", "stage:N", "rank:Q"],
    )
    return alt.layer(base.mark_line(strokeWidth=1.8), base.mark_circle(size=70)).properties(height=320)


def _lines(it: Stages, row: StageRow) -> Iterator[tuple[str, str, StageCell]]:
    """Yield the points of a chunk's lines: the line, the stage and the rank there."""
    at = dict(zip(it.names, row.cells, strict=True))
    middle = it.names.index(FUSION)
    for search in it.names[:middle]:
        for name in (search, FUSION):
            if (cell := at[name]) and at[search]:
                yield search, name, cell
    for name in it.names[middle:]:
        if cell := at[name]:
            yield "on", name, cell


def measures(compared: Sequence[MeasureComparison]) -> Chart:
    """Plot the mean of each measure with its interval, on both sides."""
    rows = [
        {"measure": one.measure, "side": name, "mean": it.mean, "low": it.low, "high": it.high}
        for one in compared
        for name, it in zip(NAMES, (one.a, one.b), strict=True)
    ]
    base = _chart(rows).encode(
        y=alt.Y("measure:N", sort=[one.measure for one in compared], title=None),
        yOffset="side:N",
        color=_side(),
        tooltip=["measure:N", "side:N", *_figures(".4f", "mean", "low", "high")],
    )
    return _whiskers(base, "mean, with its 95% interval").properties(height=alt.Step(17))


def differences(compared: Sequence[MeasureComparison]) -> Chart:
    """Plot B minus A of each measure with its interval, and a line at zero."""
    rows = [
        {
            "measure": one.measure,
            "mean": one.difference.mean,
            "low": one.difference.low,
            "high": one.difference.high,
            "p": one.difference.p,
            "shown": conclusion(one.difference),
        }
        for one in compared
    ]
    base = _chart(rows).encode(
        y=alt.Y("measure:N", sort=[one.measure for one in compared], title=None),
        color=_colour("shown", ["better", "worse", "no difference shown"], [_GOOD, _BAD, _NEUTRAL]),
        tooltip=["measure:N", *_figures("+.4f", "mean", "low", "high"), *_figures(".4f", "p")],
    )
    zero = _chart([{"zero": 0}]).mark_rule(strokeDash=[4, 4], color=_NEUTRAL).encode(x="zero:Q")
    return alt.layer(zero, _whiskers(base, "B minus A")).properties(height=alt.Step(34))


def latencies(sides: Mapping[str, Sequence[float]]) -> Chart:
    """Plot the cumulative share of questions by latency, on each side."""
    rows = [
        {"side": name, "milliseconds": value, "share": place / len(values)}
        for name, values in sides.items()
        for place, value in enumerate(sorted(values), start=1)
    ]
    chart = _chart(rows).mark_line(interpolate="step-after", strokeWidth=2.5)
    return chart.encode(
        x=alt.X("milliseconds:Q", title="milliseconds per question", scale=alt.Scale(type="log", nice=False)),
        y=alt.Y("share:Q", title="questions done").axis(format="%"),
        color=_side(),
        tooltip=["side:N", *_figures(".1f", "milliseconds"), *_figures(".0%", "share")],
    ).properties(height=320)


def reliabilities(sides: Mapping[str, Reliability]) -> Chart:
    """Plot predicted probabilities against what happened; calibrated ones are on the diagonal."""
    rows = [
        {
            "side": name,
            "predicted": one.predicted,
            "observed": one.observed,
            "low": one.low,
            "high": one.high,
            "questions": one.count,
        }
        for name, it in sides.items()
        for one in it.bins
    ]
    unit = alt.Scale(domain=[0, 1])
    base = _chart(rows).encode(
        x=alt.X("predicted:Q", scale=unit),
        color=_side(),
        tooltip=["side:N", "questions:Q", *_figures(".2f", "predicted", "observed", "low", "high")],
    )
    corners = [{"predicted": 0, "observed": 0}, {"predicted": 1, "observed": 1}]
    diagonal = _chart(corners).mark_line(strokeDash=[4, 4], color=_NEUTRAL)
    size = alt.Size("questions:Q", legend=None, scale=alt.Scale(range=[60, 400]))
    return alt.layer(
        diagonal.encode(x=alt.X("predicted:Q", scale=unit), y=alt.Y("observed:Q", scale=unit)),
        base.mark_rule(strokeWidth=2, opacity=0.6).encode(y=alt.Y("low:Q", scale=unit), y2="high:Q"),
        base.mark_circle(opacity=1).encode(y=alt.Y("observed:Q", scale=unit), size=size),
    ).properties(height=320)


def changes(comparison: Comparison) -> Chart:
    """Plot each question whose measure differs as a bar, the largest gain of B first."""
    rows = [
        {
            "place": place,
            "question": cut(one.text, _LONGEST),
            "change": one.b - one.a,
            "rank": f"{one.first_a or '-'} to {one.first_b or '-'}",
            "better": "B better" if one.b > one.a else "A better",
        }
        for place, one in enumerate(comparison.changed, start=1)
    ]
    chart = _chart(rows).mark_bar()
    return chart.encode(
        x=alt.X("place:O", axis=None),
        y=alt.Y("change:Q", title=f"{comparison.metric}, B minus A"),
        color=_colour("better", ["B better", "A better"], [_GOOD, _BAD]),
        tooltip=["question:N", *_figures("+.3f", "change"), "rank:N"],
    ).properties(height=260)


def evidence(decisions: Sequence[DecisionReport]) -> Chart:
    """Plot the evidence for each challenger by the votes counted, with the bar of its trial as a dashed line."""
    points = [(one, point) for one in decisions for point in one.points]
    rows = [
        {
            "challenger": f"version {point.version}, {point.trial}",
            "votes": one.votes,
            "drawn": min(_MOST, max(_LEAST, point.evidence)),
            "evidence": point.evidence,
            "bar": point.bar,
            "when": moment(one.at),
            "action": one.action,
        }
        for one, point in points
    ]
    last = {row["challenger"]: {**row, "label": f"bar {row['bar']:.3g}"} for row in rows}
    names = list(map(str, last))
    ends = [1.0, *(point.bar for _, point in points)]
    ends += [min(_MOST, max(_LEAST, point.evidence)) for _, point in points]
    scale = alt.Scale(type="log", nice=False, domain=[min(ends) / 1.5, max(ends) * 1.5])

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title="evidence", scale=scale).axis(format="~g", tickCount=6)

    def lines(rows: Rows) -> alt.Chart:
        colours = [_CHALLENGERS[place % len(_CHALLENGERS)] for place in range(len(names))]
        return _chart(rows).encode(
            x=alt.X("votes:Q", title="votes counted", scale=alt.Scale(zero=False)),
            color=_colour("challenger", names, colours),
            tooltip=["challenger:N", "when:N", "action:N", "votes:Q", *_figures(".3~g", "evidence", "bar")],
        )

    base = lines(rows)
    return alt.layer(
        _chart([{"one": 1}]).mark_rule(color=_NEUTRAL, opacity=0.5).encode(y=y("one")),
        base.mark_line(strokeDash=[6, 4], strokeWidth=2).encode(y=y("bar")),
        lines(list(last.values())).mark_text(align="right", dy=11).encode(y=y("bar"), text="label:N"),
        base.mark_line(strokeWidth=2, interpolate="step-after").encode(y=y("drawn")),
        base.mark_circle(size=45, opacity=1).encode(y=y("drawn")),
    ).properties(height=320)


def liked(arms: Sequence[ArmReport]) -> Chart:
    """Plot the share of up votes of each arm with its 95% interval, as if votes were independent."""
    rows: list[dict[str, Any]] = []
    for reported in arms:
        if reported.arm.ups is not None:
            low, high = wilson(reported.arm.ups, reported.arm.votes)
            name = f"version {reported.arm.version}, {reported.role}"
            rows.append({"arm": name, "votes": reported.arm.votes, "liked": reported.arm.ups, "low": low, "high": high})
    unit, title = alt.Scale(domain=[0, 1]), "share of up votes, with its 95% interval for independent votes"

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=title, scale=unit).axis(format="%")

    base = _chart(rows).encode(
        y=alt.Y("arm:N", sort=[row["arm"] for row in rows], title=None).axis(labelLimit=240),
        tooltip=["arm:N", "votes:Q", *_figures(".0%", "liked", "low", "high")],
    )
    whisker = base.mark_rule(strokeWidth=3, color=COLOURS[0]).encode(x=x("low"), x2="high:Q")
    dot = base.mark_circle(size=110, opacity=1, color=COLOURS[0]).encode(x=x("liked"))
    return alt.layer(whisker, dot).properties(height=alt.Step(30))


def _chart(rows: Rows) -> alt.Chart:
    return alt.Chart(alt.Data(values=[dict(row) for row in rows]))


def _whiskers(base: alt.Chart, title: str) -> Any:
    """Plot ``mean`` as a dot and ``low`` to ``high`` as a whisker."""
    whisker = base.mark_rule(strokeWidth=3).encode(x=_x("low", title), x2="high:Q")
    return alt.layer(whisker, base.mark_circle(size=110, opacity=1).encode(x=_x("mean", title)))


def _x(field: str, title: str) -> alt.X:
    return alt.X(f"{field}:Q", title=title, scale=alt.Scale(zero=False))


def _side() -> alt.Color:
    return _colour("side", list(NAMES), list(COLOURS))


def _colour(field: str, names: Sequence[str], colours: Sequence[str], orient: Any = "top") -> alt.Color:
    scale = alt.Scale(domain=list(names), range=list(colours))
    return alt.Color(f"{field}:N", scale=scale, legend=alt.Legend(title=None, orient=orient))


def _figures(form: str, *fields: str) -> list[alt.Tooltip]:
    return [alt.Tooltip(f"{field}:Q", format=form) for field in fields]
