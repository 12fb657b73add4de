"""Pages of Notion: all that are shared with an integration, or those of one database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast
from urllib.parse import urlencode

from ragstone.acquire.remote.address import Address, Opening
from ragstone.acquire.remote.notion_markdown import block, together, words
from ragstone.acquire.remote.replies import Json, inside, objects, pages, stated, text_in
from ragstone.core.errors import SourceError, UsageError
from ragstone.core.filters import Scalar
from ragstone.core.records import Skipped
from ragstone.core.source import Entry

_VERSION = "2022-06-28"
_PAGES = 100
_DEEPEST = 10
"""Blocks in blocks that are read."""
_ID = re.compile(r"(?:.*-)?([0-9a-f]{32})")
_SEPARATE = ("child_page", "child_database")
"""Blocks that are entries of their own."""


class NotionSource:
    """The pages that are shared with an integration, or those of one database.

    The address is ``notion://api.notion.com``, or ``notion://api.notion.com/ID`` with the id of a database; the token
    of the integration is in ``NOTION_TOKEN``, or in the variable that the connection names. Notion does not tell who
    may read a page: say so with the groups of the connection.
    """

    def __init__(self, address: Address, opening: Opening) -> None:
        """Take the address apart; nothing is connected yet.

        Raises:
            UsageError: what follows the host is no id.
        """
        id = _ID.fullmatch(re.sub(r"-(?=[0-9a-f]{4})", "", address.path))
        if not address.host or (address.path and not id):
            raise UsageError("write the address of a Notion database as notion://api.notion.com/ID, with 32 digits")
        self._database = id[1] if id else ""
        self.address = f"{address.scheme}://{address.server}" + (f"/{self._database}" if id else "")
        self._base = f"{address.origin}/v1"
        self._opening = opening
        self._client = opening.client(self._headers)
        self._people = dict[str, str]()

    def entries(self) -> Iterator[Entry | Skipped]:
        if self._database:
            listed = self._listed("POST", f"databases/{self._database}/query", {})
        else:
            # In the order of their last change, which a change during the listing can only move forward.
            order = {"direction": "ascending", "timestamp": "last_edited_time"}
            listed = self._listed("POST", "search", {"filter": {"property": "object", "value": "page"}, "sort": order})
        seen = set[str]()
        for page in listed:
            id = str(page["id"]).replace("-", "")
            if not (page.get("archived") or page.get("in_trash") or id in seen):
                seen.add(id)
                yield self._entry(id, page)

    def fetch(self, entry: Entry) -> Iterator[bytes]:
        title = f"# {entry.title}\n\n" if entry.title else ""
        yield f"{title}{self._inside(entry.name, 0)}".encode("utf-8", "replace")

    def close(self) -> None:
        self._client.close()

    def _headers(self) -> dict[str, str]:
        token = self._opening.secret("NOTION_TOKEN", "token of the Notion integration")
        return {"Authorization": f"Bearer {token}", "Notion-Version": _VERSION}

    def _entry(self, id: str, page: Json) -> Entry:
        properties: dict[str, Json] = dict(inside(page, "properties"))
        title = next((words(one.get("title", ())) for one in properties.values() if one.get("type") == "title"), "")
        own = {name: fact for name, one in properties.items() if (fact := _fact(one)) not in (None, "", ())}
        facts: dict[str, Scalar | tuple[Scalar, ...]] = {
            **own,
            "kind": "notion",
            "author": self._person(inside(page, "created_by")),
            "created": text_in(page, "created_time"),
            "date": text_in(page, "last_edited_time"),
        }
        return Entry(
            name=id,
            version=text_in(page, "last_edited_time"),
            kind=".md",
            title=" ".join(title.split()),
            url=text_in(page, "url"),
            metadata=stated(facts),
        )

    def _person(self, person: Json) -> str:
        """Return the name of a person, which an integration without that capability is not told."""
        id = text_in(person, "id")
        if id and id not in self._people:
            try:
                self._people[id] = text_in(self._client.json("GET", f"{self._base}/users/{id}"), "name")
            except SourceError:
                self._people[id] = ""
        return self._people.get(id, "")

    def _inside(self, id: str, depth: int) -> str:
        """Return the blocks in a page or block as Markdown."""
        parts = list[tuple[str, str]]()
        for child in self._listed("GET", f"blocks/{id}/children", {}):
            kind = text_in(child, "type")
            if kind not in _SEPARATE:
                inside = (
                    self._inside(str(child["id"]), depth + 1) if child.get("has_children") and depth < _DEEPEST else ""
                )
                parts.append((kind, block(child, inside)))
        return together(parts)

    def _listed(self, method: str, path: str, body: Json) -> Iterator[Json]:
        """Yield the results of a request, from all replies.

        Raises:
            SourceError: a reply cannot be fetched, or is not as documented.
        """

        def fetch(cursor: str) -> tuple[list[Json], str]:
            paging = {"page_size": _PAGES, **({"start_cursor": cursor} if cursor else {})}
            if method == "GET":
                reply = self._client.json("GET", f"{self._base}/{path}?{urlencode(paging)}")
            else:
                reply = self._client.json(method, f"{self._base}/{path}", {**body, **paging})
            found = objects(reply, self.address, "results")
            return found, text_in(reply, "next_cursor") if reply.get("has_more") else ""

        return pages(fetch, "", self.address)


def _fact(one: Json) -> Scalar | tuple[Scalar, ...] | None:
    """Return the value of a property that is of use to filter by; None for others."""
    kind = text_in(one, "type")
    value = one.get(kind)
    match kind:
        case "rich_text":
            return words(cast("list[Json]", value))[:200]
        case "number" | "checkbox" | "url" | "email" | "phone_number":
            return cast("Scalar | None", value)
        case "select" | "status":
            return str(value["name"]) if value else None
        case "multi_select" | "people":
            return tuple(str(part["name"]) for part in cast("list[Json]", value) if part.get("name"))
        case "date":
            return str(value["start"]) if value else None
        case _:
            return None
