"""The HTTP client of sources: retries, redirects and header fields."""

from __future__ import annotations

from contextlib import closing
from http.server import BaseHTTPRequestHandler

import pytest

from ragstone.core.errors import SourceError
from ragstone.services.pinned_client import Limits, PinnedClient
from servers.loopback import Loopback
from servers.notion_server import NotionServer

LIMITS = Limits(allow_private=True, timeout_seconds=60, retries=1, setting="acquire.remote.allow_private")


def test_waits_as_long_as_it_is_asked_to() -> None:
    waited: list[float] = []
    with NotionServer("secret") as server:
        server.busy = 3
        headers = {"Authorization": "Bearer secret", "Notion-Version": "2022-06-28"}
        with closing(PinnedClient(lambda: headers, LIMITS, sleep=waited.append)) as client:
            with pytest.raises(SourceError, match="/v1/users/ann answers 429"):
                client.json("GET", f"{server.origin}/v1/users/ann?secret=1")
            assert client.json("GET", f"{server.origin}/v1/users/ann")["name"] == "Ann"
    assert waited == [0.0, 0.0]


def test_credentials_do_not_follow_a_redirect() -> None:
    class Moving(Loopback):
        to, seen = "", ""

        def _take(self, handler: BaseHTTPRequestHandler, raw: bytes) -> None:  # noqa: ARG002
            self.seen = handler.headers.get("Authorization", "")
            handler.send_response(302 if self.to else 200)
            if self.to:
                handler.send_header("Location", self.to)
            handler.send_header("Content-Length", "0" if self.to else "4")
            handler.end_headers()
            handler.wfile.write(b"" if self.to else b"corn")

    client = PinnedClient(lambda: {"Authorization": "secret"}, LIMITS)
    with Moving() as first, Moving() as second, closing(client):
        first.to = f"{second.origin}/file"
        assert b"".join(client.download(f"{first.origin}/file")) == b"corn"
        assert (first.seen, second.seen) == ("secret", "")
        first.to = f"{first.origin}/again"
        with pytest.raises(SourceError, match="redirects more than 5 times"):
            list(client.download(f"{first.origin}/file"))


def test_joins_repeated_header_fields() -> None:
    class Linked(Loopback):
        def _take(self, handler: BaseHTTPRequestHandler, raw: bytes) -> None:  # noqa: ARG002
            handler.send_response(200)
            for link in ('</next>; rel="next"', '</last>; rel="last"'):
                handler.send_header("Link", link)
            handler.send_header("Content-Length", "2")
            handler.end_headers()
            handler.wfile.write(b"[]")

    with Linked() as server, closing(PinnedClient(dict[str, str], LIMITS)) as client:
        assert client.page("GET", server.origin).headers["link"] == '</next>; rel="next", </last>; rel="last"'


def test_does_not_retry_an_untrusted_certificate() -> None:
    waited: list[float] = []
    client = PinnedClient(dict[str, str], LIMITS, sleep=waited.append)
    with NotionServer("secret") as server, closing(client), pytest.raises(SourceError, match="no connection"):
        client.json("GET", server.origin.replace("http:", "https:"))  # it speaks no TLS
    assert waited == []
