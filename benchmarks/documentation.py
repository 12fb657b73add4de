"""Search in technical documentation: Ragstone as it is set up, against the usual recipe.

Questions are headings of real documentation of at least three words that stand on one page only, at most six of a page.
Their lines are cut from the pages, so a heading has to be found by what its section says. One set has questions of a
medical FAQ, whose answers do not repeat them. The recipe cuts windows of 800 characters, splits at white space and
punctuation, and joins BM25 and the vectors of the same embedder by reciprocal rank fusion.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path

from benchmarks.bases import filled, with_settings
from benchmarks.common import ROOT, Options, Result, Table, interval, main, progress, skipped
from ragstone import acquire
from ragstone.core.access import OWNER
from ragstone.core.records import Document, Mark
from ragstone.engine.experiments.memory import MemoizedEmbedder
from ragstone.index import build_embedder
from ragstone.review.dataset import Dataset, Query
from ragstone.review.evaluate import evaluate
from ragstone.review.report import EvalReport
from ragstone.review.significance import paired_difference
from ragstone.settings import AcquireSettings
from ragstone.settings.load import load as load_settings

WORDS, HEADINGS = 3, 6
"""The fewest words of a heading that is a question, and the most headings of a page."""
ENTRIES, ASKED = 1200, 300
"""Entries of the FAQ, and how many of their questions are asked."""
RECIPE = (
    "chunk.strategy=sliding_window", "chunk.size=800", "chunk.overlap=0", "chunk.context=none", "index.analyzer=plain",
)  # fmt: skip
FUSED = ("query.fusion=reciprocal_rank", "query.vector_weight=0.5", "query.adapt=false")
KEYWORDS = ("query.method=bm25",)
SYSTEMS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "default": ((), ()),
    "keywords": ((), KEYWORDS),
    "recipe": (RECIPE, FUSED),
    "recipe's BM25": (RECIPE, KEYWORDS),
}
"""What each system stores, and how it searches, as settings."""


async def measure(options: Options) -> Result:
    sets = dict(_sets(options))
    if not sets:
        return skipped("documentation needs the data sets cudaq_docs or pairs")
    chosen = f"index.embedder={options.embedders[0]}"
    embedder = MemoizedEmbedder(build_embedder(load_settings([chosen]).settings.index))
    figures: dict[str, dict[str, float]] = {}
    rows: list[list[str]] = []
    for name in list(sets)[: 1 if options.quick else None]:
        dataset = sets[name]()
        reports: dict[str, EvalReport] = {}
        for system, (stored, asked) in SYSTEMS.items():
            progress(f"{name}: {system}")
            async with filled(options, dataset, [chosen, *stored], embedder) as engine:
                other = with_settings(engine, [chosen, *stored, *asked])
                reports[system] = await evaluate(dataset, partial(other.search, reader=OWNER))
        own, recipe = (
            [query.measures["ndcg@10"] for query in reports[system].per_query if query.measures]
            for system in ("default", "recipe")
        )
        figures[name] = {system: round(report.measures["ndcg@10"].mean, 4) for system, report in reports.items()}
        means = [f"{figures[name][system]:.3f}" for system in SYSTEMS]
        rows.append([name, str(reports["default"].judged), *means, interval(paired_difference(own, recipe))])
    columns = ["set", "questions", *SYSTEMS, "default minus recipe (95%)"]
    return Result(figures=figures, tables=[Table(title="Documentation: nDCG@10", columns=columns, rows=rows)])


def _sets(options: Options) -> Iterator[tuple[str, Callable[[], Dataset]]]:
    """Yield the name of each set that is there, and the function that loads it."""
    folders = {
        "CUDA-Q sources": (options.folder("cudaq_docs/raw"), (".md", ".rst", ".ipynb")),
        "CUDA-Q pages": (options.folder("cudaq_docs/html_preview"), (".html",)),
        "Ragstone": (ROOT / "docs", (".md",)),
    }
    for name, (folder, suffixes) in folders.items():
        if folder is not None:
            yield name, partial(_headings, name, folder, suffixes)
    if faq := options.folder("pairs/medquad.jsonl.gz"):
        yield "MedQuAD", partial(_entries, "MedQuAD", faq)


def _headings(name: str, folder: Path, suffixes: Sequence[str]) -> Dataset:
    """Return the documents of a folder without the headings that are asked."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in suffixes)
    read = [one for path in paths for one in acquire.read(str(path), AcquireSettings(), base=folder)]
    return without_headings(name, [one for one in read if isinstance(one, Document)])


def without_headings(name: str, documents: Sequence[Document]) -> Dataset:
    """Return the documents without the lines of some of their headings, and these headings as questions."""
    pages: dict[str, set[str]] = defaultdict(set)
    for document in documents:
        for mark in _marked(document):
            pages[_label(mark).casefold()].add(document.id)
    cut = list[Document]()
    queries, qrels = list[Query](), dict[str, dict[str, int]]()
    for document in documents:
        fit = [mark for mark in _marked(document) if len(pages[_label(mark).casefold()]) == 1]
        fit = [mark for mark in fit if mark.level > 1 and len(re.findall(r"\w+", mark.label)) >= WORDS]
        asked = sorted(fit, key=lambda mark: sha256(mark.label.encode()).digest())[:HEADINGS]
        for mark in asked:
            queries.append(Query(id=f"{document.id}#{mark.start}", text=_label(mark), lang="en"))
            qrels[queries[-1].id] = {document.id: 1}
        cut.append(_without(document, asked))
    return Dataset(name=name, queries=tuple(queries), qrels=qrels, documents=lambda: iter(cut))


def _without(document: Document, headings: Sequence[Mark]) -> Document:
    """Return a document without the lines of these headings; its other marks keep their text."""
    text, marks = document.text, [mark for mark in document.marks if mark not in headings]
    for heading in sorted(headings, key=lambda mark: -mark.start):
        end = text.find("\n", heading.start)
        end = len(text) if end < 0 else end
        text = text[: heading.start] + text[end:]
        moved = [
            replace(mark, start=_moved(mark.start, heading.start, end), end=_moved(mark.end, heading.start, end))
            for mark in marks
        ]
        marks = [mark for mark in moved if mark.end > mark.start]
    return replace(document, text=text, marks=tuple(marks))


def _moved(place: int, start: int, end: int) -> int:
    """Return a place of a text after the characters from ``start`` to ``end`` are gone."""
    return place if place <= start else max(start, place - (end - start))


def _marked(document: Document) -> list[Mark]:
    return [mark for mark in document.marks if mark.kind == "heading" and _label(mark) != document.title]


def _label(mark: Mark) -> str:
    return " ".join(mark.label.split())


def _entries(name: str, path: Path) -> Dataset:
    """Return a FAQ whose entries are answers without their questions."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        # Some entries share an id.
        rows = [{**json.loads(line), "id": str(number)} for number, line in zip(range(ENTRIES), lines, strict=False)]
    documents = [Document(id=row["id"], title="", text=row["positive"], source=name) for row in rows]
    queries = tuple(Query(id=row["id"], text=row["question"], lang=row["lang"]) for row in rows[:ASKED])
    qrels = {query.id: {query.id: 1} for query in queries}
    return Dataset(name=name, queries=queries, qrels=qrels, documents=lambda: iter(documents))


if __name__ == "__main__":
    main({"documentation": measure}, "documentation")
