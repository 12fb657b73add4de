"""Suggested questions were asked before, stay in their document, and show nobody what they may not read."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from kb import add, open_fast

from ragstone.core.access import OWNER, Reader
from ragstone.core.errors import NotFound
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase

YARD = """\
# The yard

## Opening times of the mill

The mill opens at eight in the morning and closes at six in the evening, from Monday to Friday.

## Age of the forge

The forge was built in 1820 by the brothers Hale, who also dug the well beside the gate.

## Pictures

![a picture](picture.png)
"""
SECRET = "# Wages\n\n## Wages of the millers\n\nThe millers earn twenty shillings a week, and the smith earns thirty."


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[KnowledgeBase]:
    (tmp_path / "yard.md").write_text(YARD)
    engine = open_fast(tmp_path / "kb")
    add(engine, str(tmp_path / "yard.md"))
    secret = Document(id="wages.md", text=SECRET, title="Wages", metadata={"groups": ("office",)})
    owned = "The parish of Saint Anne owns the orchard, and lets it to the school."
    faq = Document(id="faq", title="Who owns the orchard?", text=owned)
    add(engine, secret, faq)
    yield engine
    engine.close()


def asked(engine: KnowledgeBase, reader: Reader, near: tuple[str, int] | None = None) -> dict[str, str]:
    found = asyncio.run(engine.suggestions(6, reader=reader, near=near))
    return {one.question: one.document_id for one in found}


def test_suggests_only_what_is_answered(engine: KnowledgeBase) -> None:
    near = asked(engine, OWNER, ("yard.md", 0))
    assert near == {"Opening times of the mill": "yard.md", "Age of the forge": "yard.md"}
    for question, document in near.items():
        answer = asyncio.run(engine.ask(question, f'id = "{document}"', reader=OWNER))
        assert answer.outcome == "answer"
        assert {one.document_id for one in answer.citations} == {document}


def test_suggests_headings_that_can_be_asked(tmp_path: Path) -> None:
    text = "\n\n".join(
        [
            "# Boats",
            "## 1. Rent of the boats",
            "The rent of the boats is twelve shillings an hour, or sixty for a whole day with a rudder.",
            "## 2.1 How to moor a boat",
            "To moor a boat, tie the bow to the ring first, and then the stern to the post behind the shed.",
            "## What we were",
            "What we were was a family of fishermen, who let out three boats to visitors in the summer.",
        ]
    )
    (tmp_path / "boats.md").write_text(text)
    engine = open_fast(tmp_path / "kb")
    add(engine, str(tmp_path / "boats.md"))
    found = {*asked(engine, OWNER, ("boats.md", 0))}
    assert "Rent of the boats" in found
    assert found <= {"Rent of the boats", "How do I moor a boat?"}
    engine.close()


def test_omits_the_section_that_is_read(engine: KnowledgeBase) -> None:
    assert [*asked(engine, OWNER, ("yard.md", YARD.index("The forge")))] == ["Opening times of the mill"]


def test_suggests_one_question_a_document(engine: KnowledgeBase) -> None:
    first = asked(engine, OWNER)
    assert len(set(first.values())) == len(first)
    assert next(iter(first)) == "Who owns the orchard?", "questions come first"


def test_suggests_nothing_hidden(engine: KnowledgeBase) -> None:
    visitor = Reader.of("visitors")
    assert "wages.md" not in asked(engine, visitor).values()
    with pytest.raises(NotFound):
        asked(engine, visitor, ("wages.md", 0))


def test_counts_no_question(engine: KnowledgeBase) -> None:
    before = engine.history.statistics().total
    asked(engine, OWNER)
    assert engine.history.statistics().total == before


def test_an_empty_knowledge_base_suggests_nothing(tmp_path: Path) -> None:
    engine = open_fast(tmp_path / "empty")
    assert asked(engine, OWNER) == {}
    engine.close()
