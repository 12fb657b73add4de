"""Erased documents leave no trace in the files of a knowledge base."""

import asyncio
import json
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kb import READY, add, open_fast, parts

from ragstone.catalog.location import VersionLease
from ragstone.core.access import OWNER, READERS, Reader
from ragstone.core.errors import KnowledgeBaseError, Locked, NotFound, UsageError
from ragstone.core.records import Document
from ragstone.engine.doctor import doctor
from ragstone.engine.jobs.queue import Work
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.history.erasing import ERASED, ERASED_QUESTION

PERSON = (
    "Zyxwvutia Plorbington lives at Quirkelstrasse 77 and has the diagnosis glimmerpox. The ferries of Zyxwvutia are"
    " always late in the evening of a working day."
)
WORDS = ("zyxwvutia", "plorbington", "quirkelstrasse", "glimmerpox")
QUESTION = "Where does Zyxwvutia Plorbington live?"


def _note(number: int) -> Document:
    text = f"The harbour note number {number} speaks about ferries, tides and the price of tickets in town {number}."
    return Document(id=f"n{number}.md", text=text, source=f"/notes/n{number}.md", title=f"Note {number}")


def _person() -> Document:
    return Document(id="person.md", text=PERSON, source="/notes/person.md", title="Person file")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[KnowledgeBase]:
    """A knowledge base with two versions, answers, a conversation, a vote, a link and caches."""
    kb = open_fast(tmp_path / ".ragstone", READY, "cache.questions=true")
    add(kb, *map(_note, range(20)), _person())
    answer = asyncio.run(kb.ask(QUESTION, reader=OWNER, session="talk"))
    assert "Quirkelstrasse" in answer.answer
    asyncio.run(kb.ask("What is the price of tickets in town 7?", reader=OWNER, session="talk"))
    kb.history.rate(answer.response_id, vote="up", reader=OWNER, reason="Plorbington it is")
    kb.history.share("talk", reader=OWNER)
    asyncio.run(kb.versions.rebuild(["chunk.size=300"]))
    asyncio.run(kb.search("glimmerpox", reader=OWNER))
    yield kb
    kb.close()


def _left(folder: Path, words: tuple[str, ...] = WORDS) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [f"{path.name}: {word}" for path in files for word in words if word.encode() in path.read_bytes().lower()]


def test_leaves_no_trace_in_any_file(engine: KnowledgeBase) -> None:
    files = {one.partition(".")[0] for one in _left(engine.folder)}
    assert files >= {"journal", "cache", "catalog"}
    report = engine.documents.forget(["person.md"], reader=OWNER)
    assert _left(engine.folder) == []
    assert report.found == ()
    assert report.documents == ("person.md",)
    assert len(report.versions) == 2
    assert report.words >= len(WORDS)
    assert report.searched_rows > 100
    assert doctor(engine.folder).well


def test_answer_stays_without_words_of_its_source(engine: KnowledgeBase) -> None:
    engine.documents.forget(["person.md"], reader=OWNER)
    erased, other = engine.history.turns("talk", reader=OWNER)
    assert (erased.question, erased.answer) == (ERASED_QUESTION, ERASED)
    assert "town 7" in other.answer
    response = engine.history.response(erased.response_id, reader=OWNER)
    assert response.answer["citations"] == []
    assert response.passages == () or "person.md" not in response.evidence
    assert [(one.vote, one.reason) for one in response.feedback] == [("up", "")]


def test_other_documents_are_found_as_before(engine: KnowledgeBase) -> None:
    question = "price of tickets in town 7"
    before = [hit.chunk.id for hit in asyncio.run(engine.search(question, 5, reader=OWNER))]
    engine.documents.forget(["person.md"], reader=OWNER)
    assert [hit.chunk.id for hit in asyncio.run(engine.search(question, 5, reader=OWNER))] == before
    asyncio.run(engine.versions.revert())
    assert len(asyncio.run(engine.search(question, 5, reader=OWNER))) == 5
    assert _left(engine.folder) == []


def test_erases_a_document_removed_before(engine: KnowledgeBase) -> None:
    engine.documents.remove(["person.md"], reader=OWNER)
    assert _left(engine.folder)
    engine.documents.forget(["person.md"], reader=OWNER)
    assert _left(engine.folder) == []


def test_erases_words_of_a_text_given(engine: KnowledgeBase) -> None:
    engine.documents.remove(["person.md"], reader=OWNER)
    engine.versions.drop_previous()
    with closing(sqlite3.connect(engine.folder / "journal.db")) as db:
        db.execute("DELETE FROM responses")
        db.commit()
    engine.documents.forget(["person.md"], reader=OWNER, words=PERSON)
    assert _left(engine.folder) == []


