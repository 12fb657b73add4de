"""A `ragstone serve` process for benchmarks, and clients that ask it over connections they keep open."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.common import COMMAND, ROOT, percentile
from ragstone.history.journal import Journal
from ragstone.history.keys import KeyLimits, Keys

IDLE = 2.0
"""Seconds after which a client closes an idle connection, before the server does."""
STARTED = "serving"
"""The beginning of the line that names the server's address."""
UNLIMITED = ("serve.limits.rate_per_minute=0", "serve.limits.concurrent=0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The address and the process of a running server."""

    host: str
    port: int
    pid: int


@contextmanager
def served(kb: Path, settings: Sequence[str]) -> Generator[Server]:
    """Serve a knowledge base until the block ends."""
    words = [word for one in settings for word in ("--set", one)]
    with serve_process(["--kb", str(kb), *words], {**os.environ, "PYTHONPATH": str(ROOT)}) as server:
        yield server


@contextmanager
def serve_process(words: Sequence[str], environment: Mapping[str, str]) -> Generator[Server]:
    """Run `ragstone serve` with these words and a free port until the block ends.

    Raises:
        RuntimeError: it does not start.
    """
    command = [*COMMAND, "serve", "--port", "0", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        lines: list[str] = []
        for line in process.stderr:
            lines.append(line)
            if line.startswith(STARTED):
                break
        else:
            raise RuntimeError(f"the server did not start: {''.join(lines)}")
        # A full pipe would block the server's log.
        threading.Thread(target=process.stderr.read, daemon=True).start()
        url = urlsplit(next(word for word in lines[-1].split() if word.startswith("http")).rstrip(";"))
        try:
            yield Server(host=url.hostname or "", port=url.port or 0, pid=process.pid)
        finally:
            process.terminate()


def make_key(kb: Path, name: str, limits: KeyLimits) -> str:
    """Return a new key that may read everything."""
    with closing(Journal(kb)) as journal:
        return Keys(journal).make(name, ["read"], None, limits)[1]


@dataclass(slots=True)
class Run:
    """The outcome of many requests: seconds of the answered ones, statuses, errors, and milliseconds by stage."""

    seconds: list[float] = field(default_factory=list[float])
    statuses: Counter[int] = field(default_factory=Counter[int])
    errors: list[str] = field(default_factory=list[str])
    stages: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    lasted: float = 0.0

    @property
    def failed(self) -> int:
        """Return how many got no answer although no limit was in the way."""
        asked = sum(self.statuses.values()) + len(self.errors)
        return asked - self.statuses[200] - self.statuses[429]

    def rate(self) -> float:
        return len(self.seconds) / self.lasted if self.lasted else 0.0

    def ms(self, percent: float) -> float:
        """Return a percentile of the milliseconds of a request."""
        return 1000 * percentile(self.seconds, percent)

    def stage_ms(self, name: str, percent: float) -> float:
        return percentile(self.stages.get(name, []), percent)


class Client:
    """One connection, kept open between requests. It does little, because it shares the server's processors."""

    def __init__(self, server: Server, key: str) -> None:
        self._server, self._key = server, key
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, question: str) -> tuple[int, dict[str, Any]]:
        """Return status and body of an answer."""
        body = json.dumps({"question": question}).encode()
        head = (
            f"POST /query HTTP/1.1\r\nHost: {self._server.host}:{self._server.port}\r\n"
            f"Authorization: Bearer {self._key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        try:
            if self._writer is None:
                self._reader, self._writer = await asyncio.open_connection(self._server.host, self._server.port)
            assert self._reader is not None
            self._writer.write(head.encode() + body)
            answered = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            length = next(line for line in answered.split("\r\n") if line.startswith("content-length:"))
            content = await self._reader.readexactly(int(length.partition(":")[2]))
        except BaseException:
            self.close()
            raise
        if "\r\nconnection: close" in answered:
            self.close()
        return int(answered.split()[1]), json.loads(content)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


def new(questions: Sequence[str]) -> Iterator[str]:
    """Yield the questions over and over, each time with other marks at the end, so that none was asked before."""
    for count in itertools.count(1):
        for marks in itertools.product("?!.", repeat=count):
            for question in questions:
                yield f"{question.rstrip('?!. ')}{''.join(marks)}"


async def load(
    server: Server, key: str, questions: Iterator[str], *, clients: int, seconds: float, every: float = 0.0
) -> Run:
    """Let clients ask one question after another.

    Args:
        server: the server to ask.
        key: the key that the clients show.
        questions: endless; asked in turn.
        clients: how many ask at the same time.
        seconds: how long new questions are asked.
        every: the least seconds between two questions of one client.
    """
    run = Run()
    started = time.perf_counter()

    async def client() -> None:
        with closing(Client(server, key)) as one:
            while (begun := time.perf_counter()) - started < seconds:
                await _ask(one, next(questions), run)
                idle = max(0.0, begun + every - time.perf_counter())
                if idle > IDLE:
                    one.close()
                await asyncio.sleep(idle)

    await asyncio.gather(*(client() for _ in range(clients)))
    run.lasted = time.perf_counter() - started
    return run


async def _ask(client: Client, question: str, run: Run) -> None:
    begun = time.perf_counter()
    try:
        status, answer = await client.ask(question)
    except (OSError, asyncio.IncompleteReadError, ValueError) as error:
        run.errors.append(f"{type(error).__name__}: {error}")
        return
    run.statuses[status] += 1
    if status == 200:
        run.seconds.append(time.perf_counter() - begun)
        for name, milliseconds in answer["timings_ms"].items():
            run.stages.setdefault(name, []).append(milliseconds)


async def warm(server: Server, key: str, question: str) -> None:
    """Wait until the server has answered a question."""
    with closing(Client(server, key)) as client:
        for _ in range(600):
            with suppress(OSError, asyncio.IncompleteReadError):
                if (await client.ask(question))[0] == 200:
                    return
            await asyncio.sleep(0.1)
    raise RuntimeError("the server did not answer within a minute")
