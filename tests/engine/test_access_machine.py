"""Fifty groups, and documents, questions and readers at random: nothing of what is for others reaches anyone."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from kb import add, open_fast

from ragstone.core.access import EVERYONE, OWNER, Reader
from ragstone.core.errors import NotFound
from ragstone.core.records import Document
from ragstone.engine.opening import uncached
from ragstone.serve import as_json

GROUPS = [f"group{number}" for number in range(50)]
TOPICS = ("harbour", "salary", "garden", "engine", "letter", "winter")
NUMBERS = st.integers(0, 11)
NAMED = st.one_of(
    st.none(),
    st.just(()),
    st.just((EVERYONE,)),
    st.lists(st.sampled_from(GROUPS), min_size=1, max_size=4).map(lambda names: tuple(sorted(set(names)))),
)
READERS = st.builds(
    lambda names, name: Reader(name=name, groups=frozenset(names)),
    st.lists(st.sampled_from(GROUPS), max_size=25),
    st.sampled_from(["", "ann", "bob"]),
)
SECRET = re.compile(r"secret[a-l]{6}")


def secret(number: int) -> str:
    """A word that one document has and no other."""
    return "secret" + "".join(chr(ord("a") + (number * 7 + place * 5) % 12) for place in range(6))


def document(number: int, topic: str, groups: tuple[str, ...] | None) -> Document:
    text = f"The {topic} of house {number} is near the bridge. Its word is {secret(number)}."
    facts = {} if groups is None else {"readers": groups}
    return Document(id=f"folder/{number}/note.md", title=f"Note {secret(number)}", text=text, metadata=facts)


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp()).resolve()
        self.engine = open_fast(self.root / "kb")
        self.groups: dict[int, tuple[str, ...] | None] = {}
        self.given: list[tuple[str, Reader, set[int]]] = []

    def may(self, reader: Reader) -> set[int]:
        """By the words of the rule, not by the code under test."""
        groups = {EVERYONE, *(reader.groups or ())}
        return {number for number, named in self.groups.items() if named is None or groups & set(named)}

    def check(self, told: object, reader: Reader, asked: str) -> None:
        text = json.dumps(told, ensure_ascii=False).replace(asked, "")
        own = {secret(number) for number in self.may(reader)}
        assert set(SECRET.findall(text)) <= own, (reader, text)
        numbers = {int(number) for number in re.findall(r"folder/(\d+)/", text)}
        assert numbers <= self.may(reader), (reader, text)

    @rule(numbers=st.lists(NUMBERS, min_size=1, max_size=4, unique=True), topic=st.sampled_from(TOPICS), groups=NAMED)
    def put(self, numbers: list[int], topic: str, groups: tuple[str, ...] | None) -> None:
        add(self.engine, *(document(number, topic, groups) for number in numbers))
        for number in numbers:  # one that names none is for those it was for before
            self.groups[number] = self.groups.get(number) if groups is None else groups

    @rule(number=NUMBERS)
    def remove(self, number: int) -> None:
        if number in self.groups:
            self.engine.documents.remove([f"folder/{number}/note.md"], reader=OWNER)
            del self.groups[number]

    @rule(
        reader=READERS,
        topic=st.sampled_from(TOPICS),
        number=NUMBERS,
        hit=st.booleans(),
        session=st.sampled_from(["", "s"]),
    )
    def ask(self, reader: Reader, topic: str, number: int, hit: bool, session: str) -> None:
        word = secret(number) if hit else secret(number)[:-1]  # left out: a typing error, to be put right or not
        question = f"Where is the {topic} of {word}?"
        answer = asyncio.run(self.engine.ask(question, reader=reader, session=session))
        told = as_json.answer(answer, explain=True)
        self.check({**told, "question": ""}, reader, word)
        shown = {int(hit.chunk.document_id.split("/")[1]) for hit in answer.hits}
        if not session:  # what was said before may have changed the question
            fresh = self.engine.under(lambda _: uncached(self.engine.settings))
            again = asyncio.run(fresh.ask(question, reader=reader))
            assert [hit.chunk.id for hit in again.hits] == [hit.chunk.id for hit in answer.hits]
            assert (again.answer, again.confidence, again.notices) == (answer.answer, answer.confidence, answer.notices)
        self.given.append((answer.response_id, reader, shown))

    @rule(reader=READERS, topic=st.sampled_from(TOPICS), k=st.integers(1, 20))
    def search(self, reader: Reader, topic: str, k: int) -> None:
        hits = asyncio.run(self.engine.search(topic, k, f"title != {topic}", reader=reader))
        self.check([as_json.hit(hit, 1, explain=True) for hit in hits], reader, topic)
        assert len({hit.chunk.document_id for hit in hits}) == min(k, len(self.may(reader)))

    @rule(reader=READERS, number=NUMBERS)
    def look(self, reader: Reader, number: int) -> None:
        for name in (f"folder/{number}/note.md", f"{number}/note.md", "note.md"):
            able = self.may(reader) & ({number} if name != "note.md" else set(self.groups))
            try:
                found = self.engine.documents.get(name, reader=reader)
                assert {int(found.id.split("/")[1])} == able
            except NotFound as refusal:
                assert len(able) != 1
                self.check(str(refusal), reader, name)

    @rule(reader=READERS, limit=st.integers(1, 4), q=st.sampled_from(["", "NOTE", "secret", "folder/1"]))
    def list(self, reader: Reader, limit: int, q: str) -> None:
        seen: list[str] = []
        after = ""
        while True:
            page = self.engine.documents.list(reader=reader, q=q, after=after, limit=limit)
            seen += [one.document_id for one in page.documents]
            if not (after := page.next):
                break
        wanted = {f"folder/{number}/note.md" for number in self.may(reader)}
        assert set(seen) == {id for id in wanted if q != "folder/1" or id.startswith("folder/1")}
        assert seen == sorted(seen)
        assert page.total == len(seen)

    @rule(reader=READERS)
    def responses(self, reader: Reader) -> None:
        for id, owner, shown in self.given[-5:]:
            mine = reader.who == owner.who and shown & set(self.groups) <= self.may(reader)
            try:
                told = self.engine.history.response(id, reader=reader)
                assert mine
                assert told.response_id == id
            except NotFound:
                assert not mine

    @rule(reader=READERS)
    def conversations(self, reader: Reader) -> None:
        kept = self.engine.history.conversations(reader=reader)
        asked = sum(1 for one in self.engine.history.turns("s", reader=reader))
        assert sum(one.turns for one in kept) == asked

    @invariant()
    def everything_is_the_owners(self) -> None:
        assert self.engine.documents.list(limit=1, reader=OWNER).total == len(self.groups)

    def teardown(self) -> None:
        self.engine.close()
        shutil.rmtree(self.root)


Machine.TestCase.settings = settings(
    max_examples=12, stateful_step_count=25, suppress_health_check=list(HealthCheck), deadline=None
)
test_nothing_of_others_reaches_anyone = Machine.TestCase
