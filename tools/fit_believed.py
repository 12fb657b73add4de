"""Fit `ragstone.respond.tables.cell_model.BELIEF`: what the trained reader's word adds to the probability of a cell.

    RAGSTONE_TEST_DATA=... python -m tools.fit_believed [--keep DIR]

The cells are those that are looked up for the questions of `tools.fit_tables`, and for those about small tables in
documents that the reader was not trained on. The sets have the same weight, but for those without the tables that
answer. Each is measured with coefficients fitted to the others; the last line has those fitted to all.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.bases import Parts, opened
from benchmarks.common import progress
from benchmarks.judge import auc
from benchmarks.logistic import fit, probabilities
from benchmarks.table_sets import TRAIN
from benchmarks.written import WrittenQuestion, written
from ragstone.core.protocols import PassageReader
from ragstone.core.request import Request
from ragstone.core.timing import Timings
from ragstone.engine.search import Search
from ragstone.index import build_passage_model
from ragstone.question import read
from ragstone.respond.reader import readings
from ragstone.respond.tables.asked import Asked
from ragstone.respond.tables.cell_model import log_odds
from ragstone.respond.tables.features import cells_of
from ragstone.respond.tables.lookup import Looked, look_up
from tools.fit_tables import HITS, ROWS, cases

SMALL = "small tables"
"""Documents of teams with tables of a few rows, whose questions are in other words."""
HELD = {TRAIN: "wtq", ROWS: "wtq"}
"""Sets that count as part of another one when that is left out."""
WEIGHT, WITHOUT = 400, 170
"""Weight of a set, and of its questions without the tables that answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A cell, or its row: the log odds from its words, what the reader says of its passage, and whether it is right."""

    source: str
    without: bool
    words: float
    answers: float
    right: bool


async def told(data: Path, keep: Path) -> list[Told]:
    """Return the cells that are looked up for the questions of all sets."""
    reader, request, out = build_passage_model(), Request.by_owner(), list[Told]()
    for one in await cases(data, keep):
        looked = look_up(one.question, one.cells)
        if looked is None or not (one.asked.is_lookup or one.how == "without"):
            continue
        place = next(n for n, cell in enumerate(one.cells) if cell is looked.cells[0])
        without = one.how == "without"
        out += await _of(looked, one.asked.text, one.asked.source, bool(one.right[place]), reader, request, without)
    return [*out, *await _of_small_tables(keep, reader, request)]


async def _of_small_tables(keep: Path, reader: PassageReader, request: Request) -> list[Told]:
    out, documents = list[Told](), [one for one in written("valid") if "\n|" in one.text]
    folder = keep / "written"
    folder.mkdir(parents=True, exist_ok=True)
    for one in documents:
        (folder / one.name).write_text(one.text, encoding="utf-8")
    with opened(keep / "small", ("index.embedder=minilm", f"rank.top_k={HITS}")) as kb:
        await kb.documents.add([str(folder)])
        parts = Parts(kb)
        search = Search(parts.version)
        for document in documents:
            for one in document.questions:
                found = await search.evidence(read(one.text), None, HITS, request, Timings())
                looked = look_up(
                    Asked(read(one.text), parts.words.weigh, request), cells_of((*found.hits, *found.tables))
                )
                if looked:
                    is_right = _is_right(looked, document.name, one)
                    out += await _of(looked, one.text, SMALL, is_right, reader, request, without=False)
    progress(f"{SMALL}: {len(out)} questions about {len(documents)} documents")
    return out


def _is_right(looked: Looked, name: str, question: WrittenQuestion) -> bool:
    """Return whether the row of a cell is one that was marked."""
    first = looked.cells[0]
    if Path(first.hit.chunk.document_id).name != name:
        return False
    row = first.row.span.of(first.hit.chunk.text).strip()
    return any(row in quote or quote in row for quote in question.quotes)


async def _of(
    looked: Looked, question: str, source: str, right: bool, reader: PassageReader, request: Request, without: bool
) -> list[Told]:
    if looked.calculation or not looked.row:
        return []
    (said,) = await readings(reader, question, [looked.cells[0].hit.chunk.headed], request)
    if said is None:
        return []
    words = log_odds(looked.row if source == SMALL else looked.probability)
    return [Told(source=source, without=without, words=words, answers=said.answers, right=right)]


def fitted(some: Sequence[Told]) -> NDArray[np.float64]:
    """Return bias and the coefficients of ``words`` and ``answers``."""
    counts = Counter((one.source, one.without) for one in some)
    weights = [(WITHOUT if one.without else WEIGHT) / counts[one.source, one.without] for one in some]
    return fit(_table(some), np.array([float(one.right) for one in some]), np.array(weights))


def _table(some: Sequence[Told]) -> NDArray[np.float64]:
    return np.array([(one.words, one.answers) for one in some])


def report(some: Sequence[Told], coefficients: NDArray[np.float64]) -> None:
    """Print how often cells are right and wrong from some thresholds on, before and after."""
    right = np.array([one.right for one in some])
    before = probabilities(np.array([0.0, 1.0, 0.0]), _table(some))
    for name, chance in (("words", before), ("told", probabilities(coefficients, _table(some)))):
        line = f"  {name:6} AUC {auc(chance.tolist(), right.tolist()):.3f}"
        for least in (0.3, 0.4, 0.5, 0.6, 0.7):
            said = chance >= least
            line += f" | {least}: {int((said & right).sum())} {int((said & ~right).sum())}"
        print(line)


def main() -> None:
    """Measure each set with coefficients of the others, then print those fitted to all."""
    parser = argparse.ArgumentParser(prog="python -m tools.fit_believed")
    parser.add_argument("--keep", type=Path, default=Path("tables-kept"))
    keep = parser.parse_args().keep
    some = asyncio.run(told(Path(os.environ["RAGSTONE_TEST_DATA"]), keep))
    print("set | probability: right, wrong")
    for source in sorted({HELD.get(one.source, one.source) for one in some}):
        own = [one for one in some if HELD.get(one.source, one.source) == source]
        print(f"{source}: {len(own)}")
        report(own, fitted([one for one in some if HELD.get(one.source, one.source) != source]))
    print("bias, words, answers:", *(round(float(one), 2) for one in fitted(some)))


if __name__ == "__main__":
    main()
