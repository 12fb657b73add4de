"""Notion on loopback: search, databases, blocks and users of its API of 2022-06-28, as developers.notion.com has it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from servers.loopback import Loopback

Block = dict[str, Any]


@dataclass(kw_only=True)
class Page:
    """A page with its blocks; ``database`` is the id of the one that it is a row of."""

    id: str
    title: str
    blocks: list[Block] = field(default_factory=list[Block])
    database: str = ""
    edited: str = "2024-05-06T07:08:00.000Z"
    properties: dict[str, Any] = field(default_factory=dict[str, Any])


def text(content: str, *, link: str | None = None, code: bool = False) -> dict[str, Any]:
    """Return a part of a rich text."""
    return {"type": "text", "plain_text": content, "href": link, "annotations": {"code": code, "bold": False}}


def block(kind: str, *rich_text: dict[str, Any], inside: tuple[Block, ...] = (), **content: object) -> Block:
    """Return a block with the blocks in it."""
    return {"type": kind, "inside": list(inside), kind: {"rich_text": list(rich_text), **content}}


class NotionServer(Loopback):
    """A server with these pages, two results in a reply. Tests change the pages between syncs.

    Attributes:
        busy: how many of the next requests are answered with 429.
        fetched: the pages whose blocks were asked for.
    """

    def __init__(self, token: str, *pages: Page) -> None:
        super().__init__()
        self.pages = {page.id: page for page in pages}
        self.busy, self.fetched = 0, list[str]()
        self._token = token

    def _take(self, handler: BaseHTTPRequestHandler, raw: bytes) -> None:
        status, reply = self._answer(handler, json.loads(raw) if raw else {})
        body = json.dumps(reply).encode()
        handler.send_response(status)
        if status == 429:
            handler.send_header("Retry-After", "0")
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def _answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> tuple[int, Any]:
        parts = urlsplit(handler.path)
        asked = {name: found[0] for name, found in parse_qs(parts.query).items()} | body
        if handler.headers.get("Authorization") != f"Bearer {self._token}":
            return 401, {"object": "error", "code": "unauthorized"}
        if handler.headers.get("Notion-Version") != "2022-06-28":
            return 400, {"object": "error", "code": "missing_version"}
        if self.busy:
            self.busy -= 1
            return 429, {"object": "error", "code": "rate_limited"}
        if found := re.fullmatch(r"/v1/blocks/([0-9a-f-]+)/children", parts.path):
            return self._children(found[1], asked)
        if parts.path == "/v1/users/ann":
            return 200, {"object": "user", "id": "ann", "name": "Ann"}
        if handler.command == "POST" and parts.path == "/v1/search":
            return 200, _listed([_shown(page) for page in self.pages.values()], asked)
        if handler.command == "POST" and (found := re.fullmatch(r"/v1/databases/([0-9a-f]+)/query", parts.path)):
            rows = [_shown(page) for page in self.pages.values() if page.database == found[1]]
            return 200, _listed(rows, asked)
        return 404, {"object": "error", "code": "object_not_found"}

    def _children(self, id: str, asked: dict[str, Any]) -> tuple[int, Any]:
        if id in self.pages:
            self.fetched.append(id)
            blocks = self.pages[id].blocks
            path = id
        else:
            path = id
            page, *steps = id.split("-")
            blocks = self.pages[page].blocks
            for step in steps:
                blocks = blocks[int(step)]["inside"]
        shown = [
            {"object": "block", "id": f"{path}-{i}", "has_children": bool(one["inside"]), **one}
            for i, one in enumerate(blocks)
        ]
        return 200, _listed([{key: value for key, value in one.items() if key != "inside"} for one in shown], asked)


def _shown(page: Page) -> dict[str, Any]:
    title = {"id": "title", "type": "title", "title": [text(page.title)]}
    return {
        "object": "page",
        "id": page.id,
        "created_time": "2024-01-02T03:04:00.000Z",
        "last_edited_time": page.edited,
        "created_by": {"object": "user", "id": "ann"},
        "archived": False,
        "url": f"https://www.notion.so/{page.id}",
        "properties": {"Name": title, **page.properties},
    }


def _listed(results: list[dict[str, Any]], asked: dict[str, Any]) -> dict[str, Any]:
    start = int(asked.get("start_cursor", "0"))
    end = start + 2
    more = end < len(results)
    return {
        "object": "list",
        "results": results[start:end],
        "has_more": more,
        "next_cursor": str(end) if more else None,
    }
