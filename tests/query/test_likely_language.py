"""In which of the documents' languages a short question is, and that it is not corrected with words of another one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ragstone.index.keyword.ordinary import is_ordinary
from ragstone.query.likely_language import likely_language
from ragstone.query.respell import worded
from ragstone.query.spelling import distance
from ragstone.question import read
from ragstone.settings import QuerySettings

MOSTLY_ENGLISH = {"en": 0.8, "lt": 0.1, "de": 0.1}
MOSTLY_GERMAN = {"de": 0.8, "en": 0.1, "lt": 0.1}
MOSTLY_LITHUANIAN = {"lt": 0.8, "en": 0.1, "de": 0.1}
ALL = (MOSTLY_ENGLISH, MOSTLY_GERMAN, MOSTLY_LITHUANIAN)


class Words:
    """A vocabulary of a few words, besides the shipped lists."""

    def __init__(self, *words: str) -> None:
        self._words = words

    def known(self, words: Sequence[str], language: str) -> list[bool]:  # noqa: ARG002
        return [word in self._words for word in words]

    def ordinary(self, word: str, language: str) -> bool:
        return is_ordinary(word, language)

    def near(self, word: str, errors: int) -> dict[str, int]:
        return {one: 1 for one in self._words if distance(word, one, errors) <= errors}


@pytest.mark.parametrize("shares", ALL, ids=["english", "german", "lithuanian"])
@pytest.mark.parametrize("misleading", ["en", "de", "lt"])
@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("list the minutes", "en"),
        ("next meeting", "en"),
        ("annual leave", "en"),
        ("when is the next briefing", "en"),
        ("preise", "de"),
        ("protokoll juni", "de"),
        ("wo ist das büro", "de"),
        ("vejo greitis", "lt"),
        ("atostogų trukmė", "lt"),
        ("kada posėdis", "lt"),
    ],
)
def test_words_tell_the_language(question: str, language: str, shares: dict[str, float], misleading: str) -> None:
    assert likely_language(question, "", shares, Words(), lambda: misleading) == language


@pytest.mark.parametrize("shares", ALL, ids=["english", "german", "lithuanian"])
def test_word_of_several_languages_has_that_of_most_documents(shares: dict[str, float]) -> None:
    most = max(shares, key=lambda code: shares[code])
    assert likely_language("hotel", "", shares, Words(), lambda: "lt") == most


def test_letters_decide_what_no_list_has() -> None:
    assert likely_language("waktu operasi", "", {"ms": 0.5, "it": 0.5}, Words(), lambda: "ms") == "ms"


@pytest.mark.parametrize(
    "question", ["chi è il direttore", "waar is het kantoor", "siapa pengarah", "when is the training"]
)
def test_words_of_other_languages_correct_nothing(question: str) -> None:
    found = worded(read(question), QuerySettings(), "lt", Words("direktore", "kantora", "pengara", "siapa", "training"))
    assert found.wording.text == question


@pytest.mark.parametrize("question", ["lista dei prezzi", "godziny otwarcia"])
def test_no_diacritics_are_restored_in_another_language(question: str) -> None:
    assert worded(read(question), QuerySettings(), "lt", Words()).wording.text == question


def test_loan_words_do_not_make_a_question_german() -> None:
    def language(question: str, profile: str) -> str:
        return likely_language(question, "", {"en": 0.95, "de": 0.05}, Words(), lambda: profile)

    assert language("wifi password", "en") == "en"
    assert language("wlan passwort", "en") == "de"
