"""The language models that run here, and how one of them answers."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragstone.serve.views.blocks import Block, Line, line, one_line, table

if TYPE_CHECKING:
    from ragstone.services.running import RunningServer, Trial

_NONE = (
    "No model server answers on this machine (Ollama, LM Studio, vLLM, llama.cpp). Start one, or name a model of a"
    " service with respond.model.name."
)


def servers(running: Sequence[RunningServer]) -> Iterator[Block]:
    """Show the models of each server, and how to use the first one."""
    rows = [
        (server.name_of(model), f"{model.window:,}" if model.window else "", server.address)
        for server in running
        for model in server.models
    ]
    if rows:
        yield table(("model", "window", "server"), rows)
    for server in running:
        if server.trouble:
            yield line((f"{server.kind} at {server.address}: ", "yellow"), one_line(server.trouble))
    if rows:
        yield line("To use a model: ", (use(rows[0][0]), "bold"))
        yield line("To try it first: ", (f"ragstone models --try {shlex.quote(rows[0][0])}", "bold"))
    elif not running:
        yield line(_NONE)


def trial(name: str, shown: Trial) -> Iterator[Block]:
    """Show what a model answered, how fast, and how to use it."""
    yield line((f"{name}: ", "bold"), shown.answer)
    yield line(
        f"{shown.seconds:.1f} s, first word after {shown.first_seconds:.1f} s; {shown.speed:.0f} tokens a second"
    )
    if shown.window:
        yield line(f"context window: {shown.window:,} tokens")
    yield line("It keeps to a requested form." if shown.keeps_form else "It does not keep to a requested form.")
    yield line("To use it: ", (use(name), "bold"))


def found(name: str) -> Iterator[Line]:
    """Show that a model runs on this machine."""
    yield line(("note: ", "yellow"), f"{name} runs on this machine. To let it write: {use(name)}")


def use(name: str) -> str:
    """Return the line that uses a model."""
    return f"ragstone ask QUESTION --set respond.model.name={shlex.quote(name)}"
