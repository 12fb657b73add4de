"""SearXNG on loopback: ``GET /search?q=...&format=json``, as docs.searxng.org/dev/search_api.html describes it."""

from __future__ import annotations

from typing import Any

from servers.searching import Asked, Fault, SearchServer

RESULTS: list[dict[str, Any]] = [
    {
        "url": f"https://pages.example/{name}",
        "title": title,
        "content": content,
        "engine": "one",
        "engines": ["one"],
        "score": score,
        "category": "general",
        "publishedDate": published,
    }
    for name, title, content, score, published in [
        ("harbour", "Harbour opens", "The new harbour opened on Monday.", 4.0, "2026-10-01T08:00:00"),
        ("empty", "Nothing shown", "", 3.0, None),
        ("ferry", "Ferry  runs\n", "The ferry runs twice a day.", 2.0, None),
    ]
]


class SearxngServer(SearchServer):
    """A SearXNG whose settings allow these ``formats``; a new one allows HTML only."""

    def __init__(self, *faults: Fault, formats: tuple[str, ...] = ("html", "json")) -> None:
        super().__init__(*faults)
        self.formats = formats

    def answer(self, asked: Asked) -> tuple[int, Any]:
        if asked.path != "/search":
            return 404, {"error": "not found"}
        if asked.fields.get("format", "html") not in self.formats:
            return 403, {"error": "Forbidden"}
        if not asked.fields.get("q"):
            return 400, {"error": "No query"}
        reply = {"query": asked.fields["q"], "number_of_results": 0, "results": RESULTS}
        return 200, {**reply, "answers": [], "corrections": [], "infoboxes": [], "suggestions": []}
