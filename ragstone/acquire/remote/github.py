"""Issues and pull requests of a GitHub repository, each with its comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlencode

from ragstone.acquire.remote.address import Address, Opening
from ragstone.acquire.remote.replies import Json, inside, objects, pages, same_server, stated, text_in, texts
from ragstone.core.errors import UsageError
from ragstone.core.filters import Scalar
from ragstone.core.records import Skipped
from ragstone.core.source import Entry

_NEXT = re.compile(r'<([^>]+)>\s*;[^,]*\brel="next"')
_PER_PAGE = 100
_VERSION = "2022-11-28"
_KINDS = ("issues", "pull")


class GitHubSource:
    """The issues and pull requests of a repository.

    The address is that of the repository in the browser with another scheme: ``github://github.com/OWNER/REPO``, with
    ``/issues`` or ``/pull`` at its end for one kind only; the host of a GitHub Enterprise Server works too. The token
    is in ``GITHUB_TOKEN``, or in the variable that the connection names. GitHub does not list who may read a
    repository: say so with the groups of the connection.
    """

    def __init__(self, address: Address, opening: Opening) -> None:
        owner, _, rest = address.path.partition("/")
        repository, _, kind = rest.partition("/")
        if not (address.host and owner and repository) or kind not in ("", "pulls", *_KINDS):
            raise UsageError("write the address of a repository as github://github.com/OWNER/REPO")
        self._kinds = _KINDS if not kind else ("pull",) if kind == "pulls" else (kind,)
        self.address = f"{address.scheme}://{address.server}/{owner}/{repository}"
        host = "https://api.github.com" if address.host == "github.com" else f"{address.origin}/api/v3"
        self._base, self._opening = f"{host}/repos/{owner}/{repository}", opening
        self._client = opening.client(self._headers)

    def entries(self) -> Iterator[Entry | Skipped]:
        # In the order of creation, so that a change during the listing moves nothing to another page.
        asked = {"state": "all", "sort": "created", "direction": "asc", "per_page": str(_PER_PAGE)}
        for one in self._listed(f"issues?{urlencode(asked)}"):
            kind = "pull" if "pull_request" in one else "issues"
            if kind in self._kinds:
                yield _entry(kind, one)

    def fetch(self, entry: Entry) -> Iterator[bytes]:
        kind, _, number = entry.name.partition("/")
        issue = self._client.json("GET", f"{self._base}/issues/{number}")
        yield f"# {entry.title}\n\n{text_in(issue, 'body')}\n".encode()
        lists = [f"issues/{number}/comments", *([f"pulls/{number}/comments"] if kind == "pull" else [])]
        comments = [one for path in lists for one in self._listed(f"{path}?per_page={_PER_PAGE}")]
        for one in sorted(comments, key=lambda one: text_in(one, "created_at")):
            place = f", on {one['path']}" if one.get("path") else ""
            head = f"Comment of {_login(one)} on {text_in(one, 'created_at')[:10]}{place}"
            yield f"\n## {head}\n\n{text_in(one, 'body')}\n".encode()

    def close(self) -> None:
        self._client.close()

    def _headers(self) -> dict[str, str]:
        token = self._opening.secret("GITHUB_TOKEN", "GitHub token that may read issues and pull requests")
        return {"Authorization": f"Bearer {token}", "X-GitHub-Api-Version": _VERSION}

    def _listed(self, path: str) -> Iterator[Json]:
        """Yield the items of a list, from all pages.

        Raises:
            SourceError: a page is unavailable, not a list, or on another server.
        """
        return pages(self._reply, f"{self._base}/{path}", self.address)

    def _reply(self, url: str) -> tuple[list[Json], str]:
        reply = self._client.page("GET", url)
        found = _NEXT.search(reply.headers.get("link", ""))
        server = self._base.partition("/repos/")[0]
        return objects(reply.value, self.address), same_server(found[1] if found else "", server, self.address)


def _entry(kind: str, one: Json) -> Entry:
    facts: dict[str, Scalar] = {
        "kind": "github",
        "number": int(one["number"]),
        "state": "merged" if inside(one, "pull_request").get("merged_at") else text_in(one, "state"),
        "author": _login(one),
        "created": text_in(one, "created_at"),
        "date": text_in(one, "updated_at"),
        "tags": ", ".join(texts(one, "labels", of="name")),
    }
    return Entry(
        name=f"{kind}/{one['number']}",
        version=text_in(one, "updated_at"),
        kind=".md",
        title=f"{text_in(one, 'title')} (#{one['number']})",
        url=text_in(one, "html_url"),
        metadata=stated(facts),
    )


def _login(one: Json) -> str:
    """Return the author of an issue or comment; a deleted account has none."""
    return text_in(inside(one, "user"), "login") or "ghost"
