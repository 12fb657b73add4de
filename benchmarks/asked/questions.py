"""The questions of `questions.jsonl`, and what a right answer to each has.

They were written from the documents alone, before anything was asked, and nothing is fitted to them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ragstone.core.answers import Answer, Citation

QUESTIONS = Path(__file__).with_name("questions.jsonl")

Verdict = Literal["right", "right document", "wrong", "refused rightly", "refused wrongly"]
"""``right document``: it quotes a document that answers, without the words of the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to a preset, by its kind (fact, list, absent, ...), and what is known of its answer.

    ``documents`` answer it, named by the ends of their identities; if there are none, the right outcome is a refusal.
    A right answer quotes one of them, with one of the words ``any_of``, if there are any, and with each of ``all_of``.
    """

    id: str
    system: str
    kind: str
    language: str
    text: str
    documents: tuple[str, ...]
    any_of: tuple[str, ...]
    all_of: tuple[str, ...]

    @property
    def has_answer(self) -> bool:
        return bool(self.documents)

    def is_from(self, document_id: str) -> bool:
        """Return whether a document is one of those that answer."""
        return any(document_id == name or document_id.endswith((f"#{name}", f"/{name}")) for name in self.documents)

    def is_said_in(self, text: str) -> bool:
        """Return whether a text has the words of the answer, whatever their case and the white space between them."""
        said = _plain(text)
        return all(_plain(one) in said for one in self.all_of) and (
            not self.any_of or any(_plain(one) in said for one in self.any_of)
        )

    def verdict(self, answer: Answer) -> Verdict:
        """Judge an answer; one that shows only the closest passages counts as a refusal."""
        if answer.abstained:
            return "refused wrongly" if self.has_answer else "refused rightly"
        own: Sequence[Citation] = [one for one in answer.citations if self.is_from(one.document_id)]
        if not own:
            return "wrong"
        return "right" if self.is_said_in("\n".join(one.quote for one in own)) else "right document"


def questions() -> list[Question]:
    """Read all questions, in the order of the file."""
    with QUESTIONS.open(encoding="utf-8") as lines:
        return [_question(json.loads(line)) for line in lines]


def _question(row: Mapping[str, Any]) -> Question:
    if (row["outcome"] == "answer") != bool(row["documents"]):
        raise ValueError(f"{row['id']}: an answer needs documents, and a refusal has none")
    return Question(
        id=row["id"],
        system=row["system"],
        kind=row["kind"],
        language=row["language"],
        text=row["question"],
        documents=tuple(row["documents"]),
        any_of=tuple(row["any"]),
        all_of=tuple(row["all"]),
    )


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
