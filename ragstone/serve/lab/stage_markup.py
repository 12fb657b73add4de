"""The way of chunks through the stages, as HTML."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.contracts import Trace
from ragstone.serve.lab.answer_markup import named, opened
from ragstone.serve.lab.stages import Cell, Row, Stages, shown
from ragstone.serve.report.markup import Content, Markup, table, tag


def understood(trace: Trace) -> Markup:
    """What was searched for, how many chunks each leg gave, and what the legs count."""
    asked = trace.question
    facts: list[Content] = [tag("span", tag("b", asked.text), at={"class": "rs-chip"})]
    facts += [
        _chip("also", text) for text in (*asked.variations, *((asked.asked,) if asked.asked != asked.text else ()))
    ]
    told = [
        ("language", asked.language),
        ("after", "" if asked.analysis.intent == "other" else asked.analysis.intent),
        *((shown(name), f"{count:,} found, weight {trace.weights[name]:.2f}") for name, count in trace.found.items()),
    ]
    facts += [_chip(name, value) for name, value in told if value]
    return tag("p", facts, at={"class": "rs-chips"})


def stage_table(it: Stages) -> Markup:
    """A row a chunk, a column a stage: rank, score, and an arrow for how far the stage moved it."""
    columns = ["chunk", *(shown(name) for name in it.names)]
    whole = table(columns, [_row(row) for row in it.rows], numbers=range(1, len(columns)))
    return tag("div", whole, at={"class": "rs-stages"})


def _row(row: Row) -> Sequence[Content]:
    notes = dict.fromkeys(cell.note for cell in row.cells if cell and cell.note)
    fate = tag("small", f" {row.fate}", at={"class": "rs-fate" if row.place else "rs-dim"})
    title, beginning = named(row.chunk)
    name = (tag("b", title) if row.place else title, beginning)
    told = [tag("div", tag("small", note)) for note in notes]
    return [opened(name, fate, row.chunk, told), *(_cell(cell) for cell in row.cells)]


def _cell(cell: Cell | None) -> Content:
    if cell is None:
        return tag("span", "–", at={"class": "rs-dim"})
    moved: Content = ""
    if cell.moved:
        up = cell.moved > 0
        moved = tag("span", f"{'▲' if up else '▼'}{abs(cell.moved)} ", at={"class": "rs-up" if up else "rs-down"})
    score = "" if cell.score is None else tag("small", f" {cell.score:.3f}")
    return tag("span", moved, tag("b", str(cell.rank)), score, at={"title": cell.note})


def _chip(name: str, value: str) -> Markup:
    return tag("span", tag("small", f"{name} "), value, at={"class": "rs-chip"})
