"""Questions typed badly: what is put right, and what is left alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.records import Question
from ragstone.index.keyword.ordinary import is_ordinary
from ragstone.query.diacritics import Spellings, bare, restore, shipped
from ragstone.query.respell import worded
from ragstone.query.spelling import correct, distance
from ragstone.question import read
from ragstone.settings import QuerySettings


class Words:
    """A vocabulary of a few words."""

    def __init__(self, *words: str) -> None:
        self._words = words

    def known(self, words: Sequence[str], language: str) -> list[bool]:  # noqa: ARG002
        return [bare(word) in self._words for word in words]

    def ordinary(self, word: str, language: str) -> bool:
        return is_ordinary(word, language)

    def near(self, word: str, errors: int) -> dict[str, int]:
        return {one: 1 for one in self._words if distance(bare(word), one, errors) <= errors}


@pytest.fixture(scope="module")
def lithuanian() -> Spellings:
    known = shipped("lt")
    assert known is not None
    return known


def asked(
    text: str, *documents: str, words: tuple[str, ...] = (), spelling: bool = True, language: str = "lt"
) -> Question:
    settings = QuerySettings(words=words, spelling=spelling)
    return worded(read(text), settings, language, Words(*documents))


@pytest.mark.parametrize("typed", ["Kaip patekti į ligoninę?", "Kur galiu pasiskiepyti?", "ar galiu patekti"])
def test_keeps_words_of_the_language_that_no_document_has(typed: str) -> None:
    assert asked(typed, "pateikti", "paskiepyti").wording.text == typed


@pytest.mark.parametrize(
    ("typed", "language"),
    [
        ("Worin unterscheiden sich beide?", "de"),
        ("Womit zahle ich?", "de"),
        ("Berapa harga itu?", "ms"),
        ("What is Agrobank?", "ms"),
    ],
)
def test_keeps_question_words_that_no_document_has(typed: str, language: str) -> None:
    assert asked(typed, "worn", "somit", "merapa", "that", language=language).wording.text == typed


@pytest.mark.parametrize(
    ("typed", "language", "near"),
    [
        ("Kann mein Sohn mitkommen?", "de", "sonn"),
        ("Wann verfällt der Gutschein?", "de", "verfolgt"),
        ("Wer zahlt die Rechnung für Reifen?", "de", "richtung"),
        ("Wie hoch sind die Nebenkosten?", "de", "nebenkasten"),
        ("What does the forecast say about trays?", "en", "forecasts"),
    ],
)
def test_keeps_forms_and_compounds_of_listed_words(typed: str, language: str, near: str) -> None:
    assert asked(typed, near, "reisen", "tray", language=language).wording.text == typed


@pytest.mark.parametrize(
    ("typed", "meant"), [("Wer leitet die Regirung?", "Regierung"), ("Welche Symtome gibt es?", "Symptome")]
)
def test_corrects_errors_next_to_listed_words(typed: str, meant: str) -> None:
    assert meant.lower() in asked(typed, "regierung", "symptome", language="de").wording.text.lower()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("kaip gauti pazyma", "kaip gauti pažymą"),
        ("Kur galeciau gauti vezio gydymo paslaugas?", "Kur galėčiau gauti vėžio gydymo paslaugas?"),
        ("ar galiu isvykti is Lietuvos", "ar galiu išvykti iš Lietuvos"),
    ],
)
def test_restores_diacritics(lithuanian: Spellings, typed: str, meant: str) -> None:
    assert restore(typed, lithuanian) == meant


@pytest.mark.parametrize(
    "text",
    [
        "kur gauti kortelę ir zemelapi",
        "as_var",
        "saule::zeme",
        "http://saule.lt/zeme",
        "x@zeme.lt",
        "COVID-19",
        "a1b2",
        "",
    ],
)
def test_keeps_identifiers_and_acronyms(lithuanian: Spellings, text: str) -> None:
    assert restore(text, lithuanian) == text


@given(text=st.text(st.sampled_from("aceisuzlpt ąčęėįšųūžAŠ.,-_1"), max_size=60))
def test_restoring_only_adds_diacritics(text: str) -> None:
    known = shipped("lt")
    assert known is not None
    restored = restore(text, known)
    assert bare(restored) == bare(text)
    if text != bare(text):
        assert restored == text


def test_leaves_other_languages_alone() -> None:
    assert shipped("en") is None
    assert asked("kur gauti kortele", "kortele", "gauti", "kur", language="en").wording.text == "kur gauti kortele"


def test_keeps_the_spelling_of_user_words() -> None:
    documents = ("kortele", "gauti", "kur", "pola")
    question = asked("kur gauti pola kortele", *documents, words=("POLA", "kortelę"))
    assert question.wording.text == "kur gauti POLA kortelę"
    assert question.asked == "kur gauti pola kortele"
    assert question.notices == ("searched also for: kur gauti POLA kortelę",)
    assert not asked("kur", *documents).notices


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("the insurence pays", "the insurance pays"),
        ("the Insruance pays", "the Insurance pays"),
        ("insurance", "insurance"),
        ("insur3nce", "insur3nce"),
        ("INSURENCE", "INSURENCE"),
        ("insurence_id", "insurence_id"),
        ("insurence.id", "insurence.id"),
        ("the insurence.", "the insurance."),
        ("iOSurance", "iOSurance"),
    ],
)
def test_corrects_typing_errors(typed: str, meant: str) -> None:
    assert asked(typed, "the", "insurance", "pays", language="en").wording.text == meant


def test_common_word_is_not_an_error() -> None:
    prime = Words("prime")
    assert correct("what is the price", prime, "en") == {}
    assert correct("what is the primr", prime, "en") == {"primr": "prime"}
    assert correct("kas yra price", prime, "lt") == {"price": "prime"}


def test_spelling_can_be_switched_off() -> None:
    assert (
        asked("kur gauti kortele insurence", "insurance", spelling=False).wording.text == "kur gauti kortele insurence"
    )


def test_ignores_overlong_words() -> None:
    assert correct("x" * 100_000, Words("xxxx"), "en") == {}


@given(st.text(), st.lists(st.text(st.characters(categories=["Ll"]), min_size=1), max_size=5))
def test_never_corrects_document_words(text: str, words: list[str]) -> None:
    known = [bare(word) for word in text.lower().split()]
    corrected = correct(text, Words(*known, *words), "en")
    assert not set(corrected) & set(known)


@pytest.mark.parametrize(
    ("one", "other", "errors"),
    [("abc", "abc", 0), ("abc", "acb", 1), ("abc", "ab", 1), ("abc", "abcd", 1), ("abc", "axc", 1), ("abc", "xyz", 3)],
)
def test_edit_distance(one: str, other: str, errors: int) -> None:
    assert distance(one, other, 2) == min(errors, 3)
    assert distance(other, one, 2) == min(errors, 3)


_AB = st.text("ab", max_size=6)


@given(_AB, _AB, _AB, _AB)
def test_equal_ends_leave_edit_distance_unchanged(start: str, one: str, other: str, end: str) -> None:
    assert distance(f"{start}{one}{end}", f"{start}{other}{end}", 2) == distance(one, other, 2)
    assert distance(one, other, 9) == _edits(one, other)


def _edits(one: str, other: str) -> int:
    """Return the distance by its definition."""
    if not one or not other:
        return len(one) + len(other)
    least = min(
        _edits(one[1:], other) + 1, _edits(one, other[1:]) + 1, _edits(one[1:], other[1:]) + (one[0] != other[0])
    )
    if one[:2] == other[1::-1] and len(one) > 1:
        least = min(least, _edits(one[2:], other[2:]) + 1)
    return least
