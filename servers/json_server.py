"""The base of the servers on loopback whose API is JSON behind a token."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from servers.loopback import Loopback


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request: its path, decoded, the last value of each field of its query, its body, and its header fields."""

    path: str
    query: dict[str, str]
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A response: JSON, or ``raw`` bytes."""

    value: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    raw: bytes | None = None


MISSING = Answer(value={"message": "Not Found"}, status=404)


class JsonServer(Loopback):
    """A server that refuses requests without its authorization and passes the others to `answer`.

    Attributes:
        busy: responses that the next requests get instead of their own, such as one with the status 429.
        calls: the paths of all requests that were let in.
    """

    def __init__(self, authorization: str) -> None:
        super().__init__()
        self._authorization = authorization
        self.busy, self.calls = list[Answer](), list[str]()

    def answer(self, call: Call) -> Answer:
        """Answer a request that has the authorization."""
        raise NotImplementedError

    def open(self, call: Call) -> Answer | None:  # noqa: ARG002
        """Answer a request that needs no authorization, such as one for a token; None if it needs one."""
        return None

    def _take(self, handler: BaseHTTPRequestHandler, raw: bytes) -> None:
        parts = urlsplit(handler.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        headers = {name.lower(): value for name, value in handler.headers.items()}
        call = Call(path=unquote(parts.path), query=query, body=raw, headers=headers)
        answer = self.open(call)
        if answer is None and headers.get("authorization") != self._authorization:
            answer = Answer(value={"message": "Bad credentials"}, status=401)
        if answer is None and self.busy:
            answer = self.busy.pop(0)
        if answer is None:
            self.calls.append(call.path)
            answer = self.answer(call)
        body = json.dumps(answer.value).encode() if answer.raw is None else answer.raw
        handler.send_response(answer.status)
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Type", "application/json" if answer.raw is None else "application/octet-stream")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
