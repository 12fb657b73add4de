"""Stages: the way of each chunk from the searches to the evidence."""

from __future__ import annotations

import streamlit as st

from ragstone.sections import Settings
from ragstone.serve.lab.answer_markup import notice
from ragstone.serve.lab.desk import Desk
from ragstone.serve.lab.plots import ways
from ragstone.serve.lab.screens.asking import question
from ragstone.serve.lab.sides import NAMES
from ragstone.serve.lab.stage_markup import stage_table, understood
from ragstone.serve.lab.stages import stages
from ragstone.serve.report.markup import tag

_NAMES = {"A": NAMES[:1], "B": NAMES[1:], "A and B": NAMES}


def show(desk: Desk, sides: tuple[Settings, ...]) -> None:
    """Draw the page."""
    typed = question("Trace")
    left, right = st.columns([1, 2])
    which = left.segmented_control(
        "Sides", list(_NAMES), default="A and B", required=True, key="traced sides", persist_state="session"
    )
    shown = right.slider("Candidates after fusion that are shown", 5, 100, 20, 5, key="shown", persist_state="session")
    if not typed.question:
        st.html(tag("p", "Type a question: each chunk's way to the evidence is shown.", at={"class": "rs-dim"}))
        return
    for name in _NAMES[which]:
        _traced(desk, typed.question, typed.where, sides[NAMES.index(name)], shown, name)


def _traced(desk: Desk, question: str, where: str, settings: Settings, shown: int, name: str) -> None:
    trace = desk.trace(question, where, settings, shown)
    it = stages(trace)
    head = tag("b", name, at={"class": f"rs-{name.lower()}"})
    told = f"{len(trace.evidence.hits)} of {len(it.rows)} candidates became evidence, by {trace.evidence.method}"
    st.html(tag("div", head, tag("small", told), at={"class": "rs-head"}))
    st.html(understood(trace))
    for missing in trace.evidence.missing:
        st.html(notice("warning", missing))
    if not it.rows:
        st.html(notice("note", "nothing was found"))
        return
    st.vega_lite_chart(ways(it), key=f"ways {name}")
    st.html(stage_table(it))