def test_refuses_a_name_without_any_trace(engine: KnowledgeBase) -> None:
    with pytest.raises(NotFound, match="--words"):
        engine.documents.forget(["persan.md"], reader=OWNER)
    assert engine.documents.get("person.md", reader=OWNER)


def test_end_of_an_id_does_not_suffice(engine: KnowledgeBase) -> None:
    add(engine, Document(id="old/person.md", text="Krumbelwick has moved.", source="/old/person.md"))
    add(engine, Document(id="old/memo.md", text="Hanzelfrot has moved.", source="/old/memo.md"))
    engine.documents.remove(["person.md"], reader=OWNER)
    engine.documents.forget(["person.md"], reader=OWNER)
    with pytest.raises(UsageError, match=r"pass: old/memo\.md"):
        engine.documents.forget(["memo.md"], reader=OWNER)
    assert engine.status().documents == 22


def test_folder_is_not_erased_by_its_name(engine: KnowledgeBase) -> None:
    with pytest.raises(NotFound):
        engine.documents.forget(["/notes"], reader=OWNER)


def test_erases_all_documents_of_a_file(tmp_path: Path) -> None:
    with closing(open_fast(tmp_path / "kb")) as kb:
        rows = [
            Document(id=f"p.csv#{n}", text=f"{word} is here.", source=f"/p.csv#{n}") for n, word in enumerate(WORDS)
        ]
        add(kb, *rows, _note(1))
        assert len(kb.documents.forget(["/p.csv"], reader=OWNER).documents) == len(WORDS)
        assert kb.status().documents == 1


def test_reader_cannot_erase_hidden_documents(tmp_path: Path) -> None:
    with closing(open_fast(tmp_path / "kb")) as kb:
        add(kb, Document(id="hidden.md", text=PERSON, source="/hidden.md", metadata={READERS: ("hr",)}))
        with pytest.raises(NotFound):
            kb.documents.forget(["hidden.md"], reader=Reader(groups=frozenset({"staff"})))
        assert kb.documents.get("hidden.md", reader=OWNER)


_KILLED = """
import os, sys
from pathlib import Path
from kb import open_fast
from ragstone.core.access import OWNER
from ragstone.engine import erasure
from ragstone.storage import cache, sqlite
left = int(sys.argv[2])
def killed_at(step):
    def run(*given, **named):
        global left
        left -= 1
        if not left:
            os._exit(9)
        return step(*given, **named)
    return run
for name in ("erase", "_remove_files", "_rebuild", "clear_away", "drop"):
    setattr(erasure, name, killed_at(getattr(erasure, name)))
import ragstone.catalog.sqlite, ragstone.history.journal
for module in (ragstone.catalog.sqlite, ragstone.history.journal, cache):
    module.compact = killed_at(module.compact)
open_fast(Path(sys.argv[1]), create=False).documents.forget(["person.md"], reader=OWNER)
"""


def _child(script: str, *words: str) -> int:
    paths = f"{Path(__file__).parent.parent}:{Path(__file__).parent.parent.parent}"
    return subprocess.run([sys.executable, "-c", script, *words], env={"PYTHONPATH": paths}, check=False).returncode


@pytest.mark.parametrize("step", [1, 3, 5, 7, 10, 13, 16])
def test_repeated_erasure_finishes_a_killed_one(engine: KnowledgeBase, step: int) -> None:
    assert _child(_KILLED, str(engine.folder), str(step)) == 9
    if step > 1:
        found = [one.remedy for one in doctor(engine.folder).findings if one.part == "erasure"]
        assert found == [f"run: ragstone forget person.md --kb {engine.folder}"]
    assert engine.documents.forget(["person.md"], reader=OWNER).found == ()
    assert _left(engine.folder) == []
    assert doctor(engine.folder).well


def test_document_without_source_leaves_others_alone(engine: KnowledgeBase) -> None:
    add(engine, Document(id="memo", text="Krumbelwick sold the boat to Hanzelfrot."))
    asyncio.run(engine.ask("To whom did Krumbelwick sell the boat?", reader=OWNER, session="memos"))
    report = engine.documents.forget(["memo"], reader=OWNER)
    assert _left(engine.folder, ("krumbelwick", "hanzelfrot")) == []
    assert report.found == ()
    assert engine.history.turns("talk", reader=OWNER)[0].question == QUESTION
    assert engine.documents.get("person.md", reader=OWNER).text == PERSON


def test_shared_text_stays_for_another_document(tmp_path: Path) -> None:
    with closing(open_fast(tmp_path / "kb")) as kb:
        copy = Document(id="copy.md", text=PERSON, source="/copy.md")
        add(kb, _person(), copy, *map(_note, range(5)))
        report = kb.documents.forget(["person.md"], reader=OWNER)
        assert kb.documents.get("copy.md", reader=OWNER).text == PERSON
        assert report.found == ()
        assert [hit.chunk.document_id for hit in asyncio.run(kb.search("glimmerpox", 1, reader=OWNER))] == ["copy.md"]


