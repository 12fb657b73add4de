"""The settings of both sides, at the left of every page. What was changed lives in the session, not in the widgets:
only one side's are drawn at a time."""

from __future__ import annotations

from typing import Any

import streamlit as st

from ragstone.config import preset_names, written
from ragstone.errors import RagstoneError, SettingsError
from ragstone.sections import Settings
from ragstone.serve.failures import explain
from ragstone.serve.lab.answer_markup import notice
from ragstone.serve.lab.desk import Desk
from ragstone.serve.lab.inputs import TITLES, Input, inputs, sections
from ragstone.serve.lab.screens.widgets import draw, plain
from ragstone.serve.lab.sides import NAMES, changes_of, settings_of
from ragstone.serve.report.markup import tag

_AS_OPENED = "as opened"


def show(desk: Desk) -> tuple[Settings, ...] | None:
    """Draw the settings of one side; gives those of both, or nothing where one of them is wrong."""
    side = st.segmented_control("Settings of", NAMES, default=NAMES[0], required=True, key="side")
    changes, generation = changes_on(side), st.session_state.setdefault(f"generation {side}", 0)
    _beginning(desk, side)
    wanted = st.text_input("Find a setting", key="find", placeholder="name or description").lower()
    for section, its in sections(inputs(desk.settings)).items():
        found = [one for one in its if wanted in f"{one.path} {one.description}".lower()]
        if found:
            _section(section, found, changes, f"{side} {generation}", opened=bool(wanted))
    _changed(side, changes, sections(inputs(desk.settings)))
    return _settings(desk.settings)


def changes_on(side: str) -> dict[str, Any]:
    """What was changed on a side, in this session."""
    return st.session_state.setdefault(f"changes {side}", {})


def _section(section: str, its: list[Input], changes: dict[str, Any], key: str, *, opened: bool) -> None:
    count = sum(one.path in changes for one in its)
    title = TITLES.get(section, section)
    with st.expander(f"{plain(title)} :small[:orange[{count} changed]]" if count else plain(title), expanded=opened):
        for one in its:
            try:
                value = draw(one, changes.get(one.path, one.value), f"{key} {one.path}")
            except SettingsError as error:
                st.html(notice("error", str(error)))
                continue
            if value == one.value:
                changes.pop(one.path, None)
            else:
                changes[one.path] = value


def _beginning(desk: Desk, side: str) -> None:
    """Begin anew: with the settings of a preset, or of the other side."""
    other = NAMES[1 - NAMES.index(side)]
    with st.popover("Begin with …", width="stretch"):
        chosen = st.selectbox(
            "Preset",
            [_AS_OPENED, "default", *preset_names()],
            key=f"preset {side}",
            accept_new_options=True,
            help="As far as it needs no rebuild. A YAML file may be named by its path.",
        )
        if st.button(f"Set {side} to it", key=f"take {side}", width="stretch"):
            try:
                _replace(side, {} if chosen == _AS_OPENED else changes_of(desk.settings, chosen or _AS_OPENED))
            except RagstoneError as error:
                st.html(notice("error", explain(error)[0]))
        if st.button(f"Copy {other} to {side}", key=f"copy {side}", width="stretch"):
            _replace(side, dict(changes_on(other)))


def _replace(side: str, changes: dict[str, Any]) -> None:
    st.session_state[f"changes {side}"] = changes
    st.session_state[f"generation {side}"] += 1  # widgets with other keys begin with the new values
    st.rerun()


def _changed(side: str, changes: dict[str, Any], all_inputs: dict[str, list[Input]]) -> None:
    """What this side changes, and the way back."""
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
    found = []
    for side in NAMES:
        try:
            found.append(settings_of(base, changes_on(side)))
        except SettingsError as error:
            st.html(notice("error", f"{side}: {error}"))
    return tuple(found) if len(found) == len(NAMES) else None
