"""Parsing in a process of its own, so that a file that hangs, crashes or swells costs only itself.

One worker parses file after file. It is started when the first file needs one and again after a failure. Requests
and replies are JSON over a socket pair: nothing that comes back is code.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path

from ragstone.acquire.readers.decode import MEGABYTE, Unreadable
from ragstone.acquire.readers.parsed import File, Parsed, from_json, to_json
from ragstone.sections import AcquireSettings

_START_SECONDS = 60
_FILES_EACH = 200
"""A worker is replaced after so many files, for what a library forgets to free counts against the next file."""
_FORBIDDEN = (
    "socket.connect",
    "socket.bind",
    "socket.getaddrinfo",
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.fork",
)
"""Events of Python's audit hooks: what no parser has any business to do."""


class Worker:
    """Hands files to a process that parses them. Use it as a context manager: it ends the process."""

    def __init__(self, settings: AcquireSettings) -> None:
        self.settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._files = 0

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def parse(self, module: str, file: File) -> Parsed:
        """What the function ``parse`` of a module makes of a file.

        Raises:
            Unreadable: it gives no text, or the parser failed; says how.
        """
        if self._files >= _FILES_EACH:
            self._stop()
        pipe = self._pipe or self._start()
        self._files += 1
        try:
            pipe.send_bytes(json.dumps([module, os.fsdecode(file.path), file.name, file.source, file.suffix]).encode())
            if not pipe.poll(self.settings.parse_seconds):
                self._stop()
                raise Unreadable(f"took more than {self.settings.parse_seconds:g} s")
            verdict, body = pipe.recv_bytes().split(b"\n", 1)
        except (EOFError, OSError) as error:
            raise Unreadable(self._post_mortem()) from error
        if verdict == b"memory":
            self._stop()
            raise Unreadable(f"needs more than {self.settings.parse_mb} MB")
        if verdict == b"unreadable":
            raise Unreadable(body.decode())
        return from_json(body)

    def _start(self) -> Connection:
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-P", "-m", "ragstone.acquire.worker", str(theirs.fileno())]
        # Not multiprocessing.Process, which would run the caller's main module once more.
        self._process = subprocess.Popen(
            [*command, self.settings.model_dump_json()],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)},
        )
        theirs.close()
        pipe = Connection(ours.detach())
        self._pipe, self._files = pipe, 0
        # It says when it is ready, so that its start does not count against the first file.
        try:
            started = pipe.poll(_START_SECONDS) and pipe.recv_bytes()
        except (EOFError, OSError):
            started = False
        if not started:
            self._stop()
            raise Unreadable("the process that parses files did not start")
        return pipe

    def _stop(self) -> int:
        """End the process, whatever it is doing; its exit code."""
        if self._pipe:
            self._pipe.close()
        code = 0
        if self._process:
            self._process.kill()
            code = self._process.wait()
        self._process = self._pipe = None
        self._files = 0
        return code

    def _post_mortem(self) -> str:
        """How the process died, in words."""
        code = None
        if self._process:
            try:
                code = self._process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                code = None
        self._stop()
        if code is not None and code < 0:
            return f"crashed (signal {-code})"
        return "crashed" if code is None else f"crashed (exit code {code})"


# ---------------------------------------------------------------- inside the process


def main() -> None:
    """Parse what is asked for until the other side hangs up."""
    pipe = Connection(int(sys.argv[1]))
    settings = AcquireSettings.model_validate_json(sys.argv[2])
    _limit(settings)
    pipe.send_bytes(b"ready")
    while request := _take(pipe):
        module, path, name, source, suffix = json.loads(request)
        file = File(path=Path(path), name=name, source=source, suffix=suffix, settings=settings)
        # Should the other side be gone, nobody is left to end a hang.
        signal.setitimer(signal.ITIMER_REAL, settings.parse_seconds + 5)
        pipe.send_bytes(_reply(module, file))
        signal.setitimer(signal.ITIMER_REAL, 0)


def _reply(module: str, file: File) -> bytes:
    try:
        return b"parsed\n" + to_json(import_module(module).parse(file))
    except MemoryError:
        return b"memory\n"
    except Unreadable as error:
        return b"unreadable\n" + str(error).encode("utf-8", "replace")
    except RecursionError:
        return b"unreadable\ndamaged: nested too deep"
    except Exception as error:  # A parser met by a broken file may raise anything.
        return b"unreadable\n" + f"damaged: {type(error).__name__}: {error}".encode("utf-8", "replace")


def _limit(settings: AcquireSettings) -> None:
    try:
        import resource

        limit = int(settings.parse_mb * MEGABYTE)
        # Not the address space, of which libraries reserve much that they never use.
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        pass  # Not every system has them; the time limit holds everywhere.

    def refuse(event: str, _: object) -> None:
        if event in _FORBIDDEN:
            raise PermissionError(f"{event} while parsing a file")

    sys.addaudithook(refuse)


def _take(pipe: Connection) -> bytes:
    try:
        return pipe.recv_bytes()
    except EOFError:
        return b""


if __name__ == "__main__":
    main()
