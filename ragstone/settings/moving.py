"""What becomes of the commands, files, variables and settings of other systems, by preset."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from pydantic import TypeAdapter

from ragstone.settings.yaml_text import read_yaml


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What a system has, and what does the same here, both in Markdown."""

    there: str
    here: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """The system that a preset stands for, and what becomes of its parts."""

    title: str
    rows: tuple[Row, ...]


def moves() -> dict[str, Move]:
    """Return the move to each built-in preset, by its name."""
    text = files("ragstone.settings").joinpath("moving.yaml").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, Move]).validate_python(read_yaml(text))
