"""A Git repository over HTTP on loopback: the program ``git http-backend`` behind a small server."""

from __future__ import annotations

import os
import subprocess
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

from servers.loopback import Loopback


class GitServer(Loopback):
    """Serves the repositories in a folder. ``headers`` are those of the last request."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self.headers: dict[str, str] = {}
        self.moved = ""
        """Where every request is redirected to, if anywhere."""

    def _take(self, handler: BaseHTTPRequestHandler, raw: bytes) -> None:
        self.headers = dict(handler.headers)
        if self.moved:
            handler.send_response(302)
            handler.send_header("Location", f"{self.moved}{handler.path}")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        parts = urlsplit(handler.path)
        environment = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "GIT_PROJECT_ROOT": str(self._folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": parts.path,
            "QUERY_STRING": parts.query,
            "REQUEST_METHOD": handler.command,
            "CONTENT_TYPE": handler.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(raw)),
            "HTTP_CONTENT_ENCODING": handler.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": handler.headers.get("Git-Protocol", ""),
            "REMOTE_ADDR": "127.0.0.1",
        }
        done = subprocess.run(["git", "http-backend"], input=raw, env=environment, capture_output=True, check=True)
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n"))
        handler.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
