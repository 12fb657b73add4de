"""Issues of Jira, in the cloud or a data centre, each with its comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from urllib.parse import urlencode

from ragstone.acquire.remote.address import Address, Opening
from ragstone.acquire.remote.replies import Json, inside, objects, pages, stated, text_in, texts
from ragstone.core.errors import UsageError
from ragstone.core.filters import Scalar
from ragstone.core.records import Skipped
from ragstone.core.source import Entry

_PER_PAGE = 100
_FIELDS = ("summary", "updated", "created", "status", "issuetype", "reporter", "assignee", "labels", "security")


class JiraSource:
    """The issues of a project, or of all projects that the token may read.

    The address is ``jira://user@company.atlassian.net/projects/KEY``. The token is in ``JIRA_TOKEN``, or in the
    variable that the connection names: with a user an API token of the cloud, without one a personal access token of a
    data centre. Jira does not list who may read a project: say so with the groups of the connection. An issue with a
    security level can be read by the owner alone, because Jira does not tell whom the level lets in.
    """

    def __init__(self, address: Address, opening: Opening) -> None:
        before, found, after = f"/{address.path}/".partition("/projects/")
        self._key = after.partition("/")[0] if found else ""
        if not address.host or (self._key and not self._key.replace("_", "").isalnum()):
            raise UsageError("write the address of a project as jira://USER@company.atlassian.net/projects/KEY")
        self._base = address.origin + before.rstrip("/")
        place = self._base.partition("://")[2]
        self.address = f"{address.scheme}://{place}" + (f"/projects/{self._key}" if self._key else "")
        self._is_cloud = bool(address.user)
        self._client = opening.client(lambda: opening.token(address.user, "JIRA_TOKEN", self.address))

    def entries(self) -> Iterator[Entry | Skipped]:
        project = f'project = "{self._key}" ' if self._key else ""
        # By creation, so that a change during the listing moves nothing to another page. The cloud wants a restriction.
        jql = f"{project or 'created is not EMPTY '}ORDER BY created ASC, key ASC"
        asked = {"jql": jql, "fields": ",".join(_FIELDS), "maxResults": str(_PER_PAGE)}
        for issue in self._cloud(asked) if self._is_cloud else self._paged("search", "issues", asked):
            yield self._entry(issue)

    def fetch(self, entry: Entry) -> Iterator[bytes]:
        issue = self._reply(f"issue/{entry.name}", {"fields": "description", "expand": "renderedFields"})
        text = text_in(inside(issue, "renderedFields"), "description")
        yield f"<h1>{escape(entry.title)}</h1>\n{text}\n".encode()
        comments = f"issue/{entry.name}/comment"
        for one in self._paged(comments, "comments", {"expand": "renderedBody", "maxResults": str(_PER_PAGE)}):
            if not one.get("visibility"):  # for a role or group only
                head = f"Comment of {_person(one, 'author')} on {text_in(one, 'created')[:10]}"
                yield f"<h2>{escape(head)}</h2>\n{text_in(one, 'renderedBody')}\n".encode()

    def close(self) -> None:
        self._client.close()

    def _cloud(self, asked: Mapping[str, str]) -> Iterator[Json]:
        """Yield the issues of a search in the cloud, whose replies name the next one by a token."""

        def fetch(token: str) -> tuple[list[Json], str]:
            reply = self._reply("search/jql", {**asked, **({"nextPageToken": token} if token else {})})
            following = "" if reply.get("isLast") else text_in(reply, "nextPageToken")
            return objects(reply, self.address, "issues"), following

        return pages(fetch, "", self.address)

    def _paged(self, path: str, name: str, asked: Mapping[str, str]) -> Iterator[Json]:
        """Yield the items of a list whose replies count from ``startAt``."""

        def fetch(start: int) -> tuple[list[Json], int]:
            reply = self._reply(path, {**asked, "startAt": str(start)})
            items = objects(reply, self.address, name)
            end = start + len(items)
            return items, end if items and end < int(reply.get("total") or 0) else 0

        return pages(fetch, 0, self.address)

    def _reply(self, path: str, asked: Mapping[str, str]) -> Json:
        return self._client.json("GET", f"{self._base}/rest/api/2/{path}?{urlencode(asked)}")

    def _entry(self, issue: Json) -> Entry:
        key, fields = str(issue["key"]), inside(issue, "fields")
        facts: dict[str, Scalar] = {
            "kind": "jira",
            "project": key.rpartition("-")[0],
            "type": text_in(inside(fields, "issuetype"), "name"),
            "state": text_in(inside(fields, "status"), "name"),
            "author": _person(fields, "reporter"),
            "assignee": _person(fields, "assignee"),
            "created": text_in(fields, "created"),
            "date": text_in(fields, "updated"),
            "tags": ", ".join(texts(fields, "labels")),
        }
        return Entry(
            name=key,
            version=text_in(fields, "updated"),
            kind=".html",
            title=f"{key}: {text_in(fields, 'summary')}",
            url=f"{self._base}/browse/{key}",
            groups=() if fields.get("security") else None,
            metadata=stated(facts),
        )


def _person(of: Json, role: str) -> str:
    return text_in(inside(of, role), "displayName")
