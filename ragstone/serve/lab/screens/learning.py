"""The page of learning: the version in use, the trial under way, its evidence, and past decisions.

It shows the knowledge base as configured, whatever the sides are set to. Questions in the lab teach nothing.
"""

from __future__ import annotations

import streamlit as st

from ragstone.learning.report import LearningReport
from ragstone.learning.trial import MIN_VOTES
from ragstone.serve.lab.answers import notice
from ragstone.serve.lab.desk import Desk
from ragstone.serve.lab.plots import evidence, liked
from ragstone.serve.report.drawing import draw
from ragstone.serve.report.markup import Markup, tag
from ragstone.serve.views.learning import AS_CONFIGURED, QUIET, arms, decisions, proofs
from ragstone.settings import Settings


def show(desk: Desk, sides: tuple[Settings, ...]) -> None:
    """Draw the page."""
    del sides
    if desk.reader.groups is not None:
        st.html(
            notice(
                "note",
                "Only readers with access to everything can see what Ragstone learned: start the lab without --as.",
            )
        )
        return
    now = desk.kb.learning.report()
    st.html(_in_use(now))
    if now.trouble:
        st.html(notice("error", f"The last evaluation failed: {now.trouble}"))
    _trial(now)
    for caution in now.cautions:
        st.html(notice("warning", caution))
    _evidence(now)
    _decisions(now)


def _in_use(now: LearningReport) -> Markup:
    tiles = [
        ("in use", f"version {now.champion}"),
        ("learning.mode", now.mode),
        ("votes counted", f"{now.votes:,}"),
        ("next evaluation after", "-" if now.mode == "off" else f"{now.next_in:,} more"),
    ]
    drawn = [tag("div", tag("span", name), tag("b", value), at={"class": "rs-tile"}) for name, value in tiles]
    changes = [tag("span", tag("code", one), at={"class": "rs-chip"}) for one in now.changes]
    configured = tag("span", AS_CONFIGURED, at={"class": "rs-dim"})
    whole = tag("div", drawn, at={"class": "rs-tiles"}), tag("p", changes or configured, at={"class": "rs-chips"})
    return tag("div", *whole)


def _trial(now: LearningReport) -> None:
    st.html(tag("p", tag("b", now.trial or "Nothing is on trial"), f" {now.why}"))
    if not now.trial:
        return
    st.html(draw([arms(now.arms)]))
    st.html(tag("p", [tag("span", one, " ") for one in proofs(now.arms)]))
    if any(one.arm.votes for one in now.arms):
        st.altair_chart(liked(now.arms), key="liked")


def _evidence(now: LearningReport) -> None:
    about = f" at each decision; a challenger is promoted when it reaches the bar, after {MIN_VOTES} votes at least"
    st.html(tag("p", tag("b", "Evidence"), about))
    if any(one.points for one in now.moments):
        st.altair_chart(evidence(now.moments), key="evidence")
    else:
        st.html(notice("note", "There is no evidence yet."))


def _decisions(now: LearningReport) -> None:
    every = st.checkbox("Include decisions that changed nothing", key="every decision", persist_state="session")
    shown = [one for one in now.moments if every or one.action not in QUIET]
    st.html(tag("p", tag("b", "Decisions"), f" {len(shown):,} of {len(now.moments):,}, newest first"))
    if shown:
        st.html(draw([decisions(shown)]))
