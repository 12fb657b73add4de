"""The way of each chunk through the stages of a search: ranks, scores, and how far each stage moved it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ragstone.core.frozen import frozen
from ragstone.core.records import Chunk, Hit, Step, Trace
from ragstone.serve.lab.answers import named, opened
from ragstone.serve.report.markup import Content, Markup, table, tag

FUSION, EVIDENCE = "fusion", "evidence"
_SEARCHES = {"vector": "vectors", "bm25": "keywords"}


@frozen
class StageCell:
    """A chunk at a stage: its rank, and how many places the stage moved it up (negative: down)."""

    rank: int
    score: float | None = None
    note: str = ""
    moved: int | None = None


@frozen
class StageRow:
    """A chunk with a cell for each stage it reached; ``place`` is its rank in the evidence."""

    chunk: Chunk
    cells: tuple[StageCell | None, ...]
    place: int | None
    fate: str


@frozen
class Stages:
    """The stages in order, and the chunks: those in the evidence first, then by fusion."""

    names: tuple[str, ...]
    rows: tuple[StageRow, ...]


def stages(trace: Trace) -> Stages:
    """Return the table of a search."""
    chosen = {hit.chunk.id: place for place, hit in enumerate(trace.evidence.hits, start=1)}
    latest = {hit.chunk.id: hit for hit in (*trace.fused, *trace.ranked, *trace.evidence.hits)}
    names = _names(latest.values())
    ranked = {hit.chunk.id for hit in trace.ranked}
    rows: list[StageRow] = []
    for id, hit in latest.items():
        place = chosen.get(id)
        host = None if place else _host(hit.chunk, trace.evidence.hits)
        if place is not None:
            fate = f"evidence {place}"
        elif host is not None:
            fate = f"joined into evidence {host}"
        else:
            fate = "not chosen" if id in ranked else "beyond the pool"
        rows.append(StageRow(chunk=hit.chunk, cells=_cells(hit, names, place), place=place, fate=fate))
    rows.sort(key=lambda row: (row.place is None, row.place or 0))
    return Stages(names=(*names, EVIDENCE), rows=tuple(rows))


def stage_name(stage: str) -> str:
    """Return a stage's name as people read it."""
    name, _, number = stage.partition(" ")
    return " ".join(filter(None, (_SEARCHES.get(name, name), number)))


def _names(hits: Collection[Hit]) -> tuple[str, ...]:
    """Return all stages that any hit went through: the searches, fusion, and what follows."""
    found = dict.fromkeys(step.stage for hit in hits for step in hit.why)
    before: dict[str, None] = {}
    after: dict[str, None] = {}
    for hit in hits:
        reached = after
        for step in reversed(hit.why):
            if step.stage == FUSION:
                reached = before
            else:
                reached[step.stage] = None
    searches = sorted((name for name in found if name in before), key=lambda name: (name.split(" ")[1:], name))
    return (*searches, FUSION, *(name for name in found if name in after))


def _cells(hit: Hit, names: Sequence[str], place: int | None) -> tuple[StageCell | None, ...]:
    steps = {step.stage: step for step in hit.why}
    cells: list[StageCell | None] = []
    last: int | None = None
    for name in names:
        step: Step | None = steps.get(name)
        if step is None:
            cells.append(None)
            continue
        cells.append(StageCell(rank=step.rank, score=step.score, note=step.note, moved=_moved(last, step.rank)))
        if name == FUSION or last is not None:
            last = step.rank
    cells.append(None if place is None else StageCell(rank=place, moved=_moved(last, place)))
    return tuple(cells)


def _moved(before: int | None, now: int) -> int | None:
    return None if before is None else before - now


def _host(chunk: Chunk, evidence: Sequence[Hit]) -> int | None:
    """Return the rank of the evidence that a chunk was joined into."""
    for place, hit in enumerate(evidence, start=1):
        own = hit.chunk
        if own.document_id == chunk.document_id and own.start <= chunk.start and chunk.end <= own.end:
            return place
    return None


# ---------------------------------------------------------------- as HTML


def understood(trace: Trace) -> Markup:
    """Show what was searched for, how many chunks each search found, and the weight of each."""
    asked = trace.evidence.question
    typed, meant = asked.wording.typed, asked.wording.text
    also = (*asked.wording.variations, *((typed,) if typed != meant else ()))
    facts = [
        *(("also", text) for text in also),
        ("language", asked.language),
        ("kind", asked.kind),
        ("difficulty", asked.difficulty),
        *((entity.kind, entity.text) for entity in asked.entities),
        *(
            (stage_name(name), f"{number:,} found, weight {trace.weights[name]:.2f}")
            for name, number in trace.found.items()
        ),
    ]
    chips = [tag("span", tag("small", f"{name} "), value, at={"class": "rs-chip"}) for name, value in facts if value]
    return tag("p", tag("span", tag("b", meant), at={"class": "rs-chip"}), chips, at={"class": "rs-chips"})


def stage_table(it: Stages) -> Markup:
    """Show a row for each chunk and a column for each stage: rank, score, and how far the stage moved it."""
    columns = ["chunk", *(stage_name(name) for name in it.names)]
    whole = table(columns, [_row(row) for row in it.rows], numbers=range(1, len(columns)))
    return tag("div", whole, at={"class": "rs-stages"})


def _row(row: StageRow) -> Sequence[Content]:
    notes = dict.fromkeys(cell.note for cell in row.cells if cell and cell.note)
    fate = tag("small", f" {row.fate}", at={"class": "rs-fate" if row.place else "rs-dim"})
    title, beginning = named(row.chunk)
    name = (tag("b", title) if row.place else title, beginning)
    details = [tag("div", tag("small", note)) for note in notes]
    return [opened(name, fate, row.chunk, details), *(_cell(cell) for cell in row.cells)]


def _cell(cell: StageCell | None) -> Content:
    if cell is None:
        return tag("span", "–", at={"class": "rs-dim"})
    moved: Content = ""
    if cell.moved:
        up = cell.moved > 0
        moved = tag("span", f"{'▲' if up else '▼'}{abs(cell.moved)} ", at={"class": "rs-up" if up else "rs-down"})
    score = "" if cell.score is None else tag("small", f" {cell.score:.3f}")
    return tag("span", moved, tag("b", str(cell.rank)), score, at={"title": cell.note})
