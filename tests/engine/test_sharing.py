"""Conversations shared by a link: every answer whole or not at all, and nothing of others reaches anyone."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kb import add, open_fast

from ragstone.core.access import OWNER, READERS, Reader
from ragstone.core.errors import NotFound, UsageError
from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.sharing import SharedTurn
from ragstone.history.journal import findings, row_crc
from ragstone.history.shares import MOST_LINKS, Shares
from ragstone.history.store import DAY

GROUPS = ("hr", "staff", "board")
TOPICS = ("salary", "harbour", "garden", "engine", "letter")
ALL = [Reader(name=f"reader{number}", groups=frozenset(g for bit, g in enumerate(GROUPS) if number >> bit & 1))
       for number in range(8)]  # fmt: skip
ANN, BOB, EVE = (Reader.of(groups, name=name) for name, groups in (("ann", "hr,staff"), ("bob", "staff"), ("eve", "x")))
NAMED = st.one_of(st.none(), st.just(()), st.lists(st.sampled_from(GROUPS), min_size=1, unique=True).map(tuple))
SECRET = re.compile(r"secret[a-e]{4}")
SESSIONS = count()


def secret(number: int) -> str:
    return "secret" + "abcde"[number] * 4


def document(number: int, groups: tuple[str, ...] | None) -> Document:
    """A document with a word that no other has, in its title and its text."""
    text = f"The {TOPICS[number]} of the house is near the bridge. Its word is {secret(number)}."
    facts = {} if groups is None else {READERS: groups}
    return Document(id=f"{number}.md", title=f"Note {secret(number)}", text=text, metadata=facts)


def may(reader: Reader, groups: tuple[str, ...] | None) -> bool:
    """By the words of the rule, not by the code under test."""
    return reader.groups is None or groups is None or bool(reader.groups & set(groups))


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    with closing(open_fast(tmp_path_factory.mktemp("shared") / "kb", "respond.abstain_below=0")) as engine:
        yield engine


def asked(engine: KnowledgeBase, questions: list[str], reader: Reader) -> str:
    session = f"talk {next(SESSIONS)}"
    for question in questions:
        asyncio.run(engine.ask(question, reader=reader, session=session))
    return session


def told(turns: list[SharedTurn]) -> str:
    return json.dumps([[one.text, one.answer, [asdict(hit.chunk) for hit in one.hits]] for one in turns], default=str)


def link(engine: KnowledgeBase, session: str, reader: Reader) -> str:
    return engine.history.share(session, reader=reader)[1]


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_nothing_of_others_reaches_anyone(engine: KnowledgeBase, data: st.DataObject) -> None:
    groups = {number: data.draw(NAMED) for number in range(len(TOPICS))}
    add(engine, *(document(number, named) for number, named in groups.items()))
    asker = data.draw(st.sampled_from([OWNER, *ALL]))
    questions = [
        f"Where is the {topic}?" for topic in data.draw(st.lists(st.sampled_from(TOPICS), min_size=1, max_size=2))
    ]
    questions += data.draw(
        st.lists(st.sampled_from(["Which documents are there?", "hello", "Is it secretaaa?"]), max_size=1)
    )
    secret_ = link(engine, asked(engine, questions, asker), asker)
    groups |= {number: data.draw(NAMED) for number in data.draw(st.sets(st.integers(0, 4), max_size=2))}
    add(engine, *(document(number, named) for number, named in groups.items()))
    copying = data.draw(st.sampled_from(ALL))
    for reader in ALL:
        theirs = {secret(number) for number, named in groups.items() if may(reader, named)}
        turns = engine.history.shared(secret_, reader=reader)
        assert [one.question for one in turns] == questions
        assert set(SECRET.findall(told(turns))) <= theirs
        assert asker.name == "" or asker.name not in told(turns)
        if reader is not copying:
            continue
        try:
            copy = engine.history.copy_shared(secret_, reader=reader)
        except NotFound:
            assert all(one.text is None for one in turns)
            continue
        copied = engine.history.turns(copy, reader=reader)
        assert [(one.question, one.answer) for one in copied] == [
            (one.question, one.text) for one in turns if one.text is not None
        ]
        for one in copied:
            if one.response_id:
                kept = engine.history.response(one.response_id, reader=reader)
                assert set(SECRET.findall(json.dumps(dict(kept.answer)))) <= theirs
    assert all(one.text is not None for one in engine.history.shared(secret_, reader=OWNER))
    assert findings(engine.folder) == []


@pytest.fixture
def talk(engine: KnowledgeBase) -> str:
    """A conversation of Ann: an answer for hr, one for all, and a list of the documents.

    Documents that name no groups keep those they had, so those of other tests go first.
    """
    engine.documents.remove([one.document_id for one in engine.documents.list(reader=OWNER).documents], reader=OWNER)
    add(engine, document(0, ("hr",)), document(1, None), *(document(number, ()) for number in (2, 3, 4)))
    return asked(engine, ["Where is the salary?", "Where is the harbour?", "Which documents are there?"], ANN)


def shown(engine: KnowledgeBase, secret: str, reader: Reader) -> list[bool]:
    return [one.text is not None for one in engine.history.shared(secret, reader=reader)]


def test_an_answer_is_shown_to_whoever_may_read_its_evidence(engine: KnowledgeBase, talk: str) -> None:
    add(engine, document(1, None))
    secret = link(engine, talk, ANN)
    both = Reader.of("hr,staff,board", name="kim")
    assert shown(engine, secret, both) == [True, True, True]
    assert shown(engine, secret, EVE)[0] is False
    (first, *_) = engine.history.shared(secret, reader=both)
    assert first.answer
    assert (first.answer["response_id"], first.answer["notices"], first.answer["usage"]["prompt_tokens"]) == ("", [], 0)
    assert first.answer["citations"][0]["document_id"] == "0.md"


def test_changed_and_removed_documents_are_withheld(engine: KnowledgeBase, talk: str) -> None:
    secret, kim = link(engine, talk, ANN), Reader.of("hr,staff", name="kim")
    assert shown(engine, secret, kim)[0]
    changed = document(0, None)
    add(engine, Document(id=changed.id, title=changed.title, text="The salary is public now."))
    assert not shown(engine, secret, kim)[0]
    engine.documents.remove(["0.md"], reader=OWNER)
    assert not shown(engine, secret, kim)[0]
    assert shown(engine, secret, OWNER)[0]


def written(engine: KnowledgeBase, session: str) -> None:
    """Let the last answer of Ann's conversation be one that a model wrote."""
    last = engine.history.turns(session, reader=ANN)[-1].response_id
    with closing(engine.history.journal()) as journal, journal.writing() as db:
        columns = "id, at, reader, question, answer"
        row = db.execute(f"SELECT {columns} FROM responses WHERE id = ?", [last]).fetchone()  # noqa: S608
        row = (*row[:-1], row[-1].replace('"model": "extractive"', '"model": "openai:test"'))
        db.execute("UPDATE responses SET answer = ?, crc = ? WHERE id = ?", [row[-1], row_crc(*row), last])


