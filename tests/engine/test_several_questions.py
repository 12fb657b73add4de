"""Messages with several questions: each is answered, and what says little alone is read with the rest."""

import asyncio

import pytest

from ragstone.core.access import OWNER
from ragstone.core.answers import Answer
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase

DOCUMENTS = {
    "Rules of the archive": "A reader may order six boxes a day. Anything beyond is brought on the next working day. "
    "Pens stay in the locker; the reading room has pencils.",
    "Letter to the friends": "The bindery moves to the old mill in May, because the cellar is damp. Its press goes to "
    "a museum. The friends meet in June above the bakery, and everybody may bring a guest.",
    "Lamps": "The lamps of the staircase are switched off at nine. What is left burning is reported by the guard.",
}


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory):
    engine = KnowledgeBase.open(tmp_path_factory.mktemp("several") / "kb", create=True)
    documents = [Document(id=title, text=text, title=title) for title, text in DOCUMENTS.items()]
    asyncio.run(engine.documents.add(documents))
    yield engine
    engine.close()


def asked(kb: KnowledgeBase, question: str) -> Answer:
    return asyncio.run(kb.ask(question, reader=OWNER))


def test_a_part_that_says_little_is_answered_with_the_rest(kb: KnowledgeBase):
    answer = asked(kb, "How many boxes may a reader order a day, and what happens with anything beyond?")
    assert answer.outcome == "answer"
    (citation,) = answer.citations
    assert citation.quote.startswith("A reader may order six boxes a day. Anything beyond is brought")
    assert "(1)" not in answer.answer, "one answer to both is shown once"


def test_answers_to_different_things_are_numbered(kb: KnowledgeBase):
    answer = asked(kb, "Where does the bindery move? When are the lamps of the staircase switched off?")
    assert "(1) Where does the bindery move?" in answer.answer
    assert "(2) When are the lamps of the staircase switched off?" in answer.answer
    assert {one.document_id for one in answer.citations} == {"Letter to the friends", "Lamps"}


def test_a_part_without_an_answer_is_not_hidden_by_another(kb: KnowledgeBase):
    answer = asked(kb, "Where does the bindery move? What is the phone number of the plumber?")
    assert "old mill" in answer.answer
    assert 'I couldn\'t find an answer to "What is the phone number of the plumber?"' in answer.answer
