"""Languages of documents and of short questions, on real texts."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.acquire.metadata import language

Texts = list[tuple[str, str]]


@given(st.text())
def test_any_text_gives_a_code_or_none(text: str) -> None:
    assert len(language.detect(text)) in (0, 2)


@pytest.mark.parametrize("text", ["", " \n", "5G", "12345", "???", "SEB", "🙂"])
def test_text_without_words_has_no_language(text: str) -> None:
    assert language.detect(text) == ""


def share_right(texts: Texts) -> float:
    return sum(language.detect(text) == code for text, code in texts) / len(texts)


def records(path: Path, field: str = "text") -> list[str]:
    return [json.loads(line)[field] for line in path.read_text(encoding="utf-8").splitlines()]


def is_cyrillic(text: str) -> bool:
    """Skip answers in Ukrainian, which the Lithuanian set contains."""
    return sum("а" <= char <= "ї" for char in text.lower()) > 3


@pytest.mark.parametrize(
    ("code", "kind", "least"),
    [
        ("en", "corpus", 0.99),
        ("de", "corpus", 0.99),
        ("en", "queries", 0.98),
        ("de", "queries", 0.98),
    ],
)
def test_detects_language_of_paragraphs_and_questions(data_dir: Path, code: str, kind: str, least: float) -> None:
    texts = records(data_dir / "xquad" / "dev" / code / f"{kind}.jsonl")
    assert share_right([(text, code) for text in texts]) > least


@pytest.mark.parametrize(
    ("kind", "field", "least"),
    [
        ("corpus", "text", 0.98),
        ("queries", "text", 0.88),
        ("queries", "text_ascii", 0.86),
    ],
)
def test_detects_lithuanian(data_dir: Path, kind: str, field: str, least: float) -> None:
    """Some questions are only a name, which has no language; they count as wrong."""
    texts = records(data_dir / "lt_faq" / "dev" / f"{kind}.jsonl", field)
    assert share_right([(text, "lt") for text in texts if not is_cyrillic(text)]) > least


@pytest.mark.parametrize("field", ["text", "title"])
def test_detects_five_languages(data_dir: Path, field: str) -> None:
    path = data_dir / "covid_faq_kb" / "dev" / "corpus.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert share_right([(row[field], row["meta"]["lang"]) for row in rows]) > 0.98


def test_detects_malay_and_english_news(data_dir: Path) -> None:
    folder = data_dir / "malaysian_news" / "dev"
    with (folder / "news.csv").open(encoding="utf-8") as stream:
        assert share_right([(row["article_content"], row["language"]) for row in csv.DictReader(stream)]) > 0.98
    headlines = [json.loads(line) for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    assert share_right([(row["text"], row["lang"]) for row in headlines]) > 0.95


def test_detects_english_science(data_dir: Path) -> None:
    claims = records(data_dir / "scifact" / "dev" / "queries.jsonl")
    assert share_right([(claim, "en") for claim in claims]) > 0.97
