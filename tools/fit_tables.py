"""Fit `ragstone.respond.tables`: which cell answers a question, and how likely the best one is right.

    RAGSTONE_TEST_DATA=... python -m tools.fit_tables [--keep DIR]

The questions are those of AIT-QA, TAT-QA and WikiTableQuestions, and those that `tools.filing_questions` makes of
quarterly reports. Each is asked of its own table, of what an index of all tables finds, and of that without the tables
that answer; those of the training part of WikiTableQuestions also of the rows of its tables as CSV files. Each set is
measured with coefficients fitted to the other sets; WikiTableQuestions, its training part and the rows count as one.
The last lines are the coefficients fitted to all sets.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import os
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import astuple, dataclass, fields, replace
from decimal import Decimal
from pathlib import Path, PurePath
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.bases import Parts, opened
from benchmarks.common import progress
from benchmarks.logistic import fit, probabilities
from benchmarks.table_sets import SETS, TRAIN, TableQuestion, documents, normal, questions, train_rows
from ragstone import chunk
from ragstone.core.record import file_of, record_of
from ragstone.core.records import Hit
from ragstone.core.request import Request
from ragstone.core.timing import Timings
from ragstone.engine.search import Search
from ragstone.question import read
from ragstone.respond.tables.asked import Asked
from ragstone.respond.tables.calculate import calculation, value_of
from ragstone.respond.tables.cell_model import Certainty, certainty_of, shares
from ragstone.respond.tables.features import FEATURES, Features, TableCell, cells_of, features_of, of_cell, values_of
from ragstone.respond.tables.lookup import are_of_one, of_periods, together
from tools.filing_questions import SOURCE, company_of, filing_questions

ROWS = "wtq rows"
"""Tables of the training part of WikiTableQuestions as CSV files, whose rows are documents."""
How = Literal["given", "found", "without"]
WEIGHTS: Mapping[tuple[How, bool], float] = {
    ("given", True): 400,
    ("found", True): 400,
    ("without", True): 170,
    ("given", False): 120,
    ("found", False): 120,
    ("without", False): 0,
}
"""Weight in each set of its look-ups and other questions; without the tables that answer they are fewer."""
EVERY: Mapping[tuple[str, bool], int] = {
    ("aitqa", True): 1,
    ("aitqa", False): 1,
    ("tatqa", True): 1,
    ("tatqa", False): 5,
    ("wtq", True): 1,
    ("wtq", False): 8,
    (TRAIN, True): 3,
    (TRAIN, False): 50,
    (ROWS, True): 3,
    (ROWS, False): 50,
    (SOURCE, True): 3,
}
"""Every nth look-up and other question of a set is used."""
RANKED = ("aitqa", "tatqa", TRAIN, SOURCE)
"""Sets that the comparison of cells is fitted to: ``wtq`` has few look-ups, and the rows repeat its training part."""
FIXED = {"length": 2.0, "latest": 0.7, "newest": 1.0, "percent": 2.0, "statement": 1.5}
"""Coefficients that are chosen, because the sets hardly tell: their tables have periods of one length, their questions
name the year, those made of reports ask for a figure of a note as often as for one of a statement, and none of them for
a share."""
SIGNS: Mapping[str, int] = {
    "lead": 1,
    "open": -1,
    "titled": 1,
    "lone": 1,
    "time": 1,
    "mistyped": -1,
    "calculates": -1,
    "orders": -1,
    "words": 0,
    "first": -1,
}
"""Signs that the coefficients of the certainty must have, 0 for any; one with the wrong sign becomes 0."""
STEPS, RATE, RIDGE = 300, 0.05, 1.0
HITS = 5
ROUNDED = Decimal("0.011")
"""How far the result of a calculation may be from the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question and cells; ``table`` (cells, features), ``right`` (cells,). ``subject`` is what it is about."""

    asked: TableQuestion
    how: How
    question: Asked
    subject: str
    cells: Sequence[TableCell]
    known: Features
    table: NDArray[np.float64]
    right: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """Coefficients of the cells; bias and coefficients of the certainty."""

    cells: NDArray[np.float64]
    certainty: NDArray[np.float64]


def company(hit: Hit) -> str:
    """Return what a table is about: AIT-QA has several tables of each airline, which repeat figures."""
    chunk_ = hit.chunk
    if record_of(chunk_):
        return f"{ROWS}/{PurePath(file_of(chunk_)).stem}"
    if " · " in chunk_.title:
        return company_of(chunk_)
    return chunk_.title.partition(",")[0] if chunk_.document_id.startswith("aitqa/") else chunk_.document_id


async def cases(data: Path, keep: Path) -> list[Case]:
    """Return the cases of all sets."""
    out: list[Case] = []
    request = Request.by_owner()
    with opened(keep / "tables", ("index.embedder=minilm", f"rank.top_k={HITS}")) as kb:
        made = [document for source in SETS for document in documents(data, source)]
        await kb.documents.add(made)
        parts = Parts(kb)
        search, words = Search(parts.version), parts.words
        made += documents(data, TRAIN)
        own = {
            one.id: [Hit(chunk=c, score=1.0) for c in chunk.split(one, parts.settings.chunk, parts.embedder.tokens)]
            for one in made
        }
        for source in (*SETS, TRAIN):
            for asked in _some(questions(data, source)):
                hits = own.get(asked.document, [])
                question = Asked(read(asked.text), words.weigh, request)
                if not hits or not question.items or question.asks.extreme:
                    continue
                subject = company(hits[0])
                out += _cases(asked, "given", question, hits, subject)
                if source != TRAIN:
                    out += await _searched(asked, question, subject, search, request)
            progress(f"tables: {len(out)} cases, last of {source}")
    with opened(keep / "rows", ("index.embedder=minilm", f"rank.top_k={HITS}")) as kb:
        asks = [replace(one, source=ROWS) for one in questions(data, TRAIN)]
        some = [replace(one, document=f"{ROWS}/{PurePath(one.document).name}") for one in _some(asks)]
        await kb.documents.add([str(_written_rows(data, {PurePath(one.document).name for one in some}, keep / "csv"))])
        parts = Parts(kb)
        search = Search(parts.version)
        for asked in some:
            question = Asked(read(asked.text), parts.words.weigh, request)
            if question.items and not question.asks.extreme:
                out += await _searched(asked, question, asked.document, search, request)
        progress(f"tables: {len(out)} cases, last of {ROWS}")
    with opened(keep / "filings", ("index.embedder=minilm",)) as kb:
        await kb.documents.add([str(data / "tables/sec10q/dev/pdf")])
        parts = Parts(kb)
        search = Search(parts.version)
        for asked in _some(filing_questions(parts.version.catalog)):
            question = Asked(read(asked.text), parts.words.weigh, request)
            out += await _searched(asked, question, asked.document, search, request)
    progress(f"tables: {len(out)} cases")
    return out


async def _searched(
    asked: TableQuestion, question: Asked, subject: str, search: Search, request: Request
) -> list[Case]:
    """Return the cases of what a search finds, and of that without the tables that answer."""
    found = await search.evidence(read(asked.text), None, HITS, request, Timings())
    hits = (*found.hits, *found.tables)
    others = [hit for hit in hits if company(hit) != subject]
    return [*_cases(asked, "found", question, hits, subject), *_cases(asked, "without", question, others, subject)]


def _written_rows(data: Path, names: Set[str], folder: Path) -> Path:
    """Write tables of the training part of WikiTableQuestions as CSV files, and return their folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in train_rows(data):
        if name in names:
            with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows(rows)
    return folder


