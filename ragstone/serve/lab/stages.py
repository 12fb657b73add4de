"""Which way each chunk took through the stages of a search: ranks, scores, and how far each stage moved it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ragstone.contracts import Chunk, Hit, Step, Trace

FUSION, EVIDENCE = "fusion", "evidence"
_LEGS = {"vector": "vectors", "bm25": "keywords"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A chunk at a stage: its rank, and by how many places the stage moved it up (or, below 0, down)."""

    rank: int
    score: float | None = None
    note: str = ""
    moved: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A chunk's way; a stage it did not reach has no cell. ``place`` is its place in the evidence."""

    chunk: Chunk
    cells: tuple[Cell | None, ...]
    place: int | None
    fate: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """The names of the stages, in order, and the chunks: those in the evidence first, then by fusion."""

    names: tuple[str, ...]
    rows: tuple[Row, ...]


def stages(trace: Trace) -> Stages:
    """The table of a search."""
    chosen = {hit.chunk.id: place for place, hit in enumerate(trace.evidence.hits, start=1)}
    latest = {hit.chunk.id: hit for hit in (*trace.fused, *trace.ranked, *trace.evidence.hits)}
    names = _names(latest.values())
    ranked = {hit.chunk.id for hit in trace.ranked}
    rows = []
    for id, hit in latest.items():
        place = chosen.get(id)
        host = None if place else _host(hit.chunk, trace.evidence.hits)
        if place is not None:
            fate = f"evidence {place}"
        elif host is not None:
            fate = f"joined into evidence {host}"
        else:
            fate = "not chosen" if id in ranked else "beyond the pool"
        rows.append(Row(chunk=hit.chunk, cells=_cells(hit, names, place), place=place, fate=fate))
    rows.sort(key=lambda row: (row.place is None, row.place or 0))
    return Stages(names=(*names, EVIDENCE), rows=tuple(rows))


def shown(stage: str) -> str:
    """A stage's name as people read it."""
    name, _, number = stage.partition(" ")
    return " ".join(filter(None, (_LEGS.get(name, name), number)))


def _names(hits: Collection[Hit]) -> tuple[str, ...]:
    """All stages that any hit went through: the legs, then fusion, then what came after."""
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
    legs = sorted((name for name in found if name in before), key=lambda name: (name.split(" ")[1:], name))
    return (*legs, FUSION, *(name for name in found if name in after))


def _cells(hit: Hit, names: Sequence[str], place: int | None) -> tuple[Cell | None, ...]:
    steps = {step.stage: step for step in hit.why}
    cells: list[Cell | None] = []
    last: int | None = None
    for name in names:
        step: Step | None = steps.get(name)
        if step is None:
            cells.append(None)
            continue
        cells.append(Cell(rank=step.rank, score=step.score, note=step.note, moved=_moved(last, step.rank)))
        if name == FUSION or last is not None:
            last = step.rank
    cells.append(None if place is None else Cell(rank=place, moved=_moved(last, place)))
    return tuple(cells)


def _moved(before: int | None, now: int) -> int | None:
    return None if before is None else before - now


def _host(chunk: Chunk, evidence: Sequence[Hit]) -> int | None:
    """The place of the evidence that a chunk was joined into."""
    for place, hit in enumerate(evidence, start=1):
        own = hit.chunk
        if own.document_id == chunk.document_id and own.start <= chunk.start and chunk.end <= own.end:
            return place
    return None
