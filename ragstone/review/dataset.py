"""Data sets for evaluation: documents, questions, and relevance judgements.

A data set is a folder with three files in UTF-8:

    corpus.jsonl    {"id", "title", "text", "meta"}, one document a line
    queries.jsonl   {"id", "text"} and, where known, "lang", "answers", "evidence_sentences", "answerable"
    qrels.tsv       query id, document id, relevance (whole number, above 0 is relevant); no header
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, cast

from ragstone.core.errors import SourceError
from ragstone.core.filters import Scalar
from ragstone.core.frozen import frozen
from ragstone.core.records import Document, Metadata
from ragstone.review.metrics import Qrels

_CORPUS, _QUERIES, _QRELS = "corpus.jsonl", "queries.jsonl", "qrels.tsv"
_QUERY_FIELDS = {"id", "text", "lang", "answers", "evidence_sentences", "answerable"}


@frozen
class Query:
    """A question of a data set.

    ``evidence_sentences`` are the sentences an answer must be based on, of all annotators, each once. ``answerable`` is
    False if the documents do not answer the question. ``extras`` holds all further fields.
    """

    id: str
    text: str
    lang: str = ""
    answers: tuple[str, ...] = ()
    evidence_sentences: tuple[str, ...] = ()
    answerable: bool = True
    extras: Mapping[str, Any] = field(default_factory=dict[str, Any])


@frozen
class Dataset:
    """Questions and judgements in memory; ``documents`` reads the documents from disk."""

    name: str
    queries: tuple[Query, ...]
    qrels: Qrels
    documents: Callable[[], Iterator[Document]] = field(compare=False, repr=False)


def load(folder: Path) -> Dataset:
    """Load the data set in a folder, or in its subfolder ``dev``.

    Raises:
        SourceError: a file is missing or malformed; named with its line number.
    """
    home = next((place for place in (folder, folder / "dev") if (place / _CORPUS).is_file()), None)
    if home is None:
        below = sorted(str(found.parent) for depth in ("*", "*/*") for found in folder.glob(f"{depth}/{_CORPUS}"))
        raise SourceError(f"no {_CORPUS} in {folder}" + (f"; there is one in {', '.join(below)}" if below else ""))
    queries: dict[str, Query] = {}
    for line in _json_lines(home / _QUERIES):
        query = _query(line)
        if query.id in queries:
            line.fail(f"the id '{query.id}' is used a second time")
        queries[query.id] = query
    return Dataset(
        name=_name(home),
        queries=tuple(queries.values()),
        qrels=_qrels(home / _QRELS, queries),
        documents=partial(_documents, home / _CORPUS),
    )


def _name(home: Path) -> str:
    """Return the name without the split: ``scifact`` for ``scifact/dev``, ``xquad/en`` for ``xquad/dev/en``."""
    parts = home.resolve().parts
    if parts[-1] == "dev":
        return parts[-2]
    return f"{parts[-3]}/{parts[-1]}" if parts[-2] == "dev" else parts[-1]


# ---------------------------------------------------------------- lines


@frozen
class _Line:
    """A JSON object and its line."""

    path: Path
    number: int
    fields: Mapping[str, Any]

    def fail(self, problem: str) -> NoReturn:
        raise SourceError(f"{self.path}, line {self.number}: {problem}")

    def text(self, name: str) -> str:
        value = self.fields.get(name, "")
        if not isinstance(value, str):
            self.fail(f"'{name}' must be text, not {json.dumps(value)[:40]}")
        return value

    def id(self) -> str:
        return self.text("id") or self.fail("an 'id' is missing")

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the texts of a list, or of nested lists, each once."""
        value = self.fields.get(name, [])
        if not isinstance(value, list):
            self.fail(f"'{name}' must be a list of texts")
        flat: list[Any] = []
        for part in cast("list[Any]", value):
            flat += cast("list[Any]", part) if isinstance(part, list) else [part]
        if not all(isinstance(text, str) for text in flat):
            self.fail(f"'{name}' must be a list of texts")
        return tuple(dict.fromkeys(flat))


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield non-blank lines with their numbers. Only newlines separate lines; texts may contain other separators."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error


def _json_lines(path: Path) -> Iterator[_Line]:
    for number, line in _lines(path):
        try:
            fields = json.loads(line.decode())
        except (ValueError, RecursionError) as error:
            raise SourceError(f"{path}, line {number}: not JSON in UTF-8 ({error})") from error
        if not isinstance(fields, dict):
            raise SourceError(f"{path}, line {number}: a JSON object is expected")
        yield _Line(path=path, number=number, fields=cast("Mapping[str, Any]", fields))


def _documents(path: Path) -> Iterator[Document]:
    """Yield the documents in the order of the file.

    Raises:
        SourceError: a line is malformed or an id is used twice; named with its line number.
    """
    seen: set[str] = set()
    for line in _json_lines(path):
        document = _document(line)
        if document.id in seen:
            line.fail(f"the id '{document.id}' is used a second time")
        seen.add(document.id)
        yield document


def _document(line: _Line) -> Document:
    metadata = _metadata(line)
    url = metadata.get("url", "")
    return Document(
        id=line.id(),
        text=line.text("text"),
        source=str(line.path),
        title=line.text("title"),
        url=url if isinstance(url, str) else "",
        metadata=metadata,
    )


def _metadata(line: _Line) -> Metadata:
    meta = line.fields.get("meta", {})
    if not isinstance(meta, dict):
        line.fail("'meta' must be an object")
    metadata: dict[str, Scalar | tuple[Scalar, ...]] = {}
    for key, value in cast("Mapping[str, Any]", meta).items():
        members = cast("list[Any]", value) if isinstance(value, list) else [value]
        if value is None:
            continue
        if not all(isinstance(member, Scalar) for member in members):
            line.fail(f"'meta.{key}' must be text, a number, true, false, or a list of these")
        metadata[key] = tuple(members) if isinstance(value, list) else value
    return metadata


def _query(line: _Line) -> Query:
    answerable = line.fields.get("answerable", True)
    if not isinstance(answerable, bool):
        line.fail("'answerable' must be true or false")
    return Query(
        id=line.id(),
        text=line.text("text") or line.fail("a 'text' is missing"),
        lang=line.text("lang"),
        answers=line.texts("answers"),
        evidence_sentences=line.texts("evidence_sentences"),
        answerable=answerable,
        extras={name: value for name, value in line.fields.items() if name not in _QUERY_FIELDS},
    )


def _qrels(path: Path, queries: Mapping[str, Query]) -> Qrels:
    qrels: dict[str, dict[str, int]] = {}
    for number, line in _lines(path):
        try:
            query, document, relevance = line.decode().rstrip("\r\n").split("\t")
            judgement = int(relevance)
        except ValueError as error:
            expected = "expected query id, document id and relevance (a whole number), separated by tabs"
            raise SourceError(f"{path}, line {number}: {expected}") from error
        if query not in queries:
            raise SourceError(f"{path}, line {number}: there is no query '{query}' in {_QUERIES}")
        qrels.setdefault(query, {})[document] = judgement
    return qrels
