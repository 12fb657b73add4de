"""How much code a reader walks through to follow one question, one added file, and one question over HTTP.

A profile hook in every thread records the calls and returns of Ragstone's own functions. The process has done the same
work before, so imports, model loading and caches do not count. There are four figures:

files: the source files of ``ragstone/`` in which a function runs.
functions: the distinct functions that run, including lambdas, comprehensions and generator expressions.
switches: how often two events of a thread in a row lie in different files. An event is the call or the return of an own
    function; resuming a coroutine or a generator counts as a call, suspending it as a return.
depth: the largest number of own frames on one stack, above the event loop where there is one.

``ask`` is one question to an open knowledge base. ``add`` opens a knowledge base, adds one new file and closes it, as a
command does. ``http`` is the server's side of one ``POST /query`` in a conversation, answered as an event stream. Each
figure is the median of several runs, each with a different question or file. Background work that the server does
meanwhile is included.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import median_low
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any

import ragstone
from benchmarks.common import ROOT, Options, Result, Table, main
from ragstone.core.access import OWNER
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.serve.cli import app as cli

OWN = str(Path(ragstone.__file__).parent) + os.sep
EVENT_LOOP = asyncio.BaseEventLoop.run_forever.__code__
WARM_RUNS, RUNS, QUICK_RUNS = 2, 9, 3
SETTINGS = ("cache.enabled=false",)
AFTER_REPLY = 0.1
"""Seconds that the server has to log a request after its answer."""
TEXTS = (
    "Room 7 is called Marie Curie. It has twelve seats and a projector.",
    "Visitors park behind the mill. The gate closes at nine in the evening.",
    "The canteen opens at eleven. On Fridays it serves fish.",
)
NEW_TEXT = "Locker {number} is on the second floor. Its key is kept at the reception."
QUESTIONS = (
    "When does the gate close?",
    "How many seats has room 7?",
    "What does the canteen serve on Fridays?",
    "Where do visitors park?",
    "What is room 7 called?",
    "When does the canteen open?",
    "Which room has a projector?",
    "Who was the first king of France?",
    "What do visitors find behind the mill?",
    "At what time is the gate closed?",
    "How many people can sit in Marie Curie?",
)
_CHILD = "import sys; from benchmarks.walk import print_walks; print_walks(*sys.argv[1:])"


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """The code that one operation runs."""

    files: int
    functions: int
    switches: int
    depth: int


class Recorder:
    """Records the calls and returns of own functions between `start` and `stop`."""

    def __init__(self) -> None:
        self._on = False
        self._depth = 0
        self._events: defaultdict[int, list[CodeType]] = defaultdict(list)

    def start(self) -> None:
        self._events.clear()
        self._depth = 0
        self._on = True

    def stop(self) -> Walk:
        self._on = False
        threads = list(self._events.values())
        functions = {code for codes in threads for code in codes}
        switches = sum(
            one.co_filename != other.co_filename for codes in threads for one, other in itertools.pairwise(codes)
        )
        files = {code.co_filename for code in functions}
        return Walk(files=len(files), functions=len(functions), switches=switches, depth=self._depth)

    def see(self, frame: FrameType, event: str, _: Any) -> None:
        """Record an event; this is the profile hook of every thread."""
        if self._on and event in ("call", "return") and frame.f_code.co_filename.startswith(OWN):
            self._events[threading.get_ident()].append(frame.f_code)
            if event == "call":
                self._depth = max(self._depth, _own_frames(frame))


async def measure(options: Options) -> Result:
    """Measure in a process of its own: the server needs its main thread."""
    runs = QUICK_RUNS if options.quick else RUNS
    with TemporaryDirectory(prefix="ragstone-walk-") as folder:
        command = [sys.executable, "-c", _CHILD, folder, str(runs)]
        child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if child.returncode:
        raise RuntimeError(f"the measuring process failed: {child.stderr[-2000:]}")
    return summary({name: Walk(**walk) for name, walk in json.loads(child.stdout.splitlines()[-1]).items()})


def summary(walks: Mapping[str, Walk]) -> Result:
    """Return a row for each operation."""
    columns = ["operation", "files", "functions", "switches", "depth"]
    rows = [[name, *(f"{value:,}" for value in asdict(walk).values())] for name, walk in walks.items()]
    figures = {name: asdict(walk) for name, walk in walks.items()}
    return Result(figures=figures, tables=[Table(title="Own code that one operation runs", columns=columns, rows=rows)])


def print_walks(folder: str, runs: str) -> None:
    """Measure all operations in this process and print the figures as JSON."""
    recorder = Recorder()
    threading.setprofile(recorder.see)
    sys.setprofile(recorder.see)
    kb, count = Path(folder) / "kb", WARM_RUNS + int(runs)
    files = [Path(folder) / f"{number}.txt" for number in range(len(TEXTS) + count)]
    for number, path in enumerate(files):
        path.write_text(TEXTS[number] if number < len(TEXTS) else NEW_TEXT.format(number=number), encoding="utf-8")
    old, new = files[: len(TEXTS)], files[len(TEXTS) :]
    walks = {**asyncio.run(_walk_engine(recorder, kb, old, new)), "http": _walk_http(recorder, kb, count)}
    sys.setprofile(None)
    print(json.dumps({name: asdict(_median(each[WARM_RUNS:])) for name, each in walks.items()}))


async def _walk_engine(recorder: Recorder, kb: Path, old: Sequence[Path], new: Sequence[Path]) -> dict[str, list[Walk]]:
    """Ask about old files and add new ones. This is the only place that calls the Python API."""
    walks: dict[str, list[Walk]] = {"ask": [], "add": []}
    with closing(KnowledgeBase.open(kb, SETTINGS, create=True)) as engine:
        await engine.documents.add([str(path) for path in old])
        for question in QUESTIONS[: len(new)]:
            recorder.start()
            await engine.ask(question, reader=OWNER)
            walks["ask"].append(recorder.stop())
    for path in new:
        recorder.start()
        with closing(KnowledgeBase.open(kb, SETTINGS)) as engine:
            await engine.documents.add([str(path)])
        walks["add"].append(recorder.stop())
    return walks


def _walk_http(recorder: Recorder, kb: Path, count: int) -> list[Walk]:
    """Serve the knowledge base in this thread while another thread asks over loopback."""
    walks: list[Walk] = []
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    def ask() -> None:
        try:
            _wait_for(port)
            for question in QUESTIONS[:count]:
                recorder.start()
                _post(port, question, session="walk")
                time.sleep(AFTER_REPLY)
                walks.append(recorder.stop())
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    client = threading.Thread(target=ask)
    client.start()
    cli.run(("serve", "--kb", str(kb), "--port", str(port), *(word for one in SETTINGS for word in ("--set", one))))
    client.join()
    if len(walks) < count:
        raise RuntimeError("the server did not answer all questions; see the errors above")
    return walks


def _wait_for(port: int) -> None:
    """Wait until the server accepts connections."""
    for _ in range(300):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.1)
    raise RuntimeError("the server did not start within 30 s")


def _post(port: int, question: str, *, session: str) -> None:
    """Ask one question of a conversation and read the answer's events to the end, as the page does."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/query",
        data=json.dumps({"question": question, "session": session}).encode(),
        headers={"Content-Type": "application/json", "Accept": "text/event-stream"},
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        reply.read()


def _median(walks: Sequence[Walk]) -> Walk:
    return Walk(**{each.name: median_low(getattr(walk, each.name) for walk in walks) for each in fields(Walk)})


def _own_frames(frame: FrameType | None) -> int:
    """Return how many frames of own code are on the stack, down to the event loop that runs them."""
    count = 0
    while frame is not None and frame.f_code is not EVENT_LOOP:
        count += frame.f_code.co_filename.startswith(OWN)
        frame = frame.f_back
    return count


if __name__ == "__main__":
    main({"walk": measure}, "walk")
