"""Parsing in a separate process, so that a file that hangs, crashes or swells costs only itself.

One process parses file after file. It starts with the first file that needs it, and again after a failure. Requests and
replies are JSON over a socket pair: nothing that comes back is code.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event, Lock

from ragstone.acquire.ocr.engines import ocr_program
from ragstone.acquire.readers import programs
from ragstone.acquire.readers.decode import MEGABYTE, Unreadable
from ragstone.acquire.readers.parsed import File, Parsed
from ragstone.acquire.readers.parser_messages import Request, from_json, to_json
from ragstone.core.reading import with_notice
from ragstone.core.records import READ_SECONDS
from ragstone.core.threads import Stopped, check
from ragstone.settings import AcquireSettings
from ragstone.settings.acquire import CaptionSettings

_START_SECONDS = 60.0
_POLL_SECONDS = 0.1
"""Time between two checks of whether a stop is requested."""
_AROUND_PAGE_SECONDS = 15.0
"""Time in which OCR loads the engine, draws the page and puts its lines in order, in addition to that for reading."""
_MOST_FILES = 200
"""Files after which the process is replaced: memory that a library fails to free counts against the next file."""
_WORKING = b"working"
"""What the process sends in the middle of a file whose pages it reads one by one."""
_MOST_WORKING = 4
"""Times that a page or picture may report it: when it begins, when it is read, and turned upside down."""
_FORBIDDEN = (
    "socket.connect",
    "socket.bind",
    "socket.getaddrinfo",
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.fork",
)
"""Audit events of what no parser has any business doing."""


class ParserProcess:
    """A process that parses files. Use it as a context manager, which ends the process.

    Args:
        settings: limits of time and memory.
        stop: when it is set, `parse` ends the process and raises `Stopped`, even in the middle of a file.
    """

    def __init__(self, settings: AcquireSettings, stop: Event | None = None) -> None:
        self.settings = settings
        self._stop, self._closed, self._busy = stop, Event(), Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._files = 0

    def __enter__(self) -> ParserProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process. A `parse` in another thread raises `Stopped`."""
        self._closed.set()
        with self._busy:
            self._end()

    def parse(self, reader: str, file: File) -> Parsed:
        """Return what the function of a reader, ``package.module`` or ``package.module:function``, makes of a file.

        Raises:
            Unreadable: the file gives no text, or the parser failed; the message says how.
            Stopped: a stop was requested, or the process was closed.
        """
        with self._busy:
            return self._parse(reader, file)

    def _parse(self, reader: str, file: File) -> Parsed:
        looks = self.settings.ocr != "off" or self.settings.captions.model
        most = self.settings.ocr_pages if looks else 0
        try:
            return self._request(reader, file, most)
        except _Lost as lost:
            if not lost.at_work or not most:
                raise
            # The pictures before the one that failed, and the text of the file, can still be read.
            read = max(min((lost.at_work - 1) // 2 - 1, most - 1), 0)
            try:
                parsed = self._request(reader, file, read)
            except Unreadable:
                raise lost from None
            count = f"only the first {read}" if read else "none"
            partial = f"{count} of its pictures were read: OCR {lost}"
            return replace(parsed, facts=with_notice(parsed.facts, partial))

    def _request(self, reader: str, file: File, pictures: int) -> Parsed:
        """Return what a reader makes of a file and of so many of its pictures at most."""
        self._check_stop()
        if self._files >= _MOST_FILES:
            self._end()
        pipe = self._pipe or self._start()
        self._files += 1
        at_work = 0
        try:
            pipe.send_bytes(Request.of(file, reader, pictures).to_json())
            for reply in self._replies(pipe):
                if reply != _WORKING:
                    return _parsed(reply)
                at_work += 1
        except (EOFError, OSError) as error:
            raise _Lost(self._cause_of_death(), at_work) from error
        except _OutOfMemory as error:
            self._end()
            raise _Lost(str(error), at_work) from error
        self._end()
        setting = "ocr_seconds" if at_work else "parse_seconds"
        raise _Lost(f"took more than {getattr(self.settings, setting):g} s (acquire.{setting})", at_work)

    def _replies(self, pipe: Connection) -> Iterator[bytes]:
        """Yield what the process sends, as long as it is in time. Each page that OCR begins gives it more."""
        seconds = self.settings.parse_seconds
        for _ in range(_MOST_WORKING * (self.settings.ocr_pages + 1)):
            if not self._answers(pipe, seconds):
                return
            yield pipe.recv_bytes()
            seconds = _page_seconds(self.settings)

    def _start(self) -> Connection:
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-P", "-m", __name__, str(theirs.fileno()), self.settings.model_dump_json()]
        # Not multiprocessing.Process, which would run the caller's main module again.
        self._process = subprocess.Popen(
            command,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a group of its own, in which the programs that it runs end with it
            # Looking for plugins, pydantic reads the metadata of every installed package.
            env={
                "PYDANTIC_DISABLE_PLUGINS": "__all__",
                **os.environ,
                "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path),
            },
        )
        theirs.close()
        pipe = Connection(ours.detach())
        self._pipe, self._files = pipe, 0
        # The process reports that it is ready, so that its start does not count against the first file.
        ready = b""
        with suppress(EOFError, OSError):
            ready = pipe.recv_bytes() if self._answers(pipe, _START_SECONDS) else b""
        if not ready:
            self._end()
            raise Unreadable("the process that parses files did not start")
        return pipe

    def _answers(self, pipe: Connection, seconds: float) -> bool:
        """Return whether the process sends something in time."""
        deadline = time.monotonic() + seconds
        while not pipe.poll(max(0.0, min(_POLL_SECONDS, deadline - time.monotonic()))):
            self._check_stop()
            if time.monotonic() >= deadline:
                return False
        return True

    def _check_stop(self) -> None:
        try:
            check(self._stop)
            check(self._closed)
        except Stopped:
            self._end()
            raise

    def _end(self) -> None:
        """Kill the process and the programs that it runs, whatever they are doing."""
        if self._pipe:
            self._pipe.close()
        if self._process:
            with suppress(OSError):  # all of them are gone
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process = self._pipe = None
        self._files = 0

    def _cause_of_death(self) -> str:
        code = None
        if self._process:
            with suppress(subprocess.TimeoutExpired):
                code = self._process.wait(timeout=5)
        self._end()
        if code is None:
            return "crashed"
        return f"crashed (signal {-code})" if code < 0 else f"crashed (exit code {code})"


# ---------------------------------------------------------------- inside the process


def main() -> None:
    """Parse files on request until the parent closes its end."""
    pipe = Connection(int(sys.argv[1]))
    settings = AcquireSettings.model_validate_json(sys.argv[2])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent ends this process.
    _limit(settings)
    memory = _Memory(settings)
    pipe.send_bytes(b"ready")
    while request := _receive(pipe):
        asked = Request.from_json(request)
        none = {"ocr": "off", "captions": CaptionSettings()}
        own = settings.model_copy(update={"ocr_pages": asked.pictures} if asked.pictures else none)
        at_work = partial(_at_work, pipe, own, memory)
        file = asked.file(own, at_work)
        # If the parent is gone, nothing else ends a hang.
        signal.setitimer(signal.ITIMER_REAL, settings.parse_seconds + 5)
        reply = _reply(asked.reader, file)
        del file, at_work
        memory.put_back()
        pipe.send_bytes(reply)
        signal.setitimer(signal.ITIMER_REAL, 0)


def _receive(pipe: Connection) -> bytes:
    try:
        return pipe.recv_bytes()
    except EOFError:
        return b""


def _at_work(pipe: Connection, settings: AcquireSettings, memory: _Memory) -> None:
    """Ask for time for another page, and for the memory that OCR takes."""
    signal.setitimer(signal.ITIMER_REAL, _page_seconds(settings) + 5)
    memory.raise_for_ocr()
    pipe.send_bytes(_WORKING)


class _Memory:
    """The limit of memory, which is higher for a file while OCR reads its pictures.

    What the engine keeps for the next picture does not count against the files between.
    """

    def __init__(self, settings: AcquireSettings) -> None:
        self._settings, self._raised, self._before = settings, False, _held_mb()

    def raise_for_ocr(self) -> None:
        if not self._raised:
            self._raised = True
            _limit_memory(self._settings.parse_mb + self._settings.ocr_mb)

    def put_back(self) -> None:
        if self._raised:
            gc.collect()
            kept = min(max(_held_mb() - self._before, 0.0), self._settings.ocr_mb)
            _limit_memory(self._settings.parse_mb + kept)
            self._raised = False


def _reply(reader: str, file: File) -> bytes:
    module, _, function = reader.partition(":")
    try:
        parse = getattr(import_module(module), function or "parse")
        started = time.perf_counter()
        parsed = parse(file)
        seconds = round(time.perf_counter() - started, 3)
        return b"parsed\n" + to_json(replace(parsed, facts={**parsed.facts, READ_SECONDS: seconds}))
    except MemoryError:
        return f"memory\n{_memory_mb()}".encode()
    except Unreadable as error:
        return b"unreadable\n" + str(error).encode("utf-8", "replace")
    except RecursionError:
        return b"unreadable\ndamaged: nested too deep"
    except BaseException as error:  # A broken file may make a parser raise anything; those in Rust raise no Exception.
        return b"unreadable\n" + f"damaged: {type(error).__name__}: {error}".encode("utf-8", "replace")


def _limit(settings: AcquireSettings) -> None:
    _limit_memory(settings.parse_mb)
    allowed = {path for path in (ocr_program(settings.ocr), programs.manuals(), *programs.office()) if path}

    def refuse(event: str, details: tuple[object, ...]) -> None:
        if event in _FORBIDDEN and not (event == "subprocess.Popen" and details[0] in allowed):
            raise PermissionError(f"{event} while parsing a file")

    sys.addaudithook(refuse)


def _limit_memory(megabytes: float) -> None:
    # Not every system has these limits; the time limit holds everywhere.
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        # Not the address space: libraries reserve much of it that they never use.
        resource.setrlimit(resource.RLIMIT_DATA, (int(megabytes * MEGABYTE), most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _memory_mb() -> int:
    """Return the memory that this process may use."""
    import resource

    return int(resource.getrlimit(resource.RLIMIT_DATA)[0] / MEGABYTE)


def _held_mb() -> float:
    """Return the memory that this process holds, as the limit counts it; 0 where the system does not say."""
    with suppress(OSError, IndexError, ValueError):
        written = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(written.partition("VmData:")[2].split()[0]) * 1024 / MEGABYTE
    return 0.0


# ---------------------------------------------------------------- between the processes


class _Lost(Unreadable):
    """The process failed in the middle of a file, after it had reported ``at_work`` times that it reads pictures."""

    def __init__(self, reason: str, at_work: int) -> None:
        super().__init__(reason)
        self.at_work = at_work


class _OutOfMemory(Exception):
    """A file needs more memory than the process may use."""


def _page_seconds(settings: AcquireSettings) -> float:
    """Return the time for a page that OCR reads. The engine keeps its own limit; this is for what surrounds it."""
    return max(settings.parse_seconds, settings.ocr_seconds + _AROUND_PAGE_SECONDS)


def _parsed(reply: bytes) -> Parsed:
    """Return the file in a reply.

    Raises:
        Unreadable: it gives no text.
        _OutOfMemory: it needs too much memory.
    """
    verdict, body = reply.split(b"\n", 1)
    if verdict == b"memory":
        raise _OutOfMemory(f"needs more than {body.decode()} MB")
    if verdict == b"unreadable":
        raise Unreadable(body.decode())
    return from_json(body)


if __name__ == "__main__":
    main()
