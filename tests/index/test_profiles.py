"""Languages of questions, told by how the documents look, on real texts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.acquire.metadata.language import detect
from ragstone.index.keyword.profiles import LANGUAGES, SOON, Learning, Profiles

Texts = list[tuple[str, str]]


def records(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def learned(texts: list[str]) -> tuple[Profiles, dict[str, float]]:
    """As a knowledge base of these texts learns, and its shares."""
    learning, codes = Learning(Profiles.nothing()), [detect(text) for text in texts]
    for text, code in zip(texts, codes, strict=True):
        learning.take(text, code)
    return learning.learned(), {code: count / len(codes) for code, count in Counter(filter(None, codes)).items()}


def share_right(texts: list[str], questions: Texts) -> float:
    profiles, shares = learned(texts)
    return sum((profiles.language(text, shares) or detect(text, shares)) == code for text, code in questions) / len(
        questions
    )


def test_german_and_english(data_dir: Path) -> None:
    texts, questions = [], []
    for code in ("de", "en"):
        folder = data_dir / "xquad" / "dev" / code
        texts += [record["text"] for record in records(folder / "corpus.jsonl")]
        questions += [(record["text"], code) for record in records(folder / "queries.jsonl")]
    assert share_right(texts, questions) > 0.99


def test_lithuanian_with_and_without_diacritics(data_dir: Path) -> None:
    folder = data_dir / "lt_faq" / "dev"
    texts = [record["text"] for record in records(folder / "corpus.jsonl")]
    queries = [record for record in records(folder / "queries.jsonl") if record["text_ascii"].isascii()]
    assert len(queries) > 50
    assert share_right(texts, [(record[field], "lt") for record in queries for field in ("text", "text_ascii")]) > 0.98


def test_five_languages(data_dir: Path) -> None:
    rows = records(data_dir / "covid_faq_kb" / "dev" / "corpus.jsonl")
    assert share_right([row["text"] for row in rows], [(row["title"], row["meta"]["lang"]) for row in rows]) > 0.99


ENGLISH, GERMAN = "The house stands by the river. " * 40, "Das Haus steht an dem Fluss. " * 40


def taught(*texts: tuple[str, str]) -> Profiles:
    learning = Learning(Profiles.nothing())
    for text, code in texts:
        learning.take(text, code)
    return learning.learned()


def test_where_nearly_all_is_in_one_language_a_question_is_not_looked_at() -> None:
    assert taught((ENGLISH, "en")).language("Das Haus", {"en": 0.99, "de": 0.01}) == "en"


@pytest.mark.parametrize("profiles", [Profiles.nothing(), taught(("The house.", "en"), ("Das Haus.", "de"))])
def test_little_text_tells_nothing(profiles: Profiles) -> None:
    assert profiles.language("Das Haus", {"en": 0.5, "de": 0.5}) is None
    assert profiles.language("Das Haus", {}) is None


@given(st.text())
def test_any_text_gets_a_language_of_the_documents_or_none(text: str) -> None:
    assert BOTH.language(text, {"en": 0.5, "de": 0.5}) in ("en", "de", None)


def test_what_is_like_no_language_of_the_documents_is_left_open(data_dir: Path) -> None:
    texts = [record["text"] for code in ("de", "en") for record in records(data_dir / f"xquad/dev/{code}/corpus.jsonl")]
    profiles, shares = learned(texts)
    rows = records(data_dir / "covid_faq_kb" / "dev" / "corpus.jsonl")
    polish = [profiles.language(row["title"], shares) for row in rows if row["meta"]["lang"] == "pl"]
    assert polish.count(None) / len(polish) > 0.9
    german = [profiles.language(row["title"], shares) for row in rows if row["meta"]["lang"] == "de"]
    assert german.count("de") / len(german) > 0.97


BOTH = taught((ENGLISH, "en"), (GERMAN, "de"))


def test_the_shares_decide_where_the_text_does_not() -> None:
    assert BOTH.language("in", {"en": 0.6, "de": 0.4}) == "en"
    assert BOTH.language("in", {"en": 0.4, "de": 0.6}) == "de"
    assert BOTH.language("Wo steht das Haus?", {"en": 0.9, "de": 0.1}) == "de"


def test_learning_goes_on_and_is_bounded() -> None:
    learning = Learning(BOTH)
    assert not learning.is_worth_keeping
    learning.take(GERMAN, "")
    assert not learning.is_worth_keeping
    for number in range(2 * LANGUAGES):
        learning.take(GERMAN, f"language {number}")
    assert learning.is_worth_keeping
    assert len(learning.learned().codes) == LANGUAGES


def test_what_little_adds_to_much_is_not_worth_keeping() -> None:
    much = taught(*[("The house.", "en")] * SOON)
    learning = Learning(much)
    learning.take("A garden.", "en")
    assert not learning.is_worth_keeping
    learning.take("Ein Garten.", "de")
    assert learning.is_worth_keeping
