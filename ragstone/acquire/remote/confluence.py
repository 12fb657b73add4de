"""Pages of Confluence, in the cloud or a data centre, with the groups that their restrictions name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import urlencode, urljoin

from ragstone.acquire.remote.address import Address, Opening
from ragstone.acquire.remote.replies import Json, inside, objects, pages, same_server, stated, text_in, texts
from ragstone.core.access import EVERYONE
from ragstone.core.errors import SourceError, UsageError
from ragstone.core.filters import Scalar
from ragstone.core.frozen import frozen
from ragstone.core.records import Skipped
from ragstone.core.source import Entry

_PAGES = 200
"""Pages in a reply; a server may send fewer."""
_EXPANDED = (
    "version",
    "history",
    "space",
    "ancestors",
    "metadata.labels",
    "restrictions.read.restrictions.group",
    "restrictions.read.restrictions.user",
)


@frozen
class _Page:
    """A listed page. ``named`` are the groups that its own restrictions let in; None if it has none."""

    page: Json
    named: frozenset[str] | None
    above: tuple[str, ...]


class ConfluenceSource:
    """The pages of a space, or of all spaces that the token may read.

    The address is that of the space in the browser with another scheme:
    ``confluence://user@company.atlassian.net/wiki/spaces/KEY``. The token is in ``CONFLUENCE_TOKEN``, or in the
    variable that the connection names: with a user an API token of the cloud, without one a personal access token.

    A page is as open as its restrictions and those of all pages above it say; of those, only groups count. People named
    one by one are left out, so a page that names nobody else can be read by the owner alone. Whom a space lets in is
    not asked: say so with the groups of the connection.
    """

    def __init__(self, address: Address, opening: Opening) -> None:
        before, found, after = f"/{address.path}/".partition("/spaces/")
        self._key = after.partition("/")[0] if found else ""
        if not address.host or '"' in self._key or "\\" in self._key:
            raise UsageError("write the address of a space as confluence://HOST/wiki/spaces/KEY")
        place = f"{address.server}{before.rstrip('/')}"
        self.address = f"{address.scheme}://{place}" + (f"/spaces/{self._key}" if self._key else "")
        self._base = address.origin + before.rstrip("/")
        self._client = opening.client(lambda: opening.token(address.user, "CONFLUENCE_TOKEN", self.address))
        self._others = dict[str, "frozenset[str] | None"]()
        rules = opening.settings.access
        # A page without restrictions is for everyone, said explicitly: otherwise those that it had would stay.
        has_rules = bool(opening.connection.groups or rules.default or rules.folders)
        self._unrestricted = None if has_rules else (EVERYONE,)

    def entries(self) -> Iterator[Entry | Skipped]:
        space = f'space = "{self._key}" AND ' if self._key else ""
        asked = {"cql": f"{space}type = page", "limit": str(_PAGES), "expand": ",".join(_EXPANDED)}
        listed = {str(one["id"]): _page(one) for one in self._results(asked)}
        # Restrictions hold for the pages below, so all must be known before the first is read.
        for id, found in listed.items():
            above = [listed[one].named if one in listed else self._named_by(one) for one in found.above]
            groups = _common([*above, found.named])
            yield _entry(id, found.page, self._base, self._unrestricted if groups is None else groups)

    def fetch(self, entry: Entry) -> Iterator[bytes]:
        found = next(self._results({"cql": f"id = {entry.name}", "expand": "body.storage"}), None)
        if found is None:
            raise SourceError("it is gone")
        yield str(found["body"]["storage"]["value"]).encode()

    def close(self) -> None:
        self._client.close()

    def _named_by(self, id: str) -> frozenset[str] | None:
        """Return the groups that the restrictions of a folder, or of an archived page, let in; None if it has none."""
        if id not in self._others:
            expand = urlencode({"expand": "restrictions.group,restrictions.user"})
            url = f"{self._base}/rest/api/content/{id}/restriction/byOperation/read?{expand}"
            try:
                self._others[id] = _named(self._client.json("GET", url))
            except SourceError:  # What cannot be known must not open what is below.
                self._others[id] = frozenset()
        return self._others[id]

    def _results(self, asked: Mapping[str, str]) -> Iterator[Json]:
        """Yield the results of a search, from all replies.

        Raises:
            SourceError: a reply cannot be fetched, or is not as documented.
        """
        url = f"{self._base}/rest/api/content/search?{urlencode(asked)}"
        return pages(self._reply, url, self.address)

    def _reply(self, url: str) -> tuple[list[Json], str]:
        reply = self._client.json("GET", url)
        links = inside(reply, "_links")
        following = text_in(links, "next")
        if following:  # relative to the context of the server, such as /wiki
            following = urljoin(f"{self._base}/", following.removeprefix(text_in(links, "context")).lstrip("/"))
        return objects(reply, self.address, "results"), same_server(following, self._base, self.address)


def _page(page: Json) -> _Page:
    return _Page(
        page=page,
        named=_named(page.get("restrictions", {}).get("read", {})),
        above=tuple(str(one["id"]) for one in page.get("ancestors", ())),
    )


def _named(read: Json) -> frozenset[str] | None:
    """Return the groups that may read; None if there is no restriction. Nobody may if the server does not tell."""
    restrictions = read.get("restrictions")
    if not restrictions or "group" not in restrictions:
        return frozenset()
    groups = frozenset(str(one["name"]) for one in restrictions["group"].get("results", ()))
    is_open = not groups and not restrictions.get("user", {}).get("results", ())
    return None if is_open else groups


def _common(levels: list[frozenset[str] | None]) -> tuple[str, ...] | None:
    """Return the groups that every level with restrictions lets in; None if none has any."""
    named = [one for one in levels if one is not None]
    return tuple(sorted(named[0].intersection(*named))) if named else None


def _entry(id: str, page: Json, base: str, groups: tuple[str, ...] | None) -> Entry:
    version, history = inside(page, "version"), inside(page, "history")
    labels = texts(inside(inside(page, "metadata"), "labels"), "results", of="name")
    facts: dict[str, Scalar] = {
        "kind": "confluence",
        "space": text_in(inside(page, "space"), "key"),
        "author": text_in(inside(history, "createdBy"), "displayName"),
        "created": text_in(history, "createdDate"),
        "date": text_in(version, "when"),
        "tags": ", ".join(labels),
    }
    shown = text_in(inside(page, "_links"), "webui")
    return Entry(
        name=id,
        version=text_in(version, "number"),
        kind=".confluence",
        title=text_in(page, "title"),
        url=f"{base}/{shown.lstrip('/')}" if shown else "",
        groups=groups,
        metadata=stated(facts),
    )
