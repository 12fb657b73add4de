"""Learning: what is in use, what is on trial, how far the evidence is, and what was decided when and why.

It is that of the knowledge base, whatever the sides are set to; what is asked in the lab teaches nothing.
"""

from __future__ import annotations

import streamlit as st

from ragstone.policies.standing import Learned
from ragstone.sections import Settings
from ragstone.serve.lab.answer_markup import notice
from ragstone.serve.lab.desk import Desk
from ragstone.serve.lab.evidence_plots import evidence, liked
from ragstone.serve.lab.learned_markup import arm_table, decided, in_use, proof
from ragstone.serve.render_policy import QUIET
from ragstone.serve.report.markup import tag


def show(desk: Desk, sides: tuple[Settings, ...]) -> None:
    """Draw the page."""
    del sides
    if desk.reader.groups is not None:
        st.html(
            notice("note", "What was learned is shown to those who may read everything: start the lab without --as.")
        )
        return
    now = desk.newest().learned()
    st.html(in_use(now))
    if now.trouble:
        st.html(notice("error", f"The last evaluation failed: {now.trouble}"))
    _trial(now)
    for caution in now.cautions:
        st.html(notice("warning", caution))
    _evidence(now)
    _decisions(now)


def _trial(now: Learned) -> None:
    if not now.trial:
        st.html(tag("p", tag("b", "Nothing is on trial"), f" {now.why}"))
        return
    st.html(tag("p", tag("b", now.trial), f" {now.why}"))
    st.html(arm_table(now.arms))
    st.html(proof(now.arms))
    if any(one.arm.votes for one in now.arms):
        st.vega_lite_chart(liked(now.arms), key="liked")


def _evidence(now: Learned) -> None:
    told = " at each decision; a challenger is promoted where it reaches the bar, from 200 votes on"
    st.html(tag("p", tag("b", "Evidence"), told))
    if any(one.points for one in now.moments):
        st.vega_lite_chart(evidence(now.moments), key="evidence")
    else:
        st.html(notice("note", "no evidence was weighed yet"))


def _decisions(now: Learned) -> None:
    every = st.checkbox("Those too that changed nothing", key="every decision", persist_state="session")
    shown = [one for one in now.moments if every or one.action not in QUIET]
    told = f" {len(shown):,} of {len(now.moments):,}, the last one first"
    st.html(tag("p", tag("b", "Decisions"), told))
    if shown:
        st.html(decided(shown))
