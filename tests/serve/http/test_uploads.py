"""Uploads, jobs, syncs, and removing uploaded documents."""

from __future__ import annotations

import asyncio
import io
import os
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zipfile import ZipFile

import pytest
from kb import add, calls_on_the_loop, open_fast
from live import Live, Serving, events_of, make_key, served

from ragstone.catalog.lock import indexing
from ragstone.core.records import Document
from ragstone.engine.backup import backup, restore
from ragstone.engine.jobs.journal import JournalJobs
from ragstone.engine.jobs.queue import Job, Work
from ragstone.engine.jobs.worker import Worker
from ragstone.history.journal import Journal
from ragstone.serve.http import uploads
from ragstone.serve.http.instance import InstanceLock
from ragstone.serve.http.uploads import INCOMING, MAX_FILES, safe_name
from servers.site import WebSite, page

ROOM = b"Room 9 is called Lise Meitner."


def ids(live: Live, **key: str) -> list[str]:
    return [one["document_id"] for one in live.http.get("/documents", headers=key).json()["documents"]]


def test_uploaded_files_answer_questions(serving: Serving) -> None:
    live = serving(documents=())
    sent = live.upload(("room.txt", ROOM), ("plan.csv", b"id,text\n1,The hall seats ninety.\n2,The bar is closed.\n"))
    assert sent.headers["location"] == f"/jobs/{sent.json()['job_id']}"
    assert sent.json()["state"] == "waiting"
    job = live.finished(sent)
    assert (job["state"], job["report"]["added"], job["error"]) == ("done", 3, None)
    assert job["document_ids"] == ["uploads/room.txt", "uploads/plan.csv#1", "uploads/plan.csv#2"]
    assert job["progress"]["share"] == 1
    assert "Lise Meitner" in live.ask("What is room 9 called?").json()["answer"]
    assert [one["job_id"] for one in live.http.get("/jobs").json()["jobs"]] == [job["job_id"]]


def test_files_of_the_same_name_replace_each_other(serving: Serving) -> None:
    live = serving(documents=())
    live.finished(live.upload(("plan.csv", b"id,text\n1,The hall seats ninety.\n2,The bar is closed.\n")))
    job = live.finished(live.upload(("plan.csv", b"id,text\n1,The hall seats eighty.\n")))
    assert (job["report"]["updated"], job["report"]["removed"]) == (1, 1)
    assert ids(live) == ["uploads/plan.csv#1"]
    assert "eighty" in live.http.get("/documents/uploads/plan.csv%231").json()["text"]


def test_jobs_stream_their_progress(serving: Serving) -> None:
    live = serving(documents=())
    sent = live.upload(*((f"{i}.txt", b"Room %d is free." % i) for i in range(20)))
    accept = {"accept": "text/event-stream"}
    events = events_of(live.http.get(f"/jobs/{sent.json()['job_id']}", headers=accept).text)
    assert [name for name, _ in events][-1] == "end"
    assert {name for name, _ in events[:-1]} == {"progress"}
    assert events[-1][1]["report"]["added"] == 20


