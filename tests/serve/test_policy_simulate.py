"""`ragstone policy simulate`, typed by a user."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from running import Run

QUESTIONS = "question,source,lang\nWhich room is called Marie Curie?,1,en\nWhere do visitors park?,2,en\nKantine,3,de\n"
FEW = ("--runs", "2", "--votes", "100", "--grid", "query.vector_weight=0,1")


@pytest.fixture
def faq(kb: Path) -> Path:
    path = kb.parent / "faq.csv"
    path.write_text(QUESTIONS, encoding="utf-8")
    return path


def test_learning_is_simulated_on_questions_of_a_knowledge_base(run: Run, faq: Path) -> None:
    done = run("policy", "simulate", "faq.csv", *FEW, "--html", "page.html")
    assert (done.code, done.err) == (0, "")
    assert "faq: 3 questions, 3 policies; 2 runs of 100 votes by 40 people" in done.out
    for rule in ("never learn", "naive", "Thompson sampling", "Ragstone", "oracle"):
        assert f"\n  {rule} " in done.out
    assert "3 questions and 2 runs: another time it may come out otherwise" in done.out
    page = (faq.parent / "page.html").read_text()
    drawing = ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])
    assert len(drawing.findall(".//polyline")) == 5


def test_as_json_and_with_people_who_collude(run: Run, faq: Path) -> None:
    assert faq.exists()
    found = run("policy", "simulate", "faq.csv", *FEW, "--colluders", "0.1", "--turns", "50", "--json").json
    assert found["policies"] == ["", "query.vector_weight=0", "query.vector_weight=1"]
    assert found["users"]["colluders"] == 0.1
    assert found["fared"][0]["rule"] == "never learn"
    refused = run("policy", "simulate", "faq.csv", "--grid", "respond.sentences=1,2")
    assert refused.code == 2
    assert "a sweep measures the search" in refused.err
