"""Evaluate: questions with known answers, asked under both settings; plots of quality, latency and calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from ragstone.review.compare import Comparison
from ragstone.review.evaluate import MEASURES
from ragstone.sections import Settings
from ragstone.serve.lab import plots
from ragstone.serve.lab.answer_markup import chips, notice
from ragstone.serve.lab.desk import Desk
from ragstone.serve.lab.figures import Outcome, latency, reliability
from ragstone.serve.lab.sides import NAMES, differing
from ragstone.serve.lab.trial import Measured, Outcomes, Trial
from ragstone.serve.render_measured import chance, conclusion, difference
from ragstone.serve.report.markup import table, tag
from ragstone.serve.report.pages import ID

_KEPT = "run"
_ABOUT = (
    "A CSV with the columns question and source, and maybe answerable, lang and kind, as `ragstone eval` takes it."
    " A source is the id of a document, or the end of it."
)


def show(desk: Desk, sides: tuple[Settings, ...]) -> None:
    """Draw the page."""
    with st.form("trial", border=False):
        file = st.file_uploader("Questions", type=["csv", "tsv"], key="questions", help=_ABOUT)
        first, second, third, fourth = st.columns([2, 2, 3, 1.4], vertical_alignment="bottom")
        metric = first.selectbox("Measure for questions", list(MEASURES), key="metric")
        limit = second.number_input("At most so many", min_value=1, value=200, key="limit")
        answers = third.checkbox("Ask for answers too, for calibration", value=True, key="answers")
        begun = fourth.form_submit_button("Measure", type="primary", width="stretch")
    st.html(chips(differing(*sides), NAMES))
    if begun and file is None:
        st.html(notice("error", "choose a file of questions first"))
    elif begun and file is not None:
        if (before := st.session_state.get(_KEPT)) is not None:
            before.stop()
        st.session_state[_KEPT] = Trial(
            desk, file.getvalue(), file.name, sides, limit=int(limit), answers=answers, metric=metric
        )
    trial: Trial | None = st.session_state.get(_KEPT)
    if trial is None:
        st.html(tag("p", _ABOUT, at={"class": "rs-dim"}))
    elif trial.running:
        _progress()
    elif trial.error:
        st.html(notice("error", trial.error))
    elif trial.outcomes is not None:
        if tuple(side.settings for side in trial.outcomes.sides) != sides:
            st.html(notice("warning", "This was measured under other settings; measure again."))
        _outcomes(trial.outcomes)


@st.fragment(run_every=0.5)
def _progress() -> None:
    """How far the run is; drawn anew by itself until it has ended."""
    trial: Trial = st.session_state[_KEPT]
    if not trial.running:
        st.rerun()
    bar, stop = st.columns([6, 1], vertical_alignment="center")
    bar.progress(trial.done / max(1, trial.total), f"{trial.done} of {trial.total} questions asked")
    if stop.button("Stop", key="stop", width="stretch"):
        trial.stop()
        st.rerun()


def _outcomes(outcomes: Outcomes) -> None:
    if outcomes.comparison is not None:
        _quality(outcomes.comparison)
    else:
        st.html(notice("note", "No question has a document expected: there is no quality to tell, only times."))
    left, right = st.columns(2, gap="large")
    with left:
        _latency(outcomes.sides)
    with right:
        _calibration(outcomes.sides)
    if outcomes.comparison is not None:
        _questions(outcomes.comparison, outcomes.sides)


def _quality(compared: Comparison) -> None:
    whole = next(one for one in compared.measures if one.measure == compared.metric)
    said = {"better": "B is better", "worse": "B is worse"}.get(conclusion(whole.difference), "No difference is shown")
    told = f": {whole.measure} {difference(whole.difference)}, p {chance(whole.difference.p)}"
    st.html(tag("p", tag("b", said), told, at={"class": "rs-notice rs-verdict"}))
    left, right = st.columns(2, gap="large")
    with left:
        st.html(tag("p", tag("b", "Quality"), f" {compared.questions:,} questions with a document expected"))
        st.vega_lite_chart(plots.measures(compared.measures), key="measures")
    with right:
        st.html(tag("p", tag("b", "B minus A"), " with 95% intervals, question by question"))
        st.vega_lite_chart(plots.differences(compared.measures), key="differences")
    rows = [
        [
            one.measure,
            f"{one.a.mean:.4f}",
            f"{one.b.mean:.4f}",
            difference(one.difference),
            chance(one.difference.p),
            f"{one.wins} / {one.losses} / {one.ties}",
            conclusion(one.difference),
        ]
        for one in compared.measures
    ]
    columns = ["measure", "A", "B", "B minus A", "p", "B wins / A wins / ties", ""]
    with st.expander("Figures"):
        st.html(table(columns, rows, numbers=range(1, 6)))


def _latency(sides: Sequence[Measured]) -> None:
    spent = {name: side.milliseconds() for name, side in zip(NAMES, sides, strict=True)}
    known = {name: values for name, values in spent.items() if values}
    st.html(tag("p", tag("b", "Latency"), " what share of the questions was done by when"))
    if not known:
        st.html(notice("note", "nothing was timed"))
        return
    st.vega_lite_chart(plots.latencies(known), key="latencies")
    rows = [
        [name, f"{it.median:.1f}", f"{it.p95:.1f}", f"{it.most:.1f}"]
        for name, values in known.items()
        if (it := latency(values))
    ]
    st.html(table(["", "median ms", "p95 ms", "longest ms"], rows, numbers=(1, 2, 3)))


def _calibration(sides: Sequence[Measured]) -> None:
    st.html(tag("p", tag("b", "Calibration"), " what was promised, and how often it came true"))
    kinds = {
        "answerability: a document expected is in the evidence": [side.answerability() for side in sides],
        "confidence: an answer cites a document expected": [side.confidence() for side in sides],
    }
    kind = st.selectbox("Of", list(kinds), key="calibrated", label_visibility="collapsed")
    _reliability(dict(zip(NAMES, kinds[kind], strict=True)))


def _reliability(outcomes: Mapping[str, Sequence[Outcome]]) -> None:
    found = {name: it for name, its in outcomes.items() if (it := reliability(its))}
    if not found:
        st.html(notice("note", "no answers were asked for, or none was given"))
        return
    st.vega_lite_chart(plots.reliabilities(found), key="reliabilities")
    rows = [[name, f"{len(outcomes[name]):,}", f"{it.error:.3f}", f"{it.brier:.3f}"] for name, it in found.items()]
    st.html(table(["", "answers", "calibration error", "Brier score"], rows, numbers=(1, 2, 3)))


def _questions(compared: Comparison, sides: Sequence[Measured]) -> None:
    count = len(compared.changed)
    st.html(tag("p", tag("b", "Questions"), f" {compared.metric} differs on {count:,} of {compared.questions:,}"))
    if count:
        st.vega_lite_chart(plots.changes(compared), key="changes")
    a, b = ({one.id: one for one in side.report.per_query} for side in sides)
    rows = [
        {
            "question": one.text,
            f"A {compared.metric}": x.measures.get(compared.metric),
            f"B {compared.metric}": one.measures.get(compared.metric),
            "A rank": x.first,
            "B rank": one.first,
            "A ms": round(x.milliseconds, 1),
            "B ms": round(one.milliseconds, 1),
            "A answered": None if x.abstained is None else not x.abstained,
            "B answered": None if one.abstained is None else not one.abstained,
            "expected": ", ".join(id[-ID:] for id in one.expected),
        }
        for one in b.values()
        for x in [a[one.id]]
    ]
    st.dataframe(rows, hide_index=True, key="per question")
