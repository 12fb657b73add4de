"""A server on loopback that sends the bytes of a script, whatever they are, as the reply to a chat."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from servers.loopback import Loopback

Body = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A response: its bytes, in the pieces in which they leave.

    ``hangs``: the connection stays open afterwards. ``breaks``: it ends without the end of the response.
    """

    pieces: tuple[bytes, ...]
    status: int = 200
    type: str = "text/event-stream"
    hangs: bool = False
    breaks: bool = False


def answering(body: object, status: int = 200) -> Sent:
    """Return a response of one JSON value."""
    return Sent(pieces=(json.dumps(body).encode(),), status=status, type="application/json")


@dataclass(kw_only=True)
class Script:
    """What a server answers: to a chat by its body, and to other requests by their path."""

    chat: Callable[[Body], Sent]
    others: Mapping[str, Sent] = field(default_factory=dict[str, Sent])
    path: str = "/v1/chat/completions"


class ScriptedChat(Loopback):
    """A server that follows a script; ``asked`` has the bodies of the chats, ``seen`` all paths."""

    def __init__(self, script: Script, port: int = 0) -> None:
        self._script = script
        self.asked: list[Body] = []
        self.seen: list[str] = []
        super().__init__(port)
        self.url = f"{self.origin}/v1"

    def _take(self, handler: BaseHTTPRequestHandler, raw: bytes) -> None:
        path = handler.path.partition("?")[0]
        self.seen.append(path)
        if path == self._script.path:
            body: Body = json.loads(raw)
            self.asked.append(body)
            sent = self._script.chat(body)
        else:
            sent = self._script.others.get(path, Sent(pieces=(b"404 page not found",), status=404, type="text/plain"))
        with suppress(BrokenPipeError, ConnectionResetError):
            self._send(handler, sent)

    def _send(self, handler: BaseHTTPRequestHandler, sent: Sent) -> None:
        handler.send_response(sent.status)
        if sent.type:
            handler.send_header("Content-Type", sent.type)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for piece in sent.pieces:
            handler.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            handler.wfile.flush()
        if sent.hangs:
            self._stopped.wait(20)
        if sent.hangs or sent.breaks:
            handler.close_connection = True
        else:
            handler.wfile.write(b"0\r\n\r\n")
