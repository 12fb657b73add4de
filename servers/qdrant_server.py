"""Qdrant's own engine as a server on loopback, in a separate process that can be killed and started again.

`qdrant_process` is that process. With a key, it refuses requests without it; with a certificate, it speaks TLS. It
builds a graph when `optimize` is called.
"""

from __future__ import annotations

import atexit
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_PROGRAM = Path(__file__).with_name("qdrant_process.py")


def is_installed() -> bool:
    return find_spec("qdrant_edge") is not None


@cache
def shared() -> QdrantServer:
    """Return the one server of all tests; skip the test if the engine's package is not installed."""
    import pytest  # benchmarks do without it

    if not is_installed():
        pytest.skip("Qdrant's engine, the package qdrant-edge-py, is not installed")
    server = QdrantServer()
    atexit.register(server.stop)
    return server


class QdrantServer:
    """A server that starts when it is made; `stop` ends it and removes its files.

    Args:
        key: that requests must have in ``api-key``, if not empty.
        certificate: PEM files of a certificate and of its private key.
    """

    def __init__(self, key: str = "", certificate: tuple[Path, Path] | None = None) -> None:
        self._options = [key, *map(str, certificate or ())]
        self._folder = Path(tempfile.mkdtemp(prefix="rsq-"))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.url = f"http{'s' if certificate else ''}://127.0.0.1:{self._port}"
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def files(self) -> Path:
        """The folder of the server's files."""
        return self._folder

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start the server, also after `kill`, and wait until it answers."""
        command = [sys.executable, str(_PROGRAM), str(self._folder), str(self._port), *self._options]
        self._process = subprocess.Popen(command)
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", self._port), 0.1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("the server does not listen")

    def kill(self) -> None:
        """Kill the server with SIGKILL."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def optimize(self) -> None:
        """Build the graphs of all collections."""
        with urllib.request.urlopen(f"{self.url}/optimize", timeout=3600) as answer:
            answer.read()

    def stop(self) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
