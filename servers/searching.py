"""The base of the search servers on loopback: it records requests and applies one fault to each."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from servers.loopback import Loopback


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request as it arrived; ``body`` is its JSON, ``fields`` its query parameters."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    fields: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault of one request: another status, other bytes, a late answer, or half an answer."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    seconds: float = 0.0
    half: bool = False


class SearchServer(Loopback):
    """A server that returns ``answer``, after the given ``faults``."""

    def __init__(self, *faults: Fault) -> None:
        self.faults = list(faults)
        self.asked: list[Asked] = []
        self.draw: Callable[[Asked], Fault | None] = lambda _: None
        """Returns the fault of a request when ``faults`` is empty."""
        super().__init__()

    def answer(self, asked: Asked) -> tuple[int, Any]:
        """Return the status and the JSON of an answer."""
        raise NotImplementedError

    def _take(self, handler: BaseHTTPRequestHandler, raw: bytes) -> None:
        parts = urlsplit(handler.path)
        asked = Asked(
            method=handler.command,
            path=parts.path,
            headers={name.lower(): value for name, value in handler.headers.items()},
            body=json.loads(raw) if raw else None,
            fields={name: values[-1] for name, values in parse_qs(parts.query).items()},
        )
        self.asked.append(asked)
        headers: Mapping[str, str] = {}
        if fault := self.faults.pop(0) if self.faults else self.draw(asked):
            time.sleep(fault.seconds)
            status, content, headers, half = fault.status, fault.body, fault.headers, fault.half
        else:
            status, reply = self.answer(asked)
            content, half = json.dumps(reply).encode(), False
        try:
            handler.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(content)))
            handler.end_headers()
            handler.wfile.write(content[: len(content) // 2] if half else content)
        except (BrokenPipeError, ConnectionResetError):
            pass
        handler.close_connection = handler.close_connection or half
