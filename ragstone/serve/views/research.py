"""The steps of research as lines: what it is expected to cost, and what each action found."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.core.printable import one_line
from ragstone.core.research import ActionTaken, Forecast
from ragstone.serve.views.blocks import Line, line

SHOWN = 3
"""Titles of new passages that a line shows."""


def progress(event: Forecast | ActionTaken) -> Iterator[Line]:
    """Show the forecast or an action as one line."""
    yield line((step(event), "dim"))


def step(event: Forecast | ActionTaken) -> str:
    """Return the forecast or an action in one line."""
    if isinstance(event, Forecast):
        return _forecast(event)
    titles = ", ".join(event.titles[:SHOWN])
    more = f" and {len(event.titles) - SHOWN} more" if len(event.titles) > SHOWN else ""
    passages = "1 new passage" if event.new == 1 else f"{event.new} new passages"
    new = f"{passages}: {titles}{more}" if titles else "nothing new"
    by = " (planned by the model)" if event.by_model else ""
    problem = f"; {event.note}" if event.note else ""
    return one_line(f"{event.action}{by}: {new}{problem}")


def _forecast(event: Forecast) -> str:
    actions = "1 search" if event.actions == 1 else f"{event.actions} searches"
    calls = "no model call" if not event.calls else f"{event.calls} model calls with {event.tokens:,} tokens"
    money = f" for {event.cost:.4f}" if event.cost else ""
    most = event.budget
    limit = f"at most {most.actions} searches and {most.seconds:g} s"
    if event.calls:
        limit += f", {most.calls} calls and {most.tokens:,} tokens"
    return f"{event.effort}: about {actions}, {calls}{money}; {limit}"
