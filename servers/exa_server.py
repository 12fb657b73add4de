"""Exa on loopback: ``POST /search`` with a key, as https://exa.ai/docs/reference/search describes it."""

from __future__ import annotations

from typing import Any

from servers.searching import Asked, SearchServer

KEY = "exa-canary-7d1f"
PAGES: list[dict[str, Any]] = [
    {
        "id": f"https://news.example/{name}",
        "url": f"https://news.example/{name}",
        "title": title,
        "author": author,
        "publishedDate": "2026-10-01T08:00:00.000Z",
        "score": None,
        "text": text,
    }
    for name, title, author, text in [
        ("harbour", "Harbour opens", "A. Writer", "The new harbour opened on Monday. " * 400),
        ("ferry", "Ferry runs", None, "The ferry runs twice a day."),
        ("island", "Island closed", "B. Writer", "The island is closed in winter."),
        ("lighthouse", "Lighthouse lit", "", "The lighthouse was lit again."),
    ]
]


class ExaServer(SearchServer):
    def answer(self, asked: Asked) -> tuple[int, Any]:
        if asked.headers.get("x-api-key") != KEY:
            error = f"Invalid API key: {asked.headers.get('x-api-key')}"
            return 401, {"requestId": "r", "error": error, "tag": "INVALID_API_KEY"}
        wrong = self._wrong(asked)
        if wrong:
            return 400, {"requestId": "r", "error": wrong, "tag": "INVALID_REQUEST_BODY"}
        longest = asked.body["contents"]["text"]["maxCharacters"]
        found = [{**page, "text": page["text"][:longest]} for page in PAGES[: asked.body["numResults"]]]
        costs = {"total": 0.007}
        return 200, {"requestId": "r", "resolvedSearchType": "neural", "results": found, "costDollars": costs}

    def _wrong(self, asked: Asked) -> str:
        """Return what the description forbids in a request."""
        body = asked.body
        if (asked.method, asked.path) != ("POST", "/search"):
            return f"no such route: {asked.method} {asked.path}"
        if asked.headers.get("content-type") != "application/json":
            return "content-type"
        if not isinstance(body.get("query"), str) or not body["query"]:
            return "query"
        if body.get("type") not in ("auto", "fast", "deep", "instant", "neural", "keyword"):
            return "type"
        if not 1 <= body.get("numResults", 10) <= 100:
            return "numResults"
        return "" if set(body) <= {"query", "type", "numResults", "contents"} else "unknown fields"
