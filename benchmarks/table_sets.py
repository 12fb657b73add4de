"""Questions about tables, and the documents with the tables: AIT-QA, TAT-QA and WikiTableQuestions."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragstone import acquire
from ragstone.acquire.readers.parsed import Writer
from ragstone.core.records import Document
from ragstone.settings import AcquireSettings

SETS = ("aitqa", "tatqa", "wtq")
TRAIN = "wtq train"
"""The part of WikiTableQuestions for training, with tables of its own."""
_SIGNS = re.compile(r"[\s$€£,\"'%]")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableQuestion:
    """A question about the table of a document; ``is_lookup`` says that one cell answers it, without comparing."""

    source: str
    id: str
    text: str
    document: str
    answers: tuple[str, ...]
    is_lookup: bool

    def is_answered_by(self, document: str, cell: str) -> bool:
        """Return whether a cell of a document has the words that answer."""
        return document == self.document and normal(cell) in {normal(one) for one in self.answers}


def normal(text: str) -> str:
    """Return a value without signs that do not change it: "$ 1,234 " and "1234", "(12 )" and "-12"."""
    bare = _SIGNS.sub("", text.lower()).replace("−", "-").replace("–", "-").strip(".")
    return re.sub(r"^\((\d[\d.]*)\)$", r"-\1", bare)


def questions(data: Path, source: str) -> list[TableQuestion]:
    """Return the questions of a set."""
    folder = data / "tables" / ("wtq/dev/train" if source == TRAIN else f"{source}/dev")
    out: list[TableQuestion] = []
    for path in sorted(folder.glob("questions*.jsonl")):
        for row in _rows(path):
            name = Path(str(row["table"])).stem
            out.append(
                TableQuestion(
                    source=source,
                    id=str(row["id"]),
                    text=str(row["question"]),
                    document=f"{source}/{name}",
                    answers=tuple(row["answers"]),
                    is_lookup=row["kind"] == "lookup" and row.get("needs", "plain") == "plain",
                )
            )
    return out


def documents(data: Path, source: str) -> Iterator[Document]:
    """Yield the documents with the tables of a set."""
    folder = data / "tables" / f"{source}/dev"
    if source == "wtq":
        titles = {Path(row["table"]).stem: row["title"] for row in _rows(folder / "tables.meta.jsonl")}
        for path in sorted((folder / "tables").glob("*.csv")):
            with path.open(encoding="utf-8", newline="") as lines:
                yield _written(f"wtq/{path.stem}", titles.get(path.stem, ""), [*csv.reader(lines)])
    elif source == TRAIN:
        folder = data / "tables/wtq/dev/train"
        titles = {Path(row["table"]).stem: row["title"] for row in _rows(folder / "tables.meta.jsonl")}
        for name, rows in train_rows(data):
            yield _written(f"{TRAIN}/{name}", titles.get(name, ""), rows)
    else:
        pages = sorted((folder / "tables").glob("*.html"))
        for found in acquire.read_files(pages, AcquireSettings(), base=folder / "tables"):
            if isinstance(found, Document):
                yield replace(found, id=f"{source}/{found.id.removesuffix('.html')}")


def train_rows(data: Path) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the tables of the training part of WikiTableQuestions: the name of each, and its rows with the headings."""
    for path in sorted((data / "tables/wtq/dev/train").glob("tables-*.jsonl")):
        for row in _rows(path):
            yield Path(row["table"]).stem, row["cells"]


def _written(name: str, title: str, rows: Sequence[Sequence[str]]) -> Document:
    writer = Writer()
    writer.table(rows, header=1)
    parsed = writer.parsed(title=title)
    return Document(id=name, text=parsed.text, title=title, marks=parsed.marks)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
