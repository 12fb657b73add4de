"""The collections of ``lists.yaml``: their documents, and for each question the documents that fit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from ragstone.core.records import Document
from ragstone.review.dataset import Dataset, load

FILE = Path(__file__).parent / "lists.yaml"
YEARS = (2021, 2022, 2023, 2024)
MONTHS = {
    "en": ("January", "March", "May", "July", "October"),
    "de": ("Januar", "März", "Mai", "Juli", "Oktober"),
}
NUMBERS = (1, 3, 5, 7, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A question, and the ids of the documents that fit."""

    text: str
    gold: frozenset[str]

    @property
    def counts(self) -> bool:
        """Whether it asks how many there are."""
        return bool(re.match(r"How many|Wie viele|Kiek", self.text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """Documents, and questions for lists of them; rules were made while the ``seen`` ones were measured."""

    name: str
    seen: bool
    dataset: Dataset
    questions: tuple[Listed, ...]


def collections(data: Path | None) -> Iterator[Collection]:
    """Yield the collections; those of a data set that is not there are left out."""
    for one in yaml.safe_load(FILE.read_text(encoding="utf-8")):
        if "parts" in one:
            documents = list(_made(one))
        elif data and (data / one["name"]).exists():
            documents = [_dated(document) for document in load(data / one["name"]).documents()]
        else:
            continue
        questions = tuple(
            Listed(text=asked["ask"], gold=frozenset(document.id for document in documents if _fits(document, asked)))
            for asked in one["questions"]
        )
        shown = tuple(map(_without_gold, documents))
        dataset = Dataset(name=f"lists-{one['name']}", documents=partial(iter, shown), queries=(), qrels={})
        yield Collection(name=one["name"], seen=one["seen"], dataset=dataset, questions=questions)


def _made(one: Mapping[str, Any]) -> Iterator[Document]:
    """Yield the documents of a collection that is made here, with the names of their parts as metadata."""
    parts: Sequence[tuple[str, Sequence[str]]] = [*one["parts"].items()]
    for n, name in enumerate(one["names"]):
        year, month = YEARS[n % 4], n % 5
        own = [(part, wordings) for p, (part, wordings) in enumerate(parts) if (3 * n * n + 5 * p + n * p) % 11 < 5]
        fields = {"name": name, "year": year, "month": NUMBERS[month], "monthname": MONTHS[one["language"]][month]}
        said = [wordings[(n + parts.index((part, wordings))) % len(wordings)] for part, wordings in own]
        text = "\n\n".join([one["opening"].format(**fields), *said, one["closing"]])
        yield Document(
            id=f"{one['name']}/{n}",
            title=one["title"].format(**fields),
            text=text,
            metadata={"date": one["date"].format(**fields), "gold": tuple(part for part, _ in own)},
        )


def _dated(document: Document) -> Document:
    """Return a document whose time stamp is its date, as the reader of CSV files would give it."""
    stamp = str(document.metadata.get("timestamp", ""))
    return replace(document, metadata={**document.metadata, "date": stamp}) if stamp else document


def _fits(document: Document, asked: Mapping[str, Any]) -> bool:
    """Return whether a document is in the gold of a question."""
    own = document.metadata
    if "part" in asked and asked["part"] not in own.get("gold", ()):
        return False
    if "year" in asked and not str(own.get("date", "")).startswith(str(asked["year"])):
        return False
    if "has" in asked and not re.search(asked["has"], f"{document.title}\n{document.text}"):
        return False
    return all(own.get(key) == value for key, value in asked.get("meta", {}).items())


def _without_gold(document: Document) -> Document:
    """Return a document without the metadata that holds the answers."""
    return replace(document, metadata={key: value for key, value in document.metadata.items() if key != "gold"})
