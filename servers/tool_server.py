"""A server of the Model Context Protocol on loopback, built with the official package: an issue tracker with its tools.

It asks for the key `KEY`.
"""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Any, Self

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import EmbeddedResource, ResourceLink, TextContent, TextResourceContents
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn import Config, Server

from ragstone.serve.listen import listen

KEY = "tickets-key-51"
ISSUES: list[dict[str, Any]] = [
    {
        "key": "WREN-204",
        "title": "The brake cable of the Wren frays",
        "body": "The brake cable of the Wren frays after 900 kilometres. A sleeve of steel mends it.",
        "status": {"name": "closed"},
        "labels": ["brakes", "wren"],
        "html_url": "https://tickets.example/WREN-204",
    },
    {
        "key": "OTTER-17",
        "title": "The bell of the Otter is too quiet",
        "body": "The bell of the Otter rings at 60 decibels.",
        "status": {"name": "open"},
        "labels": [],
        "html_url": "https://tickets.example/OTTER-17",
    },
]


class ToolServer:
    """The server, until the end of a ``with`` block; ``asked`` has the arguments of each call of a tool."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self._socket = listen("127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/mcp"
        app = _Guarded(self._tools().streamable_http_app(stateless_http=True))
        self._server = Server(Config(app, log_level="error", timeout_graceful_shutdown=1))
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.should_exit = True
        self._thread.join()

    def _tools(self) -> MCPServer:
        server, asked = MCPServer("tickets"), self.asked

        @server.tool()
        def search_issues(query: str, limit: int = 10) -> list[dict[str, Any]]:
            """Find issues by their words."""
            asked.append({"query": query, "limit": limit})
            words = set(query.lower().strip("?").split())
            found = [one for one in ISSUES if len(words & set(one["body"].lower().split())) > 2]
            return found[:limit]

        @server.tool(structured_output=False)
        def read_notes(topic: str, team: str) -> list[Any]:
            """Return the notes of a team."""
            asked.append({"topic": topic, "team": team})
            resource = TextResourceContents(uri="https://notes.example/7", text="The workshop opens at nine.")
            return [
                TextContent(type="text", text="The workshop closes at five."),
                EmbeddedResource(type="resource", resource=resource),
                ResourceLink(type="resource_link", name="plan", uri="https://notes.example/8", description="A plan."),
            ]

        @server.tool()
        def fail(query: str) -> str:
            """Fail."""
            raise ToolError(f"the index of {query} is broken")

        @server.tool()
        def sleep(query: str) -> str:
            """Take too long."""
            time.sleep(1.5)
            return query

        @server.tool()
        def flood(query: str) -> str:
            """Send too much."""
            return query * 1_000_000

        return server


class _Guarded:
    """Refuses requests without the key."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and Request(scope).headers.get("authorization") != f"Bearer {KEY}":
            refused: Response = JSONResponse({"error": "unauthorized"}, status_code=401)
            await refused(scope, receive, send)
        else:
            await self._app(scope, receive, send)
