"""Files that are attached to one conversation: nobody else finds them, and nothing is left of them."""

from __future__ import annotations

import os
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from kb import READY, open_fast
from live import Live, Serving, make_key, served
from pdf_file import pdf

from ragstone.core.access import OWNER

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


def test_erases_one_file(serving: Serving) -> None:
    live = serving()
    attach(live, ("boat.txt", NOTE), ("bar.csv", b"id,text\n1,The bar seats ninety.\n2,The bar is closed.\n"))
    assert [one["file"] for one in attached(live)] == ["bar.csv", "boat.txt"]
    gone = live.http.delete("/attachments", params={"session": "s", "file": "boat.txt"})
    assert len(gone.json()["erased"]) == 1
    assert [one["file"] for one in attached(live)] == ["bar.csv"]
    assert holds(live.engine.folder) == []
    assert live.http.delete("/attachments", params={"session": "s", "file": "boat.txt"}).status_code == 404


def test_erases_the_file_after_its_time(serving: Serving) -> None:
    live = serving()
    attach(live, ("boat.txt", NOTE))
    live.ask(ASKED, session="s")
    assert live.engine.documents.erase_expired(days=1) == []
    time.sleep(1.1)  # times of documents are in whole seconds
    assert len(live.engine.documents.erase_expired(days=1e-9)) == 1
    assert holds(live.engine.folder) == []


def test_deletes_files_whose_documents_are_gone(serving: Serving) -> None:
    live = serving()
    (id,) = attach(live, ("boat.txt", NOTE))["document_ids"]
    live.engine.documents.remove([id], reader=OWNER.within("s"))
    file = live.engine.folder / id
    live.engine.documents.erase_expired(days=1)
    assert file.exists(), "a job may still wait to read it"
    os.utime(file, (1, 1))
    live.engine.documents.erase_expired(days=1)
    assert not file.parent.exists()


def test_erasing_a_file_leaves_what_others_asked(serving: Serving) -> None:
    live = serving()
    ann, bob = (make_key(live.engine.folder, name, "read") for name in ("ann", "bob"))
    live.http.post("/query", json={"question": f"Who said {WORD}?", "session": "b"}, headers=bob).raise_for_status()
    attach(live, ("boat.txt", NOTE), **ann)
    live.http.delete("/attachments", params={"session": "s", "file": "boat.txt"}, headers=ann).raise_for_status()
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
