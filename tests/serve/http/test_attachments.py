"""Files that are attached to one conversation: nobody else finds them, and nothing is left of them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from threading import Event
from typing import Any

import httpx2
import pytest
from kb import READY, open_fast, parts
from live import SLOW, Live, Serving, make_key, served, written_by
from pdf_file import pdf

from ragstone.catalog.catalog import SqlCatalog
from ragstone.catalog.lock import ONCE
from ragstone.core.access import OWNER, Reader
from ragstone.core.catalog import Notes
from ragstone.core.errors import Locked
from ragstone.core.reports import Progress
from ragstone.engine.attached import folder_of, note_removed
from ragstone.engine.doctor import doctor
from ragstone.engine.following import locked
from ragstone.engine.jobs.queue import Work
from ragstone.history.erasing import ERASED
from ragstone.history.journal import Journal
from ragstone.history.users import Users
from servers.openai_server import OpenAIServer, words_in

WORD = "zanzibar-quince"
NOTE = f"The code word of the boathouse is {WORD}. The boathouse opens in April.".encode()
ASKED = "What is the code word of the boathouse?"


def attach(live: Live, *files: tuple[str, bytes], session: str = "s", **key: str) -> dict[str, Any]:
    sent = live.http.post(
        "/attachments", params={"session": session}, files=[("files", file) for file in files], headers=key
    )
    assert sent.status_code == 202, sent.text
    look = f"/jobs/{sent.json()['job_id']}"
    return live.until(lambda: live.http.get(look, headers=key).json(), lambda it: it["ended"] is not None)


def attached(live: Live, session: str = "s", **key: str) -> list[dict[str, Any]]:
    return live.http.get("/attachments", params={"session": session}, headers=key).json()["attachments"]


def holds(folder: Path, word: str = WORD) -> list[str]:
    """Return the files below a folder that have a word in one of its encodings or cases."""
    forms = [form for text in {word, word.title()} for form in (text.encode(), text.encode("utf-16-le"))]
    found: list[str] = []
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError, IsADirectoryError):  # the server replaces the files of its indexes
            data = path.read_bytes()
            found += [path.name] if any(form in data for form in forms) else []
    return found


def test_answers_only_within_the_conversation(serving: Serving) -> None:
    live = serving()
    job = attach(live, ("boat.txt", NOTE))
    assert (job["state"], job["report"]["added"]) == ("done", 1)
    told = live.ask(ASKED, session="s").json()
    assert WORD in told["answer"]
    assert told["citations"][0]["document_id"] == job["document_ids"][0]
    assert WORD not in live.ask(ASKED, session="t").text
    assert WORD not in live.ask(ASKED).text
    assert "behind the mill" in live.ask("Where do visitors park?", session="s").json()["answer"]


def test_shows_the_file_to_its_person(serving: Serving) -> None:
    live = serving()
    (id,) = attach(live, ("boat.pdf", pdf([NOTE.decode()])))["document_ids"]
    found = live.http.get(f"/documents/{id}")
    assert WORD in found.json()["text"]
    assert not {"readers", "attached_to"} & found.json()["metadata"].keys()
    assert live.http.get(f"/originals/{id}").content.startswith(b"%PDF")
    assert live.http.get(f"/pages/{id}").status_code == 200
    (file,) = attached(live)
    assert (file["file"], file["document_ids"]) == ("boat.pdf", [id])
    assert file["added"] < file["until"]
    assert attached(live, "t") == []


PEOPLE = {"owner": None, "staff": ["staff"], "no groups": []}


@pytest.mark.parametrize("groups", PEOPLE.values(), ids=PEOPLE)
def test_hides_the_file_from_everybody_else(serving: Serving, groups: list[str] | None) -> None:
    live = serving()
    mine = make_key(live.engine.folder, "ann", "read", groups=["staff"])
    other = make_key(live.engine.folder, "bob", "read", "write", "admin", groups=groups)
    job = attach(live, ("boat.txt", NOTE), **mine)
    (id,) = job["document_ids"]
    answer = live.http.post("/query", json={"question": ASKED, "session": "s"}, headers=mine).json()
    assert WORD in answer["answer"]
    secret = live.http.post("/links/s", json={}, headers=mine).json()["secret"]
    calls: list[httpx2.Response] = [
        live.http.post("/query", json={"question": ASKED, "session": "s"}, headers=other),
        live.http.post("/query", json={"question": "Summarise boat.txt"}, headers=other),
        live.http.post("/query", json={"question": "How many documents are there?"}, headers=other),
        live.http.post("/search", json={"query": ASKED, "explain": True}, headers=other),
        live.http.post("/search", json={"query": "boathouse", "where": f"id = '{id}'"}, headers=other),
        live.http.get("/documents", headers=other),
        live.http.get("/documents", params={"q": "boat"}, headers=other),
        live.http.get("/suggestions", headers=other),
        live.http.get("/suggestions", params={"document_id": id}, headers=other),
        live.http.get("/jobs", headers=other),
        live.http.get("/attachments", params={"session": "s"}, headers=other),
        live.http.get(f"/shared/{secret}", headers=other),
        live.http.get(f"/responses/{answer['response_id']}", headers=other),
        live.http.get("/fields", headers=other),
        *(live.http.get(f"/{kind}/{id}", headers=other) for kind in ("documents", "originals", "pages", "places")),
        live.http.get(f"/jobs/{job['job_id']}", headers=other),
        live.http.delete("/attachments", params={"session": "s", "file": "boat.txt"}, headers=other),
        live.http.delete(f"/documents/{id}", headers=other),
        *([] if groups is not None else [live.http.get(path, headers=other) for path in ("/status", "/stats")]),
    ]
    for told in calls:
        assert told.status_code < 500, told.text
        assert WORD not in told.text, told.request.url
        assert "boat.txt" not in told.text.replace(id, "").replace("Summarise boat.txt", ""), told.request.url
    assert "There is 1 document" not in calls[2].text
    assert WORD in live.http.post("/query", json={"question": ASKED, "session": "s"}, headers=mine).json()["answer"]


def test_erases_the_file_with_the_conversation(serving: Serving) -> None:
    live = serving()
    (id,) = attach(live, ("boat.txt", NOTE))["document_ids"]
    assert WORD in live.ask(ASKED, session="s").json()["answer"]
    assert holds(live.engine.folder)
    assert live.http.delete("/conversations/s").status_code == 200
    live.until(lambda: live.http.get(f"/documents/{id}").status_code, lambda code: code == 404)
    live.until(lambda: holds(live.engine.folder), lambda found: not found)
    assert not list(live.engine.folder.glob("uploads/conversations/*/*"))
    assert "behind the mill" in live.ask("Where do visitors park?").json()["answer"]


def remove(live: Live, file: str, session: str = "s", **key: str) -> list[str]:
    gone = live.http.delete("/attachments", params={"session": session, "file": file}, headers=key)
    assert gone.status_code == 200, gone.text
    return gone.json()["removed"]


def erase(live: Live, days: float = 1.0) -> list[str]:
    """Erase what the next look of the server would."""
    return live.engine.documents.erase_attached(days)


def test_removes_a_file_at_once_and_erases_it_later(serving: Serving) -> None:
    live = serving()
    attach(live, ("boat.txt", NOTE), ("bar.csv", b"id,text\n1,The bar seats ninety.\n2,The bar is closed.\n"))
    answer = live.ask(ASKED, session="s").json()
    assert [one["file"] for one in attached(live)] == ["bar.csv", "boat.txt"]
    (id,) = remove(live, "boat.txt")
    assert not (live.engine.folder / id).exists()
    assert WORD not in live.ask(ASKED, session="s").json()["answer"]
    assert live.http.get(f"/documents/{id}").status_code == 404
    assert [one["file"] for one in attached(live)] == ["bar.csv"]
    assert live.http.delete("/attachments", params={"session": "s", "file": "boat.txt"}).status_code == 404
    assert erase(live) == [id]
    assert holds(live.engine.folder) == []
    assert live.http.get(f"/responses/{answer['response_id']}").json()["answer"]["answer"] == ERASED
    assert [one["file"] for one in attached(live)] == ["bar.csv"]
    assert erase(live) == []


def test_removes_a_file_while_an_ingest_holds_the_lock(serving: Serving, tmp_path: Path) -> None:
    live, begun, go = serving(), Event(), Event()
    (id,) = attach(live, ("boat.txt", NOTE))["document_ids"]
    (tmp_path / "bar.txt").write_text("The bar seats ninety people.")

    def slowly(_: Progress) -> None:
        begun.set()
        assert go.wait(SLOW)

    with ThreadPoolExecutor(1) as threads:
        ingest = threads.submit(lambda: asyncio.run(live.engine.documents.add([str(tmp_path / "bar.txt")], slowly)))
        assert begun.wait(SLOW)
        try:
            with pytest.raises(Locked), locked(parts(live.engine), ONCE):
                pass
            assert remove(live, "boat.txt") == [id]
            assert attached(live) == []
            assert WORD not in live.ask(ASKED, session="s").text
            found = asyncio.run(live.engine.search(ASKED, reader=OWNER.within("s")))
            assert id not in {hit.chunk.document_id for hit in found}
            assert live.http.get(f"/documents/{id}").status_code == 404
            assert WORD not in live.ask("Which documents are there?", session="s").text
            assert not ingest.done()
        finally:
            go.set()
        assert ingest.result(SLOW).added == 1
    assert WORD not in live.ask(ASKED, session="s").text
    assert doctor(live.engine.folder).well
    assert erase(live) == [id]
    assert holds(live.engine.folder) == []


def test_a_rebuild_keeps_removed_files_hidden(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    live = serving()
    (id,) = attach(live, ("boat.txt", NOTE))["document_ids"]
    catalog, copy = parts(live.engine).catalog, SqlCatalog.put_notes

    def removed_meanwhile(other: SqlCatalog, notes: Notes) -> None:
        note_removed(live.engine.folder, [id])
        catalog.withdraw([id])
        copy(other, notes)

    monkeypatch.setattr(SqlCatalog, "put_notes", removed_meanwhile)
    asyncio.run(live.engine.versions.rebuild(["chunk.size=150"]))
    assert WORD not in live.ask(ASKED, session="s").text
    assert doctor(live.engine.folder).well
    assert erase(live) == [id]
    assert holds(live.engine.folder) == []


def test_erases_removed_files_together(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    live, rewritten = serving(), list[Path]()
    compact = Journal.compact

    def counted(journal: Journal) -> None:
        rewritten.append(journal.path)
        compact(journal)

    monkeypatch.setattr(Journal, "compact", counted)
    names = [f"boat{number}.txt" for number in range(3)]
    attach(live, *((name, name.encode() + NOTE) for name in names))
    for name in names:
        remove(live, name)
    assert (len(erase(live)), len(rewritten)) == (3, 1)
    assert holds(live.engine.folder) == []


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


STEPS = ("_every_version", "_erase_history", "_erase_documents", "_rebuild", "_clear_remains")


@pytest.mark.parametrize("step", STEPS)
def test_erases_what_was_removed_before_a_crash(serving: Serving, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    live = serving()
    attach(live, ("boat.txt", NOTE))
    live.ask(ASKED, session="s")
    (id,) = remove(live, "boat.txt")
    with monkeypatch.context() as patch:
        patch.setattr(f"ragstone.engine.erasure.{step}", interrupted)
        with pytest.raises(KeyboardInterrupt):
            erase(live)
    folder, engine = live.engine.folder, open_fast(live.engine.folder, create=False)
    with closing(engine):
        assert engine.documents.erase_attached(1) == [id]
        assert holds(folder) == []
        assert doctor(folder).well


def test_finishes_an_interrupted_erasure_of_expired_files(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    live = serving()
    attach(live, ("boat.txt", NOTE))
    with monkeypatch.context() as patch:
        patch.setattr("ragstone.engine.erasure._rebuild", interrupted)
        with pytest.raises(KeyboardInterrupt):
            erase(live, days=1e-9)
    assert attached(live) == []
    assert len(erase(live)) == 1
    assert holds(live.engine.folder) == []


def test_keeps_a_file_that_was_attached_again(serving: Serving) -> None:
    live, other = serving(), "tanganyika-plum"
    attach(live, ("boat.txt", NOTE))
    before = live.ask(ASKED, session="s").json()
    remove(live, "boat.txt")
    (id,) = attach(live, ("boat.txt", NOTE.replace(WORD.encode(), other.encode())))["document_ids"]
    after = live.ask(ASKED, session="s").json()
    assert other in after["answer"]
    assert erase(live) == []
    assert (live.engine.folder / id).exists()
    assert other in live.ask(ASKED, session="s").json()["answer"]
    assert live.http.get(f"/responses/{after['response_id']}").json()["answer"]["answer"] == after["answer"]
    assert live.http.get(f"/responses/{before['response_id']}").json()["answer"]["answer"] == ERASED
    assert holds(live.engine.folder) == []


def test_erases_no_file_that_waits_to_be_read_again(serving: Serving) -> None:
    live = serving()
    attach(live, ("boat.txt", NOTE))
    (id,) = remove(live, "boat.txt")
    file = live.engine.folder / id
    file.parent.mkdir()
    file.write_bytes(NOTE)
    jobs = parts(live.engine).history.jobs()
    (job,) = jobs.put("upload", [Work(files=(id,), conversation=OWNER.within("s").conversation)])
    live.engine.documents.erase_attached(1, waiting={id})
    assert file.exists()
    assert [one.work.files for one in jobs.last(10) if one.id == job.id] == [(id,)]


def test_erases_the_file_after_its_time(serving: Serving) -> None:
    live = serving()
    attach(live, ("boat.txt", NOTE))
    live.ask(ASKED, session="s")
    assert erase(live) == []
    assert len(erase(live, days=1e-9)) == 1
    assert holds(live.engine.folder) == []


def test_erases_the_file_of_a_conversation_forgotten_elsewhere(serving: Serving) -> None:
    live = serving()
    attach(live, ("boat.txt", NOTE))
    live.ask(ASKED, session="s")
    with closing(open_fast(live.engine.folder, create=False)) as engine:  # as `ragstone history conversations` does
        assert engine.history.forget("s", reader=OWNER) == 1
    assert len(erase(live)) == 1
    assert holds(live.engine.folder) == []


def test_keeps_a_file_attached_after_the_end(serving: Serving) -> None:
    live = serving()
    attach(live, ("boat.txt", NOTE))
    live.ask(ASKED, session="s")
    live.engine.history.forget("s", reader=OWNER)
    attach(live, ("bar.txt", b"The bar seats ninety people."))
    assert len(erase(live)) == 1
    assert [one["file"] for one in attached(live)] == ["bar.txt"]


def test_erases_the_files_of_a_removed_person(tmp_path: Path) -> None:
    conversation = Reader(name="ann").within("s").conversation
    file = tmp_path / "kb" / folder_of(conversation) / "boat.txt"
    with closing(open_fast(tmp_path / "kb")) as engine, closing(engine.history.journal()) as journal:
        users = Users(journal)
        users.add("ann", "correct horse battery", ["read"])
        file.parent.mkdir(parents=True)
        file.write_bytes(NOTE)
        asyncio.run(engine.documents.add_uploads([file], conversation=conversation))
        assert engine.documents.erase_attached(1) == []
        users.remove("ann")
        assert len(engine.documents.erase_attached(1)) == 1
        assert holds(tmp_path) == []


def test_deletes_files_whose_documents_are_gone(serving: Serving) -> None:
    live = serving()
    (id,) = attach(live, ("boat.txt", NOTE))["document_ids"]
    parts(live.engine).catalog.remove([id])  # as another host does
    file = live.engine.folder / id
    erase(live)
    assert file.exists(), "a job may still wait to read it"
    os.utime(file, (1, 1))
    erase(live)
    assert not file.parent.exists()


def test_erases_an_attached_file_removed_as_a_document(serving: Serving) -> None:
    live = serving()
    (id,) = attach(live, ("boat.txt", NOTE))["document_ids"]
    assert live.http.delete(f"/documents/{id}").status_code == 200
    assert erase(live) == [id]
    assert holds(live.engine.folder) == []


def test_erasing_a_file_leaves_what_others_asked(serving: Serving) -> None:
    live = serving()
    ann, bob = (make_key(live.engine.folder, name, "read") for name in ("ann", "bob"))
    live.http.post("/query", json={"question": f"Who said {WORD}?", "session": "b"}, headers=bob).raise_for_status()
    attach(live, ("boat.txt", NOTE), **ann)
    remove(live, "boat.txt", **ann)
    assert len(erase(live)) == 1
    assert WORD in live.http.get("/conversations/b", headers=bob).text


def test_administrators_cannot_forget_what_is_attached(serving: Serving) -> None:
    live = serving()
    ann, admin = (
        make_key(live.engine.folder, name, "read", *more) for name, more in (("ann", ()), ("root", ["admin"]))
    )
    (id,) = attach(live, ("boat.txt", NOTE), **ann)["document_ids"]
    for name in ("boat.txt", id):
        told = live.http.post("/admin/forget", json={"documents": [name]}, headers=admin)
        assert told.status_code in (400, 404)
        assert "conversations/" not in told.text.replace(name, "")
    assert (live.engine.folder / id).exists()
    assert WORD in live.http.post("/query", json={"question": ASKED, "session": "s"}, headers=ann).json()["answer"]


def test_a_link_never_shows_what_was_attached(serving: Serving) -> None:
    live = serving()
    ann = make_key(live.engine.folder, "ann", "read", "write")
    admin = make_key(live.engine.folder, "root", "read", "admin")
    (id,) = attach(live, ("boat.txt", NOTE), **ann)["document_ids"]
    live.http.post("/query", json={"question": ASKED, "session": "s"}, headers=ann).raise_for_status()
    secret = live.http.post("/links/s", json={}, headers=ann).json()["secret"]
    live.http.delete(f"/documents/{id}", headers=ann).raise_for_status()
    shared = live.http.get(f"/shared/{secret}", headers=admin)
    assert shared.status_code == 200
    assert WORD not in shared.text


def repeating(messages: Sequence[Mapping[str, Any]]) -> str:
    """Write as a model that repeats what it was told, by a document or in the conversation."""
    is_told = any(WORD in words_in(one) for one in messages)
    return f"The code word is {WORD}." if is_told else "The gate is behind the mill."


@pytest.mark.parametrize("groups", [None, ["staff"]], ids=["administrator", "staff"])
def test_a_link_never_shows_what_a_model_repeats(serving: Serving, groups: list[str] | None) -> None:
    with OpenAIServer(repeating) as model:
        live = serving(asked=written_by(model))
        ann = make_key(live.engine.folder, "ann", "read", "write", groups=["staff"])
        other = make_key(live.engine.folder, "root", "read", "admin", groups=groups)

        def ask(question: str) -> str:
            asked = {"question": question, "session": "s"}
            return live.http.post("/query", json=asked, headers=ann).raise_for_status().json()["answer"]

        before = ask("Where do visitors park?")
        attach(live, ("boat.txt", NOTE), **ann)
        assert WORD in ask(ASKED)
        file = {"session": "s", "file": "boat.txt"}
        live.http.delete("/attachments", params=file, headers=ann).raise_for_status()
        assert WORD in ask("Where do visitors park, and what did you say before?")
        erase(live)
        secret = live.http.post("/links/s", json={}, headers=ann).json()["secret"]
        shared = live.http.get(f"/shared/{secret}", headers=other)
        assert WORD not in shared.text
        assert [one["text"] for one in shared.json()["turns"]] == [before, None, None]
        copy = live.http.post(f"/shared/{secret}", headers=other).json()["session"]
        assert WORD not in live.http.get(f"/conversations/{copy}", headers=other).text


def test_a_link_never_shows_a_list_with_what_was_attached(serving: Serving) -> None:
    live = serving()
    ann, admin = make_key(live.engine.folder, "ann", "read"), make_key(live.engine.folder, "root", "read", "admin")
    attach(live, ("zanzibar-quince.txt", NOTE), **ann)
    asked = {"question": "Which documents are there?", "session": "s"}
    assert WORD in live.http.post("/query", json=asked, headers=ann).json()["answer"]
    live.http.delete("/attachments", params={"session": "s", "file": f"{WORD}.txt"}, headers=ann).raise_for_status()
    secret = live.http.post("/links/s", json={}, headers=ann).json()["secret"]
    assert WORD not in live.http.get(f"/shared/{secret}", headers=admin).text


@pytest.mark.parametrize(
    ("question", "outcome"),
    [("Summarise zanzibar", "clarification"), ("Who won the battle of Vienna in 1683?", "refusal")],
)
def test_a_link_never_shows_what_depends_on_all_files(serving: Serving, question: str, outcome: str) -> None:
    live = serving()
    ann = make_key(live.engine.folder, "ann", "read", groups=["staff"])
    others = [
        make_key(live.engine.folder, "root", "read", "admin"),
        make_key(live.engine.folder, "bob", "read", groups=["staff"]),
    ]
    asked = {"question": question, "session": "before"}
    assert live.http.post("/query", json=asked, headers=ann).json()["outcome"] == "refusal"
    attach(live, ("zanzibar plan.txt", NOTE), ("zanzibar list.txt", NOTE.upper()), **ann)
    asked = {"question": question, "session": "s"}
    assert live.http.post("/query", json=asked, headers=ann).json()["outcome"] == outcome
    for session, is_shown in (("before", True), ("s", False)):
        secret = live.http.post(f"/links/{session}", json={}, headers=ann).json()["secret"]
        for other in others:
            (turn,) = live.http.get(f"/shared/{secret}", headers=other).json()["turns"]
            assert (turn["text"] is not None) == is_shown


def test_keeps_the_original_in_a_relative_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(open_fast(Path("kb"), READY)) as engine, served(engine) as live:
        (id,) = attach(live, ("boat.txt", NOTE))["document_ids"]
        assert live.http.get(f"/originals/{id}").content == NOTE


def test_limits_and_refuses(serving: Serving) -> None:
    live = serving("uploads.attached_files=1", "uploads.file_mb=0.001")
    files = [("files", ("a.txt", NOTE)), ("files", ("b.txt", NOTE))]
    told = live.http.post("/attachments", params={"session": "s"}, files=files)
    assert (told.status_code, told.json()["error"]["message"]) == (
        413,
        "a conversation may have 1 attached files; remove one first",
    )
    big = live.http.post("/attachments", params={"session": "s"}, files=[("files", ("a.txt", NOTE * 100))])
    assert big.status_code == 413
    form = {"groups": ["hr"]}
    named = live.http.post("/attachments", params={"session": "s"}, files=files[:1], data=form)
    assert named.status_code == 400
    assert live.http.post("/attachments", files=files[:1]).status_code == 422
    assert not list(live.engine.folder.glob("uploads/**/*.txt"))


def sends(live: Live, session: str, *files: tuple[str, bytes], **key: str) -> httpx2.Response:
    sent = [("files", file) for file in files]
    return live.http.post("/attachments", params={"session": session}, files=sent, headers=key)


def test_limits_the_files_of_a_person(serving: Serving) -> None:
    live = serving("uploads.attached_mb=0.0003")  # 300 bytes
    ann, bob = (make_key(live.engine.folder, name, "read") for name in ("ann", "bob"))
    assert len(NOTE) < 100
    attach(live, ("a.txt", NOTE), ("b.txt", NOTE), session="s", **ann)
    attach(live, ("c.txt", NOTE), session="t", **ann)
    told = sends(live, "u", ("d.txt", NOTE), **ann)
    assert (told.status_code, told.json()["error"]["message"]) == (
        413,
        "the files that you attach to conversations may take 0.0003 MB in total; remove some, or delete conversations"
        " with files",
    )
    assert not list(live.engine.folder.glob("uploads/**/d.txt"))
    attach(live, ("a.txt", NOTE), session="s", **ann)  # which takes the place of the first
    attach(live, ("d.txt", NOTE), session="u", **bob)
    remove(live, "c.txt", "t", **ann)
    attach(live, ("d.txt", NOTE), session="u", **ann)


def test_deleting_a_conversation_makes_room(serving: Serving) -> None:
    live = serving("uploads.attached_mb=0.0001")
    attach(live, ("a.txt", NOTE), session="s")
    live.ask(ASKED, session="s")
    assert sends(live, "t", ("b.txt", NOTE)).status_code == 413
    live.http.delete("/conversations/s").raise_for_status()
    live.until(lambda: sends(live, "t", ("b.txt", NOTE)).status_code, lambda code: code == 202)


@pytest.mark.parametrize(("limit", "sessions"), [("attached_mb=0.0003", 8), ("attached_files=3", 1)])
def test_simultaneous_files_keep_the_limit(serving: Serving, limit: str, sessions: int) -> None:
    live = serving(f"uploads.{limit}")

    def status(number: int) -> int:
        return sends(live, f"s{number % sessions}", (f"{number}.txt", NOTE)).status_code

    with ThreadPoolExecutor(8) as threads:
        found = [*threads.map(status, range(8))]
    assert sorted(found) == [202] * 3 + [413] * 5
    assert len(list(live.engine.folder.glob("uploads/conversations/*/*"))) == 3


def test_keeps_nothing_of_an_unreadable_file(serving: Serving) -> None:
    live = serving()
    job = attach(live, ("broken.pdf", b"no pdf at all"))
    assert job["report"]["skipped"][0]["reason"]
    assert "broken.pdf" not in live.http.get("/status").text
    assert not list(live.engine.folder.glob("uploads/conversations/*/*"))


def test_the_files_own_access_list_opens_nothing(serving: Serving) -> None:
    live = serving()
    attach(live, ("boat.md", b"---\nreaders: [everyone]\nattached_to: x\n---\n" + NOTE))
    assert WORD in live.ask(ASKED, session="s").json()["answer"]
    assert WORD not in live.ask(ASKED, session="t").text
