"""Files in the document libraries of a SharePoint site, through Microsoft Graph."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from ragstone.acquire.remote.address import Address, Opening
from ragstone.acquire.remote.oauth import Token, TokenRequest
from ragstone.acquire.remote.replies import Json, inside, objects, pages, same_server, stated, text_in
from ragstone.core.errors import UsageError
from ragstone.core.filters import Scalar
from ragstone.core.records import Skipped
from ragstone.core.source import Entry

_GRAPH, _LOGIN = "https://graph.microsoft.com", "https://login.microsoftonline.com"
_FIELDS = "id,name,size,file,folder,deleted,parentReference,webUrl,cTag,lastModifiedDateTime,lastModifiedBy"


class SharePointSource:
    """The files in all document libraries of a site.

    The address is ``sharepoint://APPLICATION@company.sharepoint.com/sites/NAME`` with the id of an application that has
    the permission ``Sites.Selected`` or ``Sites.Read.All``; its secret is in ``SHAREPOINT_SECRET``, or in the variable
    that the connection names. The tenant is ``company.onmicrosoft.com``, or what follows ``#``. Who may read a file is
    not asked: say so with the groups of the connection.
    """

    def __init__(self, address: Address, opening: Opening) -> None:
        site = address.path.strip("/")
        if not (address.user and address.host) or (site and not site.startswith(("sites/", "teams/"))):
            raise UsageError(
                "write the address of a site as sharepoint://APPLICATION@company.sharepoint.com/sites/NAME"
            )
        plain = address.scheme.endswith("http")  # one server for all, such as a gateway
        self._graph = f"{address.origin if plain else _GRAPH}/v1.0"
        self._login = address.origin if plain else _LOGIN
        self._tenant = address.fragment or f"{address.host.partition('.')[0]}.onmicrosoft.com"
        self._site = f"{address.host}:/{quote(site)}" if site else address.host
        self.address = f"{address.scheme}://{address.server}" + (f"/{site}" if site else "")
        self._application, self._opening = address.user, opening
        self._client = opening.client(Token(opening, self._request).headers)
        self._items = dict[str, str]()

    def entries(self) -> Iterator[Entry | Skipped]:
        site: Json = self._client.json("GET", f"{self._graph}/sites/{self._site}")
        for drive in list(self._listed(f"{self._graph}/sites/{site['id']}/drives")):
            # A delta without a token lists all that is there now, in one pass over all folders.
            for item in self._listed(f"{self._graph}/drives/{drive['id']}/root/delta?$select={_FIELDS}"):
                if "file" in item and "deleted" not in item:
                    entry = _entry(str(drive["name"]), item)
                    self._items[entry.name] = f"{self._graph}/drives/{drive['id']}/items/{item['id']}/content"
                    yield entry

    def fetch(self, entry: Entry) -> Iterator[bytes]:
        yield from self._client.download(self._items[entry.name])

    def close(self) -> None:
        self._client.close()

    def _request(self) -> TokenRequest:
        secret = self._opening.secret("SHAREPOINT_SECRET", f"secret of the application {self._application}")
        return TokenRequest(
            url=f"{self._login}/{self._tenant}/oauth2/v2.0/token",
            fields={
                "grant_type": "client_credentials",
                "client_id": self._application,
                "client_secret": secret,
                "scope": f"{_GRAPH}/.default",
            },
        )

    def _listed(self, url: str) -> Iterator[Json]:
        """Yield the items of a list, from all replies.

        Raises:
            SourceError: a reply is unavailable, or not as documented.
        """
        return pages(self._reply, url, self.address)

    def _reply(self, url: str) -> tuple[list[Json], str]:
        reply = self._client.json("GET", url)
        following = same_server(text_in(reply, "@odata.nextLink"), self._graph, self.address)
        return objects(reply, self.address, "value"), following


def _entry(drive: str, item: Json) -> Entry:
    # "/drives/ID/root:/folder/below"
    folder = text_in(inside(item, "parentReference"), "path").partition("root:")[2].strip("/")
    changed = text_in(item, "lastModifiedDateTime")
    facts: dict[str, Scalar] = {
        "author": text_in(inside(inside(item, "lastModifiedBy"), "user"), "displayName"),
        "date": changed,
    }
    return Entry(
        name="/".join(part for part in (drive, folder, str(item["name"])) if part),
        version=text_in(item, "cTag") or changed,
        size=int(item.get("size") or 0),
        url=text_in(item, "webUrl"),
        metadata=stated(facts),
    )
