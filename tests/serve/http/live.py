"""A server for tests: the application under uvicorn, on loopback, in a thread."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from ragstone.core.records import Document
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.history.journal import Journal
from ragstone.history.keys import KeyLimits, Keys
from ragstone.serve.http.app import build_app
from ragstone.serve.http.server import uvicorn_config
from ragstone.settings import ServeSettings
from ragstone.settings.load import load
from servers.openai_server import KEY, OpenAIServer

ROOMS = "Room 7 is called Marie Curie. It has twelve seats and a projector."
PARKING = "Visitors park behind the mill. The gate closes at nine in the evening."
SALARIES = "The salary of the director is nine thousand crowns. Bonuses are paid in May."
DOCUMENTS = (
    Document(id="house/rooms.md", text=ROOMS, title="Rooms", metadata={"kind": "markdown"}),
    Document(id="house/parking.md", text=PARKING, title="Parking", metadata={"kind": "markdown"}),
    Document(id="hr/salaries.md", text=SALARIES, title="Salaries", metadata={"readers": ("hr",)}),
)
SLOW = 30.0
"""Seconds after which a wait has failed."""


@dataclass
class Live:
    """A server and a client of it."""

    engine: KnowledgeBase
    http: httpx2.Client
    server: uvicorn.Server
    url: str

    def ask(self, question: str = "Where do visitors park?", **more: Any) -> httpx2.Response:
        return self.http.post("/query", json={"question": question, **more})

    def events(self, question: str = "Where do visitors park?", **more: Any) -> list[tuple[str, Any]]:
        """Return the events of a question as names and data."""
        body = {"question": question, **more}
        with self.http.stream("POST", "/query", json=body, headers={"accept": "text/event-stream"}) as response:
            assert response.headers["content-type"].startswith("text/event-stream"), response.read()
            return events_of(response.read().decode())

    def upload(self, *files: tuple[str, bytes], groups: Sequence[str] | None = None) -> httpx2.Response:
        form = {} if groups is None else {"groups": list(groups)}
        return self.http.post("/documents", files=[("files", file) for file in files], data=form)

    def finished(self, job: httpx2.Response) -> dict[str, Any]:
        """Return a job once it has ended."""
        assert job.status_code == 202, job.text
        return self.until(
            lambda: self.http.get(f"/jobs/{job.json()['job_id']}").json(), lambda it: it["ended"] is not None
        )

    @staticmethod
    def until(look: Any, wanted: Any) -> Any:
        """Call `look` until its result is as wanted, and return it."""
        end = time.monotonic() + SLOW
        while not wanted(found := look()):
            assert time.monotonic() < end, found
            time.sleep(0.02)
        return found


Serving = Callable[..., Live]
"""Serves a knowledge base of its own."""


def events_of(text: str) -> list[tuple[str, Any]]:
    out: list[tuple[str, Any]] = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            out.append((lines["event"], json.loads(lines["data"])))
    return out


@contextmanager
def served(engine: KnowledgeBase, *settings: str) -> Iterator[Live]:
    """Serve an engine under settings of ``serve``, without a limit on the rate, which waiting for a job would reach."""
    changes = ("port=0", "limits.rate_per_minute=0", *settings)
    own: ServeSettings = load([f"serve.{one}" for one in changes]).settings.serve
    config = uvicorn_config(build_app(engine, own), own)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        end = time.monotonic() + SLOW
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            assert time.monotonic() < end, "the server did not start in time"
            time.sleep(0.01)
        url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        with httpx2.Client(base_url=url, timeout=SLOW) as client:
            yield Live(engine, client, server, url)
    finally:
        server.should_exit = True
        thread.join(SLOW)
        assert not thread.is_alive(), "the server did not stop"


def make_key(
    folder: Path, name: str, *scopes: str, groups: Sequence[str] | None = None, limits: KeyLimits | None = None
) -> dict[str, str]:
    """Make a key and return its header."""
    keys = Keys(Journal(folder))
    try:
        _, text = keys.make(name, scopes or ("read",), groups, limits)
    finally:
        keys.close()
    return {"authorization": f"Bearer {text}"}


def written_by(model: OpenAIServer) -> tuple[str, ...]:
    """Return settings under which this model writes every answer."""
    service = (f"services.openai.base_url={model.url}", f"services.openai.api_key={KEY}")
    return ("respond.model.name=openai:m", *service, "respond.abstain_below=0", "services.retries=0")
