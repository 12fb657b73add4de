"""Cells of tables in PDF files, measured as in the ICDAR 2013 competition, and figures that stand in the right row.

The competition compares adjacency relations: for each cell, its nearest neighbours on the right and below. A table that
is found where there is none costs precision. ``--peers PYTHON`` names an interpreter with pdfplumber, pymupdf or
camelot, which read the same files in the same run.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.common import Options, Result, Table, main, peer_output, progress, skipped
from benchmarks.parsing import read_one
from ragstone.core.records import Document, Mark

PEERS = ("pdfplumber", "pdfplumber-text", "pymupdf", "camelot")
PEER = Path(__file__).with_name("tables_peer.py")
PEER_SECONDS = 900
QUICK = 8
_FIGURE = re.compile(r"[\d,.]*\d")

Rows = Sequence[Sequence[str]]
Relations = Counter[tuple[int, str, str, str]]
"""How often two texts are neighbours, by page, texts and direction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTable:
    """A table, or the part of one on a page. ``spans`` are first row, first column, last row and last column."""

    page: int
    rows: Rows
    header: int = 0
    spans: Sequence[tuple[int, int, int, int]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The mean precision and recall of relations over documents."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


async def measure(options: Options) -> Result:
    folder = options.folder("pdf/icdar2013/dev")
    if folder is None:
        return skipped("tables needs the files of pdf/icdar2013")
    truth = known(folder / "tables.jsonl")
    names = sorted(truth)[:QUICK] if options.quick else sorted(truth)
    paths = [folder / name for name in names]
    found = {"ragstone": {name: ours(path) for name, path in zip(names, paths, strict=True)}}
    for peer in PEERS if options.peers else ():
        given = theirs(options.peers, peer, paths)
        if given is not None:
            found[peer] = given
    scores = {system: score(truth, tables) for system, tables in found.items()}
    filings = options.folder("tables/sec10q/dev")
    rows = figures_in_rows(filings, quick=options.quick) if filings else None
    return summary(scores, len(names), rows)


# ---------------------------------------------------------------- what is true


def known(path: Path) -> dict[str, list[list[PageTable]]]:
    """Return the readings of each file: all tables, in the first reading and, if there is one, the second."""
    first: dict[str, list[PageTable]] = {}
    second: dict[str, list[PageTable]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        table = PageTable(page=one["page"], rows=one["cells"], spans=[tuple(span) for span in one["spans"]])
        (second if one["reading"] else first).setdefault(one["file"], []).append(table)
    return {name: [tables, *([second[name]] if name in second else [])] for name, tables in first.items()}


# ---------------------------------------------------------------- what is found


def ours(path: Path) -> list[PageTable]:
    """Return the tables of a file as they stand in the text of its document."""
    found: list[PageTable] = []
    for document in read_one(path):
        if isinstance(document, Document):
            pages = [mark for mark in document.marks if mark.kind == "page"]
            for mark in document.marks:
                if mark.kind == "table":
                    found += _by_page(document.text, mark, pages)
    return found


def _by_page(text: str, table: Mark, pages: Sequence[Mark]) -> Iterable[PageTable]:
    """Yield the parts of a table, one for each page that it stands on."""
    lines = text[table.start : table.end].split("\n")
    starts = accumulate((len(line) + 1 for line in lines), initial=table.start)
    numbers = [bisect_right(pages, start, key=lambda page: page.start) for start, _ in zip(starts, lines, strict=False)]
    for page, part in groupby(zip(numbers, lines, strict=True), key=lambda one: one[0]):
        rows = [line.split(" | ") for _, line in part]
        yield PageTable(page=page, rows=rows, header=table.header if page == numbers[0] else 0)


def theirs(python: str, peer: str, paths: Sequence[Path]) -> dict[str, list[PageTable]] | None:
    """Return what another library finds; None if it is not installed or too slow."""
    progress(f"tables: {peer}")
    printed = peer_output(python, PEER, peer, paths, seconds=PEER_SECONDS)
    if printed is None:
        return None
    given: dict[str, list[tuple[int, list[list[str]]]]] = json.loads(printed.splitlines()[-1])
    return {
        f"pdf/{Path(path).name}": [PageTable(page=page, rows=rows) for page, rows in tables]
        for path, tables in given.items()
    }


# ---------------------------------------------------------------- relations


def score(truth: Mapping[str, Sequence[Sequence[PageTable]]], found: Mapping[str, Sequence[PageTable]]) -> Score:
    """Return the mean precision and recall over files, each in the reading that fits better."""
    precisions, recalls = list[float](), list[float]()
    for name, tables in found.items():
        theirs = relations(tables)
        pairs = [_shares(relations(reading), theirs) for reading in truth[name]]
        precision, recall = max(pairs, key=sum)
        precisions.append(precision)
        recalls.append(recall)
    return Score(precision=mean(precisions), recall=mean(recalls))


def _shares(right: Relations, found: Relations) -> tuple[float, float]:
    same = (right & found).total()
    return (same / found.total() if found else 0.0), (same / right.total() if right else 0.0)


def relations(tables: Iterable[PageTable]) -> Relations:
    """Return the neighbours of the cells, without empty cells and white space."""
    counted: Relations = Counter()
    for table in tables:
        grid = _numbered(table)
        words = {number: text for row in grid for number, text in row if text}
        across = {pair for row in grid for pair in _neighbours(row)}
        width = max((len(row) for row in grid), default=0)
        columns = ([row[n] for row in grid if n < len(row)] for n in range(width))
        down = {pair for column in columns for pair in _neighbours(column)}
        counted.update((table.page, words[a], words[b], "right") for a, b in across)
        counted.update((table.page, words[a], words[b], "below") for a, b in down)
    return counted


def _neighbours(cells: Iterable[tuple[int, str]]) -> Iterable[tuple[int, int]]:
    """Return the pairs of different cells that follow one another, without empty ones."""
    filled = [number for number, _ in groupby(number for number, text in cells if text)]
    return pairwise(filled)


def _numbered(table: PageTable) -> list[list[tuple[int, str]]]:
    """Return the number and text of the cell at each place of the grid; a cell that spans has several places."""
    width = max((len(row) for row in table.rows), default=0)
    grid = [
        [(at * width + n, _plain(row[n]) if n < len(row) else "") for n in range(width)]
        for at, row in enumerate(table.rows)
    ]
    for top, left, bottom, right in table.spans:
        for at in range(top, min(bottom + 1, len(grid))):
            for n in range(left, min(right + 1, width)):
                grid[at][n] = grid[top][left]
    for row in grid[: table.header]:  # A heading stands in every column that it spans.
        for n in range(2, width):
            if row[n][1] and row[n][1] == row[n - 1][1]:
                row[n] = row[n - 1]
    for above, row in pairwise(grid) if table.header else ():  # Words stand in every row that they span.
        for n in range(width):
            if row[n][1] == above[n][1] and any(one.isalpha() for one in row[n][1]):
                row[n] = above[n]
    return grid


def _plain(text: str) -> str:
    return "".join(one for one in unicodedata.normalize("NFKC", text).casefold() if one.isalnum())


# ---------------------------------------------------------------- figures of filings


def figures_in_rows(folder: Path, *, quick: bool) -> float:
    """Return the share of tagged rows of filings whose label and figures stand in one row of a table, in order."""
    tagged: dict[str, list[tuple[int, str]]] = {}
    for line in (folder / "tagged_tables.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        rows = ["".join(_plain(cell) for cell in row) for row in one["rows"] if len(_figures(row)) > 1]
        tagged.setdefault(one["file"], []).extend((one["page"], row) for row in rows)
    right = total = 0
    for name in sorted(tagged)[: 1 if quick else None]:
        rows = {(table.page, "".join(map(_plain, row))) for table in ours(folder / name) for row in table.rows}
        right += sum(row in rows for row in tagged[name])
        total += len(tagged[name])
    return right / total if total else 0.0


def _figures(row: Sequence[str]) -> list[str]:
    return [cell for cell in row[1:] if _FIGURE.fullmatch(cell.strip("$() "))]


def summary(scores: Mapping[str, Score], files: int, rows: float | None) -> Result:
    """Return the scores of all systems as a table."""
    own = scores["ragstone"]
    figures: dict[str, Any] = {
        "files": files,
        "cells_precision": round(own.precision, 3),
        "cells_recall": round(own.recall, 3),
        "peers": {
            name: {"precision": round(one.precision, 3), "recall": round(one.recall, 3)}
            for name, one in scores.items()
            if name != "ragstone"
        },
        **({"filing_rows": round(rows, 3)} if rows is not None else {}),
    }
    cells = [[name, f"{one.precision:.3f}", f"{one.recall:.3f}", f"{one.f1:.3f}"] for name, one in scores.items()]
    tables = [
        Table(title=f"Cells of tables in {files} PDF files", columns=["", "precision", "recall", "F1"], rows=cells)
    ]
    notes = [] if rows is None else [f"{rows:.1%} of the rows with figures in tagged filings are one row of a table."]
    if len(scores) == 1:
        notes.append("No other library: name an interpreter that has them with --peers PYTHON.")
    return Result(figures=figures, tables=tables, notes=notes)


if __name__ == "__main__":
    main({"tables": measure}, "tables")
