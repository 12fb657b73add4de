"""Jira on loopback: the search for issues and their comments, in the cloud and in a data centre, as documented."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from typing import Any

from servers.json_server import MISSING, Answer, Call, JsonServer

PER_PAGE = 2
"""Items of a reply, whatever is requested."""


@dataclass(kw_only=True)
class Issue:
    """An issue with its description as HTML; ``comments`` are triples of author, HTML and the role that may read it."""

    key: str
    summary: str
    description: str | None
    updated: str = "2024-05-06T07:08:09.000+0000"
    level: str = ""
    reporter: str | None = "Ann"
    comments: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])


class JiraServer(JsonServer):
    """A server of the cloud for a user with a token, or of a data centre without a user."""

    def __init__(self, token: str, *issues: Issue, user: str = "") -> None:
        login = base64.b64encode(f"{user}:{token}".encode()).decode()
        super().__init__(f"Basic {login}" if user else f"Bearer {token}")
        self.issues = {issue.key: issue for issue in issues}
        self._in_cloud = bool(user)

    def answer(self, call: Call) -> Answer:
        if call.path == f"/rest/api/2/search{'/jql' if self._in_cloud else ''}":
            return Answer(value=self._search(call.query))
        found = re.fullmatch(r"/rest/api/2/issue/([A-Z]+-\d+)(/comment)?", call.path)
        issue = self.issues.get(found[1]) if found else None
        if not found or issue is None:
            return MISSING
        if found[2]:
            return Answer(value=_comments(issue, call.query))
        rendered = {"description": issue.description} if call.query.get("expand") == "renderedFields" else {}
        return Answer(value={"key": issue.key, "fields": {"description": "markup"}, "renderedFields": rendered})

    def _search(self, query: dict[str, str]) -> dict[str, Any]:
        project = re.search(r'project = "(\w+)"', query["jql"])
        issues = [one for one in self.issues.values() if not project or one.key.startswith(f"{project[1]}-")]
        start = int(query.get("nextPageToken" if self._in_cloud else "startAt", "0"))
        page = [self._shown(one, query["fields"].split(",")) for one in issues[start : start + PER_PAGE]]
        following = start + PER_PAGE
        if not self._in_cloud:
            return {"startAt": start, "maxResults": PER_PAGE, "total": len(issues), "issues": page}
        more = following < len(issues)
        return {"issues": page, "isLast": not more, **({"nextPageToken": str(following)} if more else {})}

    def _shown(self, issue: Issue, names: list[str]) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "summary": issue.summary,
            "updated": issue.updated,
            "created": "2024-01-02T03:04:05.000+0000",
            "status": {"name": "In Progress"},
            "issuetype": {"name": "Bug"},
            "reporter": {"displayName": issue.reporter},
            "assignee": None,
            "labels": ["water"],
            "security": {"name": issue.level} if issue.level else None,
        }
        return {"id": "1", "key": issue.key, "fields": {name: fields[name] for name in names}}


def _comments(issue: Issue, query: dict[str, str]) -> dict[str, Any]:
    start = int(query.get("startAt", "0"))
    listed: list[dict[str, Any]] = []
    for author, text, role in issue.comments[start : start + PER_PAGE]:
        one: dict[str, Any] = {"author": {"displayName": author}, "created": "2024-02-03T00:00:00.000+0000"}
        one["renderedBody"] = text if query.get("expand") == "renderedBody" else None
        listed.append({**one, **({"visibility": {"type": "role", "value": role}} if role else {})})
    return {"startAt": start, "maxResults": PER_PAGE, "total": len(issue.comments), "comments": listed}
