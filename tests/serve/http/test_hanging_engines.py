"""An engine that accepts connections and never answers does not block other requests."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import httpx2
import pytest
from kb import READY, add, open_fast
from live import DOCUMENTS, Live, Serving, served

from ragstone.history.keys import Keys
from ragstone.serve.http.authentication import LOOK_AGAIN_SECONDS
from servers import qdrant_server
from servers.postgres_server import PostgresServer, shared

SECONDS = 2.0
"""The time limit of an engine."""
CLIENTS = 16


@contextmanager
def stopped(*pids: int) -> Iterator[None]:
    """Suspend processes; some may have ended meanwhile."""
    try:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


@pytest.fixture
def postgres() -> PostgresServer:
    return shared()


def timed(live: Live, path: str) -> float:
    began = time.monotonic()
    assert live.http.get(path).status_code in ((200, 503) if path == "/ready" else (200,))
    return time.monotonic() - began


def check(live: Live, *pids: int) -> None:
    """Check that 16 concurrent questions are answered at the engine's time limit, and other requests at once."""

    def ask(number: int) -> tuple[float, httpx2.Response]:
        began = time.monotonic()
        answer = live.ask(f"Where do visitors number {number} park?")
        return time.monotonic() - began, answer

    assert not any("failed" in notice for notice in live.ask().json()["notices"])
    with stopped(*pids), ThreadPoolExecutor(CLIENTS) as clients:
        asked = [clients.submit(ask, number) for number in range(CLIENTS)]
        time.sleep(SECONDS / 4)
        beside = [timed(live, path) for path in ("/health", "/ready", "/metrics", "/documents")]
        began = time.monotonic()
        job = live.upload(("bar.txt", b"The bar is behind the theatre."))
        beside.append(time.monotonic() - began)
        while not all(one.done() for one in asked):  # also while the job finds the engine away
            beside.append(timed(live, "/health"))
            time.sleep(0.02)
        for took, answer in (one.result() for one in asked):
            assert "behind the mill" in answer.json()["answer"]
            assert took < 3 * SECONDS + 1  # its time, that of another connection, and that of a busy machine
        assert max(beside) < 2 * SECONDS, beside  # one after another, they would take far longer
        assert live.finished(job)["state"] == "done"
        again, _ = ask(CLIENTS)
        assert again < SECONDS * 0.75  # nobody waits any more
    live.until(lambda: live.ask().json()["notices"], lambda told: not any("failed" in one for one in told))


@pytest.mark.parametrize("vectors", ["postgres", "embedded"])
def test_serves_while_postgres_hangs(serving: Serving, postgres: PostgresServer, vectors: str) -> None:
    live = serving(
        asked=(
            "index.keywords=postgres",
            f"index.vectors={vectors}",
            f"services.postgres.dsn={postgres.address(postgres.database('mute'))}",
            f"services.engine_seconds={SECONDS}",
            "cache.enabled=false",
        )
    )
    check(live, *postgres.pids)


def test_serves_while_qdrant_hangs(serving: Serving) -> None:
    qdrant = qdrant_server.shared()
    url = f"services.qdrant.url={qdrant.url}"
    seconds = f"services.engine_seconds={SECONDS}"
    live = serving(asked=("index.vectors=qdrant", url, seconds, "cache.enabled=false"))
    check(live, qdrant.pid)


def test_keys_on_a_hanging_server_hold_up_nobody_else(tmp_path: Path, postgres: PostgresServer) -> None:
    """Who sends a request is looked up in the journal, which is in PostgreSQL here."""
    dsn = f"services.postgres.dsn={postgres.address(postgres.database('mute_keys'))}"
    wanted = (dsn, "index.catalog=postgres", "services.postgres.catalog=team", f"services.engine_seconds={SECONDS}")
    with closing(open_fast(tmp_path / "kb", READY, *wanted)) as engine:
        add(engine, *DOCUMENTS)
        with closing(engine.history.journal()) as journal:
            _, secret = Keys(journal).make("ann", ["read"])
        with served(engine) as live, httpx2.Client(base_url=live.url, timeout=60) as client:
            bearer = {"authorization": f"Bearer {secret}"}
            assert client.get("/me", headers=bearer).status_code == 200
            time.sleep(LOOK_AGAIN_SECONDS)
            with stopped(*postgres.pids), ThreadPoolExecutor(CLIENTS) as clients:
                asked = [clients.submit(live.http.get, "/me", headers=bearer) for _ in range(CLIENTS)]
                beside = [timed(live, path) for path in ("/health", "/ready") * 4]
                while not all(one.done() for one in asked):
                    beside.append(timed(live, "/health"))
                    time.sleep(0.02)
            assert max(beside) < 2 * SECONDS, beside  # one after another, they would take far longer
            live.until(lambda: client.get("/me", headers=bearer).status_code, lambda status: status == 200)
