"""Several processes that serve one knowledge base behave as one, also while they are killed and replaced."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from kb import READY, add, open_fast, parts
from live import DOCUMENTS, SLOW, Live, make_key
from program import program
from running import program as run_program

from ragstone.core.errors import Locked
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.progress import Running
from ragstone.history.journal import Journal
from ragstone.history.keys import KeyLimits, Keys
from ragstone.serve.http.serving_process import READY as READY_MESSAGE
from ragstone.serve.http.serving_process import Control, Launch
from ragstone.serve.http.shares import Inherited, Shares
from ragstone.serve.listen import listen

STARTED_WITHIN = 4 * SLOW
"""Seconds after which waiting for new processes has failed, on a machine that does other things too."""
QUESTION = {"question": "Where do visitors park?"}
CLIENTS, PAUSE = 3, 0.2
"""Clients that ask, and their seconds between two questions: they must not take the processor from what they watch."""


@dataclass
class Server:
    """A server of two processes, and what it has logged so far."""

    process: subprocess.Popen[str]
    url: str
    folder: Path
    lines: list[str]
    admin: dict[str, str]

    def logged(self, event: str) -> list[dict[str, Any]]:
        found = [json.loads(line) for line in self.lines if line.startswith("{")]
        return [one for one in found if one["event"] == event]

    def in_use(self) -> dict[int, int]:
        """Return the latest process of each place that was ready."""
        return {one["process"]: one["pid"] for one in self.logged("process ready")}

    def until_ready(self, count: int) -> None:
        """Wait until so many processes have been ready since the start."""
        end = time.monotonic() + STARTED_WITHIN
        while (ready := len(self.logged("process ready"))) < count:
            assert time.monotonic() < end, ready
            time.sleep(0.05)

    @contextmanager
    def both(self) -> Iterator[list[httpx2.Client]]:
        """Give a connection to each process."""
        with ExitStack() as stack:
            clients = list[httpx2.Client]()
            stopped = list[int]()
            for pid in self.in_use().values():  # the others sleep, so this one accepts the connection
                stopped = [other for other in self.in_use().values() if other != pid]
                for other in stopped:
                    os.kill(other, signal.SIGSTOP)
                try:
                    client = stack.enter_context(httpx2.Client(base_url=self.url, timeout=SLOW, headers=self.admin))
                    assert client.get("/me").status_code == 200
                finally:
                    for other in stopped:
                        os.kill(other, signal.SIGCONT)
                clients.append(client)
            yield clients


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("several")
    with closing(open_fast(folder / "kb", READY)) as engine:
        add(engine, *DOCUMENTS)
    admin = make_key(folder / "kb", "admin", "admin", limits=KeyLimits(rate_per_minute=0, concurrent=0))
    with program(folder, "--workers", "2", "--set", READY) as (process, http, lines):
        made = Server(process, str(http.base_url), folder / "kb", lines, admin)
        made.until_ready(2)
        yield made
        pids = made.in_use().values()
        process.send_signal(signal.SIGTERM)
        assert process.wait(SLOW) == 0
        assert not any(map(is_running, pids))


def is_running(pid: int) -> bool:
    try:
        return "zombie" not in Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):  # the second where it ends between opening and reading
        return False


@dataclass
class Crowd:
    """Clients that ask one question after another until they are told to stop."""

    server: Server
    tries: int
    answered: int = 0
    retried: int = 0
    problems: list[str] = field(default_factory=list[str])
    over: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def asking(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._ask) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        try:
            Live.until(lambda: self.answered, lambda count: count > CLIENTS)
            yield
            before = self.answered
            Live.until(lambda: self.answered, lambda count: count > before + CLIENTS)
        finally:
            self.over.set()
            for thread in threads:
                thread.join(SLOW)

    def _ask(self) -> None:
        with httpx2.Client(base_url=self.server.url, timeout=SLOW, headers=self.server.admin) as client:
            while not self.over.is_set():
                for attempt in range(self.tries):
                    try:
                        response = client.post("/query", json=QUESTION)
                    except httpx2.TransportError as error:
                        self.retried += attempt == 0
                        if attempt == self.tries - 1:
                            self.problems.append(repr(error))
                        continue
                    if response.status_code == 200 and "behind the mill" in response.json()["answer"]:
                        self.answered += 1
                    else:
                        self.problems.append(response.text)
                    break
                self.over.wait(PAUSE)


# ---------------------------------------------------------------- as one
def test_key_counts_in_every_process_at_once(server: Server) -> None:
    with server.both() as clients:
        key = make_key(server.folder, "leaver")
        assert [client.get("/me", headers=key).status_code for client in clients] == [200, 200]
        with closing(Journal(server.folder)) as journal:
            Keys(journal).revoke("leaver")
        assert [client.get("/me", headers=key).status_code for client in clients] == [401, 401]


def test_rate_limit_counts_all_processes(server: Server) -> None:
    key = make_key(server.folder, "hasty", limits=KeyLimits(rate_per_minute=1, burst=3))
    with server.both() as (one, other):
        statuses = [client.get("/me", headers=key).status_code for client in (one, other, one, other, one)]
    assert statuses == [200, 200, 200, 429, 429]


def test_processes_share_conversations_and_metrics(server: Server) -> None:
    def asked(client: httpx2.Client) -> float:
        lines = client.get("/metrics").text.splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith("ragstone_questions_total"))

    with server.both() as (one, other):
        before = asked(other)
        for client in (one, other, one):
            assert client.post("/query", json=QUESTION | {"session": "walk"}).status_code == 200
        assert [len(client.get("/conversations/walk").json()["turns"]) for client in (one, other)] == [3, 3]
        assert [asked(client) - before for client in (one, other)] == [3, 3]


def test_every_process_shows_the_jobs_of_all(server: Server) -> None:
    with server.both() as (one, other):
        job = one.post("/documents", files=[("files", ("mill.txt", b"The mill was built by Ada Miller."))])
        assert job.status_code == 202
        with other.stream("GET", f"/jobs/{job.json()['job_id']}", headers={"accept": "text/event-stream"}) as response:
            assert "event: end" in response.read().decode()
        assert other.get(f"/jobs/{job.json()['job_id']}").json()["state"] == "done"
        assert "Ada" in other.post("/query", json={"question": "Who built the mill?"}).json()["answer"]


def test_connection_is_left_to_the_process_with_fewer(tmp_path: Path) -> None:
    shares = Shares.make(tmp_path / "connections", 3)  # one of them does not serve
    other = Shares(tmp_path / "connections")
    shares.note(0, 0)
    other.note(1, 0)
    assert not shares.is_ahead(0)
    with ExitStack() as stack:
        bound = stack.enter_context(closing(listen("127.0.0.1", 0)))
        one = stack.enter_context(Inherited(os.dup(bound.fileno()), shares, 0))
        stack.enter_context(socket.create_connection(bound.getsockname()))
        with one.accept()[0]:
            assert shares.is_ahead(0)
            assert not other.is_ahead(1)
    other.drop(1)
    assert not shares.is_ahead(0)


# ---------------------------------------------------------------- another process indexes
def test_every_process_says_what_a_job_waits_for(server: Server) -> None:
    holder = f"process {os.getpid()} ("
    with closing(open_fast(server.folder, create=False)) as engine, server.both() as clients:
        with holding(parts(engine).location.indexing):
            job = clients[0].post("/documents", files=[("files", ("weir.txt", b"The weir is low."))]).json()
            for client in clients:

                def waits_for(client: httpx2.Client = client) -> str:
                    return client.get(f"/jobs/{job['job_id']}").json()["progress"]["waiting"]

                assert Live.until(waits_for, bool).startswith(holder)
            status = run_program("status", "--kb", str(server.folder)).out
            assert f"upload waits in process {running_of(engine).process}: {holder}" in status
        Live.until(lambda: clients[0].get(f"/jobs/{job['job_id']}").json()["state"], lambda state: state == "done")
        assert engine.status().running == ()


def running_of(engine: KnowledgeBase) -> Running:
    """Return the ingest that waits."""
    (found,) = engine.status().running
    return found


# ---------------------------------------------------------------- killed and replaced
def test_killed_process_is_replaced_under_load(server: Server) -> None:
    crowd, ready = Crowd(server, tries=2), len(server.logged("process ready"))
    with closing(open_fast(server.folder, create=False)) as engine, server.both() as (one, other):
        with holding(parts(engine).location.indexing):
            job = one.post("/documents", files=[("files", ("dam.txt", b"The dam was built by Eve Weir."))]).json()

            def state() -> str:
                return other.get(f"/jobs/{job['job_id']}").json()["state"]

            Live.until(state, lambda state: state == "running")
            with crowd.asking():
                os.kill(server.in_use()[0], signal.SIGKILL)
                server.until_ready(ready + 1)
        Live.until(state, lambda state: state == "done")  # by the other process, or the new one
    assert crowd.problems == []
    assert crowd.retried <= CLIENTS  # at most what the killed process was at


def test_sighup_under_load_loses_nothing(server: Server) -> None:
    crowd, ready, old = Crowd(server, tries=1), len(server.logged("process ready")), server.in_use().values()
    with crowd.asking():
        server.process.send_signal(signal.SIGHUP)
        server.until_ready(ready + 2)
        Live.until(lambda: [pid for pid in old if is_running(pid)], lambda left: not left)
    assert crowd.problems == []
    assert not set(old) & set(server.in_use().values())


@contextmanager
def holding(indexing: Callable[..., Any]) -> Iterator[None]:
    """Hold the lock of whoever changes the documents, as soon as it is free."""
    end = time.monotonic() + SLOW
    with ExitStack() as stack:
        while True:
            with suppress(Locked):
                stack.enter_context(indexing())
                break
            assert time.monotonic() < end
            time.sleep(0.02)
        yield


def test_process_notices_the_end_of_its_supervisor() -> None:
    launch = Launch(
        kb="kb", preset=None, overrides=("serve.workers=2",), listener=3, certificate="", key="", shares="shares",
        number=1, place=0, processes=2, warm_first=True,
    )  # fmt: skip
    supervisor, process = socket.socketpair()
    with supervisor, process:
        control = Control(process)
        supervisor.sendall(launch.to_json())
        assert control.launch() == launch
        control.tell_ready()
        assert supervisor.recv(64) == READY_MESSAGE
        assert not control.is_lost
        supervisor.close()
        assert control.is_lost
