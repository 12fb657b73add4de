"""``ragstone worker`` as an operator runs it: a process that goes on, files that change, signals."""

from __future__ import annotations

import asyncio
import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO

import pytest
from running import START, Run, environment

from ragstone.core.access import OWNER
from ragstone.engine.knowledge_base import KnowledgeBase
from servers.site import WebSite, page

SLOW = 60
"""Seconds after which what was waited for counts as never coming."""


class Working:
    """A worker under way; its lines are read as they come."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        assert process.stderr is not None
        self._out, self._err = _lines(process.stdout), _lines(process.stderr)

    def prints(self, words: str) -> str:
        """The next line of standard output with these words."""
        return _next(self._out, words)

    def complains(self, words: str) -> str:
        return _next(self._err, words)

    def stop(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(SLOW)


def _lines(stream: IO[str]) -> queue.Queue[str]:
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=lambda: [lines.put(line.rstrip("\n")) for line in stream], daemon=True).start()
    return lines


def _next(lines: queue.Queue[str], words: str) -> str:
    while words not in (line := lines.get(timeout=SLOW)):
        pass
    return line


@contextmanager
def working(*words: str) -> Iterator[Working]:
    command = [sys.executable, "-W", "error", "-c", START, "worker", "--every", "0.2s", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    ) as process:
        try:
            yield Working(process)
        finally:
            process.kill()


@pytest.fixture
def docs(workdir: Path) -> Path:
    folder = workdir / "docs"
    folder.mkdir()
    (folder / "a.txt").write_text("Room 7 is called Marie Curie.")
    return folder


def answer(engine: KnowledgeBase, question: str) -> str:
    return asyncio.run(engine.ask(question, reader=OWNER)).answer


def test_queries_see_changes_until_terminated(docs: Path) -> None:
    with working("docs") as worker:
        assert "+00:00 docs: 1 added, 0 updated, 0 unchanged;" in worker.prints(" 1 added")
        (docs / "b.txt").write_text("The canteen opens at eleven.")
        worker.prints(" 1 added, 0 updated, 1 unchanged")
        with closing(KnowledgeBase.open(".ragstone")) as serving:
            assert "Marie Curie" in answer(serving, "What is room 7 called?")
            (docs / "a.txt").write_text("Room 7 is called Rosalind Franklin.")
            worker.prints(" 1 updated")
            assert "Rosalind Franklin" in answer(serving, "What is room 7 called?")
            (docs / "a.txt").unlink()
            worker.prints(" 1 removed")
            assert serving.status().documents == 1
        assert worker.stop(signal.SIGTERM) == 0
        assert worker.complains("stopped") == "ragstone: stopped; stored documents are kept"


@pytest.mark.usefixtures("docs")
def test_ctrl_c_stops_it() -> None:
    with working("docs") as worker:
        worker.prints(" 1 added")
        assert worker.stop(signal.SIGINT) == 130
        assert worker.complains("stopped") == "ragstone: stopped; stored documents are kept"


@pytest.mark.usefixtures("docs")
def test_rebuilds_while_others_ask(run: Run) -> None:
    assert run("sync", "docs").code == 0
    with closing(KnowledgeBase.open(".ragstone")) as serving:
        before = serving.status().built_with
        with working("docs", "--rebuild", "--set", "chunk.size=300") as worker:
            worker.prints(" rebuilt: 1 added")
            worker.prints(" docs: 0 added, 0 updated, 1 unchanged")
            assert worker.stop(signal.SIGTERM) == 0
        assert "Marie Curie" in answer(serving, "What is room 7 called?")
        after = serving.status().built_with
        assert (before.settings["chunk.size"], after.settings["chunk.size"]) == (1200, 300)


@pytest.mark.usefixtures("docs")
def test_refuses_other_settings_without_rebuild(run: Run) -> None:
    assert run("sync", "docs").code == 0
    with working("docs", "--set", "chunk.size=300") as worker:
        assert worker.process.wait(SLOW) == 1
        assert "ragstone rebuild --kb .ragstone --set chunk.size=300" in worker.complains("chunk.size")


@pytest.mark.usefixtures("docs")
def test_retries_a_source_that_fails() -> None:
    with working("later", "docs", "--json") as worker:
        assert worker.complains("later") == "ragstone: no file or folder 'later'"
        assert json.loads(worker.prints("docs"))["added"] == 1
        Path("later").mkdir()
        Path("later", "b.txt").write_text("The canteen opens at eleven.")
        printed = json.loads(worker.prints('"later"'))
        assert (printed["what"], printed["added"], printed["skipped"]) == ("later", 1, [])
        assert worker.stop(signal.SIGTERM) == 0


@pytest.mark.usefixtures("workdir")
def test_crawls_an_address_again() -> None:
    with WebSite({"/docs/": page(text="The tide mill grinds twice a day.")}) as site:
        start = f"{site.url}/docs/"
        with working(
            start, "--set", "acquire.crawl.allow_private=true", "--set", "acquire.crawl.delay_seconds=0"
        ) as worker:
            worker.prints(f"{start}: 1 added")
            site.routes["/docs/"] = page(text="The tide mill grinds three times a day.")
            worker.prints(f"{start}: 0 added, 1 updated")
            assert worker.stop(signal.SIGTERM) == 0


def test_runs_queued_jobs(docs: Path, run: Run) -> None:
    (docs / "b.txt").write_text("The canteen opens at eleven.")
    put = run("sync", "--queue", "docs", "--set", "jobs.files=1")
    assert (put.code, put.out) == (0, "queued 3 jobs for 2 files; run them with: ragstone worker\n")
    assert len(run("add", "--queue", "docs", "--json").json["jobs"]) == 1
    assert "4 waiting; run them with: ragstone worker" in run("status").out
    done = run("worker", "--until-empty", "--json")
    assert (done.code, done.err) == (0, "")
    printed = [json.loads(line) for line in done.out.splitlines()]
    assert [one["what"].split()[0] for one in printed] == ["add", "add", "sync", "add"]
    assert [one["added"] for one in printed] == [1, 1, 0, 0]
    assert run("status", "--json").json["jobs"] == {"waiting": 0, "running": 0, "done": 4, "failed": 0, "problem": ""}
    assert "Marie Curie" in run("ask", "What is room 7 called?").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["docs", "--every", "soon"], "'soon' is not a duration"),
        (["docs", "--every", "0m"], "'0m' is not a duration"),
        (["docs", "--set", "chunk.sise=1"], "chunk.sise"),
        ([""], "a source is empty"),
        (["docs", "--until-empty"], "--until-empty is for queued jobs"),
        (["--rebuild"], "--rebuild is for sources"),
    ],
)
def test_refuses_wrong_options(run: Run, docs: Path, words: list[str], message: str) -> None:
    done = run("worker", *words)
    assert done.code == 2
    assert message in done.err
    assert docs.is_dir()
