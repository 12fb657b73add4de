"""Confluence on loopback: the search for content and the restrictions of its REST API, as Atlassian documents them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from servers.loopback import Loopback


@dataclass(kw_only=True)
class Page:
    """A page; ``groups`` and ``users`` are those of its own restrictions."""

    id: str
    title: str
    body: str
    space: str = "MILL"
    above: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    version: int = 1


class ConfluenceServer(Loopback):
    """A server with these pages under ``/wiki``, two in a reply. Tests change the pages between syncs.

    Attributes:
        busy: how many of the next requests are answered with 429.
        folders: restrictions of what is above pages and not itself a page, as groups by id.
    """

    def __init__(self, token: str, *pages: Page) -> None:
        super().__init__()
        self.pages = {page.id: page for page in pages}
        self.folders: dict[str, tuple[str, ...]] = {}
        self.busy, self.fetched = 0, list[str]()
        self._authorization = f"Bearer {token}"

    def _take(self, handler: BaseHTTPRequestHandler, raw: bytes) -> None:  # noqa: ARG002
        status, reply = self._answer(handler)
        body = json.dumps(reply).encode()
        handler.send_response(status)
        if status == 429:
            handler.send_header("Retry-After", "0")
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def _answer(self, handler: BaseHTTPRequestHandler) -> tuple[int, Any]:
        parts = urlsplit(handler.path)
        asked = {name: found[0] for name, found in parse_qs(parts.query).items()}
        if handler.headers.get("Authorization") != self._authorization:
            return 401, {"message": "unauthorized"}
        if self.busy:
            self.busy -= 1
            return 429, {"message": "too many requests"}
        if found := re.fullmatch(r"/wiki/rest/api/content/(\w+)/restriction/byOperation/read", parts.path):
            if found[1] not in self.folders:
                return 404, {"message": "not found"}
            return 200, _restrictions(self.folders[found[1]], ())
        if parts.path != "/wiki/rest/api/content/search":
            return 404, {"message": "not found"}
        return 200, self._search(asked)

    def _search(self, asked: dict[str, str]) -> dict[str, Any]:
        expand = asked.get("expand", "").split(",")
        space, id = re.search(r'space = "(\w+)"', asked["cql"]), re.search(r"id = (\w+)", asked["cql"])
        pages = [
            page
            for page in self.pages.values()
            if (not space or page.space == space[1]) and (not id or page.id == id[1])
        ]
        start = int(asked.get("cursor", "0"))
        links = {"base": f"{self.origin}/wiki", "context": "/wiki"}
        if len(pages) > start + 2:
            links["next"] = f"/rest/api/content/search?cql={asked['cql']}&expand={','.join(expand)}&cursor={start + 2}"
            links["next"] = links["next"].replace(" ", "%20").replace('"', "%22")
        results = [self._shown(page, expand) for page in pages[start : start + 2]]
        return {"results": results, "start": start, "limit": 2, "size": len(results), "_links": links}

    def _shown(self, page: Page, expand: list[str]) -> dict[str, Any]:
        shown: dict[str, Any] = {"id": page.id, "type": "page", "title": page.title}
        shown["_links"] = {"webui": f"/spaces/{page.space}/pages/{page.id}", "self": "not used"}
        if "body.storage" in expand:
            self.fetched.append(page.id)
            shown["body"] = {"storage": {"value": page.body, "representation": "storage"}}
        if "version" in expand:
            shown["version"] = {"number": page.version, "when": "2024-05-06T07:08:09.000Z"}
        if "history" in expand:
            shown["history"] = {"createdBy": {"displayName": "Ann"}, "createdDate": "2024-01-02T03:04:05.000Z"}
        if "space" in expand:
            shown["space"] = {"key": page.space}
        if "ancestors" in expand:
            shown["ancestors"] = [{"id": id} for id in page.above]
        if "metadata.labels" in expand:
            shown["metadata"] = {"labels": {"results": [{"name": "corn"}]}}
        if "restrictions.read.restrictions.group" in expand:
            shown["restrictions"] = {"read": _restrictions(page.groups, page.users)}
        return shown


def _restrictions(groups: tuple[str, ...], users: tuple[str, ...]) -> dict[str, Any]:
    named = [{"type": "group", "name": name} for name in groups]
    people = [{"type": "known", "displayName": name} for name in users]
    return {
        "operation": "read",
        "restrictions": {
            "group": {"results": named, "start": 0, "limit": 200, "size": len(named)},
            "user": {"results": people, "start": 0, "limit": 200, "size": len(people)},
        },
    }
