"""The base of the servers on loopback: an address, a thread that serves, and requests that are read completely."""

from __future__ import annotations

import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self


class Loopback:
    """A server that runs until the end of a ``with`` block and passes each request to `_take`, in its own thread."""

    def __init__(self, port: int = 0) -> None:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 30

            def do_GET(self) -> None:
                if server._stopped.is_set():  # a connection that was kept
                    self.close_connection = True
                    return
                server._take(self, b"")

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", "0"))
                raw = self.rfile.read(length)
                if len(raw) < length or server._stopped.is_set():  # the caller gave up, or we did
                    self.close_connection = True
                else:
                    server._take(self, raw)

            def handle(self) -> None:
                with suppress(ConnectionResetError):  # the caller went away between two requests
                    super().handle()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.origin = self.url = f"http://127.0.0.1:{self.port}"
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop answering, on open connections too."""
        if not self._stopped.is_set():
            self._stopped.set()
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    def _take(self, handler: BaseHTTPRequestHandler, raw: bytes) -> None:
        """Answer a request; ``raw`` is its body."""
        raise NotImplementedError
