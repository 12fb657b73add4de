"""Several processes that serve one knowledge base: starts, watches, replaces and stops them.

It holds the listening socket and nothing of the knowledge base. A process that ends by itself is replaced, at once the
first time, and then after longer and longer pauses. SIGHUP replaces all processes one after another: the new one has
loaded its models before the old one stops accepting connections and finishes what it has begun. SIGTERM and Ctrl-C
stop all of them.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from ragstone.core.errors import UsageError
from ragstone.core.frozen import frozen
from ragstone.core.processors import processors
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.serve.http.server import open_door
from ragstone.serve.http.serving_process import Launch
from ragstone.serve.http.shares import Shares
from ragstone.serve.http.telemetry import LOGGER, METRICS_FOLDER, forget_process

MODULE = "ragstone.serve.http.serving_process"
STEADY_SECONDS = 30.0
"""A process that has lived this long is replaced at once when it ends."""
MAX_PAUSE_SECONDS = 30.0
READY_SECONDS = 300.0
"""How long a new process may take to load its models before it is given up."""
STOP_MARGIN_SECONDS = 10.0
"""Time of a process to close everything, beyond that of its answers."""


@dataclass(slots=True, kw_only=True, eq=False)
class _Process:
    place: int
    number: int
    started: asyncio.subprocess.Process
    control: socket.socket
    began: float = field(default_factory=time.monotonic)
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self.started.send_signal(number)


class Supervisor:
    """Keeps a number of processes that serve."""

    def __init__(self, launch: Launch, *, stop_seconds: float) -> None:
        """Prepare to serve.

        Args:
            launch: what the first process serves; the others differ in their place.
            stop_seconds: how long answers may take to finish when the server stops.
        """
        self._launch, self._stop_seconds = launch, stop_seconds
        # At most one is being replaced, so that memory does not double.
        self._shares = Shares.make(Path(launch.shares), launch.processes + 1)
        self._in_use: dict[int, _Process] = {}
        self._alive: set[_Process] = set()
        self._failures = Counter[int]()
        self._tasks: set[asyncio.Task[None]] = set()
        self._renew, self._stop = asyncio.Event(), asyncio.Event()
        self._was_ready, self._code = False, 0

    async def run(self) -> int:
        """Serve until told to stop; return the exit code, which is that of a process that could not start."""
        loop = asyncio.get_running_loop()
        for number, handle in (
            (signal.SIGTERM, self._on_stop),
            (signal.SIGINT, self._on_stop),
            (signal.SIGHUP, self._renew.set),
        ):
            loop.add_signal_handler(number, handle)
        try:
            for place in range(self._launch.processes):
                await self._start(place)
            renewing = asyncio.create_task(self._renew_on_request())
            await self._stop.wait()
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
        finally:
            await self._end_all()
        return self._code

    def _on_stop(self) -> None:
        if self._stop.is_set():  # told twice
            for process in self._alive:
                process.signal(signal.SIGKILL)
        self._stop.set()

    # ------------------------------------------------------------ one process

    async def _start(self, place: int, *, warm_first: bool = False, is_spare: bool = False) -> _Process:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        taken = {process.number for process in self._alive}
        number = next(one for one in range(len(taken) + 1) if one not in taken)
        launch = replace(self._launch, place=place, number=number, warm_first=warm_first)
        path = os.pathsep.join(one or str(Path.cwd()) for one in sys.path)
        with theirs:
            started = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", MODULE, str(theirs.fileno()),
                pass_fds=(theirs.fileno(), launch.listener),
                stdin=asyncio.subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C reaches the supervisor alone
                env={**os.environ, "PYTHONPATH": path},
            )  # fmt: skip
        process = _Process(place=place, number=number, started=started, control=ours)
        self._alive.add(process)
        if not is_spare:
            self._in_use[place] = process
        with suppress(OSError):  # it has ended already
            await asyncio.get_running_loop().sock_sendall(ours, launch.to_json())
        for work in (self._listen(process), self._watch(process)):
            task = asyncio.create_task(work)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return process

    async def _listen(self, process: _Process) -> None:
        with suppress(OSError):
            if await asyncio.get_running_loop().sock_recv(process.control, 64):
                self._was_ready = True
                process.ready.set()
                self._log("process ready", process)

    async def _watch(self, process: _Process) -> None:
        """Wait for the end of a process, and replace it if nobody ordered that end."""
        code = await process.started.wait()
        process.control.close()
        process.ended.set()
        self._alive.discard(process)
        self._shares.drop(process.number)
        forget_process(process.started.pid)
        if self._stop.is_set() or self._in_use.get(process.place) is not process:
            return
        self._log("process ended", process, code=code, is_problem=True)
        if not self._was_ready and code > 0:  # it has said why, and another would fail likewise
            self._code = code
            self._stop.set()
            return
        lived = time.monotonic() - process.began
        failures = self._failures[process.place] = 1 if lived > STEADY_SECONDS else self._failures[process.place] + 1
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), _pause(failures))
        if not self._stop.is_set() and self._in_use.get(process.place) is process:
            await self._start(process.place, warm_first=True)

    def _log(self, event: str, process: _Process, code: int | None = None, *, is_problem: bool = False) -> None:
        facts = {"process": process.place, "pid": process.started.pid}
        say = LOGGER.warning if is_problem else LOGGER.info
        say(event, facts if code is None else {**facts, "code": code})

    # ------------------------------------------------------------ all processes

    async def _renew_on_request(self) -> None:
        while True:
            await self._renew.wait()
            self._renew.clear()
            for place in range(self._launch.processes):
                if not await self._renew_one(place):
                    break

    async def _renew_one(self, place: int) -> bool:
        """Replace a process; return whether the new one serves. If it does not, the old one stays."""
        new = await self._start(place, warm_first=True, is_spare=True)
        waiting = [asyncio.create_task(event.wait()) for event in (new.ready, new.ended)]
        await asyncio.wait(waiting, timeout=READY_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        if not new.ready.is_set() or new.ended.is_set():
            self._log("new process failed; the old ones go on", new, is_problem=True)
            new.signal(signal.SIGKILL)
            await new.ended.wait()
            return False
        old, self._in_use[place] = self._in_use[place], new
        old.signal(signal.SIGHUP)
        try:
            await asyncio.wait_for(old.ended.wait(), self._stop_seconds + STOP_MARGIN_SECONDS)
        except TimeoutError:
            old.signal(signal.SIGKILL)
            await old.ended.wait()
        return True

    async def _end_all(self) -> None:
        for process in self._alive:
            process.signal(signal.SIGTERM)
        ends = [asyncio.create_task(process.ended.wait()) for process in self._alive]
        if ends:
            _, late = await asyncio.wait(ends, timeout=self._stop_seconds + STOP_MARGIN_SECONDS)
            for process in [*self._alive] if late else ():
                process.signal(signal.SIGKILL)
        await asyncio.gather(*self._tasks, return_exceptions=True)


@frozen
class Several:
    """A server of several processes that listens already."""

    bound: socket.socket
    launch: Launch
    stop_seconds: float

    def run(self) -> int:
        """Serve until told to stop; return the exit code."""
        with self.bound, TemporaryDirectory(prefix="ragstone-metrics-") as folder:
            os.environ[METRICS_FOLDER] = folder
            launch = replace(self.launch, shares=str(Path(folder, "connections")))
            try:
                return asyncio.run(Supervisor(launch, stop_seconds=self.stop_seconds).run())
            finally:
                del os.environ[METRICS_FOLDER]


def several(
    engine: KnowledgeBase, preset: str | None, overrides: Sequence[str], *, tls: bool, tell: Callable[[str], None]
) -> Several:
    """Prepare to serve a knowledge base with as many processes as its settings say. The caller closes the engine.

    Args:
        engine: the knowledge base.
        preset: as it was opened with.
        overrides: as it was opened with; each process opens it likewise.
        tls: whether to encrypt connections.
        tell: shows a line to whoever started the server.

    Raises:
        UsageError: this system cannot do it, or other machines could connect and there is no key yet.
        SettingsError: the address is not available, or the certificate cannot be read.
    """
    if sys.platform == "win32":
        raise UsageError("on Windows one process serves; remove --workers and serve.workers")
    settings = engine.settings
    door = open_door(engine, settings.serve, tls=tls, tell=tell)
    processes = settings.serve.workers
    if not settings.index.threads:  # they share the processors
        overrides = (*overrides, f"index.threads={max(1, processors() // processes)}")
    launch = Launch(
        kb=str(engine.folder.resolve()),
        preset=preset,
        overrides=tuple(overrides),
        listener=door.bound.fileno(),
        certificate=door.certificate,
        key=door.key,
        shares="",
        number=0,
        place=0,
        processes=processes,
        warm_first=False,
    )
    return Several(bound=door.bound, launch=launch, stop_seconds=settings.serve.stop_seconds)


def _pause(failures: int) -> float:
    """Return the seconds before a process that failed so often in a row is started again."""
    return 0.0 if failures < 2 else min(MAX_PAUSE_SECONDS, 2.0 ** (failures - 2))
