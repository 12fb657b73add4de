"""Research in a conversation: a question that follows another begins with the documents and passages found before."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing

import pytest

from ragstone.core.access import OWNER, Reader
from ragstone.core.answers import Answer, Answered
from ragstone.core.records import Document
from ragstone.core.research import ActionTaken, Researched
from ragstone.engine.knowledge_base import KnowledgeBase

LETTERS = {
    "a": ("Lease", "Late deliveries are fined. The batteries were late in May."),
    "b": ("Corvo", "Your late deliveries cost us a week."),
    "c": ("Tresk", "We complain about late deliveries of batteries."),
    "d": ("Notes", "The batteries of the mill were replaced."),
}
FIRST, NEXT = "All letters about late deliveries", "Which of these mention batteries?"


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    folder = tmp_path_factory.mktemp("goes-on") / "kb"
    with closing(KnowledgeBase.open(folder, ["cache.enabled=false"], create=True)) as opened:
        letters = (Document(id=id, title=title, text=text) for id, (title, text) in LETTERS.items())
        asyncio.run(opened.documents.add([*letters]))
        yield opened


def researched(
    kb: KnowledgeBase, question: str, session: str, reader: Reader = OWNER
) -> tuple[Researched, list[ActionTaken], Answer]:
    async def collected() -> list[object]:
        return [one async for one in kb.research(question, reader=reader, session=session)]

    events = asyncio.run(collected())
    (notes,) = (one for one in events if isinstance(one, Researched))
    (answered,) = (one for one in events if isinstance(one, Answered))
    return notes, [one for one in events if isinstance(one, ActionTaken)], answered.answer


def ids(notes: Researched) -> set[str]:
    items = notes.notebooks[0].items
    return {one.document_id for one in items.items} if items else set()


def test_a_list_is_of_the_documents_before(kb: KnowledgeBase) -> None:
    first, _, _ = researched(kb, FIRST, "letters")
    assert ids(first) == {"a", "b", "c"}
    notes, _, answer = researched(kb, NEXT, "letters")
    assert ids(notes) == {"a", "c"}
    assert "Documents that fit: 2." in answer.answer


def test_without_a_conversation_there_are_no_documents_before(kb: KnowledgeBase) -> None:
    notes, _, _ = researched(kb, NEXT, "")
    assert notes.notebooks[0].items is None


def test_another_reader_has_no_documents_before(kb: KnowledgeBase) -> None:
    researched(kb, FIRST, "mine")
    notes, _, _ = researched(kb, NEXT, "mine", Reader.of("staff", name="ann"))
    assert notes.notebooks[0].items is None


def test_a_further_question_reads_what_the_last_answer_rests_on(kb: KnowledgeBase) -> None:
    researched(kb, "What did the late deliveries cost Corvo?", "cost")
    notes, actions, _ = researched(kb, "And who complained about them?", "cost")
    read = [one for one in actions if one.action.text == "what the last answer rests on"]
    assert len(read) == 1
    assert {"b"} <= {hit.chunk.document_id for hit in notes.notebooks[0].hits}


def test_a_question_of_its_own_begins_anew(kb: KnowledgeBase) -> None:
    researched(kb, "What did the late deliveries cost Corvo?", "own")
    _, actions, _ = researched(kb, "When were the batteries of the mill replaced?", "own")
    assert all(one.action.text != "what the last answer rests on" for one in actions)
