"""No route tells a reader or a visitor where on the server the files of the documents lie."""

from __future__ import annotations

import asyncio
import re
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from kb import READY, open_fast
from langchain_core.documents import Document as Theirs
from live import Live, make_key, served
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from pdf_file import pdf

from ragstone.serve.langchain import from_langchain

SITE = "https://shop.example"
SECRET = "clandestine"
QUESTIONS = ("What is the pressure of the pump?", "Which documents are there?", "What does pump.md say?", "PRESSURE")
FILTERS = ("source = '{}'", "source >= 'a'", "source in ('{}')", "id = '{}'", "path = '{}'", "not source < '{}'")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp(SECRET) / "manuals"
    (root / "sub").mkdir(parents=True)
    (root / "pump.md").write_text("# Pump\n\nThe pressure of the pump is 4 bar.\n")
    (root / "sub" / "note.txt").write_text("The pressure of the valve is 6 bar.")
    (root / "sheet.pdf").write_bytes(pdf(["The pressure of the turbine is 90 bar."]))
    (root / "parts.csv").write_text("Part,Pressure\nAlpha,1 bar\nBeta,2 bar\n")
    (root / "damaged.pdf").write_bytes(b"%PDF-1.4 nothing")
    with zipfile.ZipFile(root / "old.zip", "w") as archive:
        archive.writestr("old/pump.md", "The pressure of the old pump is 3 bar.")
    return root


