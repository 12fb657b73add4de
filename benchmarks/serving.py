"""A `ragstone serve` process for the benchmarks, and clients that ask it over connections they keep."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from benchmarks.common import ROOT
from ragstone.index import Journal
from ragstone.usage.keys import KeyLimits, Keys

IDLE = 2.0
"""Seconds for which a connection is kept that nobody uses; after some more the server would close it."""
STARTED = "serving"
"""What the line begins with that tells where the server is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running process: its address, and its number."""

    host: str
    port: int
    pid: int

    def megabytes(self) -> float:
        """What the process holds in memory."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
        return int(kilobytes) / 1000


@contextmanager
def served(kb: Path, settings: Sequence[str]) -> Iterator[Server]:
    """Serve a knowledge base until the block ends."""
    start = "from ragstone.serve.cli import main; main()"
    named = [word for one in settings for word in ("--set", one)]
    command = [sys.executable, "-c", start, "serve", "--kb", str(kb), "--port", "0", *named]
    own = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=own) as process:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if line.startswith(STARTED):
                break
        else:
            raise RuntimeError(f"the server did not start: {''.join(said)}")
        # Its log must be read, or it would wait for that.
        threading.Thread(target=process.stderr.read, daemon=True).start()
        url = urlsplit(next(word for word in line.split() if word.startswith("http")).rstrip(";"))
        try:
            yield Server(host=url.hostname or "", port=url.port or 0, pid=process.pid)
        finally:
            process.terminate()


def make_key(kb: Path, name: str, limits: KeyLimits) -> str:
    """A new key that may read everything."""
    with closing(Journal(kb)) as journal:
        return Keys(journal).make(name, ["read"], None, limits)[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """An answer: when its question was asked, whether it says that the documents do not tell, and its notices."""

    at: float
    abstained: bool
    notices: str


@dataclass(slots=True)
class Run:
    """What came of many requests: seconds of each that was answered, what else happened, and the answers' stages."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    stages: dict[str, list[float]] = field(default_factory=dict)
    said: list[Said] = field(default_factory=list)
    lasted: float = 0.0

    @property
    def asked(self) -> int:
        return sum(self.statuses.values()) + len(self.errors)

    @property
    def failed(self) -> int:
        """Those that got no answer, though no limit was in the way."""
        return self.asked - self.statuses[200] - self.statuses[429]

    def rate(self) -> float:
        return len(self.seconds) / self.lasted if self.lasted else 0.0

    def quantile(self, share: float) -> float:
        """Milliseconds."""
        return float(np.quantile(self.seconds, share)) * 1000 if self.seconds else float("nan")

    def stage(self, name: str, share: float) -> float:
        """Milliseconds of a stage."""
        return float(np.quantile(self.stages[name], share)) if self.stages.get(name) else float("nan")


class Client:
    """One connection, kept between requests. It does little, for it takes its time from the server's processors."""

    def __init__(self, server: Server, key: str) -> None:
        self._server, self._key = server, key
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, question: str) -> tuple[int, dict[str, Any]]:
        """Status and body of an answer."""
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


async def load(
    server: Server,
    key: str,
    questions: Sequence[str],
    *,
    clients: int,
    seconds: float,
    every: float = 0.0,
    stop: asyncio.Event | None = None,
) -> Run:
    """So many clients that ask one question after another.

    Args:
        server: that is asked.
        key: that they show.
        questions: in turn, over and over.
        clients: at the same time.
        seconds: after which no new question is asked.
        every: seconds from one question of a client to the next, where it does not wait for the answer's sake alone.
        stop: set where no new question is to be asked from now on.
    """
    run, turn = Run(), itertools.count()
    started, stopped = time.perf_counter(), stop or asyncio.Event()

    async def client() -> None:
        with closing(Client(server, key)) as one:
            while (begun := time.perf_counter()) - started < seconds and not stopped.is_set():
                await _asked(one, questions[next(turn) % len(questions)], run)
                idle = max(0.0, begun + every - time.perf_counter())
                if idle > IDLE:
                    one.close()
                await asyncio.sleep(idle)

    await asyncio.gather(*(client() for _ in range(clients)))
    run.lasted = time.perf_counter() - started
    return run


async def _asked(client: Client, question: str, run: Run) -> None:
    begun = time.perf_counter()
    try:
        status, answer = await client.ask(question)
    except (OSError, asyncio.IncompleteReadError, ValueError) as error:
        run.errors.append(f"{type(error).__name__}: {error}")
        return
    run.statuses[status] += 1
    if status != 200:
        return
    run.seconds.append(time.perf_counter() - begun)
    for name, milliseconds in answer["timings_ms"].items():
        run.stages.setdefault(name, []).append(milliseconds)
    run.said.append(Said(at=begun, abstained=answer["abstained"], notices=" ".join(answer["notices"])))


async def warmed(server: Server, key: str, question: str) -> None:
    """Wait until the server has answered."""
    with closing(Client(server, key)) as client:
        for _ in range(600):
            with suppress(OSError, asyncio.IncompleteReadError):
                if (await client.ask(question))[0] == 200:
                    return
            await asyncio.sleep(0.1)
    raise RuntimeError("the server answers nothing")
