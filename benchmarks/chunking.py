"""How well the chunks that are found cover the words that answer, for every strategy and several sizes.

The questions have exact quotes (Chroma's chunking evaluation). Recall is the share of the quoted characters that the
found chunks contain, precision the share of the chunks' characters that are quoted, and IoU the intersection of both
over their union. Small chunks are precise; what matters is the recall for the characters read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.bases import NO_CACHE, opened
from benchmarks.common import Options, Result, Table, main, progress, skipped
from ragstone.core.access import OWNER
from ragstone.core.records import Hit
from ragstone.engine.experiments import add_corpus
from ragstone.review.dataset import Dataset, Query, load

SET = "chunking_eval"
READ = 5
"""The number of chunks that an answer would use."""
BUDGET = 4000
"""The number of characters of the best chunks at which sizes are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Means over questions, of the best `READ` chunks and, for one recall, of the first `BUDGET` characters."""

    recall: float
    precision: float
    iou: float
    recall_in_budget: float
    characters: float


async def measure(options: Options) -> Result:
    folder = options.folder(SET)
    if folder is None:
        return skipped(f"chunking needs the data set {SET}")
    dataset = load(folder)
    figures: dict[str, dict[str, float]] = {}
    for name, settings in _variants(quick=options.quick):
        progress(f"chunking: {name}")
        result = await _covered(dataset, options.keep / f"chunking-{name.replace(' ', '-')}", settings, options.quick)
        figures[name] = {part: round(getattr(result, part), 4) for part in result.__slots__}
    return report(figures)


def report(figures: dict[str, dict[str, float]]) -> Result:
    """Return the figures as a table."""
    rows = [
        [
            name,
            *(f"{own[part]:.3f}" for part in ("recall", "precision", "iou", "recall_in_budget")),
            f"{own['characters']:,.0f}",
        ]
        for name, own in figures.items()
    ]
    columns = [
        "chunks",
        f"recall@{READ}",
        f"precision@{READ}",
        f"IoU@{READ}",
        f"recall in {BUDGET:,} characters",
        f"characters read@{READ}",
    ]
    return Result(
        figures=figures,
        tables=[Table(title=f"{SET}: coverage of quoted spans", columns=columns, rows=rows)],
    )


def _variants(*, quick: bool) -> Iterator[tuple[str, list[str]]]:
    sizes = (800,) if quick else (400, 800, 1200, 2000)
    for strategy, size in product(("sliding_window", "sentence", "paragraph", "recursive", "structure"), sizes):
        yield f"{strategy} {size}", [f"chunk.strategy={strategy}", f"chunk.size={size}", f"chunk.overlap={size // 8}"]
    for size in () if quick else (128, 256, 512):
        tokens = ["chunk.unit=tokens", f"chunk.size={size}", f"chunk.overlap={size // 10}"]
        yield f"structure {size} tokens", ["chunk.strategy=structure", *tokens]


async def _covered(dataset: Dataset, folder: Path, settings: Sequence[str], quick: bool) -> Coverage:
    with opened(folder, (*NO_CACHE, *settings)) as engine:
        await add_corpus(engine, dataset)
        queries = dataset.queries[:: 8 if quick else 1]
        found = [(query, await engine.search(query.text, 40, reader=OWNER)) for query in queries]
    values = [_of(query, hits) for query, hits in found]
    return Coverage(**{part: float(np.mean([getattr(v, part) for v in values])) for part in Coverage.__slots__})


def _of(query: Query, hits: Sequence[Hit]) -> Coverage:
    document = query.id.rpartition("-")[0]
    quoted = _characters(document, ((span["start"], span["end"]) for span in query.extras["spans"]))
    best = hits[:READ]
    read = _held(best)
    both = len(quoted & read)
    in_budget = _held(_within(hits, BUDGET))
    return Coverage(
        recall=both / len(quoted),
        precision=both / max(sum(len(hit.chunk.text) for hit in best), 1),
        iou=both / len(quoted | read),
        recall_in_budget=len(quoted & in_budget) / len(quoted),
        characters=sum(len(hit.chunk.text) for hit in best),
    )


def _held(hits: Iterable[Hit]) -> set[tuple[str, int]]:
    held: set[tuple[str, int]] = set()
    return held.union(*(_characters(hit.chunk.document_id, [(hit.chunk.start, hit.chunk.end)]) for hit in hits))


def _within(hits: Sequence[Hit], budget: int) -> Iterator[Hit]:
    for hit in hits:
        budget -= len(hit.chunk.text)
        if budget < 0:
            return
        yield hit


def _characters(document: str, spans: Iterable[tuple[int, int]]) -> set[tuple[str, int]]:
    return {(document, i) for start, end in spans for i in range(start, end)}


if __name__ == "__main__":
    main({"chunking": measure}, "chunking")
