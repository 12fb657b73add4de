"""The fifty questions: their gold stands in the documents, verdicts follow it, and the page shows all of them."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.asked.__main__ import VERDICTS, counts, figures, shown, summary
from benchmarks.asked.asking import SOURCES, Told
from benchmarks.asked.questions import Question, questions
from benchmarks.presets import CASES, Case
from ragstone.core.answers import Answer, Citation, Outcome, Usage
from tools.asked_page import PAGE, former, page

QUESTION = Question(
    id="one-1",
    system="docs-site",
    kind="fact",
    language="en",
    text="What <i>is</i> it?",
    documents=("a.rst",),
    any_of=("two tons", "2 t"),
    all_of=("stone",),
)
QUOTE = "A Stone\nof TWO  tons <script>."


def answer(*citations: tuple[str, str], outcome: Outcome = "answer", confidence: float = 0.8) -> Answer:
    """An answer with these quotes, each with its document."""
    return Answer(
        response_id="r",
        question=QUESTION.text,
        answer=" ".join(quote for _, quote in citations) or "Nothing.",
        outcome=outcome,
        citations=tuple(
            Citation(marker=place, document_id=document, chunk_id="c", start=0, end=len(quote), quote=quote)
            for place, (document, quote) in enumerate(citations, start=1)
        ),
        sources=(),
        confidence=confidence,
        retrieval_method="test",
        timestamp="",
        timings_ms={},
        usage=Usage(),
    )


def told(given: Answer, question: Question = QUESTION) -> Told:
    return Told(question=question, answer=given, verdict=question.verdict(given))


def test_verdict_follows_documents_and_words() -> None:
    assert QUESTION.verdict(answer(("docs/a.rst", QUOTE))) == "right"
    assert QUESTION.verdict(answer(("docs/a.rst", "A stone."), ("rows.csv#a.rst", "of 2 t"))) == "right"
    assert QUESTION.verdict(answer(("docs/a.rst", "Two tons."))) == "right document"
    assert QUESTION.verdict(answer(("docs/ba.rst", QUOTE))) == "wrong"
    assert QUESTION.verdict(answer(("docs/a.rst", QUOTE), outcome="closest")) == "refused wrongly"
    absent = replace(QUESTION, documents=())
    assert absent.verdict(answer(outcome="refusal")) == "refused rightly"
    assert absent.verdict(answer(("docs/a.rst", QUOTE))) == "wrong"


def test_figures_count_verdicts_and_average_confidence() -> None:
    right, wrong = told(answer(("a.rst", QUOTE), confidence=0.9)), told(answer(("b.rst", QUOTE), confidence=0.4))
    found = figures([right, right, wrong])
    assert (found["answers_right"], found["wrong"], found["refused_wrongly"]) == (2, 1, 0)
    assert (found["mean_confidence_right"], found["mean_confidence_wrong"]) == (0.9, 0.4)
    assert figures([right])["mean_confidence_wrong"] is None
    result = summary([right, wrong])
    assert result.figures["by_preset"]["docs-site"]["questions"] == 2
    assert result.tables[-1].rows[-1] == ["all", *map(str, counts(["right", "wrong"]))]


def test_counts_refusals_that_show_the_answer() -> None:
    hidden, seen = (told(replace(answer(outcome="closest"), answer=text)) for text in ("A stone.", QUOTE))
    assert shown([hidden, seen, told(answer(("a.rst", QUOTE)))]) == [seen]


def test_each_preset_has_ten_questions_of_ten_kinds() -> None:
    asked = questions()
    assert Counter(one.system for one in asked) == {case.preset: 10 for case in CASES}
    assert Counter(one.kind for one in asked) == dict.fromkeys([one.kind for one in asked[:10]], 5)
    assert len({one.id for one in asked}) == len({one.text for one in asked}) == 50
    assert [one.kind for one in asked if not one.has_answer] == ["absent", "out of scope"] * 5


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.preset)
def test_words_of_answers_stand_in_the_documents(case: Case, data_dir: Path) -> None:
    texts = stored(data_dir / (case.source or SOURCES[case.preset]))
    for one in (question for question in questions() if question.system == case.preset):
        assert all(one.is_said_in(texts[name]) for name in one.documents), one.id
        together = " ".join(texts[name] for name in one.documents).casefold()
        assert all(" ".join(word.split()).casefold() in " ".join(together.split()) for word in one.any_of), one.id


def stored(source: Path) -> dict[str, str]:
    """The texts of a source, by the names that the questions use."""
    if source.is_dir():
        paths = (path for path in source.rglob("*") if path.suffix in (".txt", ".rst"))
        return {str(path.relative_to(source)): path.read_text(encoding="utf-8") for path in paths}
    with source.open(encoding="utf-8", newline="") as file:
        rows: Sequence[dict[str, str]] = (
            list(csv.DictReader(file)) if source.suffix == ".csv" else [json.loads(line) for line in file]
        )
    return {row["id"]: row.get("text") or row["article_content"] for row in rows}


def test_page_shows_texts_only_where_the_licence_lets_it() -> None:
    news = replace(QUESTION, id="two-1", system="news", text="What | is it?")
    before = {"one-1": former()["news-1"], "two-1": former()["news-2"]}
    text = page([told(answer(("a.rst", QUOTE))), told(answer(("a.rst", "Secret stone, 2 t.")), news)], before)
    assert "&lt;script&gt;" in text
    assert "<i>" not in text
    assert "Secret" not in text
    assert "What \\| is it?" in text


def test_page_has_every_question_and_its_own_counts() -> None:
    text = PAGE.read_text(encoding="utf-8")
    plain = text.replace("\\", "").replace("&lt;", "<")
    assert all(one.text in plain for one in questions()), "run: make docs-answers"
    cells = next(line for line in text.splitlines() if line.startswith("| all |")).split(" | ")[1:]
    old, new = zip(*(cell.strip(" |").split(" → ") for cell in cells), strict=True)
    assert sum(map(int, new)) == 50
    assert list(map(int, old)) == counts([one.verdict for one in former().values()])
    assert len(cells) == len(VERDICTS)
