"""The settings of both sides, at the left of every page.

The session holds the changes, because the page draws the inputs of only one side at a time.
"""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from ragstone.core.errors import RagstoneError, SettingsError
from ragstone.serve.cli.screen import explain
from ragstone.serve.lab.answers import notice
from ragstone.serve.lab.desk import Desk
from ragstone.serve.lab.settings import NAMES, TITLES, Input, changes_of, inputs, sections, settings_of
from ragstone.serve.report.markup import tag
from ragstone.settings import Settings
from ragstone.settings.load import preset_names, written

_AS_OPENED = "as opened"


def show(desk: Desk) -> tuple[Settings, ...] | None:
    """Draw the settings of one side; return those of both sides, or None if one is wrong."""
    side = st.segmented_control("Settings of", NAMES, default=NAMES[0], required=True, key="side")
    changes, generation = changes_on(side), st.session_state.setdefault(f"generation {side}", 0)
    _beginning(desk, side)
    wanted = st.text_input("Find a setting", key="find", placeholder="name or description").lower()
    for section, its in sections(inputs(desk.kb.settings)).items():
        found = [one for one in its if wanted in f"{one.path} {one.description}".lower()]
        if found:
            _section(section, found, changes, f"{side} {generation}", opened=bool(wanted))
    _changed(side, changes, sections(inputs(desk.kb.settings)))
    return _settings(desk.kb.settings)


def changes_on(side: str) -> dict[str, Any]:
    """Return the settings that a side changes, in this session."""
    return st.session_state.setdefault(f"changes {side}", {})


def _section(section: str, its: list[Input], changes: dict[str, Any], key: str, *, opened: bool) -> None:
    count = sum(one.path in changes for one in its)
    title = TITLES.get(section, section)
    with st.expander(f"{plain(title)} :small[:orange[{count} changed]]" if count else plain(title), expanded=opened):
        for item in its:
            try:
                value = draw_input(item, changes.get(item.path, item.value), f"{key} {item.path}")
            except SettingsError as error:
                st.html(notice("error", str(error)))
                continue
            if value == item.value:
                changes.pop(item.path, None)
            else:
                changes[item.path] = value


def _beginning(desk: Desk, side: str) -> None:
    """Draw the buttons that replace the settings by those of a preset or of the other side."""
    other = NAMES[1 - NAMES.index(side)]
    with st.popover("Begin with …", width="stretch"):
        chosen = st.selectbox(
            "Preset",
            [_AS_OPENED, "default", *preset_names()],
            key=f"preset {side}",
            accept_new_options=True,
            help="Without the settings that need a rebuild. Type the path of a YAML file to use it.",
        )
        if st.button(f"Set {side} to it", key=f"take {side}", width="stretch"):
            try:
                _replace(side, {} if chosen == _AS_OPENED else changes_of(desk.kb.settings, chosen or _AS_OPENED))
            except RagstoneError as error:
                st.html(notice("error", explain(error)[0]))
        if st.button(f"Copy {other} to {side}", key=f"copy {side}", width="stretch"):
            _replace(side, dict(changes_on(other)))


def _replace(side: str, changes: dict[str, Any]) -> None:
    st.session_state[f"changes {side}"] = changes
    st.session_state[f"generation {side}"] += 1  # widgets with new keys start with the new values
    st.rerun()


def _changed(side: str, changes: dict[str, Any], all_inputs: dict[str, list[Input]]) -> None:
    """Draw what this side changes, and the button that resets it."""
    if not changes:
        return
    base = {one.path: one.value for its in all_inputs.values() for one in its}
    lines = [
        tag("div", tag("code", path), f" {written(base[path])} → ", tag("b", written(value)))
        for path, value in changes.items()
    ]
    st.html(tag("div", tag("small", f"{side} changes"), lines))
    if st.button(f"Reset {side}", key=f"reset {side}"):
        _replace(side, {})


def _settings(base: Settings) -> tuple[Settings, ...] | None:
    chosen: list[Settings] = []
    for side in NAMES:
        try:
            chosen.append(settings_of(base, changes_on(side)))
        except SettingsError as error:
            st.html(notice("error", f"{side}: {error}"))
    return tuple(chosen) if len(chosen) == len(NAMES) else None


# ---------------------------------------------------------------- inputs

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def plain(text: str) -> str:
    """Return a text that Streamlit shows as it is, although it reads Markdown."""
    return _PUNCTUATION.sub(r"\\\1", text)


def draw_input(item: Input, value: Any, key: str) -> Any:
    """Draw the input of a setting and return its value."""
    shown = item.shown(value)
    changed = value != item.value
    label = f"**{plain(item.label)}** :small[:orange[changed]]" if changed else plain(item.label)
    help_text = f"{plain(item.description)}  \n`{item.path}`, default {plain(written(item.default) or 'empty')}"
    if item.word:
        if st.checkbox(f"{label}: {item.word}", value=shown == item.word, key=f"{key}/word", help=help_text):
            return item.word
        shown = 0.5 if shown == item.word else shown
    return item.read(_widget(item, label, help_text, shown, key))


def _widget(item: Input, label: str, help_text: str, shown: Any, key: str) -> Any:
    low, high = (None if end is None else int(end) if item.whole else float(end) for end in (item.low, item.high))
    step = int(item.step) if item.whole else float(item.step)
    match item.kind:
        case "toggle":
            return st.toggle(label, value=shown, key=key, help=help_text)
        case "choice":
            return st.selectbox(label, item.options, index=item.options.index(shown), key=key, help=help_text)
        case "slider":
            return st.slider(label, low, high, shown, step, key=key, help=help_text)
        case "number":
            form = None if item.whole else "%g"
            return st.number_input(label, low, high, shown, step, form, key=key, help=help_text)
        case "text":
            return st.text_input(label, shown, key=key, help=help_text)
        case "lines" | "yaml":
            return st.text_area(label, shown, height=80, key=key, help=help_text)
