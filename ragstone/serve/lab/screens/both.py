"""Side by side: one question, answered under both settings as the words come; what differs is marked."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ragstone.sections import Settings
from ragstone.serve.lab.answer_markup import answer_card, chips, evidence_table, timing_bars
from ragstone.serve.lab.desk import Desk
from ragstone.serve.lab.screens.asking import Typed, question
from ragstone.serve.lab.sides import NAMES, differing
from ragstone.serve.lab.views import View, placed
from ragstone.serve.report.markup import tag

_KEPT = "asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question with both its answers, and the settings they were made under."""

    typed: Typed
    sides: tuple[Settings, ...]
    views: tuple[View, ...]


def show(desk: Desk, sides: tuple[Settings, ...]) -> None:
    """Draw the page."""
    typed = question("Ask both")
    at_once = st.toggle(
        "Both at once",
        key="at once",
        persist_state="session",
        help="One after the other, neither takes time from the other, and timings can be compared.",
    )
    st.html(chips(differing(*sides), NAMES))
    if typed.now:
        st.session_state[_KEPT] = _ask(desk, typed, sides, at_once=at_once)
        st.rerun()  # what was drawn while the answers came gives way to the whole
    asked: Asked | None = st.session_state.get(_KEPT)
    if asked is None:
        st.html(tag("p", "Ask a question: it is answered under both settings.", at={"class": "rs-dim"}))
        return
    if asked.sides != sides:
        st.html(
            tag("p", "These answers were made under other settings; ask again.", at={"class": "rs-notice rs-warning"})
        )
    _answers(asked)


def _ask(desk: Desk, typed: Typed, sides: tuple[Settings, ...], *, at_once: bool) -> Asked:
    """Ask, and draw what comes as it comes."""
    places = [column.empty() for column in _columns()]
    views = [View() for _ in sides]

    def drawn(side: int) -> None:
        other = views[1 - side]
        waiting = not at_once and side > 0 and other.answer is None and not other.error
        places[side].html(answer_card(views[side], None, waiting=waiting))

    for side in range(len(sides)):
        drawn(side)
    for heard in desk.ask(typed.question, typed.where, sides, at_once=at_once):
        views[heard.side] = views[heard.side].after(heard)
        drawn(heard.side)
    return Asked(typed=typed, sides=sides, views=tuple(views))


def _answers(asked: Asked) -> None:
    views = asked.views
    for column, view, other in zip(_columns(), views, reversed(views), strict=True):
        column.html(answer_card(view, other))
    answers = [view.answer for view in views if view.answer]
    if len(answers) < len(views):
        return
    evidence, times = st.columns([3, 2], gap="large")
    with evidence:
        rows = placed([answer.hits for answer in answers])
        alike = sum(None not in row.places for row in rows)
        st.html(tag("p", tag("b", "Evidence"), f" {alike} of {len(rows)} chunks on both sides"))
        if rows:
            st.html(evidence_table(rows, NAMES))
    with times:
        st.html(tag("p", tag("b", "Time"), " by stage"))
        st.html(timing_bars(answers, NAMES))


def _columns() -> list[DeltaGenerator]:
    columns = st.columns(len(NAMES), gap="medium")
    for column, name in zip(columns, NAMES, strict=True):
        column.html(tag("div", tag("b", name, at={"class": f"rs-{name.lower()}"}), at={"class": "rs-head"}))
    return columns
