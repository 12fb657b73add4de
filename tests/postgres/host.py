"""Hosts of one knowledge base for tests: servers in processes of their own, and a proxy that takes turns with them."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path

TESTS = Path(__file__).parent.parent
_SERVER = """
import sys
from pathlib import Path
import uvicorn
from kb import open_fast
from ragstone.serve.http.app import build_app
from ragstone.serve.http.server import uvicorn_config
from ragstone.serve.listen import listen
folder, *settings = sys.argv[1:]
engine = open_fast(Path(folder), *settings, create=False)
own = engine.settings.serve
bound = listen("127.0.0.1", 0)
print(bound.getsockname()[1], flush=True)
uvicorn.Server(uvicorn_config(build_app(engine, own), own)).run(sockets=[bound])
"""


@contextmanager
def host(folder: Path, settings: Sequence[str]) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Serve a knowledge base that exists, and give the process and its port."""
    command = [sys.executable, "-c", _SERVER, str(folder), *settings]
    paths = f"{TESTS}:{TESTS.parent}"
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": paths}) as process:
        assert process.stdout is not None
        try:
            yield process, int(process.stdout.readline())
        finally:
            process.kill()


class Proxy(ThreadingHTTPServer):
    """Sends each request to the next host; one that dies gets no more, and its request goes to another, once."""

    daemon_threads = True

    def __init__(self, ports: Sequence[int]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.ports, self.turn = list(ports), count()
        self.retries: list[int] = []
        """For each request that had to be sent again, how often."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Proxy  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        self._send_on()

    def do_POST(self) -> None:
        self._send_on()

    def log_message(self, format: str, *args: object) -> None: ...

    def _send_on(self) -> None:
        body, tries = self.rfile.read(int(self.headers.get("content-length", 0))), 0
        while True:
            port = self.server.ports[next(self.server.turn) % len(self.server.ports)]
            try:
                status, told = _asked(port, self.command, self.path, body, dict(self.headers))
                break
            except (OSError, http.client.HTTPException):
                tries += 1
                if port in self.server.ports and len(self.server.ports) > 1:
                    self.server.ports.remove(port)
        if tries:
            self.server.retries.append(tries)
        self.send_response(status)
        self.send_header("content-length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)


def _asked(port: int, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=200)
    try:
        kept = {name: value for name, value in headers.items() if name.lower() in ("authorization", "content-type")}
        connection.request(method, path, body or None, kept)
        reply = connection.getresponse()
        return reply.status, reply.read()
    finally:
        connection.close()


@contextmanager
def balanced(folders: Sequence[Path], settings: Sequence[str]) -> Iterator[tuple[list[subprocess.Popen[str]], Proxy]]:
    """Serve one knowledge base on several hosts behind a proxy."""
    with ExitStack() as stack:
        hosts = [stack.enter_context(host(folder, settings)) for folder in folders]
        proxy = Proxy([port for _, port in hosts])
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        stack.callback(proxy.server_close)
        stack.callback(proxy.shutdown)
        yield [process for process, _ in hosts], proxy


def post(proxy: Proxy, path: str, key: str, **body: object) -> dict:
    return _told(proxy, "POST", path, key, json.dumps(body).encode())


def get(proxy: Proxy, path: str, key: str) -> dict:
    return _told(proxy, "GET", path, key, b"")


def status(proxy: Proxy, path: str, key: str) -> int:
    return _replied(proxy, "GET", path, key, b"")[0]


def _told(proxy: Proxy, method: str, path: str, key: str, body: bytes) -> dict:
    status, told = _replied(proxy, method, path, key, body)
    assert status == 200, (status, told)
    return json.loads(told)


def _replied(proxy: Proxy, method: str, path: str, key: str, body: bytes) -> tuple[int, bytes]:
    headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
    return _asked(int(proxy.server_address[1]), method, path, body, headers)
