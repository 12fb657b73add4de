"""The page of the settings: each side as a preset to save, and the settings that need a rebuild."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from ragstone.core.errors import RagstoneError
from ragstone.engine.experiments.preset import as_preset
from ragstone.serve.cli.screen import explain
from ragstone.serve.lab.answers import chips, notice
from ragstone.serve.lab.desk import Desk
from ragstone.serve.lab.screens.panel import draw_input
from ragstone.serve.lab.settings import NAMES, differing, rebuild_command, save, stored_inputs
from ragstone.serve.report.drawing import draw
from ragstone.serve.report.markup import tag
from ragstone.serve.views.blocks import Row, table
from ragstone.settings import Settings
from ragstone.settings.load import written


def show(desk: Desk, sides: tuple[Settings, ...]) -> None:
    """Draw the page."""
    st.html(chips(differing(*sides), NAMES))
    for column, name, settings in zip(st.columns(len(NAMES), gap="large"), NAMES, sides, strict=True):
        with column:
            _preset(name, settings)
    _stored(desk)


def _preset(name: str, settings: Settings) -> None:
    text, file_name = as_preset(settings), f"lab-{name.lower()}.yaml"
    st.html(tag("p", tag("b", name, at={"class": f"rs-{name.lower()}"}), " as a preset: every setting it changes"))
    st.code(text, language="yaml")
    st.download_button(f"Download {name}", text, file_name, "application/yaml", key=f"download {name}")
    with st.form(f"save {name}"):
        file = st.text_input("File", file_name, key=f"file {name}")
        replace = st.checkbox("replace", key=f"replace {name}")
        if st.form_submit_button(f"Save {name}"):
            try:
                path = Path(file).expanduser()
                save(settings, path, replace=replace)
                st.html(notice("note", f"saved; use it with --preset {path.resolve()}"))
            except (RagstoneError, OSError) as error:
                st.html(notice("error", explain(error)[0]))


def _stored(desk: Desk) -> None:
    """Draw the settings that need a rebuild, and the command that changes them."""
    its = list(stored_inputs(desk.kb.settings))
    st.html(tag("p", tag("b", "Stored"), " changing one of these needs a rebuild"))
    rows: list[Row] = [((one.path, "code"), written(one.value), one.description) for one in its]
    st.html(draw([table(("setting", "value", "what it is"), rows)]))
    with st.expander("The command that rebuilds"):
        typed: dict[str, Any] = {}
        for column, one in zip([column for _ in its for column in st.columns(4)][: len(its)], its, strict=True):
            with column:
                typed[one.path] = draw_input(one, one.value, f"stored {one.path}")
        changes = {one.path: typed[one.path] for one in its if typed[one.path] != one.value}
        if changes:
            st.code(rebuild_command(desk.kb.folder, changes), language="sh", wrap_lines=True)
        else:
            st.html(tag("p", "Change a value to see the command.", at={"class": "rs-dim"}))
