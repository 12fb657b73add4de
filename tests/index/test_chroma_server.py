"""Chroma's own server on loopback: killed and started again, questions go on; what it lacked it takes in."""

from __future__ import annotations

import asyncio
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from kb import add, open_fast, parts

from ragstone.core.access import OWNER
from ragstone.core.records import Document
from ragstone.services import breaker

pytest.importorskip("chromadb", reason="needs chromadb")

Start = Callable[[], subprocess.Popen]


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.fixture
def start(tmp_path: Path, port: int) -> Iterator[Start]:
    """Starts the server, on the same files each time; gives its process when it answers."""
    program = Path(sys.executable).with_name("chroma")
    command = [shutil.which(program) or "chroma", "run", "--path", str(tmp_path / "server")]
    with ExitStack() as stack:

        def started() -> subprocess.Popen:
            process = subprocess.Popen(
                [*command, "--host", "127.0.0.1", "--port", str(port)], stdout=subprocess.DEVNULL, cwd=tmp_path
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            for _ in range(300):
                try:
                    socket.create_connection(("127.0.0.1", port), 0.1).close()
                    return process
                except OSError:
                    time.sleep(0.1)
            raise AssertionError("the server does not listen")

        yield started


def test_questions_go_on_while_the_server_is_away(
    tmp_path: Path, port: int, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breaker, "FIRST", 0.2)
    monkeypatch.setattr(breaker, "LATER", 0.2)
    server = start()
    chroma = ("index.vectors=chroma", f"services.chroma.url=http://127.0.0.1:{port}", "cache.enabled=false")
    engine = open_fast(tmp_path / "kb", *chroma)
    assert not add(engine, *(Document(id=f"d{i}", text=f"word{i} other{i}") for i in range(30))).notices

    def asked(question: str):
        return asyncio.run(engine.trace(question, reader=OWNER)).evidence

    expected = [hit.chunk.document_id for hit in asked("word7 other7").hits]
    assert expected[0] == "d7"
    assert not asked("word7 other7").missing

    server.kill()
    server.wait()
    found = asked("word7 other7")
    assert found.hits[0].chunk.document_id == "d7"
    assert any(one.startswith("vector search failed: chroma at http://127.0.0.1") for one in found.missing)
    report = add(engine, Document(id="late", text="late comer"))
    assert "it catches up when it is back" in report.notices[0]

    start()
    time.sleep(3)  # longer than it is left alone
    assert asked("word7 other7").hits[0].chunk.document_id == "d7"
    found = asked("late comer")
    assert (found.hits[0].chunk.document_id, found.missing) == ("late", ())
    assert engine.status().engines[0].behind == 1
    add(engine, Document(id="last", text="last comer"))
    assert engine.status().engines[0].behind == 0
    (leg,) = parts(engine).external_indexes()
    assert len(leg.difference(mend=False)) == 0
    engine.close()


def test_no_question_waits_for_a_server_that_says_nothing(
    tmp_path: Path, port: int, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breaker, "FIRST", 0.2)
    monkeypatch.setattr(breaker, "LATER", 0.2)
    server = start()
    url = f"services.chroma.url=http://127.0.0.1:{port}"
    chroma = ("index.vectors=chroma", url, "services.engine_seconds=2", "cache.enabled=false")
    engine = open_fast(tmp_path / "kb", *chroma)
    add(engine, *(Document(id=f"d{i}", text=f"word{i} other{i}") for i in range(30)))
    began = time.monotonic()
    server.send_signal(signal.SIGSTOP)
    try:
        found = asyncio.run(engine.trace("word7 other7", reader=OWNER)).evidence
        (leg,) = engine.status().engines
        again = open_fast(tmp_path / "kb", *chroma)  # one that has yet to connect
        assert asyncio.run(again.trace("word7 other7", reader=OWNER)).evidence.missing
        again.close()
    finally:
        server.send_signal(signal.SIGCONT)
    assert time.monotonic() - began < 30
    assert found.hits[0].chunk.document_id == "d7"
    assert "took longer than 2 s" in found.missing[0]
    assert "took longer than 2 s" in leg.problem
    time.sleep(1)  # longer than it is left alone
    assert not asyncio.run(engine.trace("word7 other7", reader=OWNER)).evidence.missing
    engine.close()