def test_a_copy_of_ones_own_conversation_has_its_own_answers(engine: KnowledgeBase, talk: str) -> None:
    secret, all_read = link(engine, talk, ANN), engine.history.turns(talk, reader=ANN)[1]
    add(engine, document(0, ("board",)))  # in the evidence of the harbour, but not cited
    copies = [engine.history.copy_shared(secret, reader=ANN) for _ in range(2)]
    read = [
        [one for one in engine.history.turns(copy, reader=ANN) if one.question == all_read.question] for copy in copies
    ]
    ids = [one.response_id for [one] in read]
    assert len({*ids, all_read.response_id, ""}) == 4
    for id in ids:
        kept = engine.history.response(id, reader=ANN)
        assert "0.md" not in [one.document_id for one in kept.passages]
    assert engine.history.turns(talk, reader=ANN)[1] == all_read


def test_what_a_model_wrote_after_a_withheld_answer_is_withheld(engine: KnowledgeBase, talk: str) -> None:
    add(engine, Document(id="lift.md", text="The lift is red."))

    def harbour(session: str) -> str:
        where = "id in (1.md, lift.md)"
        asyncio.run(engine.ask("Where is the harbour?", where, reader=ANN, session=session))
        return session

    after, alone = harbour(talk), harbour("of its own")
    assert [shown(engine, link(engine, one, ANN), EVE)[-1] for one in (after, alone)] == [True, True]
    for one in (after, alone):
        written(engine, one)
    assert [shown(engine, link(engine, one, ANN), EVE)[-1] for one in (after, alone)] == [False, True]


def test_later_questions_are_not_shown(engine: KnowledgeBase, talk: str) -> None:
    secret = link(engine, talk, ANN)
    asyncio.run(engine.ask("hello", reader=ANN, session=talk))
    assert len(shown(engine, secret, ANN)) == 3
    assert len(shown(engine, link(engine, talk, ANN), ANN)) == 4


def test_links_end_when_taken_back_in_time_and_with_the_conversation(engine: KnowledgeBase, talk: str) -> None:
    first, second = link(engine, talk, ANN), engine.history.share(talk, reader=ANN, days=1)[1]
    assert [one.until is None for one in engine.history.shares(talk, reader=ANN)] == [False, True]
    with closing(engine.history.journal()) as journal:
        later = Shares(journal, lambda: journal.clock() + DAY)
        assert (later.find(first) is None, later.find(second) is None) == (False, True)
    assert len(engine.history.take_back(talk, reader=ANN)) == 2
    for secret in (first, second):
        with pytest.raises(NotFound):
            engine.history.shared(secret, reader=ANN)
    third = link(engine, talk, ANN)
    engine.history.forget(talk, reader=ANN)
    with pytest.raises(NotFound):
        engine.history.shared(third, reader=OWNER)
    assert engine.history.shares(talk, reader=ANN) == []


def test_only_its_reader_shares_a_conversation(engine: KnowledgeBase, talk: str) -> None:
    secret = link(engine, talk, ANN)
    for reader in (BOB, OWNER):
        with pytest.raises(NotFound):
            engine.history.share(talk, reader=reader)
        assert engine.history.shares(talk, reader=reader) == engine.history.take_back(talk, reader=reader) == []
    assert shown(engine, secret, ANN)
    with pytest.raises(NotFound):
        engine.history.shared(secret[:-1], reader=ANN)


def test_the_secret_is_stored_nowhere_and_links_are_few(engine: KnowledgeBase, talk: str, tmp_path: Path) -> None:
    secret = link(engine, talk, ANN)
    shutil.copytree(engine.folder, tmp_path / "copy")
    with closing(sqlite3.connect(tmp_path / "copy" / "journal.db")) as db:
        assert secret not in "\n".join(db.iterdump())
    for _ in range(MOST_LINKS - 1):
        link(engine, talk, ANN)
    with pytest.raises(UsageError, match="20 links"):
        link(engine, talk, ANN)