def _some(asked: Sequence[TableQuestion]) -> Iterator[TableQuestion]:
    for lookup in (True, False):
        some = [one for one in asked if one.is_lookup == lookup]
        yield from some[:: EVERY.get((asked[0].source, lookup), 1)]


def _cases(asked: TableQuestion, how: How, question: Asked, hits: Sequence[Hit], subject: str) -> list[Case]:
    cells = cells_of(hits)
    if not cells:
        return []
    known = features_of(question, cells)
    if how == "given":  # the order of the chunks of one table says nothing
        known = replace(known, place=np.zeros(len(cells)))
    answers = {normal(one) for one in asked.answers}
    right = [asked.is_lookup and normal(one.cell.text) in answers and company(one.hit) == subject for one in cells]
    if asked.source == SOURCE:  # small figures are many
        right = [is_right and one.row.label in asked.answers for is_right, one in zip(right, cells, strict=True)]
    return [
        Case(
            asked=asked,
            how=how,
            question=question,
            subject=subject,
            cells=cells,
            known=known,
            table=values_of(known),
            right=np.array(right),
        )
    ]


def fitted_cells(some: Sequence[Case]) -> NDArray[np.float64]:
    """Return the coefficients of a conditional logit: the cells that answer against all others of the question."""
    groups = [one for one in some if one.right.any()]
    counts = {
        key: sum((one.asked.source, one.how) == key for one in groups)
        for key in {(o.asked.source, o.how) for o in groups}
    }
    x = np.concatenate([one.table for one in groups])
    fixed = np.array([FIXED.get(name, 0.0) for name in FEATURES])
    chosen = x @ fixed
    x[:, [name in FIXED for name in FEATURES]] = 0.0
    y = np.concatenate([one.right for one in groups])
    sizes = [len(one.table) for one in groups]
    index, start = np.repeat(np.arange(len(groups)), sizes), np.r_[0, np.cumsum(sizes)[:-1]]
    weight = np.array([300 / counts[one.asked.source, one.how] for one in groups])[index]
    spread = x.std(axis=0)
    spread[spread < 1e-6] = 1.0
    x /= spread
    w, mean, square = (np.zeros(x.shape[1]) for _ in range(3))
    for step in range(1, STEPS + 1):  # Adam
        scored = x @ w + chosen
        powers = np.exp(scored - np.maximum.reduceat(scored, start)[index])
        share = powers / np.add.reduceat(powers, start)[index]
        wanted = powers * y / np.add.reduceat(powers * y, start)[index]
        gradient = x.T @ ((wanted - share) * weight) - RIDGE * w
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        w += RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-9)
    return w / spread + fixed