def test_the_clock_of_the_journal_holds_up_no_request(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    noted = calls_on_the_loop(monkeypatch, JournalJobs, "ended")
    live = serving(documents=())
    assert live.finished(live.upload(("room.txt", ROOM)))["state"] == "done"
    assert noted == []


def test_reports_unreadable_files_without_paths(serving: Serving) -> None:
    live = serving(documents=())
    sent = live.upload(("wrong.csv", b"a;b\n"), ("broken.pdf", b"no pdf at all"), ("room.txt", ROOM))
    job = live.finished(sent)
    assert (job["state"], job["report"]["added"]) == ("done", 1)
    skipped = {one["source"]: one["reason"] for one in job["report"]["skipped"]}
    assert sorted(skipped) == ["uploads/broken.pdf", "uploads/wrong.csv"]
    assert skipped["uploads/wrong.csv"] == "no rows"
    assert str(live.engine.folder.resolve()) not in str(job)


def test_tells_at_once_that_a_file_is_empty(serving: Serving) -> None:
    live = serving(documents=())
    told = live.upload(("empty.txt", b""))
    assert (told.status_code, told.json()["error"]["message"]) == (400, "empty.txt was not added: it is empty")
    assert live.http.get("/jobs").json()["jobs"] == []


def test_tells_what_a_document_lacks(serving: Serving) -> None:
    lacking = {"partial": "3 scans were not read (acquire.ocr_pages)"}
    live = serving(documents=(Document(id="scans.pdf", text="The mill.", metadata=lacking),))
    note = "read only in part: 3 scans were not read"
    assert [one["note"] for one in live.http.get("/documents").json()["documents"]] == [note]
    assert live.http.get("/documents/scans.pdf").json()["reading"]["note"] == note
    parsed = live.http.get("/documents/scans.pdf", params={"parse": "true"}).json()["reading"]
    assert (parsed["note"], parsed["chunks"], parsed["ocr_pages"]) == (note, [{"start": 0, "end": 9}], [])
    assert live.http.get("/places/scans.pdf").json()["note"] == note
    (notice,) = live.http.get("/status").json()["notices"]
    assert notice == f"1 document was read only in part: scans.pdf ({lacking['partial']})"


def test_reads_an_ordinary_table(serving: Serving) -> None:
    live = serving(documents=())
    job = live.finished(live.upload(("shops.csv", b"name,price,city\nMill,12,Vilnius\nForge,7,Kaunas\n")))
    assert (job["state"], job["report"]["added"], job["report"]["skipped"]) == ("done", 2, [])
    assert "name: Mill; price: 12; city: Vilnius" in live.http.get("/documents/uploads/shops.csv%231").json()["text"]


def test_reports_undecodable_files_without_paths(serving: Serving) -> None:
    live = serving(documents=())
    job = live.finished(live.upload(("bytes.txt", b"The bar opens at nine. \xff\x81"), ("room.txt", ROOM)))
    assert job["report"]["decoded"] == [{"source": "uploads/bytes.txt", "note": "utf-8, 2 undecodable replaced"}]


def test_removing_a_document_deletes_its_file(serving: Serving) -> None:
    live = serving()
    live.finished(live.upload(("room.txt", ROOM), ("plan.csv", b"id,text\n1,The hall.\n2,The bar is closed.\n")))
    folder = live.engine.folder / "uploads"
    assert live.http.delete("/documents/uploads/room.txt").json() == {"removed": ["uploads/room.txt"]}
    assert live.http.delete("/documents/uploads/plan.csv%231").status_code == 200
    assert [path.name for path in folder.iterdir()] == ["plan.csv"]
    assert live.http.delete("/documents/uploads/plan.csv%232").status_code == 200
    assert list(folder.iterdir()) == []
    assert live.http.delete("/documents/room.txt").status_code == 404
    assert live.http.delete("/documents/parking.md").status_code == 404  # the end of an id is not enough
    assert live.http.delete("/documents/house/parking.md").status_code == 200
    assert ids(live) == ["hr/salaries.md", "house/rooms.md"][::-1]


def test_administrators_erase_documents(serving: Serving) -> None:
    live = serving(documents=())
    boss, clerk = (make_key(live.engine.folder, name, name) for name in ("admin", "write"))
    live.http.headers.update(boss)
    live.finished(live.upload(("room.txt", ROOM), ("hall.txt", b"The hall seats ninety.")))
    response = live.ask("What is room 9 called?").json()["response_id"]
    body = {"documents": ["uploads/room.txt"]}
    assert live.http.post("/admin/forget", json=body, headers=clerk).status_code == 403
    erased = live.http.post("/admin/forget", json=body).json()
    assert (erased["documents"], erased["found"]) == (["uploads/room.txt"], [])
    assert ids(live) == ["uploads/hall.txt"]
    assert "Meitner" not in live.http.get(f"/responses/{response}").text
    assert not (live.engine.folder / "uploads" / "room.txt").exists()
    acts = [(one["act"], "room" in one["what"]) for one in live.http.get("/admin/audit").json()["entries"]]
    assert ("document.forget", False) in acts
    assert live.http.post("/admin/forget", json=body).status_code == 404


def test_removes_unreadable_files(serving: Serving) -> None:
    live = serving()
    folder = live.engine.folder
    clerk = make_key(folder, "clerk", "read", "write", groups=["hr"])
    cook = make_key(folder, "cook", "read", "write", groups=["kitchen"])
    boss = make_key(folder, "boss", "admin")
    live.http.headers.update(boss)

    def bad(key: dict[str, str]) -> str:
        sent = live.http.post("/documents", files=[("files", ("bad.pdf", b"no pdf"))], headers=key)
        watched = live.http.get(f"/jobs/{sent.json()['job_id']}", headers=key | {"accept": "text/event-stream"})
        return events_of(watched.text)[-1][1]["report"]["skipped"][0]["source"]

    def removed(id: str, **key: str) -> int:
        return live.http.delete(f"/documents/{id}", headers=key).status_code

    theirs, own = bad(clerk), bad(boss)
    assert len(live.engine.status().skipped) == 2
    assert [removed(theirs, **cook), removed(own, **clerk), removed(own, **cook)] == [404] * 3
    assert [removed(id) for id in ("uploads", "ragstone.db", "uploads/../ragstone.db", "bad.pdf")] == [404] * 4
    assert live.http.delete(f"/documents/{own}").json() == {"removed": [own]}
    assert [removed(own), removed(theirs, **clerk)] == [404, 200]
    assert not [path for path in (folder / "uploads").rglob("*") if path.is_file()]
    assert live.engine.status().skipped == ()
    add(live.engine, Document(id=own, text=ROOM.decode(), source=str(folder / own)))
    bad(boss)
    assert [removed(own), live.engine.status().skipped, list((folder / "uploads").glob("*.pdf"))] == [200, (), []]


def test_removing_keeps_newer_queued_files(serving: Serving) -> None:
    live = serving("jobs=workers")

    def work() -> None:
        with closing(open_fast(live.engine.folder)) as engine:
            asyncio.run(Worker(engine, lambda _: None, print).run(until_empty=True))

    live.upload(("room.txt", b"Room 9 is closed."))
    early = live.http.delete("/documents/uploads/room.txt")
    assert (early.status_code, early.json()["error"]["code"]) == (409, "locked")
    work()
    newer = live.upload(("room.txt", ROOM))
    assert live.http.delete("/documents/uploads/room.txt").status_code == 200
    assert "uploads/room.txt" not in ids(live)
    work()
    assert live.finished(newer)["document_ids"] == ["uploads/room.txt"]


def test_removing_restored_documents_deletes_their_files(serving: Serving, tmp_path: Path) -> None:
    live = serving(documents=())
    live.finished(live.upload(("room.txt", ROOM), ("plan.csv", b"id,text\n1,The hall.\n2,The bar is closed.\n")))
    backup(live.engine.folder, tmp_path / "copy")
    folder = tmp_path / "other"
    assert restore(tmp_path / "copy", folder).files == 2
    with closing(open_fast(folder, create=False)) as engine, served(engine) as moved:
        for id in ("room.txt", "plan.csv%231"):
            assert moved.http.delete(f"/documents/uploads/{id}").status_code == 200
        assert [path.name for path in (folder / "uploads").iterdir()] == ["plan.csv"]
        assert moved.http.delete("/documents/uploads/plan.csv%232").status_code == 200
        assert list((folder / "uploads").iterdir()) == []


def test_groups_restrict_uploaded_files(serving: Serving) -> None:
    live = serving()
    folder = live.engine.folder
    clerk = make_key(folder, "clerk", "read", "write", groups=["hr"])
    guest = make_key(folder, "guest", "read", "write", groups=[])
    boss = make_key(folder, "boss", "admin")

    def send(key: dict[str, str], name: str, text: bytes, *groups: str) -> str:
        form = {"groups": list(groups)} if groups else {}
        sent = live.http.post("/documents", files=[("files", (name, text))], data=form, headers=key)
        assert sent.status_code == 202, sent.text
        watched = live.http.get(f"/jobs/{sent.json()['job_id']}", headers=key | {"accept": "text/event-stream"})
        return events_of(watched.text)[-1][1]["document_ids"][0]

    own = send(clerk, "bonus.txt", b"The bonus of the clerk is paid in June.")
    shared = send(clerk, "fest.txt", b"The fest of the house is in July.", "*")
    secret = send(boss, "board.txt", b"The board meets on Monday in secret.", "board;hr")
    closed = send(boss, "bonus.txt", b"The bonus of the board is paid in March.", "board")
    assert own != closed, "who may not read a file does not replace it"
    assert {own, shared, secret} <= set(ids(live, **clerk))
    assert closed not in ids(live, **clerk)
    assert set(ids(live, **guest)) == {"house/parking.md", "house/rooms.md", shared}
    refused = live.http.post("/documents", files=[("files", ("x.txt", b"x"))], data={"groups": "board"}, headers=clerk)
    assert refused.status_code == 403
    assert live.http.delete(f"/documents/{closed}", headers=clerk).status_code == 404
    assert len(live.http.get("/jobs", headers=guest).json()["jobs"]) == 0
    assert len(live.http.get("/jobs", headers=boss).json()["jobs"]) == 4
    (job, *_) = live.http.get("/jobs", headers=clerk).json()["jobs"]
    assert live.http.get(f"/jobs/{job['job_id']}", headers=guest).status_code == 404


def test_a_writer_gives_only_own_groups(serving: Serving) -> None:
    live = serving(documents=())
    clerk = make_key(live.engine.folder, "clerk", "read", "write", groups=["staff", "hr"])
    boss = make_key(live.engine.folder, "boss", "admin")

    def send(key: dict[str, str], name: str, content: bytes, *groups: str) -> dict[str, Any]:
        data = {"groups": list(groups)}
        sent = live.http.post("/documents", files=[("files", (name, content))], data=data, headers=key)
        watched = live.http.get(f"/jobs/{sent.json()['job_id']}", headers=key | {"accept": "text/event-stream"})
        return events_of(watched.text)[-1][1]

    zipped = io.BytesIO()
    with ZipFile(zipped, "w") as archive:
        archive.writestr("planted.md", "---\nreaders: [board]\n---\nPlanted.")
        archive.writestr("own.md", "---\nreaders: [hr]\n---\nOwn.")
    for name, content in (
        ("front.md", b"---\nreaders: [board]\n---\nPlanted."),
        ("rows.csv", b"id,text,readers\n1,Planted.,board\n"),
        ("one.json", b'{"text": "Planted.", "groups": ["hr", "board"]}'),
        ("page.html", b"<html><head><meta name='readers' content='board'></head><body>Planted.</body></html>"),
        ("damaged.md", b"---\nreaders: [hr\n\nPlanted."),
        ("all.zip", zipped.getvalue()),
    ):
        for groups in ((), ("*",), ("hr",)):
            job = send(clerk, name, content, *groups)
            (skipped,) = job["report"]["skipped"]
            wanted = "is damaged where" if name == "damaged.md" else "names the group 'board', which you do not"
            assert wanted in skipped["reason"]
    assert [one["document_id"].rpartition("/")[2] for one in documents_of(live, boss)] == ["own.md"]
    assert documents_of(live, boss)[0]["metadata"]["readers"] == ["hr"]


def test_the_form_of_an_upload_widens_nothing(serving: Serving) -> None:
    live = serving(documents=())
    boss = make_key(live.engine.folder, "boss", "admin")
    rows = b"id,text,readers\n1,one,*\n2,two,hr\n3,three,\n"
    for groups, expected in (
        ("*", {"1": ["*"], "2": ["hr"], "3": []}),
        ("hr;staff", {"1": ["hr", "staff"], "2": ["hr"], "3": ["hr", "staff"]}),
        ("staff", {"1": ["staff"], "2": [], "3": ["staff"]}),
    ):
        sent = live.http.post("/documents", files=[("files", ("q.csv", rows))], data={"groups": groups}, headers=boss)
        path = f"/jobs/{sent.json()['job_id']}"
        job = live.until(lambda path=path: live.http.get(path, headers=boss).json(), is_over)
        found = {one["document_id"][-1]: one["metadata"]["readers"] for one in documents_of(live, boss)}
        assert found == expected
    (notice,) = job["report"]["notices"]
    assert notice.startswith("1 document is hidden from everyone except administrators: uploads/q.csv#2: ")
    assert "[hr] and [staff]" in notice
    assert live.http.get("/status", headers=boss).json()["notices"] == [notice]


def is_over(job: dict[str, Any]) -> bool:
    return job["ended"] is not None


def documents_of(live: Live, key: dict[str, str]) -> list[dict[str, Any]]:
    listed = live.http.get("/documents", headers=key).json()["documents"]
    return [live.http.get(f"/documents/{quote(one['document_id'])}", headers=key).json() for one in listed]


@pytest.mark.parametrize(
    ("files", "settings", "status", "said"),
    [
        ((("a.exe", b"x"),), (), 415, "a.exe was not added: a program"),
        ((("prod.env", b"x"),), (), 415, "passwords or keys"),
        ((("noname", b"x"),), (), 400, "suffix"),
        (((".txt", b"x"),), (), 400, "suffix"),
        ((("a.txt", b"x"), ("b/a.txt", b"y")), (), 400, "same name"),
        (tuple((f"{i}.txt", b"x") for i in range(MAX_FILES + 1)), (), 413, "may have 50 files"),
        ((("a.txt", b"x" * 2000),), ("uploads.file_mb=0.001",), 413, "larger than"),
        ((("a.txt", b"x" * 900), ("b.txt", b"x" * 900)), ("uploads.total_mb=0.001",), 413, "all uploaded"),
        ((("a.txt", b"x" * 9000),), ("uploads.file_mb=0.001",), 413, "larger than 4 kB"),
    ],
)
def test_refused_uploads_leave_nothing_behind(
    serving: Serving, files: tuple[tuple[str, bytes], ...], settings: tuple[str, ...], status: int, said: str
) -> None:
    live = serving(*settings, documents=())
    told = live.upload(*files)
    assert told.status_code == status, told.text
    assert said in told.json()["error"]["message"]
    assert list((live.engine.folder / "uploads").glob("*")) == []
    assert live.http.get("/jobs").json()["jobs"] == []


def test_refuses_malformed_forms(serving: Serving) -> None:
    live = serving(documents=())

    def send(body: bytes, kind: str) -> int:
        return live.http.post("/documents", content=body, headers={"content-type": kind}).status_code

    form = "multipart/form-data; boundary=b"
    part = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nRoom'
    assert send(b"x=1", "application/x-www-form-urlencoded") == 415
    assert send(b"x", "multipart/form-data") == 400
    assert send(part, form) == 400  # it has no end
    assert send(b"--b\r\n\r\nRoom\r\n--b--\r\n", form) == 400
    assert send(b'--b\r\nContent-Disposition: form-data; name="title"\r\n\r\nx\r\n--b--\r\n', form) == 400
    assert send(b'--b\r\nContent-Disposition: form-data; name="groups"\r\n\r\nx\r\n--b--\r\n', form) == 400
    assert send(part + b"\r\n--b--\r\n", form) == 202
    live.until(lambda: [path.name for path in (live.engine.folder / "uploads").iterdir()], lambda it: it == ["a.txt"])


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("../../etc/passwd.txt", "passwd.txt"),
        ("C:\\Users\\me\\Plan 2026.PDF", "Plan 2026.PDF"),
        ("a\x00b\r\n.txt", "ab.txt"),
        ("...hidden.md", "hidden.md"),
        ("Invoice #12.pdf", "Invoice 12.pdf"),
        ("Größe\u202efdp.txt", "Größefdp.txt"),
        ("e\u0301.txt", "é.txt"),
        ("x" * 400 + ".pdf", "x" * 196 + ".pdf"),
        ("ž" * 400 + ".pdf", "ž" * 98 + ".pdf"),
    ],
)
def test_cleans_file_names(sent: str, kept: str) -> None:
    assert safe_name(sent) == kept
    assert len(safe_name(sent).encode()) <= 200


