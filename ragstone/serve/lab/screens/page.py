"""The frame of the lab: its style, the settings at the left, the pages."""

from __future__ import annotations

from importlib.resources import files

import streamlit as st

from ragstone.errors import RagstoneError
from ragstone.serve.failures import explain
from ragstone.serve.lab import desk
from ragstone.serve.lab.answer_markup import notice
from ragstone.serve.lab.screens import both, evaluate, keep, learning, panel, way
from ragstone.serve.report.markup import Markup, tag

PAGES = {
    "Side by side": both.show,
    "Stages": way.show,
    "Evaluate": evaluate.show,
    "Learning": learning.show,
    "Settings and preset": keep.show,
}


def show() -> None:
    """Draw everything, once for each click."""
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
    except RagstoneError as error:  # anything else is a fault of ours, and shown as one
        st.html(notice("error", explain(error)[0]))


def _head(here: desk.Desk) -> None:
    """What is open, and who reads; how much there is, only where everything may be read."""
    groups = here.reader.groups
    if groups is None:
        status = here.status()
        told = f"{status.documents:,} documents, {status.chunks:,} chunks"
    else:
        told = f"read by {', '.join(sorted(groups)) or 'a reader of no group'}"
    brand = tag("span", "Ragstone lab", at={"class": "rs-brand"})
    name = tag("b", here.folder.resolve().name)
    st.html(tag("div", tag("div", brand), name, tag("div", tag("small", told))))
