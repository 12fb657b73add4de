"""Sources are synced by their schedules: each once when it is due, whichever process looks, and not while paused."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kb import open_fast
from live import SLOW, Live, served

from ragstone.core.access import OWNER
from ragstone.history.journal import Journal, row_crc
from ragstone.history.schedules import Schedules
from ragstone.serve.http import scheduler
from ragstone.serve.http.telemetry import LOGGER
from servers.site import WebSite, page


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("scheduled")
    (folder / "notes").mkdir()
    (folder / "notes" / "a.md").write_text("The mill is old.")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(scheduler, "LOOK_SECONDS", 0.05)
        with (
            closing(open_fast(folder / "kb")) as engine,
            served(engine, f"sources=[{folder / 'notes'}, {folder / 'gone'}]") as live,
        ):
            yield live


def sources(live: Live) -> list[dict[str, Any]]:
    return live.http.get("/admin/sources").json()["sources"]


def schedule(live: Live, source: object, every: float | None, **more: object) -> int:
    sent = live.http.post("/admin/sources/schedule", json={"source": source, "every_seconds": every, **more})
    return sent.status_code


def test_a_source_is_scheduled_synced_paused_and_released(live: Live) -> None:
    notes, gone = (one["source"] for one in sources(live))
    assert all((one["every_seconds"], one["next"], one["last"]) == (None, None, None) for one in sources(live))
    assert [schedule(live, one, 3_600) for one in (notes, gone)] == [204, 204]
    assert all(one["last"] is None for one in sources(live))
    with closing(Journal(live.engine.folder)) as journal:
        an_hour_ago = Schedules(journal, lambda: journal.clock() - 3_600)
        for one in (notes, gone):
            an_hour_ago.set(one, 3_600)
    live.until(lambda: [one["last"] and one["last"]["ended"] for one in sources(live)], all)
    first, second = sources(live)
    assert (first["every_seconds"], first["last"]["state"]) == (3_600, "done")
    assert second["last"]["error"] or second["last"]["skipped"]
    assert all(one["next"] > one["last"]["at"] + 3_000 for one in (first, second))
    assert live.engine.documents.get("a.md", reader=OWNER).text == "The mill is old."
    assert schedule(live, notes, 60, paused=True) == schedule(live, gone, None) == 204
    assert [(one["every_seconds"], one["paused"], one["next"]) for one in sources(live)] == [
        (60, True, None),
        (None, False, None),
    ]
    told = live.http.get("/admin/audit").json()["entries"][0]
    assert (told["act"], told["what"]) == ("source.schedule", f"{gone} · on demand")


@pytest.mark.parametrize(("source", "every", "status"), [("/etc", 3_600, 404), ("", 60, 422), ("x", 1, 422)])
def test_refuses_other_sources_and_times(live: Live, source: str, every: float, status: int) -> None:
    assert schedule(live, source, every) == status


@settings(max_examples=8, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(60, 900), st.booleans()), max_size=3), st.data())
def test_each_is_taken_once_when_it_is_due(
    tmp_path_factory: pytest.TempPathFactory, planned: list[tuple[str, int, bool]], data: st.DataObject
) -> None:
    now = 1_000.0
    with closing(Journal(tmp_path_factory.mktemp("due"))) as journal, closing(journal.another()) as other:
        readers = [Schedules(one, lambda: now) for one in (journal, other)]
        due: dict[str, tuple[float, int]] = {}
        for source, every, paused in planned:
            readers[0].set(source, every, paused=paused)
            due[source] = (float("inf") if paused else now + every, every)
        for step in data.draw(st.lists(st.integers(1, 1_000), max_size=4)):
            now += step
            wanted = sorted(source for source, (at, _) in due.items() if at <= now)
            assert [one.source for one in readers[step % 2].take("ab")] == wanted
            assert [one.source for one in readers[1 - step % 2].take("ab")] == []
            due |= {source: (now + due[source][1], due[source][1]) for source in wanted}


def test_a_server_leaves_what_it_may_not_sync(tmp_path: Path) -> None:
    with closing(Journal(tmp_path)) as journal:
        Schedules(journal, lambda: 0.0).set("a", 60)
        now = Schedules(journal, lambda: 100.0)
        assert now.take(["b"]) == []
        assert [one.due for one in now.all()] == [60]
        assert [one.source for one in now.take(["a", "b"])] == ["a"]


def test_a_sync_that_cannot_begin_stays_due(tmp_path: Path) -> None:
    with closing(Journal(tmp_path)) as journal:
        Schedules(journal, lambda: 0.0).set("a", 60)
        now = Schedules(journal, lambda: 100.0)
        (taken,) = now.take(["a"])
        now.give_back(taken)
        assert now.take(["a"]) == [taken]
        now.set("a", 60, paused=True)
        now.give_back(taken)
        assert [one.paused for one in now.all()] == [True]


def test_one_error_does_not_end_all_schedules(live: Live) -> None:
    notes, gone = (one["source"] for one in sources(live))
    looked = Looked()
    LOGGER.addHandler(looked)
    with closing(Journal(live.engine.folder)) as journal:
        broken = (gone, 60.0, 0, "soon")  # no time, under a checksum that fits
        with journal.writing() as db:
            db.execute("DELETE FROM schedules")
            sql = "INSERT INTO schedules (source, every, paused, due, crc) VALUES (?, ?, ?, ?, ?)"
            db.execute(sql, [*broken, row_crc(*broken)])
        assert looked.in_vain.wait(SLOW)
        LOGGER.removeHandler(looked)
        Schedules(journal).remove(gone)
        before = sources(live)[0]["last"]
        Schedules(journal, lambda: journal.clock() - 3_600).set(notes, 3_600)
        live.until(lambda: sources(live)[0]["last"], lambda it: it != before)


class Looked(logging.Handler):
    """Waits until a look for sources has failed."""

    def __init__(self) -> None:
        super().__init__()
        self.in_vain = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        if "looking for sources" in str(record.args):
            self.in_vain.set()


def test_an_administrator_adds_a_site_and_schedules_it(tmp_path: Path) -> None:
    private = ("acquire.crawl.allow_private=true", "acquire.crawl.delay_seconds=0", "acquire.crawl.retries=0")
    with WebSite() as site, closing(open_fast(tmp_path / "kb", *private)) as engine:
        site.routes = {"/": page("more.html", text="The tide mill grinds twice a day.")}
        with served(engine, "web_pages=true") as live:
            assert sources(live) == []
            added = f"{site.url}/"
            assert live.http.post("/admin/sources", json={"source": added}).status_code == 204
            assert live.http.post("/admin/sources", json={"source": added}).status_code == 409
            (one,) = sources(live)
            assert (one["source"], one["added"], one["last"]) == (added, True, None)
            assert schedule(live, added, 3_600) == 204
            job = live.finished(live.http.post("/sync", json={"sources": [added]}))
            assert (job["state"], job["report"]["added"]) == ("done", 1)
            assert live.http.delete("/admin/sources", params={"source": added}).status_code == 204
            assert live.http.delete("/admin/sources", params={"source": added}).status_code == 404
            assert sources(live) == []
            assert live.http.post("/sync", json={"sources": [added]}).status_code == 404
            assert engine.documents.list(reader=OWNER).total == 1, "its documents stay"


@pytest.mark.parametrize(
    "source", ["/etc", "file:///etc", "git+file:///srv/x", "git+./x", "https://ann:pass@docs.example/", "memory://x"]
)
def test_adds_no_file_of_the_server(tmp_path: Path, source: str) -> None:
    with closing(open_fast(tmp_path / "kb")) as engine, served(engine, "web_pages=true") as live:
        assert live.http.post("/admin/sources", json={"source": source}).status_code == 400
        assert sources(live) == []


def test_addresses_need_the_setting(tmp_path: Path) -> None:
    with closing(open_fast(tmp_path / "kb")) as engine, served(engine) as live:
        sent = live.http.post("/admin/sources", json={"source": "https://docs.example/"})
        assert (sent.status_code, "serve.web_pages" in sent.text) == (403, True)
