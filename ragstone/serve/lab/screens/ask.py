"""The pages of one question: both answers side by side, and the stages of the search."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ragstone.core.frozen import frozen
from ragstone.serve.cli.typed import text
from ragstone.serve.lab.answers import Progress, answer_card, chips, evidence_table, notice, placed, timing_bars
from ragstone.serve.lab.desk import Desk
from ragstone.serve.lab.plots import stage_ranks
from ragstone.serve.lab.settings import NAMES, differing
from ragstone.serve.lab.stages import stage_table, stages, understood
from ragstone.serve.report.markup import tag
from ragstone.settings import Settings

_KEY = "asked"
_TRACED = {"A": NAMES[:1], "B": NAMES[1:], "A and B": NAMES}


@frozen
class Typed:
    """A typed question and filter; ``sent`` if the button was just pressed."""

    question: str
    where: str
    sent: bool


@frozen
class Asked:
    """A question with both answers, and the settings that gave them."""

    typed: Typed
    sides: tuple[Settings, ...]
    answers: tuple[Progress, ...]


def _form(button: str) -> Typed:
    """Draw the form of the question, which both pages share."""
    with st.form("question", border=False):
        words, narrowed, send = st.columns([6, 3, 1.2], vertical_alignment="bottom")
        asked = words.text_input(
            "Question", key="question", persist_state="session", placeholder="What do the documents say about …?"
        )
        where = narrowed.text_input(
            "Filter", key="where", persist_state="session", placeholder="kind = pdf and language = en"
        )
        sent = send.form_submit_button(button, type="primary", width="stretch")
    return Typed(question=text(asked.strip()), where=text(where.strip()), sent=sent and bool(asked.strip()))


# ---------------------------------------------------------------- side by side


def side_by_side(desk: Desk, sides: tuple[Settings, ...]) -> None:
    """Draw the page that answers one question with both settings and marks what differs."""
    typed = _form("Ask both")
    at_once = st.toggle(
        "Both at once",
        key="at once",
        persist_state="session",
        help="One after the other, neither slows the other down, and timings can be compared.",
    )
    st.html(chips(differing(*sides), NAMES))
    if typed.sent:
        st.session_state[_KEY] = _ask(desk, typed, sides, at_once=at_once)
        st.rerun()  # replaces what was drawn while the answers came
    asked: Asked | None = st.session_state.get(_KEY)
    if asked is None:
        st.html(tag("p", "Ask a question: both sides answer it.", at={"class": "rs-dim"}))
        return
    if asked.sides != sides:
        st.html(notice("warning", "These answers used other settings; ask again."))
    _answers(asked)


def _ask(desk: Desk, typed: Typed, sides: tuple[Settings, ...], *, at_once: bool) -> Asked:
    """Ask, and draw the answers as they come."""
    places = [column.empty() for column in _columns()]
    answers = [Progress() for _ in sides]

    def draw(side: int) -> None:
        other = answers[1 - side]
        waiting = not at_once and side > 0 and other.answer is None and not other.error
        places[side].html(answer_card(answers[side], None, waiting=waiting))

    for side in range(len(sides)):
        draw(side)
    for heard in desk.ask(typed.question, typed.where, sides, at_once=at_once):
        answers[heard.side] = answers[heard.side].after(heard)
        draw(heard.side)
    return Asked(typed=typed, sides=sides, answers=tuple(answers))


def _answers(asked: Asked) -> None:
    for column, here, other in zip(_columns(), asked.answers, reversed(asked.answers), strict=True):
        column.html(answer_card(here, other))
    answers = [one.answer for one in asked.answers if one.answer]
    if len(answers) < len(asked.answers):
        return
    evidence, times = st.columns([3, 2], gap="large")
    with evidence:
        rows = placed([answer.hits for answer in answers])
        shared = sum(None not in row.places for row in rows)
        st.html(tag("p", tag("b", "Evidence"), f" {shared} of {len(rows)} chunks on both sides"))
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


# ---------------------------------------------------------------- stages


def search_stages(desk: Desk, sides: tuple[Settings, ...]) -> None:
    """Draw the page that follows each chunk from the searches to the evidence."""
    typed = _form("Trace")
    left, right = st.columns([1, 2])
    which = left.segmented_control(
        "Sides", list(_TRACED), default="A and B", required=True, key="traced sides", persist_state="session"
    )
    shown = right.slider("Candidates shown after fusion", 5, 100, 20, 5, key="shown", persist_state="session")
    if not typed.question:
        st.html(tag("p", "Type a question to follow each chunk to the evidence.", at={"class": "rs-dim"}))
        return
    for name in _TRACED[which]:
        _trace(desk, typed, sides[NAMES.index(name)], shown, name)


def _trace(desk: Desk, typed: Typed, settings: Settings, shown: int, name: str) -> None:
    trace = desk.trace(typed.question, typed.where, settings, shown)
    it = stages(trace)
    head = tag("b", name, at={"class": f"rs-{name.lower()}"})
    method = trace.evidence.method.replace("_", " ")
    became = f"{len(trace.evidence.hits)} of {len(it.rows)} candidates became evidence, by {method}"
    st.html(tag("div", head, tag("small", became), at={"class": "rs-head"}))
    st.html(understood(trace))
    for missing in trace.evidence.missing:
        st.html(notice("warning", missing))
    if not it.rows:
        st.html(notice("note", "nothing was found"))
        return
    st.altair_chart(stage_ranks(it), key=f"ways {name}")
    st.html(stage_table(it))