def test_jobs_wait_while_another_process_indexes(serving: Serving) -> None:
    live = serving()
    with indexing(live.engine.folder):
        sent = live.upload(("room.txt", ROOM))
        assert live.ask().json()["answer"].startswith("Visitors park")
        assert live.http.get(f"/jobs/{sent.json()['job_id']}").json()["ended"] is None
        path = f"/jobs/{sent.json()['job_id']}"
        waiting = live.until(lambda: live.http.get(path).json(), lambda it: it["progress"]["waiting"] != "")
        assert (waiting["state"], waiting["progress"]["waiting"].split(" (")[0]) == (
            "running",
            f"process {os.getpid()}",
        )
        refused = live.http.delete("/documents/house/rooms.md")
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "locked")
        assert "retry-after" in refused.headers
    done = live.finished(sent)
    assert (done["state"], done["progress"]["waiting"]) == ("done", "")


def test_syncs_only_configured_sources(serving: Serving, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_bytes(ROOM)
    live = serving(f"sources=[{docs}, {tmp_path / 'gone'}]", documents=())
    assert live.http.post("/sync", json={"sources": ["/etc"]}).status_code == 404
    assert live.finished(live.http.post("/sync", json={"sources": [str(docs)]}))["report"]["added"] == 1
    failed = live.finished(live.http.post("/sync"))
    assert failed["state"] == "failed"
    assert "gone" in failed["error"]


def test_refuses_to_sync_without_sources(house: Live) -> None:
    assert house.http.post("/sync").status_code == 409


# ---------------------------------------------------------------- a server that is stopped
def test_takes_over_jobs_of_killed_servers(tmp_path: Path) -> None:
    folder = tmp_path / "kb"
    with closing(open_fast(folder)) as engine:
        (folder / "uploads").mkdir()
        (folder / "uploads" / "room.txt").write_bytes(ROOM)
        with closing(Journal(folder)) as journal, closing(InstanceLock(folder)) as killed:
            book = JournalJobs(journal)
            left = book.new("upload", Work(files=("uploads/room.txt",)), "", killed.id)
            poison = Job(**{**_fields(left), "id": "poison", "state": "running", "tries": 2})
            book.note(poison)
        with served(engine) as live:
            done = live.until(lambda: live.http.get(f"/jobs/{left.id}").json(), lambda it: it["ended"] is not None)
            assert (done["state"], done["document_ids"]) == ("done", ["uploads/room.txt"])
            given_up = live.http.get("/jobs/poison").json()
            assert (given_up["state"], "interrupted" in given_up["error"]) == ("failed", True)


def test_leaves_jobs_to_the_next_server(tmp_path: Path) -> None:
    folder = tmp_path / "kb"
    with closing(open_fast(folder)) as engine, indexing(folder), served(engine) as live:
        job = live.upload(("room.txt", ROOM)).json()["job_id"]
        live.until(lambda: live.http.get(f"/jobs/{job}").json()["state"], lambda it: it == "running")
        with served(engine) as beside:  # what a living server does is not taken from it
            assert beside.http.get(f"/jobs/{job}").json()["state"] == "running"
    with closing(open_fast(folder)) as engine, served(engine) as live:
        done = live.until(lambda: live.http.get(f"/jobs/{job}").json(), lambda it: it["ended"] is not None)
        assert done["state"] == "done"
        assert list((folder / "servers").iterdir()) != []
    assert list((folder / "servers").iterdir()) == []


def test_leaves_jobs_to_workers(serving: Serving, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_bytes(b"The bar is closed.")
    live = serving(f"sources=[{docs}]", "jobs=workers")
    sent = [live.upload(("room.txt", ROOM)), live.http.post("/sync")]
    assert live.http.get(f"/jobs/{sent[0].json()['job_id']}").json()["state"] == "waiting"
    assert "ragstone_jobs_unfinished 2" in live.http.get("/metrics").text
    with closing(open_fast(tmp_path / "kb")) as engine:
        assert engine.status().jobs.waiting == 2
        asyncio.run(Worker(engine, lambda _: None, print).run(until_empty=True))
    first, second = (live.finished(one) for one in sent)
    assert (first["state"], first["document_ids"]) == ("done", ["uploads/room.txt"])
    assert (second["state"], second["report"]["added"]) == ("done", 1)
    assert "Lise Meitner" in live.ask("What is room 9 called?").json()["answer"]
    assert [one["kind"] for one in live.http.get("/jobs").json()["jobs"]] == ["sync", "upload"]


def test_workers_report_missing_files(serving: Serving, tmp_path: Path) -> None:
    live = serving("jobs=workers")
    sent = live.upload(("gone.txt", b"The bar is closed."), ("room.txt", ROOM))
    (live.engine.folder / "uploads" / "gone.txt").unlink()
    with closing(open_fast(tmp_path / "kb")) as engine:
        asyncio.run(Worker(engine, lambda _: None, print).run(until_empty=True))
    job = live.finished(sent)
    assert (job["state"], job["document_ids"]) == ("done", ["uploads/room.txt"])
    assert [one["source"] for one in job["report"]["skipped"]] == ["uploads/gone.txt"]


@pytest.mark.parametrize("kind", ["upload", "backup"])
def test_tolerates_files_that_vanish_meanwhile(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of a request in progress disappears between being listed and being read."""
    folder, look = tmp_path / "kb", os.scandir
    root = folder / "uploads"
    if kind == "backup":
        open_fast(folder).close()
    incoming = root / f"{INCOMING}1"
    incoming.mkdir(parents=True)
    (root / "room.txt").write_bytes(ROOM)

    def scandir(path: Any = ".") -> Any:
        if path in (incoming, str(incoming)) and incoming.exists():
            incoming.rmdir()
        return look(path)

    monkeypatch.setattr(os, "scandir", scandir)
    if kind == "backup":
        assert backup(folder, tmp_path / "copy").files == 1
    else:
        assert uploads.used_bytes(root) == len(ROOM)


def _fields(job: Job) -> dict[str, object]:
    return {name: getattr(job, name) for name in job.__slots__}


def test_web_pages_are_added_where_allowed(tmp_path: Path) -> None:
    private = ("acquire.crawl.allow_private=true", "acquire.crawl.delay_seconds=0", "acquire.crawl.retries=0")
    with WebSite() as site, closing(open_fast(tmp_path / "kb", *private)) as engine:
        site.routes = {"/mill.html": page("more.html", text="The tide mill grinds twice a day.")}
        with served(engine, "web_pages=true") as live:
            assert live.http.get("/me").json()["web_pages"] is True
            job = live.finished(live.http.post("/pages", json={"address": f"{site.url}/mill.html"}))
            assert (job["kind"], job["state"], job["report"]["added"], job["report"]["skipped"]) == (
                "page",
                "done",
                1,
                [],
            )
            assert ids(live) == [f"{site.url}/mill.html"]
            gone = live.finished(live.http.post("/pages", json={"address": f"{site.url}/none.html"}))
            assert gone["state"] == "failed"
            for wrong in ("file:///etc/passwd", "javascript:alert(1)", "", "http://"):
                assert live.http.post("/pages", json={"address": wrong}).status_code == 422
            cook = make_key(engine.folder, "cook", "read", "write", groups=["kitchen"])
            refused = live.http.post("/pages", json={"address": f"{site.url}/mill.html"}, headers=cook)
            assert refused.status_code == 403
            assert live.http.get("/me", headers=cook).json()["web_pages"] is False


def test_web_pages_are_refused_by_default(serving: Serving) -> None:
    live = serving()
    assert live.http.get("/me").json()["web_pages"] is False
    assert live.http.post("/pages", json={"address": "https://stone.example/"}).status_code == 403
