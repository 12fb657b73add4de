"""The question, which two pages share: it stays when one goes from one to the other."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from ragstone.serve.typed import text


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A question and a filter, as they were typed; ``now`` when they were just sent."""

    question: str
    where: str
    now: bool


def question(button: str) -> Typed:
    """The form of the question."""
    with st.form("question", border=False):
        words, narrowed, send = st.columns([6, 3, 1.2], vertical_alignment="bottom")
        asked = words.text_input(
            "Question", key="question", persist_state="session", placeholder="What do the documents say about …?"
        )
        where = narrowed.text_input(
            "Filter", key="where", persist_state="session", placeholder="kind = pdf and language = en"
        )
        now = send.form_submit_button(button, type="primary", width="stretch")
    return Typed(question=text(asked.strip()), where=text(where.strip()), now=now and bool(asked.strip()))
