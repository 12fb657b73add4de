"""The frame of the lab: its style, the settings at the left, and the pages."""

from __future__ import annotations

from importlib.resources import files

import streamlit as st

from ragstone.core.errors import RagstoneError
from ragstone.serve.cli.screen import explain
from ragstone.serve.lab import desk
from ragstone.serve.lab.answers import notice
from ragstone.serve.lab.screens import ask, evaluate, learning, panel, preset, questions
from ragstone.serve.report.markup import Markup, tag
from ragstone.serve.views.blocks import count

PAGES = {
    "Side by side": ask.side_by_side,
    "Stages": ask.search_stages,
    "Questions": questions.show,
    "Evaluate": evaluate.show,
    "Learning": learning.show,
    "Settings and preset": preset.show,
}


def show() -> None:
    """Draw everything; Streamlit runs this at each click."""
    st.set_page_config(page_title="Ragstone lab", page_icon=None, layout="wide")
    st.html(tag("style", Markup(files("ragstone.serve.lab").joinpath("style.css").read_text(encoding="utf-8"))))
    here = desk.current()
    try:
        with st.sidebar:
            _head(here)
            sides = panel.show(here)
        page = st.segmented_control(
            "Page", list(PAGES), default="Side by side", required=True, key="page", label_visibility="collapsed"
        )
        if sides is not None:
            PAGES[page](here, sides)
    except RagstoneError as error:  # Streamlit shows any other error with its traceback
        st.html(notice("error", explain(error)[0]))


def _head(here: desk.Desk) -> None:
    """Draw what is open and who reads it; sizes only for a reader who may read everything."""
    groups = here.reader.groups
    if groups is None:
        status = here.kb.status()
        about = f"{count(status.documents, 'document')}, {count(status.chunks, 'chunk')}"
    else:
        about = f"read as: {', '.join(sorted(groups)) or 'a reader without groups'}"
    brand = tag("span", "Ragstone lab", at={"class": "rs-brand"})
    name = tag("b", here.kb.folder.resolve().name)
    st.html(tag("div", tag("div", brand), name, tag("div", tag("small", about))))
