"""Inputs of settings as widgets of Streamlit."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from ragstone.config import written
from ragstone.serve.lab.inputs import Input

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def plain(text: str) -> str:
    """A text that Streamlit would read as Markdown, so that it is shown as it stands."""
    return _PUNCTUATION.sub(r"\\\1", text)


def draw(one: Input, value: Any, key: str) -> Any:
    """The widget of a setting, which begins with a value; gives what was put in."""
    shown = one.shown(value)
    changed = value != one.value
    label = f"**{plain(one.label)}** :small[:orange[changed]]" if changed else plain(one.label)
    told = f"{plain(one.description)}  \n`{one.path}`, default {plain(written(one.default) or 'empty')}"
    if one.word:
        if st.checkbox(f"{label}: {one.word}", value=shown == one.word, key=f"{key}/word", help=told):
            return one.word
        shown = 0.5 if shown == one.word else shown
    return one.read(_widget(one, label, told, shown, key))


def _widget(one: Input, label: str, told: str, shown: Any, key: str) -> Any:
    low, high = (None if end is None else int(end) if one.whole else float(end) for end in (one.low, one.high))
    step = int(one.step) if one.whole else float(one.step)
    match one.kind:
        case "toggle":
            return st.toggle(label, value=shown, key=key, help=told)
        case "choice":
            return st.selectbox(label, one.options, index=one.options.index(shown), key=key, help=told)
        case "slider":
            return st.slider(label, low, high, shown, step, key=key, help=told)
        case "number":
            form = None if one.whole else "%g"
            return st.number_input(label, low, high, shown, step, form, key=key, help=told)
        case "text":
            return st.text_input(label, shown, key=key, help=told)
        case "lines" | "yaml":
            return st.text_area(label, shown, height=80, key=key, help=told)
