"""How well do the chunks that are found cover the words that answer, for every strategy and several sizes?

Questions with exact quotes (Chroma's chunking evaluation). Of the chunks found, the share of the quoted characters
they hold is recall, the share of their characters that are quoted precision, and the size of both together against
their union IoU. Small chunks are precise; what matters is recall for the characters read.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.common import Options, Result, Table, main, skipped, told
from ragstone.contracts import Hit
from ragstone.engine import Engine
from ragstone.experiment import add_corpus
from ragstone.review.dataset import Dataset, Query, load

SET = "chunking_eval"
READ = 5
"""Chunks that an answer would rest on."""
BUDGET = 4000
"""Characters, of the best chunks, at which strategies of different sizes are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Means over questions: of the best `READ` chunks, and recall of the first `BUDGET` characters of chunks."""

    recall: float
    precision: float
    iou: float
    recall_in_budget: float
    characters: float


async def measure(options: Options) -> Result:
    if options.data is None:
        return skipped("chunking needs the data set chunking_eval")
    dataset = load(options.data / SET)
    figures: dict[str, dict[str, float]] = {}
    for name, settings in _variants(quick=options.quick):
        told(f"chunking: {name}")
        result = await _covered(dataset, options.keep / f"chunking-{name.replace(' ', '-')}", settings, options.quick)
        figures[name] = {part: round(getattr(result, part), 4) for part in result.__slots__}
    return report(figures)


def report(figures: dict[str, dict[str, float]]) -> Result:
    """The figures as a table and a plot."""
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
        plot=_plot(figures),
        tables=[Table(title=f"{SET}: coverage of quoted spans", columns=columns, rows=rows)],
    )


def _plot(figures: dict[str, dict[str, float]]) -> str:
    """Recall of the best chunks for the characters read, a line for each strategy."""
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "ragstone"
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, own in figures.items():
        strategy, _, size = name.partition(" ")
        label = f"{strategy}, tokens" if size.endswith("tokens") else strategy
        lines.setdefault(label, []).append((own["characters"], own["recall"]))
    figure, axes = plt.subplots(figsize=(7, 4))
    for label, points in lines.items():
        axes.plot(*zip(*sorted(points), strict=True), marker="o", label=label)
    axes.set(xlabel=f"characters of the best {READ} chunks", ylabel="share of the quoted characters they hold")
    axes.legend()
    axes.grid(alpha=0.3)
    out = io.StringIO()
    figure.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    return out.getvalue()


def _variants(*, quick: bool) -> Iterator[tuple[str, list[str]]]:
    sizes = (800,) if quick else (400, 800, 1200, 2000)
    for strategy, size in product(("sliding_window", "sentence", "paragraph", "recursive", "structure"), sizes):
        yield f"{strategy} {size}", [f"chunk.strategy={strategy}", f"chunk.size={size}", f"chunk.overlap={size // 8}"]
    for size in () if quick else (128, 256, 512):
        settings = [
            "chunk.strategy=structure",
            "chunk.unit=tokens",
            f"chunk.size={size}",
            f"chunk.overlap={size // 10}",
        ]
        yield f"structure {size} tokens", settings


async def _covered(dataset: Dataset, folder, settings: Sequence[str], quick: bool) -> Coverage:
    with closing(Engine.open(folder, ("cache.enabled=false", *settings), create=True)) as engine:
        await add_corpus(engine, dataset)
        queries = dataset.queries[:: 8 if quick else 1]
        found = [(query, await engine.search(query.text, 40)) for query in queries]
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
    return set().union(*(_characters(hit.chunk.document_id, [(hit.chunk.start, hit.chunk.end)]) for hit in hits))


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
