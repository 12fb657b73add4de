"""The collections that replies of language models were written over, and their questions.

A reply names the passages it was written from by document and characters, so that it can be replayed against any
version of Ragstone that finds the same words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.question_sets import question_set
from benchmarks.written import written
from ragstone import acquire
from ragstone.core.records import Document
from ragstone.settings import AcquireSettings

WRITTEN = ("handbooks", "filings", "wikis", "references", "citizens", "contracts", "reports")
"""Collections of documents written for this project, by domain; they need no data set."""
SETS = ("clapnq", "cudaq_docs", "xquad de", "covidqa", "filings in PDF", "xquad de-en")
TEST = frozenset({"references", "citizens", "contracts", "reports", "covidqa", "filings in PDF", "xquad de-en"})
"""Collections whose replies nothing is fitted to."""
_REPORTS = 6
"""PDF reports that are read; reading all takes minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """Documents, and questions asked of them."""

    name: str
    documents: tuple[Document, ...]
    questions: tuple[str, ...]


def collection(data: Path | None, name: str) -> Collection:
    """Return a collection by its name in `WRITTEN` or `SETS`; those in `SETS` need the folder of data sets."""
    if name in WRITTEN:
        return _written(name)
    if data is None:
        raise ValueError(f"{name} needs the folder of data sets")
    found = question_set(data, "filings" if name == "filings in PDF" else name)
    documents = tuple(found.dataset.documents())
    questions = tuple(one.text for one in found.asked)
    if name == "filings in PDF":
        documents = documents[:: max(1, len(documents) // _REPORTS)][:_REPORTS]
        ids = {document.id for document in documents}
        questions = tuple(one.text for one in found.asked if one.documents <= ids)
    return Collection(name=name, documents=documents, questions=questions)


def _written(domain: str) -> Collection:
    documents, questions = list[Document](), list[str]()
    with TemporaryDirectory() as folder:
        for one in written():
            if one.domain != domain:
                continue
            path = Path(folder) / one.name
            path.write_text(one.text, encoding="utf-8")
            documents += _read(path, one.name)
            questions += [question.text for question in one.questions]
    return Collection(name=domain, documents=tuple(documents), questions=tuple(questions))


def _read(path: Path, id: str) -> Iterator[Document]:
    for found in acquire.read(str(path), AcquireSettings(), base=path.parent):
        if isinstance(found, Document):
            yield replace(found, id=id, source=id)


def spread(questions: Sequence[str], count: int) -> list[str]:
    """Return at most this many questions, spread evenly."""
    return (
        list(questions) if len(questions) <= count else [questions[n * len(questions) // count] for n in range(count)]
    )