def test_refuses_while_another_version_is_open(engine: KnowledgeBase) -> None:
    previous = parts(engine).location.previous()
    assert previous is not None
    lease = VersionLease(previous)
    try:
        with pytest.raises(Locked, match="has this version open"):
            engine.documents.forget(["person.md"], reader=OWNER)
        assert engine.documents.get("person.md", reader=OWNER)
    finally:
        lease.release()
    assert engine.documents.forget(["person.md"], reader=OWNER).found == ()


def test_refuses_while_another_process_indexes(engine: KnowledgeBase) -> None:
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with parts(engine).location.indexing():
            held.set()
            done.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(20)
    try:
        with pytest.raises(Locked):
            engine.documents.forget(["person.md"], reader=OWNER)
    finally:
        done.set()
        thread.join()


def test_fails_while_a_reader_keeps_an_old_state(engine: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragstone.storage.sqlite.PATIENCE", 0.2)
    path = parts(engine).source.path / "catalog.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM documents").fetchone()
        with pytest.raises(KnowledgeBaseError, match="keeps reading"):
            engine.documents.forget(["person.md"], reader=OWNER)
    engine.documents.forget(["person.md"], reader=OWNER)
    assert _left(engine.folder) == []


def test_waiting_jobs_lose_the_file_only(engine: KnowledgeBase) -> None:
    jobs = parts(engine).history.jobs()
    jobs.put("add", [Work(files=("/notes/person.md", "/notes/n1.md")), Work(files=("/notes/person.md",))])
    engine.documents.forget(["person.md"], reader=OWNER)
    assert [job.work.files for job in jobs.last(10)] == [("/notes/n1.md",)]


def test_uploaded_file_is_deleted(tmp_path: Path) -> None:
    with closing(open_fast(tmp_path / "kb")) as kb:
        file = tmp_path / "kb" / "uploads" / "person.md"
        file.parent.mkdir()
        file.write_text(PERSON)
        asyncio.run(kb.documents.add_uploads([file]))
        assert kb.documents.forget(["uploads/person.md"], reader=OWNER).found == ()
        assert not file.exists()


def test_proof_names_the_file_that_still_has_words(tmp_path: Path) -> None:
    with closing(open_fast(tmp_path / "kb")) as kb:
        add(kb, _person(), _note(1))
        (tmp_path / "kb" / "notes.txt").write_text("Plorbington", encoding="utf-16-le")
        (tmp_path / "kb" / "more.json").write_text(json.dumps({"who": "PLORBINGTON"}))
        assert kb.documents.forget(["person.md"], reader=OWNER).found == ("more.json", "notes.txt")


def test_proof_reads_compressed_and_escaped_values(tmp_path: Path) -> None:
    import zlib

    with closing(open_fast(tmp_path / "kb")) as kb:
        add(kb, Document(id="p.md", text="Der Müßiggänger Ölbaumßen wohnt hier.", source="/p.md"), _note(1))
        with closing(sqlite3.connect(tmp_path / "kb" / "other.db")) as db:
            db.execute("CREATE TABLE packed (value)")
            db.execute("CREATE TABLE told (value)")
            db.execute("INSERT INTO packed VALUES (?)", [zlib.compress("Müßiggänger".encode())])
            db.execute("INSERT INTO told VALUES (?)", [json.dumps({"who": "ÖLBAUMSSEN"})])
            db.commit()
        found = kb.documents.forget(["p.md"], reader=OWNER).found
        assert found == ("other.db", "other.db, table packed", "other.db, table told")


def test_answer_in_progress_is_not_stored(engine: KnowledgeBase) -> None:
    async def ask() -> None:
        events = engine.stream(QUESTION, reader=OWNER, session="late")
        await anext(events)  # the evidence is found
        engine.documents.forget(["person.md"], reader=OWNER)
        async for _ in events:
            pass

    asyncio.run(ask())
    assert engine.history.turns("late", reader=OWNER) == []
    assert _left(engine.folder) == []


_FORGET = """
import sys
from pathlib import Path
from kb import open_fast
from ragstone.core.access import OWNER
open_fast(Path(sys.argv[1]), create=False).documents.forget(["person.md"], reader=OWNER)
"""


def test_other_processes_go_on_with_the_version_in_use(engine: KnowledgeBase) -> None:
    assert asyncio.run(engine.search("glimmerpox", 1, reader=OWNER))[0].chunk.document_id == "person.md"
    assert _child(_FORGET, str(engine.folder)) == 0
    hits = asyncio.run(engine.search("glimmerpox ferries", 5, reader=OWNER))
    assert len(hits) == 5
    assert "person.md" not in {hit.chunk.document_id for hit in hits}
    assert _left(engine.folder, WORDS[:3]) == []
