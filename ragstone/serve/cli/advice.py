"""Commands that a message advises: each names the knowledge base as the user gave it, so that it can be pasted.

Messages come from all layers, and those do not know how the user named the folder.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ragstone.serve.cli.options import DEFAULT_KB
from ragstone.serve.views.blocks import Block, Cell, Line, Table, View

_ALONE = (
    "ask|chat|research|search|models|show|feedback|add|sync|crawl|remove|forget|list|status|settings|rebuild|serve"
    "|worker|mcp|lab|doctor|backup|restore"
)
_GROUPS = "history|key|user|eval|policy|index"
COMMAND = re.compile(rf"\bragstone (?:(?:{_GROUPS}) [a-z]+|(?:{_ALONE}))(?![\w./-])(?![^;,\n]*--kb)")
"""A command of a knowledge base that names none."""


def kb_of(arguments: Sequence[str]) -> str:
    """Return the folder that the arguments of a command name with ``--kb``; empty if they name none."""
    for i, word in enumerate(arguments):
        if word == "--":
            break
        if word == "--kb" and i + 1 < len(arguments):
            return arguments[i + 1]
        if word.startswith("--kb="):
            return word.removeprefix("--kb=")
    return ""


def naming(text: str, kb: Path | str) -> str:
    """Return a text whose advised commands name the knowledge base, unless it is the one that they mean anyway."""
    if str(kb) in ("", str(DEFAULT_KB)):
        return text
    return COMMAND.sub(lambda command: f"{command[0]} --kb {shlex.quote(str(kb))}", text)


def named(view: View, kb: Path) -> Iterator[Block]:
    """Yield the lines and tables of a view, whose advised commands name the knowledge base.

    Only for views without words of documents, which are shown as they are.
    """
    for block in view:
        match block:
            case Line():
                yield replace(block, parts=tuple((naming(text, kb), style) for text, style in block.parts))
            case Table():
                rows = tuple(tuple(_cell(cell, kb) for cell in row) for row in block.rows)
                yield replace(block, rows=rows)
            case _:
                yield block


def _cell(cell: Cell, kb: Path) -> Cell:
    return naming(cell, kb) if isinstance(cell, str) else cell
