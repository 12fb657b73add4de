"""The page that measures both sides on questions with known answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from ragstone.review.compare import Comparison
from ragstone.review.evaluate import MEASURES
from ragstone.serve.lab import plots
from ragstone.serve.lab.answers import chips, notice
from ragstone.serve.lab.desk import Desk
from ragstone.serve.lab.settings import NAMES, differing
from ragstone.serve.lab.trial import Measured, Outcome, Outcomes, Trial, latency, reliability
from ragstone.serve.report.drawing import draw
from ragstone.serve.report.markup import tag
from ragstone.serve.views.blocks import count, table
from ragstone.serve.views.measured import ID, chance, conclusion, difference, measures
from ragstone.settings import Settings

_KEY = "run"
_ABOUT = (
    "A CSV with the columns question and source, and optionally answerable, lang and kind, as for `ragstone eval`. A"
    " source is a document id or its end."
)


def show(desk: Desk, sides: tuple[Settings, ...]) -> None:
    """Draw the page."""
    with st.form("trial", border=False):
        file = st.file_uploader("Questions", type=["csv", "tsv"], key="questions", help=_ABOUT)
        first, second, third, fourth = st.columns([2, 2, 3, 1.4], vertical_alignment="bottom")
        metric = first.selectbox("Measure for questions", list(MEASURES), key="metric")
        limit = second.number_input("Maximum number of questions", min_value=1, value=200, key="limit")
        answers = third.checkbox("Measure answers, too, for calibration", value=True, key="answers")
        begun = fourth.form_submit_button("Measure", type="primary", width="stretch")
    st.html(chips(differing(*sides), NAMES))
    trial: Trial | None = st.session_state.get(_KEY)
    if begun and file is None:
        st.html(notice("error", "choose a file of questions first"))
    elif begun and file is not None:
        if trial is not None:
            trial.stop()
        trial = Trial(desk, file.getvalue(), file.name, sides, limit=int(limit), answers=answers, metric=metric)
        st.session_state[_KEY] = trial
    if trial is None:
        st.html(tag("p", _ABOUT, at={"class": "rs-dim"}))
    elif trial.running:
        _progress()
    elif trial.error:
        st.html(notice("error", trial.error))
    elif trial.outcomes is not None:
        if tuple(side.settings for side in trial.outcomes.sides) != sides:
            st.html(notice("warning", "These figures are for other settings; measure again."))
        _outcomes(trial.outcomes)


@st.fragment(run_every=0.5)
def _progress() -> None:
    """Draw how far the run is, twice a second until it ends."""
    trial: Trial = st.session_state[_KEY]
    if not trial.running:
        st.rerun()
    bar, stop = st.columns([6, 1], vertical_alignment="center")
    bar.progress(trial.done / max(1, trial.total), f"{trial.done} of {count(trial.total, 'question')} asked")
    if stop.button("Stop", key="stop", width="stretch"):
        trial.stop()
        st.rerun()


def _outcomes(outcomes: Outcomes) -> None:
    if outcomes.comparison is not None:
        _quality(outcomes.comparison)
    else:
        st.html(notice("note", "No question has an expected document: only times can be measured."))
    left, right = st.columns(2, gap="large")
    with left:
        _latency(outcomes.sides)
    with right:
        _calibration(outcomes.sides)
    if outcomes.comparison is not None:
        _questions(outcomes.comparison, outcomes.sides)


def _quality(compared: Comparison) -> None:
    overall = next(one for one in compared.measures if one.measure == compared.metric)
    shown = {"better": "B is better", "worse": "B is worse"}.get(conclusion(overall.difference), "No difference shown")
    figures = f": {overall.measure} {difference(overall.difference)}, p {chance(overall.difference.p)}"
    st.html(tag("p", tag("b", shown), figures, at={"class": "rs-notice rs-verdict"}))
    left, right = st.columns(2, gap="large")
    with left:
        expected = "question" if compared.questions == 1 else "questions"
        st.html(tag("p", tag("b", "Quality"), f" {compared.questions:,} {expected} with an expected document"))
        st.altair_chart(plots.measures(compared.measures), key="measures")
    with right:
        st.html(tag("p", tag("b", "B minus A"), " with 95% intervals, question by question"))
        st.altair_chart(plots.differences(compared.measures), key="differences")
    with st.expander("Figures"):
        st.html(draw([measures(compared, NAMES)]))


def _latency(sides: Sequence[Measured]) -> None:
    times = {name: side.milliseconds() for name, side in zip(NAMES, sides, strict=True)}
    measured = {name: values for name, values in times.items() if values}
    st.html(tag("p", tag("b", "Latency"), " the share of questions done within a time"))
    if not measured:
        st.html(notice("note", "nothing was timed"))
        return
    st.altair_chart(plots.latencies(measured), key="latencies")
    rows = [
        (name, f"{it.median:.1f}", f"{it.p95:.1f}", f"{it.most:.1f}")
        for name, values in measured.items()
        if (it := latency(values))
    ]
    st.html(draw([table(("", "median ms", "p95 ms", "longest ms"), rows, numbers=(1, 2, 3))]))


def _calibration(sides: Sequence[Measured]) -> None:
    st.html(tag("p", tag("b", "Calibration"), " predicted probabilities, and how often they came true"))
    kinds = {
        "answerability: the evidence has an expected document": [side.answerability() for side in sides],
        "confidence: the answer cites an expected document": [side.confidence() for side in sides],
    }
    kind = st.selectbox("Of", list(kinds), key="calibrated", label_visibility="collapsed")
    _reliability(dict(zip(NAMES, kinds[kind], strict=True)))


def _reliability(outcomes: Mapping[str, Sequence[Outcome]]) -> None:
    curves = {name: it for name, its in outcomes.items() if (it := reliability(its))}
    if not curves:
        st.html(notice("note", "there are no answers to calibrate"))
        return
    st.altair_chart(plots.reliabilities(curves), key="reliabilities")
    rows = [(name, f"{len(outcomes[name]):,}", f"{it.error:.3f}", f"{it.brier:.3f}") for name, it in curves.items()]
    st.html(draw([table(("", "answers", "calibration error", "Brier score"), rows, numbers=(1, 2, 3))]))


def _questions(compared: Comparison, sides: Sequence[Measured]) -> None:
    changed = len(compared.changed)
    st.html(tag("p", tag("b", "Questions"), f" {compared.metric} differs on {changed:,} of {compared.questions:,}"))
    if changed:
        st.altair_chart(plots.changes(compared), key="changes")
    a, b = ({one.id: one for one in side.report.per_query} for side in sides)
    rows = [
        {
            "question": one.text,
            f"A {compared.metric}": a[one.id].measures.get(compared.metric),
            f"B {compared.metric}": one.measures.get(compared.metric),
            "A rank": a[one.id].first,
            "B rank": one.first,
            "A ms": round(a[one.id].milliseconds, 1),
            "B ms": round(one.milliseconds, 1),
            "A answered": None if a[one.id].abstained is None else not a[one.id].abstained,
            "B answered": None if one.abstained is None else not one.abstained,
            "expected": ", ".join(id[-ID:] for id in one.expected),
        }
        for one in b.values()
    ]
    st.dataframe(rows, hide_index=True, key="per question")  # pyright: ignore[reportUnknownMemberType] - untyped
