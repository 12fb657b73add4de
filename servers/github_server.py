"""GitHub on loopback: issues, pull requests and comments of its REST API, as GitHub documents them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from servers.json_server import MISSING, Answer, Call, JsonServer

PER_PAGE = 2
"""Items of a page, whatever is requested."""


@dataclass(kw_only=True)
class Issue:
    """An issue, or a pull request if it ``pulls``; comments are pairs of author and text, ``reviews`` with a file."""

    number: int
    title: str
    body: str | None
    updated: str = "2024-05-06T07:08:09Z"
    state: str = "open"
    pulls: bool = False
    merged: bool = False
    labels: tuple[str, ...] = ()
    author: str | None = "ann"
    comments: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    reviews: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])


class GitHubServer(JsonServer):
    """A GitHub Enterprise Server with one repository, ``mill/wheel``. Tests change its issues between syncs."""

    def __init__(self, token: str, *issues: Issue) -> None:
        super().__init__(f"Bearer {token}")
        self.issues = {issue.number: issue for issue in issues}

    def answer(self, call: Call) -> Answer:
        found = re.fullmatch(r"/api/v3/repos/mill/wheel/(issues|pulls)(?:/(\d+)(/comments)?)?", call.path)
        if not found:
            return MISSING
        kind, number, comments = found.groups()
        if not number:
            listed = sorted(self.issues.values(), key=lambda one: one.number)
            return self._page(call, [self._shown(one) for one in listed])
        issue = self.issues.get(int(number))
        if issue is None or (kind == "pulls" and not issue.pulls):
            return MISSING
        if not comments:
            return Answer(value=self._shown(issue))
        if kind == "issues":
            return self._page(call, [_comment(who, text, n) for n, (who, text) in enumerate(issue.comments)])
        reviews = [{**_comment(who, text, 9), "path": path} for who, text, path in issue.reviews]
        return self._page(call, reviews)

    def _page(self, call: Call, items: list[dict[str, Any]]) -> Answer:
        page = int(call.query.get("page", "1"))
        query = "&".join(f"{name}={value}" for name, value in call.query.items() if name != "page")
        here = f"{self.origin}{call.path}?{query}&page="
        more = len(items) > page * PER_PAGE
        link = f'<{here}{page + 1}>; rel="next", <{here}9>; rel="last"' if more else f'<{here}1>; rel="first"'
        return Answer(value=items[(page - 1) * PER_PAGE : page * PER_PAGE], headers={"Link": link})

    def _shown(self, issue: Issue) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "number": issue.number,
            "title": issue.title,
            "body": issue.body,
            "state": issue.state,
            "user": {"login": issue.author} if issue.author else None,
            "labels": [{"name": label} for label in issue.labels],
            "created_at": "2024-01-02T03:04:05Z",
            "updated_at": issue.updated,
            "html_url": f"{self.origin}/mill/wheel/{'pull' if issue.pulls else 'issues'}/{issue.number}",
        }
        if issue.pulls:
            shown["pull_request"] = {"merged_at": issue.updated if issue.merged else None}
        return shown


def _comment(author: str, text: str, hour: int) -> dict[str, Any]:
    return {"user": {"login": author}, "body": text, "created_at": f"2024-02-03T0{hour}:00:00Z"}
