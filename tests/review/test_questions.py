"""Questions from a CSV: what is read, and what is said of lines that are not as they should be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone.core.errors import NotFound, SourceError
from ragstone.core.records import Document
from ragstone.review.dataset import Dataset
from ragstone.review.questions import read_questions

STORED = ("docs/terms.md", "docs/map.pdf")


def find(source: str) -> str:
    for id in STORED:
        if id == source or id.endswith(f"/{source}"):
            return id
    raise NotFound(f"there is no document '{source}'")


def documents() -> Iterator[Document]:
    return iter(())


def read(path: Path, text: str) -> Dataset:
    path.write_text(text, encoding="utf-8")
    return read_questions(path, find, documents)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "faq.csv"


def test_reads_all_columns(path: Path) -> None:
    dataset = read(
        path,
        "\ufeffQuestion,Source,answerable,lang,kind,note\n"
        'How long?,"terms.md; docs/map.pdf",yes,en,,x\n'
        "\n"
        "Wer?,,No,de,hard,\n",
    )
    assert dataset.name == "faq"
    assert dataset.qrels == {"How long?": {"docs/terms.md": 1, "docs/map.pdf": 1}, "Wer?": {}}
    assert [(q.id, q.lang, q.answerable, q.extras) for q in dataset.queries] == [
        ("How long?", "en", True, {}),
        ("Wer?", "de", False, {"kind": "hard"}),
    ]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_accepts_usual_separators(path: Path, separator: str) -> None:
    dataset = read(path, f'question{separator}source\nWhy?{separator}"terms.md;map.pdf"\n')
    assert set(dataset.qrels["Why?"]) == set(STORED)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("frage,quelle\nWhy?,terms.md\n", "line 1: the columns 'question' and 'source'"),
        ("question,source\n,terms.md\n", "line 2: the question is missing"),
        ("question,source\nWhy?,terms.md\nWhy?,map.pdf\n", "line 3: the question 'Why?' is asked a second time"),
        ("question,source\nWhy?,terms.md\nWho?,\n", "line 3: a source is missing"),
        ("question,source\nWhy?,gone.md\n", "line 2: there is no document 'gone.md'"),
        ("question,source,answerable\nWhy?,terms.md,no\n", "line 2: an unanswerable question cannot have a source"),
        ("question,source,answerable\nWhy?,terms.md,maybe\n", "line 2: 'answerable' is 'maybe'"),
        ('question,source\n"One\nor\nmore?",terms.md\nWho?,gone\n', "line 5: there is no document"),
        ("question,source\nWhy, or how?,terms.md\n", "line 2: 3 cells, but the header has 2"),
        ('question,source\nWhy?,terms.md\n"Who?,map.pdf\n', "line 3: unexpected end of data"),
        ("question,source\n", "holds no questions"),
    ],
)
def test_errors_name_the_line(path: Path, text: str, problem: str) -> None:
    with pytest.raises(SourceError) as caught:
        read(path, text)
    assert problem in str(caught.value)
    assert "faq.csv" in str(caught.value)


def test_reports_other_encodings(path: Path) -> None:
    path.write_bytes("question,source\nWarum für?,terms.md\n".encode("latin-1"))
    with pytest.raises(SourceError, match="UTF-8"):
        read_questions(path, find, documents)
