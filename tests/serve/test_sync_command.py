"""``ragstone sync`` and ``ragstone crawl`` as a user runs them."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from running import START, Run, environment

from servers.site import Reply, WebSite, page

SLOW = 60
"""Seconds after which what was waited for counts as never coming."""


@pytest.fixture
def docs(workdir: Path) -> Path:
    folder = workdir / "docs"
    folder.mkdir()
    (folder / "a.txt").write_text("Room 7 is called Marie Curie.")
    (folder / "b.txt").write_text("Visitors park behind the mill.")
    return folder


def test_a_dry_run_shows_what_sync_then_does(run: Run, docs: Path) -> None:
    refused = run("sync", "docs", "--dry-run")
    assert (refused.code, refused.out) == (1, "")
    assert not Path(".ragstone").exists()
    assert run("sync", "docs").out.startswith("2 added, 0 updated, 0 unchanged;")
    (docs / "a.txt").write_text("Room 7 is called Rosalind Franklin.")
    (docs / "b.txt").rename(docs / "c.txt")
    (docs / "d.csv").write_text("id,text\n")
    for _ in range(2):
        shown = run("sync", "docs", "--dry-run").out.splitlines()
        assert shown[:4] == [
            "add docs/c.txt",
            "update docs/a.txt",
            "remove docs/b.txt",
            "would add 1, update 1, remove 1; 0 unchanged",
        ]
        assert "d.csv" in shown[-1]
    planned = run("sync", "docs", "--dry-run", "--json").json
    assert (planned["added"], planned["updated"], planned["removed"]) == (
        ["docs/c.txt"],
        ["docs/a.txt"],
        ["docs/b.txt"],
    )
    done = run("sync", "docs", "--json").json
    assert (done["added"], done["updated"], done["removed"], done["unchanged"]) == (1, 1, 1, 0)
    assert run("sync", "docs").out.startswith("0 added, 0 updated, 2 unchanged;")


def test_a_folder_that_is_gone_is_an_error(run: Run, docs: Path) -> None:
    run("sync", "docs")
    docs.rename("moved")
    done = run("sync", "docs")
    assert (done.code, done.out, done.err) == (1, "", "ragstone: no file or folder 'docs'\n")
    assert run("status", "--json").json["documents"] == 2


# ---------------------------------------------------------------- watching


def in_time(what: Callable[[], object]) -> None:
    """Wait until something holds; fail only where it seems never to."""
    end = time.monotonic() + SLOW
    while not what():
        assert time.monotonic() < end, "timed out"
        time.sleep(0.05)


def texts() -> set[str]:
    """What is stored, read past the program; nothing while it is being made."""
    try:
        with closing(sqlite3.connect("file:.ragstone/v1/catalog.db?mode=ro", uri=True)) as catalog:
            return {text for (text,) in catalog.execute("SELECT text FROM contents")}
    except sqlite3.OperationalError:
        return set()


@contextmanager
def watching(*words: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-W", "error", "-c", START, "sync", "docs", "--watch", "--every", "0.1", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_watching_follows_a_folder_until_it_is_stopped(docs: Path) -> None:
    with watching() as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("2 added, ")
        (docs / "c.txt").write_text("The canteen opens at eleven.")
        in_time(lambda: "The canteen opens at eleven." in texts())
        (docs / "c.txt").write_text("The canteen opens at noon.")
        in_time(lambda: "The canteen opens at noon." in texts())
        (docs / "b.txt").unlink()
        in_time(lambda: texts() == {"Room 7 is called Marie Curie.", "The canteen opens at noon."})
        # A folder that is away for a moment is no reason to stop, nor to remove anything.
        docs.rename("away")
        assert process.stderr is not None
        assert process.stderr.readline() == "ragstone: no file or folder 'docs'\n"
        assert len(texts()) == 2
        Path("away").rename(docs)
        (docs / "d.txt").write_text("Back again.")
        in_time(lambda: "Back again." in texts())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SLOW)
    assert process.returncode == 130
    assert err == "ragstone: stopped; stored documents are kept, and the next sync continues from there\n"
    assert out.count("\n") >= 3
    assert all(" updated, " in line for line in out.splitlines())


def test_watching_prints_only_changes_as_json(docs: Path) -> None:
    with watching("--json") as process:
        in_time(lambda: len(texts()) == 2)
        (docs / "c.txt").write_text("The canteen opens at eleven.")
        in_time(lambda: len(texts()) == 3)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=SLOW)
    reports = [json.loads(part + "}") for part in out.strip().removesuffix("}").split("}\n")]
    assert sum(report["added"] for report in reports) == 3
    assert all(report["added"] for report in reports)


# ---------------------------------------------------------------- crawling


@pytest.mark.usefixtures("workdir")
def test_a_site_by_its_name(run: Run) -> None:
    routes = {
        "/docs/": page("a.html", text="Welcome to the manual of the tide mill."),
        "/docs/a.html": page(text="The tide mill grinds twice a day."),
    }
    with WebSite(routes) as site:
        named = f"acquire.sites={{mill: {{start: '{site.url}/docs/', allow_private: true, delay_seconds: 0}}}}"
        done = run("crawl", "mill", "--set", named)
        assert done.code == 0, done.err
        assert done.out.startswith("2 added, 0 updated, 0 unchanged; 2 chunks, 2 embedded, in ")
        answer = run("ask", "How often does the tide mill grind?", "--json").json
        assert answer["citations"][0]["url"] == f"{site.url}/docs/a.html"
        again = run("crawl", "mill", "--set", named, "--json").json
        assert (again["added"], again["unchanged"], again["embedded"]) == (0, 2, 0)
        site.routes["/docs/"] = Reply(status=503)
        failed = run("crawl", "mill", "--set", named, "--set", "acquire.crawl.retries=0")
        assert failed.code == 1
        assert failed.err.count("\n") >= 1
        assert "503" in failed.err
        assert run("status", "--json").json["documents"] == 2
        near = run("crawl", "mil", "--set", named)
        assert (near.code, near.err) == (2, "ragstone: there is no site 'mil'; did you mean mill?\n")
