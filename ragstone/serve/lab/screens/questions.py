"""The page that drafts questions from the documents and lets people correct them before they measure with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import streamlit as st

from ragstone.core.errors import RagstoneError
from ragstone.engine.experiments.drafting import draft_questions
from ragstone.review.drafts import Drafted, as_csv
from ragstone.review.questions import rows
from ragstone.serve.cli.screen import explain
from ragstone.serve.lab.answers import notice
from ragstone.serve.lab.desk import Desk
from ragstone.serve.lab.trial import read, saved
from ragstone.serve.report.markup import tag
from ragstone.serve.views.blocks import count
from ragstone.settings import Settings

_KEY, _VERSION = "drafted", "drafted version"
_ABOUT = (
    "Drafts have the words of the documents. Untick what nobody would ask, ask the rest in the words of your users, and"
    " add questions that people really asked. A question without a source is one that the documents do not answer."
)
_NAME = "questions.csv"


def show(desk: Desk, sides: tuple[Settings, ...]) -> None:
    """Draw the page."""
    del sides
    if desk.reader.groups is not None:
        st.html(notice("note", "Drafts are made from all documents: start the lab without --as."))
        return
    with st.form("draft", border=False):
        first, second, third = st.columns([2, 2, 2], vertical_alignment="bottom")
        answerable = first.number_input("Questions with an answer, at most", min_value=1, value=40, key="answerable")
        others = second.number_input("Questions without one, at most", min_value=0, value=10, key="unanswerable")
        begun = third.form_submit_button("Draft questions", type="primary", width="stretch")
    file = st.file_uploader("Or correct a file", type=["csv", "tsv"], key="to correct")
    if begun:
        with st.spinner("reading the documents"):
            _keep(desk.wait(draft_questions(desk.kb, int(answerable), int(others))).questions)
    elif file is not None and st.session_state.get("corrected file") != file.file_id:
        st.session_state["corrected file"] = file.file_id
        _keep(drafts_in(file.getvalue()))
    st.html(tag("p", _ABOUT, at={"class": "rs-dim"}))
    if drafted := st.session_state.get(_KEY):
        _corrected(desk, drafted)


def _keep(drafted: Sequence[Drafted]) -> None:
    """Put other questions into the table, without the corrections of those before them."""
    st.session_state[_KEY] = drafted
    st.session_state[_VERSION] = st.session_state.get(_VERSION, 0) + 1


def _corrected(desk: Desk, drafted: Sequence[Drafted]) -> None:
    """Draw the table and what becomes of it."""
    table = [{"keep": True, **asdict(one)} for one in drafted]
    edited = st.data_editor(  # pyright: ignore[reportUnknownMemberType] - untyped
        table,
        num_rows="dynamic",
        hide_index=True,
        column_order=("keep", "question", "source", "evidence", "lang", "kind"),
        key=f"table {st.session_state[_VERSION]}",
    )
    text = as_csv(kept(edited))
    try:
        queries = read(desk, text.encode(), _NAME).queries
    except RagstoneError as error:
        st.html(notice("error", explain(error)[0]))
    else:
        without = sum(not one.answerable for one in queries)
        st.html(notice("note", f"{count(len(queries), 'question')}, {without} without an answer"))
    st.download_button("Download the CSV", text, _NAME, "text/csv", type="primary", key="corrected")


def drafts_in(csv: bytes) -> list[Drafted]:
    """Return the questions of a CSV as drafts, whatever is still wrong with them.

    Raises:
        SourceError: it is no CSV of questions.
    """
    with saved(csv, _NAME) as file:
        return [
            Drafted(
                question=row.cell("question"),
                kind=row.cell("kind"),
                lang=row.cell("lang"),
                source=row.cell("source"),
                evidence=row.cell("evidence"),
            )
            for row in rows(file)
        ]


def kept(table: Sequence[Mapping[str, Any]]) -> list[Drafted]:
    """Return the rows of the table that are ticked and ask something; an added row has no value in empty cells."""
    out = list[Drafted]()
    for row in table:
        cells = {name: str(row.get(name) or "").strip() for name in ("question", "kind", "lang", "source", "evidence")}
        one = Drafted(**cells)
        if row.get("keep") is not False and one.question:
            out.append(one if one.is_answerable else replace(one, evidence=""))
    return out
