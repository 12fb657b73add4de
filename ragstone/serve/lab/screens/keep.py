"""Settings and preset: what a side sets, as YAML to download or to save; and what would need a rebuild."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from ragstone.config import written
from ragstone.errors import RagstoneError
from ragstone.experiment.preset import as_preset
from ragstone.sections import Settings
from ragstone.serve.failures import explain
from ragstone.serve.lab.answer_markup import chips, notice
from ragstone.serve.lab.desk import Desk
from ragstone.serve.lab.inputs import stored_inputs
from ragstone.serve.lab.screens.widgets import draw
from ragstone.serve.lab.sides import NAMES, differing, rebuild_command, save
from ragstone.serve.report.markup import table, tag


def show(desk: Desk, sides: tuple[Settings, ...]) -> None:
    """Draw the page."""
    st.html(chips(differing(*sides), NAMES))
    for column, name, settings in zip(st.columns(len(NAMES), gap="large"), NAMES, sides, strict=True):
        with column:
            _preset(name, settings)
    _stored(desk)


def _preset(name: str, settings: Settings) -> None:
    text = as_preset(settings)
    st.html(
        tag("p", tag("b", name, at={"class": f"rs-{name.lower()}"}), " as a preset: all that differs from the defaults")
    )
    st.code(text, language="yaml")
    st.download_button(f"Download {name}", text, f"lab-{name.lower()}.yaml", "application/yaml", key=f"download {name}")
    with st.form(f"save {name}"):
        file = st.text_input("File", f"lab-{name.lower()}.yaml", key=f"file {name}")
        replace = st.checkbox("replace", key=f"replace {name}")
        if st.form_submit_button(f"Save {name}"):
            try:
                path = Path(file).expanduser()
                save(settings, path, replace=replace)
                st.html(notice("note", f"saved; use it with --preset {path.resolve()}"))
            except (RagstoneError, OSError) as error:
                st.html(notice("error", explain(error)[0]))


def _stored(desk: Desk) -> None:
    """The settings that decide what is stored, and the command that changes them."""
    its = list(stored_inputs(desk.settings))
    st.html(
        tag(
            "p",
            tag("b", "Stored with"),
            " these decide what is stored; to change them, everything is cut and embedded anew",
        )
    )
    rows = [[tag("code", one.path), written(one.value), one.description] for one in its]
    st.html(table(["setting", "value", "what it is"], rows))
    with st.expander("The command that rebuilds"):
        put_in = {}
        for column, one in zip([column for _ in its for column in st.columns(4)][: len(its)], its, strict=True):
            with column:
                put_in[one.path] = draw(one, one.value, f"stored {one.path}")
        changes = {one.path: put_in[one.path] for one in its if put_in[one.path] != one.value}
        if changes:
            st.code(rebuild_command(desk.folder, changes), language="sh", wrap_lines=True)
        else:
            st.html(tag("p", "Change a value, and the command is shown.", at={"class": "rs-dim"}))