def best(case: Case, cells: NDArray[np.float64]) -> tuple[bool, Certainty]:
    """Return whether the best cell, or what is calculated from it and others, is right, and what says so."""
    scored = case.table @ cells
    share = shares(scored)
    top = int(share.argmax())
    one = case.cells[top]
    shown = of_periods(case.question, case.cells, case.known, scored.tolist(), top)
    whole = together(case.cells, share, shown)
    known = certainty_of(
        case.question, of_cell(case.known, top), whole, lone=are_of_one(case.cells), orders=case.question.orders
    )
    if calculated := calculation(case.question.asks.operation, [one.cell for one in shown]):
        return case.subject == company(one.hit) and _is_close(
            calculated.rpartition(" = ")[2], case.asked.answers
        ), known.calculated
    return bool(case.right[top]), known


def _is_close(result: str, answers: Sequence[str]) -> bool:
    """Return whether a result is an answer, up to rounding and the sign of a difference."""
    wanted, value = [value_of(normal(one)) for one in answers], value_of(normal(result))
    return value is not None and any(one is not None and abs(abs(value) - abs(one)) < ROUNDED for one in wanted)


def fitted(some: Sequence[Case]) -> Fitted:
    """Return the coefficients fitted to cases."""
    cells = fitted_cells([one for one in some if one.how != "without" and one.asked.source in RANKED])
    tops = [best(one, cells) for one in some]
    keys: list[tuple[str, How, bool]] = [(one.asked.source, one.how, one.asked.is_lookup) for one in some]
    counts = {key: keys.count(key) for key in set(keys)}
    weights = [WEIGHTS[how, lookup] / counts[source, how, lookup] for source, how, lookup in keys]
    x, y = np.array([astuple(known) for _, known in tops]), np.array([float(right) for right, _ in tops])
    signs = np.array([SIGNS[one.name] for one in fields(Certainty)])
    while True:
        certainty = fit(x, y, np.array(weights))
        wrong = certainty[1:] * signs < 0
        if not wrong.any():
            return Fitted(cells=cells, certainty=certainty)
        x[:, wrong] = 0.0


def report(some: Sequence[Case], model: Fitted) -> None:
    """Print for each set how often the best cell is right, and what thresholds let through."""
    keys = sorted({(one.asked.source, one.how) for one in some})
    for source, how in keys:
        part = [one for one in some if (one.asked.source, one.how) == (source, how)]
        tops = [best(one, model.cells) for one in part]
        chance = probabilities(model.certainty, np.array([astuple(known) for _, known in tops]))
        right = np.array([one for one, _ in tops])
        lookup = np.array([one.asked.is_lookup for one in part])
        line = f"{source:9} {how:8} {lookup.sum():4} best {right[lookup].mean():.3f}"
        for least in (0.4, 0.5, 0.6, 0.7):
            said = chance >= least
            others = said[~lookup].mean() if (~lookup).any() else 0.0
            line += f" | {least}: {(right & said)[lookup].mean():.3f} {(~right & said)[lookup].mean():.3f} {others:.3f}"
        print(line)


def main() -> None:
    """Measure each set with coefficients of the others, then print those fitted to all."""
    parser = argparse.ArgumentParser(prog="python -m tools.fit_tables")
    parser.add_argument("--keep", type=Path, default=Path("tables-kept"))
    keep = parser.parse_args().keep
    some = asyncio.run(cases(Path(os.environ["RAGSTONE_TEST_DATA"]), keep))
    print("set, asked of, look-ups | probability: look-ups right, wrong, other questions answered")
    for source in (*SETS, ROWS, SOURCE):
        held = {"wtq", TRAIN, ROWS} if source in ("wtq", ROWS) else {source}
        print(f"without {source}")
        report(
            [one for one in some if one.asked.source == source], fitted([o for o in some if o.asked.source not in held])
        )
    model = fitted(some)
    print("all")
    report(some, model)
    print({name: round(float(value), 2) for name, value in zip(FEATURES, model.cells, strict=True)})
    names = ["bias", *(one.name for one in fields(Certainty))]
    print({name: round(float(value), 2) for name, value in zip(names, model.certainty, strict=True)})


if __name__ == "__main__":
    main()
