"""What a question ends with and no document has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from ragstone.core.request import Request
from ragstone.question import read
from ragstone.respond.requirements.unseen import unseen

LIKE: Mapping[str, float] = {"permitted": 0.8, "kiosk": 0.9, "sell": 0.7, "ice": 0.2, "skates": 0.3, "umbrellas": 0.3}
"""How near the words of a passage are to some words."""


def missing(question: str, known: Sequence[str] = ("kiosk", "sell")) -> str:
    asked = read(question)
    lack = unseen(
        asked,
        [LIKE.get(word.lower, 0.0) for word in asked.words],
        lambda words, _: [word in known for word in words],
        Request.by_owner(),
    )
    return lack.requirement.text if lack else ""


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Does the kiosk sell ice skates?", "ice skates"),
        ("Does the kiosk sell umbrellas?", "umbrellas"),
        ("Are kiosks permitted?", ""),
        ("Are umbrellas permitted?", ""),
        ("Does it sell them by itself?", "itself"),
        ("Can I sell it by myself?", ""),
    ],
)
def test_names_what_the_documents_lack(question: str, text: str) -> None:
    assert missing(question) == text


def test_a_word_of_another_document_is_not_unseen() -> None:
    assert missing("Does the kiosk sell umbrellas?", known=("umbrellas",)) == ""
