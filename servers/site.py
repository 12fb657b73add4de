"""A web site on loopback that a test defines and that records its requests."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from servers.loopback import Loopback

TYPES = {".html": "text/html; charset=utf-8", ".md": "text/markdown", ".rst": "text/x-rst", ".txt": "text/plain"}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request as it arrived."""

    target: str
    headers: Mapping[str, str]
    at: float


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The answer of a page. ``stream`` writes the body itself, perhaps slowly, badly or without end."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    stream: Callable[[Callable[[bytes], object]], None] | None = None


Route = Reply | Callable[[Asked], Reply]


def page(*links: str, text: str = "", head: str = "", **headers: str) -> Reply:
    """Return a page of HTML with links; names of ``headers`` have underscores."""
    anchors = "".join(f'<p><a href="{link}">to {link}</a></p>' for link in links)
    body = f"<!doctype html><html><head><title>Page</title>{head}</head><body><p>{text}</p>{anchors}</body></html>"
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(body=body.encode(), headers={"Content-Type": "text/html; charset=utf-8", **named})


def moved(to: str, status: int = 301) -> Reply:
    return Reply(status=status, headers={"Location": to})


class WebSite(Loopback):
    """A web site of ``routes``, which map targets such as ``/docs/?page=2`` to answers, and of files in a folder.

    Files have an ETag and a Last-Modified date; a client that has the current one gets 304.
    """

    def __init__(self, routes: Mapping[str, Route] | None = None, *, folder: Path | None = None, port: int = 0) -> None:
        self.routes: dict[str, Route] = dict(routes or {})
        self.folder = folder
        self.asked: list[Asked] = []
        super().__init__(port)

    @property
    def pages(self) -> list[str]:
        """Return the targets requested since the last `forget`, without robots.txt and sitemaps."""
        return [one.target for one in self.asked if not one.target.endswith(("robots.txt", "sitemap.xml"))]

    def forget(self) -> None:
        self.asked.clear()

    def _take(self, handler: BaseHTTPRequestHandler, raw: bytes) -> None:
        assert not raw, "a page takes no body"
        headers = {name.lower(): value for name, value in handler.headers.items()}
        asked = Asked(target=handler.path, headers=headers, at=time.monotonic())
        self.asked.append(asked)
        route = self.routes.get(handler.path) or self._file(asked)
        reply = route(asked) if callable(route) else route
        reply = reply or Reply(status=404, body=b"not here", headers={"Content-Type": "text/plain"})
        try:
            self._send(handler, reply)
        except (BrokenPipeError, ConnectionResetError):
            handler.close_connection = True

    def _send(self, handler: BaseHTTPRequestHandler, reply: Reply) -> None:
        handler.send_response(reply.status)
        for name, value in reply.headers.items():
            handler.send_header(name, value)
        if reply.stream is None:
            if not {"Content-Length", "Transfer-Encoding"} & set(reply.headers):
                handler.send_header("Content-Length", str(len(reply.body)))
            handler.end_headers()
            handler.wfile.write(reply.body)
        else:
            handler.send_header("Connection", "close")
            handler.end_headers()
            reply.stream(handler.wfile.write)
            handler.close_connection = True

    def _file(self, asked: Asked) -> Reply | None:
        if self.folder is None:
            return None
        path = self.folder / asked.target.partition("?")[0].lstrip("/")
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file() or self.folder.resolve() not in path.resolve().parents:
            return None
        body = path.read_bytes()
        etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        marks = {"ETag": etag, "Last-Modified": formatdate(path.stat().st_mtime, usegmt=True)}
        if asked.headers.get("if-none-match") == etag:
            return Reply(status=304, headers=marks)
        return Reply(body=body, headers={"Content-Type": TYPES.get(path.suffix, "application/octet-stream"), **marks})
