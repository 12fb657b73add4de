"""The commands that messages advise name the knowledge base as the user gave it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer
from running import Run

from ragstone.catalog.verify import ADD_AGAIN, RESTORE
from ragstone.serve.cli.advice import COMMAND, kb_of, naming
from ragstone.serve.cli.app import app


def commands() -> list[tuple[str, bool]]:
    """Return every command, and whether it takes ``--kb``."""
    found: list[tuple[str, bool]] = []
    group: Any = typer.main.get_command(app)
    for name, command in group.commands.items():
        for below, leaf in getattr(command, "commands", {"": command}).items():
            takes = any("--kb" in parameter.opts for parameter in leaf.params)
            found.append((f"ragstone {name} {below}".strip(), takes))
    return found


def test_every_command_of_a_knowledge_base_is_known() -> None:
    assert len(commands()) > 40
    for command, takes in commands():
        assert bool(COMMAND.fullmatch(command)) == takes, command


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (RESTORE, "restore a backup: ragstone restore --kb 'my base' SOURCE --replace"),
        (
            ADD_AGAIN,
            "remove and add them again: ragstone remove --kb 'my base' ID, then ragstone add --kb 'my base' SOURCE; or"
            " restore a backup: ragstone restore --kb 'my base' SOURCE --replace",
        ),
        ("run: ragstone index verify --mend", "run: ragstone index verify --kb 'my base' --mend"),
        ("run: ragstone forget a --kb other", "run: ragstone forget a --kb other"),
        ("ragstone presets; the package ragstone adds", "ragstone presets; the package ragstone adds"),
    ],
)
def test_names_the_base(text: str, shown: str) -> None:
    assert naming(text, Path("my base")) == shown
    assert naming(text, Path(".ragstone")) == text


@pytest.mark.parametrize(
    ("words", "kb"),
    [(["status", "--kb", "a"], "a"), (["status", "--kb=a b"], "a b"), (["ask", "--", "--kb", "a"], ""), ([], "")],
)
def test_reads_the_base_from_the_arguments(words: list[str], kb: str) -> None:
    assert kb_of(words) == kb


def test_a_damaged_base_is_named_with_what_is_missing(run: Run, kb: Path) -> None:
    other = kb.rename("other base")
    catalog = other / (other / "CURRENT").read_text().strip() / "catalog.db"
    whole = catalog.read_bytes()
    catalog.write_bytes(b"no database".ljust(len(whole)))
    for command in (("ask", "Where do visitors park?"), ("doctor",), ("status",)):
        done = run(*command, "--kb", "other base")
        assert "ragstone restore --kb 'other base' SOURCE --replace" in done.out + done.err
    (found, *_) = run("doctor", "--json", "--kb", "other base").json["findings"]
    assert "--kb 'other base'" in found["remedy"]
    catalog.unlink()
    done = run("status", "--kb", "other base")
    assert "catalog.db is missing" in done.err
    assert "ragstone restore --kb 'other base' SOURCE --replace" in done.err
    catalog.parent.rename("away")
    assert "which does not exist" in run("status", "--kb", "other base").err
