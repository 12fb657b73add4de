"""The routes of originals: pages as images, places of words, and files to save."""

from __future__ import annotations

from live import Live, Serving, make_key
from pdf_file import pdf

CONTENT = pdf(["The mill grinds rye.\nIt stands still in winter.", "The Petrel sails on Monday."])
SCRIPT = b"<!doctype html><title>Mill</title><p>The mill grinds rye.</p><script>alert(1)</script>"


def uploaded(serving: Serving) -> Live:
    live = serving(documents=())
    assert live.finished(live.upload(("mill.pdf", CONTENT), ("mill.html", SCRIPT)))["report"]["added"] == 2
    return live


def test_pages_are_drawn_with_the_places_of_words(serving: Serving) -> None:
    live = uploaded(serving)
    text = live.http.get("/documents/uploads/mill.pdf").json()["text"]
    start = text.index("Petrel")
    told = live.http.get("/places/uploads/mill.pdf", params={"start": start, "end": start + 6}).json()
    assert {name: told[name] for name in ("state", "name", "bytes", "may_save", "pages")} == {
        "state": "same", "name": "mill.pdf", "bytes": len(CONTENT), "may_save": True, "pages": 2,
    }  # fmt: skip
    (cited,) = told["cited"]
    assert cited["page"] == 2
    assert 0 < cited["boxes"][0]["left"] < cited["boxes"][0]["right"] < 1
    page = live.http.get("/pages/uploads/mill.pdf", params={"number": 2, "width": 200})
    assert (page.status_code, page.headers["content-type"]) == (200, "image/png")
    assert page.content[16:20] == (200).to_bytes(4, "big")
    for wrong in ({"number": 3}, {"number": 0}, {"width": 10**6}):
        assert live.http.get("/pages/uploads/mill.pdf", params=wrong).status_code in (404, 422)
    assert live.http.get("/pages/uploads/mill.html").status_code == 404


def test_drawn_pages_are_loaded_again_only_if_changed(serving: Serving) -> None:
    live = uploaded(serving)
    first = live.http.get("/pages/uploads/mill.pdf", params={"width": 200})
    assert first.headers["cache-control"] == "private, no-cache"
    known = {"if-none-match": first.headers["etag"]}
    again = live.http.get("/pages/uploads/mill.pdf", params={"width": 200}, headers=known)
    assert (again.status_code, again.content) == (304, b"")
    live.finished(live.upload(("mill.pdf", pdf(["The forge is cold."]))))
    other = live.http.get("/pages/uploads/mill.pdf", params={"width": 200}, headers=known)
    assert (other.status_code, other.headers["etag"] != first.headers["etag"]) == (200, True)


def test_files_are_saved_and_never_shown(serving: Serving) -> None:
    live = uploaded(serving)
    for name, content in (("mill.html", SCRIPT), ("mill.pdf", CONTENT)):
        sent = live.http.get(f"/originals/uploads/{name}")
        assert (sent.status_code, sent.content) == (200, content)
        assert sent.headers["content-type"] == "application/octet-stream"
        assert sent.headers["content-disposition"] == f"attachment; filename*=UTF-8''{name}"
        assert sent.headers["content-security-policy"] == "sandbox; default-src 'none'"
        assert sent.headers["x-content-type-options"] == "nosniff"
        assert sent.headers["cache-control"] == "no-store"


def test_names_cannot_add_headers(serving: Serving) -> None:
    live = serving(documents=())
    live.finished(live.upload(("m'ü\u201d; x.pdf", CONTENT)))
    (id,) = (one["document_id"] for one in live.http.get("/documents").json()["documents"])
    sent = live.http.get(f"/originals/{id}")
    assert sent.headers["content-disposition"] == "attachment; filename*=UTF-8''m%27%C3%BC%E2%80%9D%3B%20x.pdf"


def test_paths_outside_what_was_read_lead_nowhere(serving: Serving) -> None:
    live = uploaded(serving)
    for id in ("/etc/passwd", "../journal.db", "uploads/../journal.db", "uploads", "journal.db", "uploads%2f..%2flock"):
        for route in ("originals", "pages", "places"):
            found = live.http.get(f"/{route}/{id.replace('/', '%2F')}")
            assert found.status_code == 404, (route, id)
            assert str(live.engine.folder) not in found.text


def test_readers_without_the_document_learn_nothing_of_its_file(serving: Serving) -> None:
    live = serving(documents=())
    live.finished(live.upload(("mill.pdf", CONTENT), groups=["millers"]))
    miller = make_key(live.engine.folder, "miller", groups=["millers"])
    cook = make_key(live.engine.folder, "cook", groups=["kitchen"])
    etag = live.http.get("/pages/uploads/mill.pdf", headers=miller).headers["etag"]
    for route in ("originals", "pages", "places"):
        assert live.http.get(f"/{route}/uploads/mill.pdf", headers=miller).status_code == 200
        refused = live.http.get(f"/{route}/uploads/mill.pdf", headers=cook | {"if-none-match": etag})
        missing = live.http.get(f"/{route}/uploads/none.pdf", headers=cook)
        assert refused.status_code == missing.status_code == 404
        told, other = (one.json()["error"]["message"] for one in (refused, missing))
        assert told == other.replace("none.pdf", "mill.pdf")
        assert live.http.get(f"/{route}/uploads/mill.pdf").status_code == 401


def test_cited_row_is_shown_in_its_table(serving: Serving) -> None:
    live = serving(documents=())
    live.finished(live.upload(("prices.csv", b"Stone,2024\nTravertine,83\nBasalt,44\n")))
    text = live.http.get("/documents/uploads/prices.csv%232").json()["text"]
    place = {"start": text.index("44"), "end": len(text)}
    assert live.http.get("/places/uploads/prices.csv%232").json()["is_row"]
    assert live.http.get("/rows/uploads/prices.csv%232", params=place).json() == {
        "columns": ["Stone", "2024"], "rows": [["Travertine", "83"], ["Basalt", "44"]], "at": 1,
        "cited": [{"column": 1, "start": 0, "end": 2}],
    }  # fmt: skip
    assert live.http.get("/rows/uploads/prices.csv%233").status_code == 404


def test_rows_refuse_characters_that_end_before_they_start(serving: Serving) -> None:
    live = serving(documents=())
    live.finished(live.upload(("stones.csv", b"Stone,Use\nTravertine,Facades and floors\n")))
    start = live.http.get("/documents/uploads/stones.csv%231").json()["text"].index("floors")
    refused = live.http.get("/rows/uploads/stones.csv%231", params={"start": start, "end": start - 4})
    assert refused.status_code == 400
    assert f"end is {start - 4}, before start" in refused.json()["error"]["message"]
