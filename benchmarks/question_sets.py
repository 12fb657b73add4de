"""Questions with what is known of their answers, in one form for sets that know very different things.

Some sets mark the sentences an answer rests on, some the words of the answer, some only the document. What is not
marked in any of these ways is not judged.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar, cast

from benchmarks.written import PATH, written
from ragstone import acquire
from ragstone.core.answers import Citation, Turn
from ragstone.core.records import Document, Span
from ragstone.review.citations import Place, locate, touches
from ragstone.review.dataset import Dataset, Query, load
from ragstone.settings import AcquireSettings

QUESTIONS = 240
"""Questions of a set that are asked, spread evenly over it."""
DOCUMENTS = 300
"""Passages of a set that are searched, at most, besides those of its questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, and what is known of its answer.

    ``documents`` answer it; ``evidence`` are the sentences that an answer must rest on, each with every place where it
    stands; ``answers`` are words of which a right answer contains one. ``before`` holds the earlier turns.
    """

    id: str
    text: str
    language: str = ""
    before: tuple[Turn, ...] = ()
    answerable: bool = True
    documents: frozenset[str] = frozenset()
    evidence: tuple[tuple[Place, ...], ...] = ()
    answers: tuple[str, ...] = ()

    def is_answered_by(self, citations: Sequence[Citation]) -> bool:
        """Return whether a quote touches a marked sentence, has the answer, or at least is from the right document."""
        if not self.answerable:
            return False
        if self.evidence:
            return any(touches(citation, places) for citation in citations for places in self.evidence)
        own = [one for one in citations if one.document_id in self.documents]
        if not self.answers:
            return bool(own)
        quoted = [_plain(one.quote) for one in own]
        return any(_plain(answer) in quote for quote in quoted for answer in self.answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSet:
    """Questions and the documents they are asked of.

    ``without`` says that each is asked a second time without the documents that answer it, because the set marks no
    questions as unanswerable.
    """

    name: str
    dataset: Dataset
    asked: tuple[Asked, ...]
    without: bool


def question_set(data: Path, name: str) -> QuestionSet:
    """Load a set by its name in `SETS`."""
    return SETS[name](data, name)


def is_there(data: Path, name: str) -> bool:
    """Return whether the files of a set are there."""
    folder = FOLDERS.get(name, name.replace(" ", "/dev/"))
    return (data / folder).exists() or (data / "reader" / f"{name}.jsonl.gz").exists()


# ---------------------------------------------------------------- folders of documents, questions and judgements
def _judged(data: Path, name: str, *, without: bool = True, answers: bool = False) -> QuestionSet:
    """Return a set whose questions name the documents that answer them, and perhaps the sentences in them."""
    dataset = load(data / name.replace(" ", "/dev/"))
    texts = {document.id: document.text for document in dataset.documents()}

    def asked(query: Query) -> Asked:
        right = frozenset(one for one, grade in dataset.qrels.get(query.id, {}).items() if grade > 0)
        marked = [locate(sentence, right, texts) for sentence in query.evidence_sentences]
        return Asked(
            id=query.id,
            text=query.text,
            language=query.lang,
            answerable=query.answerable,
            documents=right,
            evidence=tuple(places for places in marked if places) or _spans(query, right),
            answers=query.answers if answers else (),
        )

    return QuestionSet(
        name=name, dataset=dataset, asked=tuple(map(asked, _some(dataset.queries, QUESTIONS))), without=without
    )


def _spans(query: Query, documents: Iterable[str]) -> tuple[tuple[Place, ...], ...]:
    spans = cast("list[Mapping[str, Any]]", query.extras.get("spans", []))
    return tuple(
        (Place(document_id=one, span=Span(start=span["start"], end=span["start"] + len(span["text"]))),)
        for one in documents
        for span in spans
    )


def _conversations(data: Path, name: str) -> QuestionSet:
    """Return a set of last turns; what cannot be understood, or has no answer in its passages, is unanswerable."""
    given = _judged(data, name, without=False)
    queries = {query.id: query for query in given.dataset.queries}

    def in_conversation(one: Asked) -> Asked:
        extras = queries[one.id].extras
        said = cast("list[Mapping[str, str]]", extras["conversation"])[:-1]
        turns = [
            Turn(question=question["text"], answer=answer["text"])
            for question, answer in zip(said[::2], said[1::2], strict=False)
        ]
        known = extras["answerability"] if isinstance(extras["answerability"], str) else extras["answerability"][0]
        return replace(one, before=tuple(turns), answerable=known in ("ANSWERABLE", "PARTIAL"))

    return replace(given, asked=tuple(map(in_conversation, given.asked)))


def _across(data: Path, name: str) -> QuestionSet:
    """Return the English set asked in German."""
    del name
    english = _judged(data, "xquad en", answers=True)
    german = {query.id: query.text for query in load(data / "xquad/dev/de").queries}
    asked = tuple(replace(one, text=german[one.id], language="de") for one in english.asked)
    return replace(english, name="xquad de-en", asked=asked)


# ---------------------------------------------------------------- questions with a passage each
def _passages(data: Path, name: str, *, apart: bool = False) -> QuestionSet:
    """Return a set of `reader`: questions with a passage, evidence in it, and for some none.

    ``apart`` cuts each passage at its blank lines into articles, whose first lines are their titles.
    """
    with gzip.open(data / "reader" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    rows.sort(key=lambda row: _id(row["id"]))  # in the file, one kind of question may return every third row
    marked, unanswerable = [row for row in rows if row["evidence"]], [row for row in rows if row["evidence"] == []]
    chosen = [*marked[: QUESTIONS - min(len(unanswerable), QUESTIONS // 3)], *unanswerable[: QUESTIONS // 3]]
    ids = {row["id"] for row in chosen}
    others = [row for row in rows if row["id"] not in ids][: DOCUMENTS // 6 if apart else DOCUMENTS]
    documents: dict[str, Document] = {}
    asked: list[Asked] = []
    for row in (*chosen, *others):
        parts = list(_articles(row["passage"])) if apart else [(0, row["title"], row["passage"])]
        for _, title, text in parts:
            documents.setdefault(_id(text), Document(id=_id(text), title=title, text=text, source=name))
        if len(asked) < len(chosen):
            asked.append(_asked(row, parts))
    return QuestionSet(
        name=name,
        dataset=Dataset(name=name, queries=(), qrels={}, documents=lambda: iter(documents.values())),
        asked=tuple(asked),
        without=all(one.answerable for one in asked),
    )


def _asked(row: Mapping[str, Any], parts: Sequence[tuple[int, str, str]]) -> Asked:
    places: list[tuple[Place, ...]] = []
    for start, end in row["evidence"]:
        for offset, _, text in parts:
            if offset <= start < offset + len(text):
                span = Span(start=start - offset, end=min(end - offset, len(text)))
                places.append((Place(document_id=_id(text), span=span),))
    return Asked(
        id=row["id"],
        text=row["question"],
        language=row["lang"],
        answerable=row["answerable"],
        documents=frozenset(place.document_id for some in places for place in some),
        evidence=tuple(places),
    )


def _articles(passage: str) -> Iterator[tuple[int, str, str]]:
    """Yield where each article begins, its title, and its text."""
    offset = 0
    for part in passage.split("\n\n"):
        title, _, text = part.partition("\n")
        yield offset + len(title) + 1, title, text
        offset += len(part) + 2


# ---------------------------------------------------------------- quarterly reports
def _filings(data: Path, name: str) -> QuestionSet:
    """Return questions about quarterly reports, read from PDF, that a figure of one report answers."""
    folder = data / FOLDERS[name]
    with (folder / "questions.jsonl").open(encoding="utf-8") as lines:
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines]

    def documents() -> Iterator[Document]:
        for path in sorted((folder / "pdf").glob("*.pdf")):
            for found in acquire.read(str(path), AcquireSettings(), base=path.parent):
                if isinstance(found, Document):
                    yield replace(found, id=f"pdf/{path.name}")

    asked = tuple(
        Asked(
            id=row["id"],
            text=row["question"],
            language="en",
            documents=frozenset(row["files"]),
            answers=tuple(figure.lstrip("$") for figure in row["answers"][:1]),
        )
        for row in rows
        if row["answers"] and row["question_type"].startswith("Single-Doc")
    )
    dataset = Dataset(name="sec10q", queries=(), qrels={}, documents=documents)
    return QuestionSet(name=name, dataset=dataset, asked=asked, without=True)


# ---------------------------------------------------------------- questions written for this project
def _written(data: Path, name: str) -> QuestionSet:
    """Return questions in other words than the documents; those whose sentences reading has changed are left out."""
    del data
    documents: list[Document] = []
    asked: list[Asked] = []
    with TemporaryDirectory() as folder:
        for one in written("test"):
            path = Path(folder) / one.domain / one.name
            path.parent.mkdir(exist_ok=True)
            path.write_text(one.text, encoding="utf-8")
            (document,) = (
                replace(found, id=f"{one.domain}/{one.name}")
                for found in acquire.read(str(path), AcquireSettings(), base=Path(folder))
                if isinstance(found, Document)
            )
            documents.append(document)
            for number, question in enumerate(one.questions):
                places = [locate(quote, (document.id,), {document.id: document.text}) for quote in question.quotes]
                if all(places):
                    asked.append(
                        Asked(
                            id=f"{document.id}/{number}",
                            text=question.text,
                            language="en",
                            answerable=bool(places),
                            documents=frozenset([document.id]),
                            evidence=tuple(places),
                        )
                    )
    return QuestionSet(
        name=name,
        dataset=Dataset(name=name, queries=(), qrels={}, documents=lambda: iter(documents)),
        asked=tuple(_some(asked, QUESTIONS)),
        without=False,
    )


FOLDERS = {
    "written": str(PATH),
    "filings": "tables/sec10q/dev",
    "xquad en": "xquad/dev/en",
    "xquad de": "xquad/dev/de",
    "xquad de-en": "xquad/dev",
}
"""Where sets are, below the folder of data unless the path is absolute."""

SETS: Mapping[str, Callable[[Path, str], QuestionSet]] = {
    "clapnq": partial(_judged, without=False),
    "xquad en": partial(_judged, answers=True),
    "xquad de": partial(_judged, answers=True),
    "xquad de-en": _across,
    "covidqa": _judged,
    "covid_faq_kb": _judged,
    "lt_faq": _judged,
    "cudaq_docs": _judged,
    "telekom_press": _judged,
    "mtrag_un": _conversations,
    "filings": _filings,
    "written": _written,
    "qed_nq_dev": _passages,
    "hotpotqa": partial(_passages, apart=True),
    "2wikimultihop": partial(_passages, apart=True),
    "selqa": _passages,
    "condaqa": _passages,
    "tatqa_text": _passages,
    "policyqa": _passages,
    "squad2_dev_half": _passages,
}


_Item = TypeVar("_Item")


def _some(items: Sequence[_Item], limit: int) -> Sequence[_Item]:
    """Return at most this many, spread evenly."""
    return items if len(items) <= limit else [items[n * len(items) // limit] for n in range(limit)]


def _id(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
