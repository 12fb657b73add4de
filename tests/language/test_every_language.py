"""Every language has a whole file, and recognises its own questions and no others'."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.kinds import Kind
from ragstone.language import language_of, languages, lexicon, phrases, replies
from ragstone.language.facts import words
from ragstone.language.files import table
from ragstone.language.talk import talking
from ragstone.language.words import written_in
from ragstone.question import kind
from ragstone.question.talk import talk_of
from ragstone.settings.yaml_text import read_word_file, read_words

ASKED = frozenset(key for key in table("en") if key not in table("sv"))
"""Entries that read questions and name documents; a language may be read and answered in without them."""
OPEN = {"calculated", "companies", "currencies", "languages", "measures", "numbers", "ordinals", "scales", "topics"}
OPEN |= {"places", "units", "words"}
"""Entries whose keys differ from language to language."""
FEWEST = {"stop": 20, "negations": 4, "numbers": 8, "months": 12, "opposites": 15, "units": 5}


KINDS: tuple[Kind, ...] = ("how_to", "location", "time", "quantity", "reason")
"""The kinds of the questions of a sample, in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Questions of a language, one of each kind, a greeting, and a sentence with a date and an amount."""

    questions: tuple[str, ...]
    greeting: str
    dated: str


SAMPLES = {
    "en": Sample(
        questions=(
            "How can I sign in?",
            "Where is the office?",
            "When does the course begin?",
            "How many members are there?",
            "Why is the pool closed?",
        ),
        greeting="Hello!",
        dated="On 3 March 2024 it cost 5 million dollars.",
    ),
    "de": Sample(
        questions=(
            "Wie kann ich mich anmelden?",
            "Wo ist das Büro?",
            "Wann beginnt der Kurs?",
            "Wie viele Mitglieder gibt es?",
            "Warum ist das Bad geschlossen?",
        ),
        greeting="Guten Morgen!",
        dated="Am 3. März 2024 kostete es 5 Millionen Dollar.",
    ),
    "lt": Sample(
        questions=(
            "Kaip galiu prisijungti?",
            "Kur yra biuras?",
            "Kada prasideda kursas?",
            "Kiek yra narių?",
            "Kodėl baseinas uždarytas?",
        ),
        greeting="Labas rytas!",
        dated="2024 m. kovo 3 d. kainavo 5 milijonus dolerių.",
    ),
    "ms": Sample(
        questions=(
            "Bagaimana saya boleh log masuk?",
            "Di mana pejabat itu?",
            "Bila kursus itu bermula?",
            "Berapa ahli yang ada?",
            "Mengapa kolam itu ditutup?",
        ),
        greeting="Selamat pagi!",
        dated="Pada 3 Mac 2024 ia berharga 5 juta dolar.",
    ),
    "nl": Sample(
        questions=(
            "Hoe kan ik inloggen?",
            "Waar is het kantoor?",
            "Wanneer begint de cursus?",
            "Hoeveel leden zijn er?",
            "Waarom is het zwembad gesloten?",
        ),
        greeting="Goedemorgen!",
        dated="Op 3 maart 2024 kostte het 5 miljoen dollar.",
    ),
}
PAIRS = [
    (language, kind, question)
    for language, sample in SAMPLES.items()
    for kind, question in zip(KINDS, sample.questions, strict=True)
]


def keys(entry: object, path: str = "") -> set[str]:
    if not isinstance(entry, Mapping) or path.rpartition(".")[2] in OPEN:
        return {path}
    some: Mapping[str, Any] = entry
    return {one for key, value in some.items() for one in keys(value, f"{path}.{key}")}


def test_every_language_that_is_asked_in_has_samples() -> None:
    assert set(talking()) == SAMPLES.keys()


@pytest.mark.parametrize("language", languages())
def test_every_file_has_the_entries_of_the_english_one(language: str) -> None:
    wanted = {key: entry for key, entry in table("en").items() if language in talking() or key not in ASKED}
    assert keys(table(language)) == keys(wanted)


@pytest.mark.parametrize("language", languages())
def test_every_file_has_enough_words(language: str) -> None:
    entries = table(language)
    assert {name: len(entries[name]) for name, least in FEWEST.items() if len(entries[name]) < least} == {}
    assert phrases(language) != phrases("en") or language == "en"
    assert replies(language) != replies("en") or language == "en"


@pytest.mark.parametrize(("language", "expected", "question"), PAIRS)
def test_the_kind_of_a_question_is_told(language: str, expected: Kind, question: str) -> None:
    assert kind(question, language) == expected


@pytest.mark.parametrize(("language", "expected", "question"), PAIRS)
def test_no_language_takes_questions_of_another(language: str, expected: Kind, question: str) -> None:
    assert kind(question, "") == expected
    assert language_of(question) in (language, "")


@pytest.mark.parametrize("language", SAMPLES)
def test_greetings_need_no_search(language: str) -> None:
    talk = talk_of(SAMPLES[language].greeting, language)
    assert talk is not None
    assert (talk.kind, talk.language) == ("greeting", language)


@pytest.mark.parametrize("language", SAMPLES)
def test_months_and_numbers_are_read(language: str) -> None:
    values = {word.value for word in words(SAMPLES[language].dated)}
    assert {"3", "month 3", "2024", "5"} <= values


@pytest.mark.parametrize("language", languages())
def test_function_words_tell_languages_apart(language: str) -> None:
    """At most a quarter of the function words are those of another language."""
    own = written_in(language).stop
    shared = {other: sorted(own & written_in(other).stop) for other in languages() if other != language}
    assert {other: words for other, words in shared.items() if len(words) > len(own) / 4} == {}


def test_unknown_languages_use_all_words() -> None:
    assert lexicon("xx").search_stop >= lexicon("nl").search_stop | lexicon("en").search_stop


def test_reads_words_of_yaml_as_text() -> None:
    """Finnish "on" and the code of Norway are no truth values."""
    assert read_words("stop: [on, no, yes]\nplaces: {NO: [norway]}\nnumbers: {two: 2}") == {
        "stop": ["on", "no", "yes"],
        "places": {"NO": ["norway"]},
        "numbers": {"two": 2},
    }


def test_keeps_words_and_notices_changes(tmp_path: Path) -> None:
    file = tmp_path / "xx.yaml"
    file.write_text("stop: [on, no]", encoding="utf-8")
    assert read_word_file(file) == read_word_file(file) == {"stop": ["on", "no"]}
    (kept,) = tmp_path.glob("**/xx*.json")
    kept.write_text("[half", encoding="utf-8")
    assert read_word_file(file) == {"stop": ["on", "no"]}
    file.write_text("stop: [on, no, yes]", encoding="utf-8")
    assert read_word_file(file) == {"stop": ["on", "no", "yes"]}


def test_keeps_no_words_that_json_would_change(tmp_path: Path) -> None:
    file = tmp_path / "xx.yaml"
    file.write_text("1: one", encoding="utf-8")
    assert read_word_file(file) == read_word_file(file) == {1: "one"}