@pytest.fixture(scope="module")
def live(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    widget = ("widget.enabled=true", "widget.anonymous=true", f'widget.origins=["{SITE}"]')
    limits = ("limits.concurrent=0", "widget.rate_per_minute=100")
    with closing(open_fast(tmp_path_factory.mktemp("base") / "kb", READY)) as engine:
        asyncio.run(engine.documents.sync([str(root)]))
        text, path = "The pressure of the boiler is 8 bar.", str(root / "boiler.txt")
        loaded = Theirs(page_content=text, metadata={"source": path, "file_path": path})
        asyncio.run(engine.documents.add(from_langchain([loaded])))
        with served(engine, *widget, *limits, f'sources=["{root}"]') as live:
            yield live


@pytest.fixture(scope="module")
def reader(live: Live) -> dict[str, str]:
    return make_key(live.engine.folder, "reader", "read", "write", "tokens", groups=["staff"])


def ids(live: Live, key: dict[str, str]) -> list[str]:
    return [one["document_id"] for one in live.http.get("/documents", headers=key).json()["documents"]]


def check(told: httpx2.Response) -> httpx2.Response:
    assert told.status_code < 500, told.text
    assert SECRET not in told.text, told.request.url
    assert SECRET not in str(told.headers)
    return told


def test_every_document_opens_by_its_shown_id(live: Live, reader: dict[str, str]) -> None:
    (loaded,) = (id for id in ids(live, reader) if id.endswith("/boiler.txt"))
    assert check(live.http.get(f"/documents/{quote(loaded)}", headers=reader)).status_code == 200
    shown = [id for id in ids(live, reader) if id != loaded]
    assert sorted(shown) == [
        "manuals/old.zip/old/pump.md",
        "manuals/parts.csv#1",
        "manuals/parts.csv#2",
        "manuals/pump.md",
        "manuals/sheet.pdf",
        "manuals/sub/note.txt",
    ]
    for id in shown:
        found = check(live.http.get(f"/documents/{quote(id)}", headers=reader)).json()
        assert (found["document_id"], found["source"]) == (id, id)
    assert live.http.get(f"/originals/{quote('manuals/sheet.pdf')}", headers=reader).content.startswith(b"%PDF")


def test_no_route_tells_a_path_to_a_reader(live: Live, reader: dict[str, str]) -> None:
    asked = live.http.post("/query", json={"question": QUESTIONS[0], "session": "s"}, headers=reader).json()
    written = live.http.post("/v1/responses", json={"model": "ragstone", "input": QUESTIONS[0]}, headers=reader).json()
    link = live.http.post("/links/s", json={"days": 1}, headers=reader).json()["secret"]
    job = live.http.post("/documents", files=[("files", ("a.pdf", b"%PDF-1.4"))], headers=reader).json()["job_id"]
    live.until(lambda: live.http.get(f"/jobs/{job}", headers=reader).json()["ended"], bool)
    names = [*map(quote, ids(live, reader)), "s", asked["response_id"], written["id"], job, link, "pump.md"]
    routes = live.http.get("/openapi.json", headers=reader).json()["paths"]
    for path, methods in routes.items():
        for name in names if "{" in path else ("",):
            address = re.sub("{.*?}", name, path)
            for method in methods:
                if method in ("get", "delete") and not (method == "delete" and "documents" in path):
                    check(live.http.request(method, address, headers=reader))


@pytest.mark.parametrize("route", ["/query", "/search", "/v1/chat/completions", "/v1/responses"])
def test_no_answer_has_a_path(live: Live, reader: dict[str, str], route: str) -> None:
    for question in QUESTIONS:
        bodies: dict[str, dict[str, Any]] = {
            "/query": {"question": question, "explain": True},
            "/search": {"query": question, "k": 20, "explain": True},
            "/v1/chat/completions": {"model": "ragstone", "messages": [{"role": "user", "content": question}]},
            "/v1/responses": {"model": "ragstone", "input": question},
        }
        assert check(live.http.post(route, json=bodies[route], headers=reader)).status_code == 200
        check(live.http.post(route, json=bodies[route] | {"stream": True}, headers=reader))


def test_no_agent_is_told_a_path(live: Live, reader: dict[str, str]) -> None:
    """Every tool is called with questions and an id, and every resource is read."""

    async def told() -> list[str]:
        async with (
            httpx2.AsyncClient(headers=reader) as http,
            Client(streamable_http_client(f"{live.url}/mcp", http_client=http)) as client,
        ):
            tools, resources = (await client.list_tools()).tools, (await client.list_resources()).resources
            out = [str(tools), str(resources)]
            for tool in tools:
                for question in (*QUESTIONS, "manuals/pump.md"):
                    taken = dict.fromkeys(tool.input_schema.get("required", ()), question)
                    out.append(str(await client.call_tool(tool.name, taken)))
            return [*out, *[str(await client.read_resource(one.uri)) for one in resources]]

    texts = asyncio.run(told())
    assert sum("4 bar" in text for text in texts) >= 3
    assert not [text for text in texts if SECRET in text]


def test_no_visitor_is_told_a_path(live: Live) -> None:
    for question in QUESTIONS:
        for accept in ("application/json", "text/event-stream"):
            headers = {"origin": SITE, "accept": accept}
            told = check(live.http.post("/query", json={"question": question}, headers=headers))
            assert told.status_code == 200


def test_no_filter_tells_a_path(live: Live, root: Path, reader: dict[str, str]) -> None:
    """What compares with a path finds nothing, or is refused, whether the path is right or wrong."""
    for written in FILTERS:
        found = [
            live.http.post(
                "/search", json={"query": "pressure", "k": 20, "where": written.format(path)}, headers=reader
            )
            for path in (root / "pump.md", root.parent / "other" / "pump.md")
        ]
        assert len({(one.status_code, len(one.json().get("hits", ()))) for one in found}) == 1, written
    for path in (str(root / "pump.md"), str(root.parent)):
        assert live.http.get("/documents", params={"q": path}, headers=reader).json()["total"] == 0
        assert live.http.get(f"/documents/{quote(path)}", headers=reader).status_code == 404


def test_administrators_see_the_path(live: Live, root: Path) -> None:
    key = make_key(live.engine.folder, "chief", "read", "admin")
    found = live.http.get(f"/documents/{quote('manuals/pump.md')}", headers=key).json()
    assert found["source"] == str(root / "pump.md")
