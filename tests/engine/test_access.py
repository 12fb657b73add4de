"""Who may read what: rules for groups, and that nobody sees, or is told of, what is for others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kb import add, embedder_of, open_fast, parts

from ragstone.acquire.metadata.groups import with_groups
from ragstone.core.access import OWNER, Reader, groups_in
from ragstone.core.answers import Answer
from ragstone.core.errors import NotFound, UsageError
from ragstone.core.records import Document
from ragstone.core.request import Request
from ragstone.engine.experiments import evaluate_questions
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.serve.blocking import Ragstone
from ragstone.settings import AccessSettings

HR, STAFF, STRANGER = (Reader.of(group, name=group) for group in ("hr", "staff", "nobody-knows"))
PAY = "The salary of the director is nine thousand. The bonus is called zeppelin."
LUNCH = "The canteen opens at noon. Lunch is soup."


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[KnowledgeBase]:
    engine = open_fast(tmp_path / "kb")
    add(
        engine,
        Document(id="hr/pay.md", text=PAY, title="Payroll", metadata={"readers": ("hr", "board")}),
        Document(id="lunch.md", text=LUNCH, title="Lunch"),
        Document(id="staff/lift.md", text="The lift is red.", title="Lift", metadata={"readers": "staff; hr"}),
        Document(id="lost.md", text="The key to the safe is under the mat.", metadata={"readers": ()}),
    )
    yield engine
    engine.close()


def ask(engine: KnowledgeBase, question: str, reader: Reader = OWNER, session: str = "") -> Answer:
    return asyncio.run(engine.ask(question, reader=reader, session=session))


def found(engine: KnowledgeBase, question: str, reader: Reader = OWNER) -> set[str]:
    return {hit.chunk.document_id for hit in asyncio.run(engine.search(question, 20, reader=reader))}


def test_each_reader_finds_what_its_groups_may_read(engine: KnowledgeBase) -> None:
    assert found(engine, "the") == {"hr/pay.md", "lunch.md", "staff/lift.md", "lost.md"}
    assert found(engine, "the", HR) == {"hr/pay.md", "lunch.md", "staff/lift.md"}
    assert found(engine, "the", STAFF) == {"lunch.md", "staff/lift.md"}
    assert found(engine, "the", STRANGER) == found(engine, "the", Reader(groups=frozenset())) == {"lunch.md"}


@pytest.mark.parametrize("reader", [STAFF, STRANGER], ids=["staff", "stranger"])
def test_documents_of_others_are_not_there(engine: KnowledgeBase, reader: Reader) -> None:
    for name in ("hr/pay.md", "pay.md", "/pay.md", "lost.md"):
        with pytest.raises(NotFound) as refusal:
            engine.documents.get(name, reader=reader)
        assert str(refusal.value) == f"there is no document '{name}'"
        with pytest.raises(NotFound):
            engine.documents.remove([name], reader=reader)
    assert engine.documents.get("pay.md", reader=HR).title == "Payroll"


def test_the_end_of_an_id_is_looked_for_among_ones_own(engine: KnowledgeBase) -> None:
    add(engine, Document(id="public/pay.md", text="Pay day is Friday."))
    assert engine.documents.get("pay.md", reader=STAFF).id == "public/pay.md"
    with pytest.raises(NotFound, match=r"it could be .*hr/pay\.md"):
        engine.documents.get("pay.md", reader=HR)


def test_a_listing_counts_and_pages_what_the_reader_may_read(engine: KnowledgeBase) -> None:
    assert engine.documents.list(reader=OWNER).total == 4
    page = engine.documents.list(reader=HR, limit=2)
    assert ([one.document_id for one in page.documents], page.total, page.next) == (
        ["hr/pay.md", "lunch.md"], 3, "lunch.md",
    )  # fmt: skip
    rest = engine.documents.list(reader=HR, limit=2, after=page.next)
    assert ([one.document_id for one in rest.documents], rest.total, rest.next) == (["staff/lift.md"], 3, "")
    assert rest.documents[0].characters == len("The lift is red.")
    assert engine.documents.list(reader=STAFF, q="payroll").total == 0
    assert engine.documents.list(reader=HR, q="PAYROLL").total == 1
    assert engine.documents.list(q="100%_", reader=OWNER).total == 0


def test_a_listing_looks_up_each_document_and_not_all_that_readers_may_read(engine: KnowledgeBase) -> None:
    """Otherwise it takes the square of the documents: of ten thousand, eighteen seconds."""
    database = parts(engine).catalog.database
    allowed, values = database.dialect.readable(["hr"])
    sql = f"EXPLAIN QUERY PLAN SELECT count(*) FROM documents d WHERE {allowed}"  # noqa: S608
    plan = database.rows(sql, values)
    told = " ".join(row[3] for row in plan)
    assert told.count("USING INDEX facts_document") == 2
    assert "facts_key" not in told


def test_words_of_others_are_neither_suggested_nor_known(engine: KnowledgeBase) -> None:
    hinted = ask(engine, "What is the bonus called zepelin?", HR)
    assert any("zeppelin" in notice for notice in hinted.notices)
    for reader in (STAFF, STRANGER):
        told = ask(engine, "What is the bonus called zepelin?", reader)
        assert "zeppelin" not in json.dumps(told.to_dict())
    words = parts(engine).indexes.words()
    for reader, knows in ((OWNER, True), (HR, True), (STAFF, False)):
        request = Request(reader=reader)
        assert words.known(["zeppelin", "canteen", "zzqqxxvv"], "", request) == [knows, True, False]
        weights = words.weigh(["zeppelin", "zzqqxxvv"], request)
        assert (weights[0] < weights[1]) is knows
        assert ("zeppelin" in words.for_request(request).near("zepelin", 1)) is knows


def test_languages_of_others_are_not_known(tmp_path: Path) -> None:
    engine = KnowledgeBase.open(tmp_path / "kb", ["index.embedder=hash_embedder:HashEmbedder"], create=True)
    try:
        add(
            engine,
            Document(id="a", text="The canteen opens at noon and closes in the afternoon."),
            Document(id="b", text="Die Kantine ist am Montag geschlossen.", metadata={"readers": "hr"}),
        )
        for reader, languages in ((OWNER, {"en", "de"}), (HR, {"en", "de"}), (STAFF, {"en"})):
            assert set(parts(engine).indexes.words().for_request(Request(reader=reader)).languages()) == languages
    finally:
        engine.close()


def test_what_one_reader_was_answered_is_not_remembered_for_another(engine: KnowledgeBase) -> None:
    question = "What is the salary of the director?"
    answers = [ask(engine, question, reader) for reader in (OWNER, HR, STAFF, HR, OWNER)]
    assert [("nine thousand" in json.dumps(one.to_dict())) for one in answers] == [True, True, False, True, True]
    assert "search" in answers[3].usage.cached
    assert "search" in answers[4].usage.cached


def test_where_no_document_names_groups_a_reader_costs_nothing(tmp_path: Path) -> None:
    engine = open_fast(tmp_path / "kb")
    try:
        add(engine, Document(id="lunch.md", text=LUNCH))
        assert parts(engine).request(STAFF).allowed is None
        add(engine, Document(id="pay.md", text=PAY, metadata={"readers": "hr"}))
        assert (parts(engine).request(STAFF).allowed, parts(engine).request(OWNER).allowed) == (STAFF.allowed, None)
    finally:
        engine.close()


def test_what_is_added_in_the_very_moment_is_looked_at_again(
    engine: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts(engine).catalog, "restricts", lambda _: False)  # as a moment ago
    assert found(engine, "the", STAFF) == {"lunch.md", "staff/lift.md"}
    assert found(engine, "the", STRANGER) == {"lunch.md"}


def test_what_a_reader_may_read_is_worked_out_once_a_commit(engine: KnowledgeBase) -> None:
    selections = parts(engine).catalog.selections
    asked, one = [], selections._one
    selections._one = lambda sql, values: (asked.append(values), one(sql, values))[1]

    def search(where: str) -> list[object]:
        asked.clear()
        asyncio.run(engine.search("the", 5, where, reader=HR))
        return [values for values in asked if "readers" in values]

    assert len(search("title = Lunch")) == 3  # whether there are any, and those of its two groups
    assert search("title = Lift") == search("title != Lift") == []
    add(engine, Document(id="new", text="the new one"))
    assert len(search("title = Lunch")) == 3


def test_other_groups_cost_no_embedding_and_count_at_once(engine: KnowledgeBase) -> None:
    embedder = embedder_of(engine)
    before = len(embedder.seen)
    for groups, seen in (((), False), (("staff",), True), (("hr",), False), ("*", True)):
        report = add(engine, Document(id="lunch.md", text=LUNCH, title="Lunch", metadata={"readers": groups}))
        assert (report.updated, report.embedded) == (1, 0)
        assert ("lunch.md" in found(engine, "when does the canteen open", STAFF)) is seen
        assert (engine.documents.list(reader=STAFF, q="lunch").total == 1) is seen
    assert len(embedder.seen) == before


def test_a_document_that_says_nothing_of_groups_is_for_whom_it_was_before(engine: KnowledgeBase) -> None:
    add(engine, Document(id="hr/pay.md", text=f"{PAY} It is paid in May.", title="Payroll"))
    assert "hr/pay.md" not in found(engine, "salary", STAFF)
    assert engine.documents.get("pay.md", reader=OWNER).metadata["readers"] == ("board", "hr")
    twice = (Document(id="new", text="one", metadata={"readers": "hr"}), Document(id="new", text="two words"))
    add(engine, *twice)
    assert (
        engine.documents.get("new", reader=OWNER).text,
        engine.documents.get("new", reader=OWNER).metadata["readers"],
    ) == ("two words", ("hr",))


def test_a_rebuild_keeps_groups_and_rules(engine: KnowledgeBase) -> None:
    asyncio.run(engine.versions.rebuild(["chunk.size=120"]))
    assert found(engine, "the", STAFF) == {"lunch.md", "staff/lift.md"}
    assert engine.documents.get("lost.md", reader=OWNER).metadata["readers"] == ()
    add(engine, Document(id="hr/pay.md", text=PAY, title="Payroll", metadata={"readers": "*"}))
    asyncio.run(engine.versions.revert())
    assert "hr/pay.md" in found(engine, "the", STAFF)


def test_conversations_are_each_readers_own(engine: KnowledgeBase) -> None:
    for reader in (OWNER, HR, STAFF):
        ask(engine, "When does the canteen open?", reader, session="s")
    ask(engine, "Is the lift red?", HR, session="s")
    assert [len(engine.history.turns("s", reader=reader)) for reader in (OWNER, HR, STAFF, STRANGER)] == [1, 2, 1, 0]
    assert [one.name for one in engine.history.conversations(reader=HR)] == ["s"]
    assert engine.history.conversations(reader=STRANGER) == []
    assert [one.turns for one in engine.history.conversations(reader=OWNER)] == [1]
    assert engine.history.forget("s", reader=STRANGER) == 0
    assert (engine.history.forget("s", reader=HR), len(engine.history.turns("s", reader=OWNER))) == (2, 1)
    nameless = Reader.of("hr")
    for session in (f"{HR.session('s')}", "\x1fs"):
        with pytest.raises(UsageError, match="reserved character"):
            engine.history.turns(session, reader=nameless)


def test_evaluation_measures_what_the_reader_may_read(engine: KnowledgeBase, tmp_path: Path) -> None:
    questions = tmp_path / "questions.csv"
    questions.write_text("question,source\nWhat is the salary?,pay.md\nWhen does the canteen open?,lunch.md\n")
    all_, own = (asyncio.run(evaluate_questions(engine, questions, reader=reader)) for reader in (OWNER, STAFF))
    assert (all_.judged, own.judged) == (2, 1)
    assert {one.text: one.answerable for one in own.per_query} == {
        "What is the salary?": False,
        "When does the canteen open?": True,
    }
    assert not any("pay.md" in found for one in own.per_query for found in one.found)


def test_nothing_is_kept_of_measuring(engine: KnowledgeBase, tmp_path: Path) -> None:
    questions = tmp_path / "questions.csv"
    questions.write_text("question,source,answerable\nWhen does the canteen open?,lunch.md,\nWhy?,,no\n")
    asyncio.run(evaluate_questions(engine, questions))
    assert engine.history.statistics().total.questions == 0
    with parts(engine).history.journal().reading() as db:
        assert db is None


def test_a_notebook_asks_as_a_reader(tmp_path: Path) -> None:
    with_pay = Document(id="pay.md", text=PAY, metadata={"readers": "hr"})
    kb = Ragstone(tmp_path / "kb", settings=["index.embedder=hash_embedder:HashEmbedder"])
    try:
        kb.add(with_pay, Document(id="lunch.md", text=LUNCH))
        assert kb.rate(kb.ask("When does the canteen open?"), "up").vote == "up"
    finally:
        kb.close()
    staff = Ragstone(tmp_path / "kb", reader=STAFF)
    try:
        assert [hit.chunk.document_id for hit in staff.search("salary")] == ["lunch.md"]
        assert staff.documents().total == 1
        with pytest.raises(NotFound):
            staff.document("pay.md")
    finally:
        staff.close()


# ---------------------------------------------------------------- rules


@pytest.mark.parametrize(
    ("value", "groups"),
    [
        ("hr", ("hr",)),
        (" staff ; hr|board,hr", ("board", "hr", "staff")),
        (("b", "a", ""), ("a", "b")),
        (7, ("7",)),
        (True, ("true",)),
        ("", ()),
        ((), ()),
        ("e\u0301", ("\u00e9",)),
    ],
)
def test_groups_are_read_from_texts_and_lists(value: str | tuple[str, ...], groups: tuple[str, ...]) -> None:
    assert groups_in(value) == groups


@pytest.mark.parametrize("groups", [[""], ["hr", " "]])
def test_a_blank_group_is_refused(groups: list[str]) -> None:
    with pytest.raises(UsageError, match="blank"):
        Reader(groups=frozenset(groups))
    with pytest.raises(UsageError, match="blank"):
        Reader.of(",".join(groups))


def test_letters_are_no_groups() -> None:
    with pytest.raises(UsageError, match="not the text"):
        Reader(groups="hr")  # pyright: ignore[reportArgumentType]


RULES = AccessSettings(folders=("hr = hr;board", "/srv/all/*.md = *", "minutes-?.txt=board"), default=("staff",))


@pytest.mark.parametrize(
    ("source", "metadata", "groups"),
    [
        ("/kb/hr/pay.txt", {}, ("board", "hr")),
        ("/kb/old/hr/deep/pay.csv#7", {}, ("board", "hr")),
        ("/kb/hrx/pay.txt", {}, ("staff",)),
        ("/srv/all/a.md", {}, ("*",)),
        ("/srv/all/deep/a.md", {}, ("staff",)),
        ("/kb/srv/all/a.md", {}, ("staff",)),
        ("/x/a.zip#minutes-3.txt", {}, ("board",)),
        ("/kb/hr/pay.txt", {"readers": "director; hr"}, ("hr",)),
        ("/kb/hr/pay.txt", {"readers": "director"}, ()),
        ("/kb/hr/pay.txt", {"readers": "*"}, ("board", "hr")),
        ("/srv/all/a.md", {"readers": "hr"}, ("hr",)),
        ("/srv/all/a.md", {"readers": ""}, ()),
        ("/kb/x", {"readers": "hr"}, ("hr",)),
        ("/kb/hr/pay.txt", {"readers": ""}, ("board", "hr")),
        ("/kb/x", {"readers": ""}, ("staff",)),
    ],
)
def test_rules_name_groups(source: str, metadata: dict[str, str], groups: tuple[str, ...]) -> None:
    told = with_groups(Document(id="x", text="t", source=source, metadata=metadata), RULES)
    assert told.metadata["readers"] == groups


def test_without_rules_a_document_is_for_everyone_but_an_empty_list_for_nobody() -> None:
    document = Document(id="x", text="t", source="/x")
    assert with_groups(document, AccessSettings()) is document
    empty = with_groups(Document(id="x", text="t", metadata={"readers": " ;"}), AccessSettings())
    assert empty.metadata["readers"] == ()
    assert not Reader.of("hr").may_read(empty.metadata)
    assert OWNER.may_read(empty.metadata)


@pytest.mark.parametrize("rule", ["hr", "= hr", "hr =", "hr = ;"])
def test_a_rule_that_is_none_is_refused(rule: str) -> None:
    with pytest.raises(ValueError, match="is not a rule"):
        AccessSettings(folders=(rule,))


def test_a_column_names_groups_and_an_empty_cell_nobody(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,text,Readers\n1,one,hr|007\n2,two,\n3,three,\"['a, b', c]\"\n4,four,*\n")
    (tmp_path / "t.jsonl").write_text('{"id": 1, "text": "x", "readers": ["hr", 7]}\n{"id": 2, "text": "y"}\n')
    engine = open_fast(tmp_path / "kb")
    try:
        add(engine, str(tmp_path / "t.csv"), str(tmp_path / "t.jsonl"))
        named = {one.id: one.metadata.get("readers") for one in engine.documents.all()}
    finally:
        engine.close()
    assert named == {
        "t.csv#1": ("007", "hr"), "t.csv#2": (), "t.csv#3": ("a, b", "c"), "t.csv#4": ("*",),
        "t.jsonl#1": ("7", "hr"), "t.jsonl#2": None,
    }  # fmt: skip


def test_rules_that_were_used_once_stay_in_force(tmp_path: Path) -> None:
    docs = tmp_path / "docs" / "hr"
    docs.mkdir(parents=True)
    (docs / "pay.txt").write_text(PAY)
    engine = open_fast(tmp_path / "kb", "acquire.access.folders=[hr = hr]")
    asyncio.run(engine.documents.sync([str(tmp_path / "docs")]))
    engine.close()
    (docs / "more.txt").write_text("The salary of the cook is two thousand.")
    engine = open_fast(tmp_path / "kb", create=False)
    try:
        assert asyncio.run(engine.documents.sync([str(tmp_path / "docs")])).added == 1
        assert found(engine, "salary", STAFF) == set()
        asyncio.run(engine.versions.rebuild(["chunk.size=120"]))
        (docs / "third.txt").write_text("The salary of the gardener is one thousand.")
        asyncio.run(engine.documents.sync([str(tmp_path / "docs")]))
        assert found(engine, "salary", STAFF) == set()
        assert len(found(engine, "salary", HR)) == 3
    finally:
        engine.close()
    engine = open_fast(tmp_path / "kb", "acquire.access.folders=[hr = staff]", create=False)
    try:
        report = asyncio.run(engine.documents.sync([str(tmp_path / "docs")]))
        assert (report.updated, report.embedded) == (3, 0)
        assert (len(found(engine, "salary", STAFF)), found(engine, "salary", HR)) == (3, set())
    finally:
        engine.close()


def test_rules_that_another_process_makes_hold_at_once(tmp_path: Path) -> None:
    docs = tmp_path / "docs" / "hr"
    docs.mkdir(parents=True)
    running = open_fast(tmp_path / "kb")
    other = open_fast(tmp_path / "kb", "acquire.access.folders=[hr = hr]", create=False)
    try:
        (docs / "pay.txt").write_text(PAY)
        asyncio.run(running.documents.sync([str(tmp_path / "docs")]))
        assert found(running, "salary", STAFF)
        asyncio.run(other.documents.sync([str(tmp_path / "docs")]))
        (docs / "more.txt").write_text("The salary of the cook is two thousand.")
        report = asyncio.run(running.documents.sync([str(tmp_path / "docs")]))
        assert (report.added, report.updated) == (1, 0)
        assert found(running, "salary", STAFF) == set()
        assert len(found(running, "salary", HR)) == 2
    finally:
        running.close()
        other.close()


def test_rules_outlive_the_choice_of_an_embedder_by_another_process(tmp_path: Path) -> None:
    docs = tmp_path / "docs" / "hr"
    docs.mkdir(parents=True)
    (docs / "pay.txt").write_text(PAY)
    running = open_fast(tmp_path / "kb", "index.embedder=auto")
    other = open_fast(tmp_path / "kb", "acquire.access.folders=[hr = hr]", create=False)
    try:
        add(other)  # its rules count, although it has no document that could decide on the embedder
        asyncio.run(running.documents.sync([str(tmp_path / "docs")]))
    finally:
        running.close()
        other.close()
    (docs / "more.txt").write_text("The salary of the cook is two thousand.")
    with closing(open_fast(tmp_path / "kb", create=False)) as later:
        asyncio.run(later.documents.sync([str(tmp_path / "docs")]))
        assert (len(found(later, "salary", HR)), found(later, "salary", STAFF)) == (2, set())
