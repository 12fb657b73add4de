"""Microsoft Graph on loopback: tokens, sites, document libraries and their files, as Microsoft documents them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from servers.json_server import MISSING, Answer, Call, JsonServer

PER_PAGE = 2
"""Items of a reply, whatever is requested."""
TOKEN = "granted"


@dataclass(kw_only=True)
class Item:
    """A file in a folder of a library, such as ``rules/2024``; a ``deleted`` one is listed as such."""

    id: str
    name: str
    content: bytes
    library: str = "Documents"
    folder: str = ""
    tag: str = "c1"
    deleted: bool = False


class GraphServer(JsonServer):
    """A server with the site ``127.0.0.1:/sites/Mill`` and these files, for the application ``app``.

    Attributes:
        tenants: that of each token that was requested.
        seconds: how long the next tokens last.
    """

    def __init__(self, secret: str, *items: Item) -> None:
        super().__init__(f"Bearer {TOKEN}")
        self._secret = secret
        self.items = {item.id: item for item in items}
        self.tenants, self.seconds = list[str](), 3599

    def open(self, call: Call) -> Answer | None:
        if found := re.fullmatch(r"/([\w.-]+)/oauth2/v2\.0/token", call.path):
            self.tenants.append(found[1])
            form = {name: values[0] for name, values in parse_qs(call.body.decode()).items()}
            given = (form.get("grant_type"), form.get("client_id"), form.get("client_secret"), form.get("scope"))
            if given != ("client_credentials", "app", self._secret, "https://graph.microsoft.com/.default"):
                return Answer(value={"error": "invalid_client"}, status=401)
            return Answer(value={"access_token": TOKEN, "expires_in": self.seconds, "token_type": "Bearer"})
        if found := re.fullmatch(r"/download/(\w+)", call.path):  # an address that is authorized beforehand
            return Answer(raw=self.items[found[1]].content)
        return None

    def answer(self, call: Call) -> Answer:
        if call.path == "/v1.0/sites/127.0.0.1:/sites/Mill":
            return Answer(value={"id": "127.0.0.1,1,2", "name": "Mill"})
        if call.path == "/v1.0/sites/127.0.0.1,1,2/drives":
            libraries = sorted({item.library for item in self.items.values()})
            return Answer(value={"value": [{"id": f"d-{name}", "name": name} for name in libraries]})
        if found := re.fullmatch(r"/v1\.0/drives/d-(\w+)/root/delta", call.path):
            return Answer(value=self._delta(found[1], call.query))
        if found := re.fullmatch(r"/v1\.0/drives/d-\w+/items/(\w+)/content", call.path):
            here = f"{self.origin}/download/{found[1]}?tempauth=x"
            return Answer(status=302, headers={"Location": here}, raw=b"")
        return MISSING

    def _delta(self, library: str, query: dict[str, str]) -> dict[str, Any]:
        items: list[dict[str, Any]] = [{"id": "root", "name": "root", "folder": {"childCount": 1}, "root": {}}]
        items += [self._shown(item) for item in self.items.values() if item.library == library]
        start = int(query.get("token", "0"))
        shown: dict[str, Any] = {"value": items[start : start + PER_PAGE]}
        here = f"{self.origin}/v1.0/drives/d-{library}/root/delta?token="
        more = len(items) > start + PER_PAGE
        shown["@odata.nextLink" if more else "@odata.deltaLink"] = f"{here}{start + PER_PAGE if more else 'latest'}"
        return shown

    def _shown(self, item: Item) -> dict[str, Any]:
        if item.deleted:
            return {"id": item.id, "name": item.name, "file": {}, "deleted": {"state": "deleted"}}
        parent = f"/drives/d-{item.library}/root:" + (f"/{item.folder}" if item.folder else "")
        return {
            "id": item.id,
            "name": item.name,
            "size": len(item.content),
            "file": {"mimeType": "text/plain"},
            "cTag": item.tag,
            "webUrl": f"https://mill.sharepoint.com/sites/Mill/{item.name}",
            "parentReference": {"path": parent},
            "lastModifiedDateTime": "2024-05-06T07:08:09Z",
            "lastModifiedBy": {"user": {"displayName": "Ann"}},
        }
