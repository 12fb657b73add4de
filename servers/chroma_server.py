"""Chroma's own server on loopback, with its own folder; it can be killed and started again on the same files."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path


def is_installed() -> bool:
    return find_spec("chromadb") is not None


class ChromaServer:
    """A server that starts when it is made; `stop` ends it and removes its files."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="rsc-"))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
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
        program = shutil.which(str(Path(sys.executable).with_name("chroma"))) or "chroma"
        command = [program, "run", "--path", str(self._folder), "--host", "127.0.0.1", "--port", str(self._port)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=self._folder)
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", self._port), 0.1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError("the server does not listen")

    def kill(self) -> None:
        """Kill the server with SIGKILL."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
