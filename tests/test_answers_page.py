"""docs/answers.md shows what was asked by its rule, and what is bold on it stands in the documents."""

from __future__ import annotations

import re
import runpy
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.answers import Answer, Citation, Usage
from ragstone.core.records import Chunk, Document, Hit
from ragstone.review.dataset import Dataset, Query, load
from ragstone.review.evaluate import spread

ROOT = Path(__file__).parent.parent
TEXT = "Stones are heavy. <script>alert(1)</script> **Ragstone** weighs\n\n2.4 tons a cubic metre. Nobody weighs air."
QUOTE = "Stones are heavy."


@pytest.fixture(scope="module")
def tool() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / "answers_page.py"))


def test_the_page_has_the_questions_of_its_rule_and_quotes_their_documents(
    tool: dict[str, Any], data_dir: Path
) -> None:
    page = (ROOT / "docs" / "answers.md").read_text(encoding="utf-8")
    entries = re.split(r"^## \d+\. ", page, flags=re.MULTILINE)[1:]
    assert len(entries) == 10
    for shown in tool["SETS"]:
        dataset = load(data_dir / shown.folder)
        texts = [" ".join(document.text.split()) for document in dataset.documents()]
        for query in spread(dataset.queries, shown.questions):
            asked, *quotes = [words(one) for one in re.findall(r"<b>(.*?)</b>", entries.pop(0), flags=re.DOTALL)]
            assert asked == " ".join(query.text.split()), "run: make docs-answers"
            assert all(any(quote in text for text in texts) for quote in quotes)
    assert not entries


def words(html: str) -> str:
    return " ".join(unescape(html.replace("<br>", " ")).split())


def test_texts_of_documents_stay_texts(tool: dict[str, Any]) -> None:
    page = tool["entry"](Query(id="1", text="<i>What</i>?"), answered(), "Right: it is.", documents())
    assert not re.search("<script|<i>", page)
    assert f"<b>{QUOTE}</b> [1]" in page
    assert all("\n\n" not in block for block in re.findall(r"<blockquote>.*?</blockquote>", page, flags=re.DOTALL))


def test_passages_that_may_answer_are_shown_as_cited(tool: dict[str, Any]) -> None:
    closest = replace(answered(), answer=f"This may answer it:\n{QUOTE} [1]", outcome="closest")
    page = tool["entry"](Query(id="1", text="What?"), closest, "Wrong: it is not.", documents())
    assert "<blockquote>This may answer it:</blockquote>" in page
    assert f"<b>{QUOTE}</b> [1]" in page
    assert "nearest passages" not in page


def test_the_verdict_is_that_of_the_marked_evidence(tool: dict[str, Any]) -> None:
    def verdict(query: Query, answer: Answer) -> str:
        dataset = Dataset(name="one", queries=(query,), qrels={"1": {"d": 1}}, documents=lambda: iter(()))
        return tool["judged"](query, answer, dataset, documents())

    marked = Query(id="1", text="What?", evidence_sentences=(QUOTE,))
    elsewhere = Query(id="1", text="What?", evidence_sentences=("Nobody weighs air.",))
    untold = Query(id="1", text="What?", answerable=False)
    assert verdict(marked, answered()).startswith("Right: 1 of 1")
    assert verdict(elsewhere, answered()).startswith("Wrong: 0 of 1")
    assert verdict(untold, answered()).startswith("Wrong")
    assert verdict(untold, answered(abstained=True)).startswith("Right")
    assert verdict(marked, answered(abstained=True)).startswith("Wrong")


def documents() -> dict[str, Document]:
    return {"d": Document(id="d", text=TEXT)}


def answered(*, abstained: bool = False) -> Answer:
    quote = Citation(marker=1, document_id="d", chunk_id="c", start=0, end=len(QUOTE), quote=QUOTE)
    chunk = Chunk(id="c", document_id="d", index=0, total=1, start=0, end=len(TEXT), text=TEXT)
    return Answer(
        response_id="r",
        question="What?",
        answer="nothing" if abstained else f"{QUOTE} [1]",
        outcome="refusal" if abstained else "answer",
        citations=() if abstained else (quote,),
        sources=(),
        confidence=0.5,
        retrieval_method="hybrid",
        timestamp="",
        timings_ms={},
        usage=Usage(),
        hits=(Hit(chunk=chunk, score=1.0),),
    )
