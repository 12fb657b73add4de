"""Read questions and the sources of their answers from a CSV that a team writes about its own documents.

    question,source,answerable,lang,kind,evidence
    How long is the warranty?,terms.md,,en,,The warranty is two years.
    Where do visitors park?,visitors.md;map.pdf,,en,,
    Who won the cup in 1998?,,no,en,,

Only the columns ``question`` and ``source`` are required. A source is the id of a document, or the end of one; several
are separated by semicolons. ``answerable`` is no if the documents do not answer the question. ``evidence`` is
what an answer must quote from: words of the source.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

from ragstone.core.errors import NotFound, SourceError
from ragstone.core.frozen import frozen
from ragstone.core.records import Document
from ragstone.review.dataset import Dataset, Query

_SEPARATORS = (",", ";", "\t")
_YES, _NO = ("true", "yes", "1"), ("false", "no", "0")


@frozen
class Row:
    """A row of the table; ``cells`` are its texts by column."""

    path: Path
    line: int
    cells: dict[str, str]

    def fail(self, problem: str) -> NoReturn:
        """Raise a `SourceError` that names the line."""
        raise SourceError(f"{self.path}, line {self.line}: {problem}")

    def cell(self, name: str) -> str:
        """Return the text of a column; empty if there is none."""
        return self.cells.get(name, "").strip()

    def sources(self) -> list[str]:
        """Return what the column ``source`` names."""
        return [source.strip() for source in self.cell("source").split(";") if source.strip()]

    def answerable(self) -> bool:
        """Return whether the documents answer the question."""
        value = self.cell("answerable").lower()
        if value not in ("", *_YES, *_NO):
            self.fail(f"'answerable' is '{value}'; write yes or no")
        answerable = value not in _NO
        if answerable and not self.sources():
            self.fail("a source is missing; if the documents do not answer the question, set 'answerable' to no")
        if not answerable and self.sources():
            self.fail("an unanswerable question cannot have a source")
        return answerable


def read_questions(path: Path, find: Callable[[str], str], documents: Callable[[], Iterator[Document]]) -> Dataset:
    """Read the questions of a CSV as a data set; the text of a question is its id.

    Args:
        path: the CSV, in UTF-8, with a header.
        find: the id of a stored document from what the CSV calls it; raises `NotFound`.
        documents: all documents that the questions are asked of.

    Raises:
        SourceError: the file cannot be read, or a line is not as it should be; named with its number.
    """
    queries: dict[str, Query] = {}
    qrels: dict[str, dict[str, int]] = {}
    for row in rows(path):
        text = row.cell("question") or row.fail("the question is missing")
        if text in queries:
            row.fail(f"the question '{text}' is asked a second time")
        extras = {"kind": row.cell("kind")} if row.cell("kind") else {}
        queries[text] = Query(
            id=text,
            text=text,
            lang=row.cell("lang"),
            evidence_sentences=(row.cell("evidence"),) if row.cell("evidence") else (),
            answerable=row.answerable(),
            extras=extras,
        )
        try:
            qrels[text] = {find(source): 1 for source in row.sources()}
        except NotFound as error:
            row.fail(str(error))
    if not queries:
        raise SourceError(f"{path} holds no questions")
    return Dataset(name=path.stem, queries=tuple(queries.values()), qrels=qrels, documents=documents)


def rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a CSV of questions, whatever they ask.

    Raises:
        SourceError: the file cannot be read, or its columns are others.
    """
    line = 1
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline()
            separator = next((one for one in _SEPARATORS if _has_columns(_names(first, one))), None)
            if separator is None:
                raise SourceError(f"{path}, line 1: the columns 'question' and 'source' are expected")
            names, line = _names(first, separator), 2
            reader = csv.reader(file, delimiter=separator, strict=True)
            for cells in reader:
                row = Row(path=path, line=line, cells=dict(zip(names, cells, strict=False)))
                line = reader.line_num + 2  # where the next one begins: one may go over several lines
                if len(cells) > len(names):
                    row.fail(f"{len(cells)} cells, but the header has {len(names)}; put a cell with a comma in quotes")
                if any(map(str.strip, cells)):
                    yield row
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not text in UTF-8; save it as UTF-8") from error
    except csv.Error as error:
        raise SourceError(f"{path}, line {line}: {error}") from error


def _names(header: str, separator: str) -> list[str]:
    return [name.strip().lower() for name in next(csv.reader([header], delimiter=separator), list[str]())]


def _has_columns(names: list[str]) -> bool:
    return {"question", "source"} <= set(names)
