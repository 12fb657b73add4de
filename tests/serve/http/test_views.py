"""What readers are shown of documents: no path of the server, and no group that is not theirs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
from kb import READY, add, open_fast
from live import DOCUMENTS, Live, Serving, make_key, served
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from ragstone.core.access import OWNER, Reader
from ragstone.core.errors import EngineError, Locked, SettingsMismatch
from ragstone.core.records import Document
from ragstone.serve.http.errors import STATUS, problem
from ragstone.serve.plain_notices import UNAVAILABLE
from ragstone.serve.view import View
from servers.postgres_server import shared

QUESTION = {"question": "When is the canteen open?", "explain": True}
STAFF = Reader(name="clerk", groups=frozenset({"staff"}))


@pytest.fixture(scope="module")
def filed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server over files that several groups may read."""
    folder = tmp_path_factory.mktemp("filed")
    docs = folder / "private" / "docs"
    docs.mkdir(parents=True)
    (docs / "hours.csv").write_text("id,text\n1,The gate closes at nine.\n")
    with closing(open_fast(folder / "kb")) as engine:
        canteen = Document(
            id="private/docs/canteen.md",
            text="The canteen is open from eleven to two.",
            source=str(docs / "canteen.md"),
            metadata={"readers": ("board", "staff")},
        )
        add(engine, str(docs), canteen)
        with served(engine) as live:
            yield live


def test_readers_see_neither_paths_nor_foreign_groups(filed: Live) -> None:
    staff = make_key(filed.engine.folder, "clerk", groups=["staff"])
    root = str(filed.engine.folder.parent)

    def shown(key: dict[str, str]) -> str:
        answer = filed.http.post("/query", json=QUESTION, headers=key)
        response = filed.http.get(f"/responses/{answer.json()['response_id']}", params={"explain": True}, headers=key)
        stream = filed.http.post("/query", json=QUESTION, headers=key | {"accept": "text/event-stream"})
        search = filed.http.post("/search", json={"query": "canteen", "explain": True}, headers=key)
        listing = filed.http.get("/documents", headers=key)
        document = filed.http.get("/documents/private/docs/canteen.md", headers=key)
        sources = [one["source"] for one in listing.json()["documents"]] + [document.json()["source"]]
        if root not in sources[0]:
            assert sources == [f"private/docs/{name}" for name in ("canteen.md", "hours.csv#1", "canteen.md")]
        responses = (answer, response, stream, search, listing, document)
        return "".join(one.text for one in responses) + asyncio.run(through_mcp(filed.url, key))

    text = shown(staff)
    assert "staff" in text
    assert "board" not in text
    assert root not in text
    text = shown(make_admin(filed))
    assert "board" in text
    assert root in text


@pytest.mark.parametrize(
    "where",
    [
        "readers = board",
        "readers != board",
        "not readers = board",
        "readers in (staff, board)",
        "readers > a and readers < c",
        "(kind = md or readers = board)",
    ],
)
def test_filters_tell_no_foreign_group(filed: Live, where: str) -> None:
    staff = make_key(filed.engine.folder, "clerk", groups=["staff"])
    for path, body in (("/search", {"query": "canteen"}), ("/query", {"question": "When is the canteen open?"})):
        refused = filed.http.post(path, json={**body, "where": where}, headers=staff)
        assert refused.status_code == 400, refused.text
    own = filed.http.post("/search", json={"query": "canteen", "where": "readers = staff"}, headers=staff)
    assert len(own.json()["hits"]) == 1


@pytest.mark.parametrize(
    "where",
    [
        'source >= "/"',
        "source > a and source < b",
        "not source <= z",
        "source = /srv/private/docs/canteen.md",
        "source != file:///srv",
        "(kind = md or source in (Acme, /srv/a.md))",
    ],
)
def test_filters_tell_no_path(filed: Live, where: str) -> None:
    restricted = make_key(filed.engine.folder, "clerk", groups=["staff"])
    for key in (restricted, make_key(filed.engine.folder, "reader")):
        for path, body in (
            ("/search", {"query": "canteen"}),
            ("/query", {"question": "When is the canteen open?"}),
            ("/v1/chat/completions", {"model": "ragstone", "messages": [{"role": "user", "content": "canteen?"}]}),
            ("/v1/responses", {"model": "ragstone", "input": "canteen?"}),
        ):
            refused = filed.http.post(path, json={**body, "where": where}, headers=key)
            assert refused.status_code == 400, refused.text
    search = {"query": "canteen", "where": 'source != "https://example.org" and exists source'}
    assert filed.http.post("/search", json=search, headers=restricted).json()["hits"]
    owner = {"query": "canteen", "where": 'source >= "/"'}
    assert filed.http.post("/search", json=owner, headers=make_admin(filed)).json()["hits"]


def test_listing_finds_no_hidden_path(filed: Live) -> None:
    staff = make_key(filed.engine.folder, "porter", groups=["staff"])
    unrestricted = make_key(filed.engine.folder, "visitor")
    folder = filed.engine.folder.parent.name

    def count(q: str, key: dict[str, str]) -> int:
        return filed.http.get("/documents", params={"q": q}, headers=key).json()["total"]

    assert [count("canteen", key) for key in (staff, unrestricted)] == [1, 1]
    assert [count(folder, key) for key in (staff, unrestricted)] == [0, 0]
    assert filed.engine.documents.list(q=folder, reader=OWNER).total == 2


def make_admin(live: Live) -> dict[str, str]:
    return make_key(live.engine.folder, "boss", "admin")


async def through_mcp(url: str, key: dict[str, str]) -> str:
    """What the tools and resources tell."""
    out: list[Any] = []
    async with (
        httpx2.AsyncClient(headers=key) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        for name, arguments in (
            ("search", {"query": "canteen"}),
            ("ask", {"question": QUESTION["question"]}),
            ("list_documents", {}),
            ("read_source", {"document_id": "private/docs/canteen.md"}),
        ):
            result = await client.call_tool(name, arguments)
            assert not result.is_error
            out += [result.structured_content, result.content]
        out.append(await client.list_resources())
    return str(out)


def test_errors_hide_folders(filed: Live, tmp_path: Path) -> None:
    folder = filed.engine.folder
    for error, status in (
        (Locked(folder, "process 7 on host"), 409),
        (SettingsMismatch(f"{folder} was built with other settings"), 409),
        (EngineError(f"Qdrant at {folder} does not answer"), 503),
        (RuntimeError(f"cannot read {tmp_path}"), 500),
    ):
        told = problem(error, "id").error
        assert STATUS[told.code] == status
        assert str(folder.parent) not in told.message
        assert str(tmp_path) not in told.message


@pytest.mark.parametrize(
    ("source", "id", "shown"),
    [
        ("/srv/files/docs/a.md", "docs/a.md", "docs/a.md"),
        ("/srv/files/plan.csv#7", "plan.csv#7", "plan.csv#7"),
        ("/srv/files/a.zip/inner/x.txt", "other", "x.txt"),
        ("file:///srv/files/a.md", "a.md", "a.md"),
        ("https://example.org/a", "a", "https://example.org/a"),
        ("gate.txt", "gate.txt", "gate.txt"),
    ],
)
def test_hides_folders_of_sources(source: str, id: str, shown: str) -> None:
    assert View(reader=STAFF).source(source, id) == shown
    assert View(reader=OWNER).source(source, id) == source
    assert View(reader=STAFF, is_admin=True).source(source, id) == source


def test_hides_groups_of_others() -> None:
    facts = {"lang": "en", "readers": ("board", "staff", "*")}
    assert View(reader=STAFF).metadata(facts) == {"lang": "en", "readers": ("staff", "*")}
    assert View(reader=Reader(name="anna")).metadata(facts) == facts
    assert View(reader=STAFF).metadata({"lang": "en"}) == {"lang": "en"}


def test_titles_of_citations_name_no_folder(serving: Serving) -> None:
    live = serving(documents=(Document(id="/srv/private/canteen.txt", text="The canteen is open from eleven to two."),))
    asked = {"model": "ragstone", "messages": [{"role": "user", "content": QUESTION["question"]}]}
    (note,) = live.http.post("/v1/chat/completions", json=asked).json()["choices"][0]["message"]["annotations"]
    assert note["url_citation"]["title"] == "canteen.txt"


def test_notices_name_no_service(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """The keyword engine is away: readers are told so, administrators also where it should be."""
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "10.0.0.1")
    dsn = "services.postgres.dsn=postgresql://x:pw@127.0.0.1:1/x"
    site = {"origin": "https://shop.example"}
    live = serving(
        "url=https://docs.example",
        "widget.enabled=true",
        "widget.anonymous=true",
        "widget.origins=[https://shop.example]",
        asked=("index.keywords=postgres", dsn),
    )
    reader, admin = make_key(live.engine.folder, "reader", "read", "write"), make_admin(live)
    park = "Where do visitors park?"

    def told(key: dict[str, str]) -> str:
        answer = live.http.post("/query", json={"question": park}, headers=key)
        stream = live.http.post("/query", json={"question": park}, headers=key | {"accept": "text/event-stream"})
        assert answer.is_success, answer.text
        if key is site:
            return answer.text + stream.text
        chat = {"model": "ragstone", "messages": [{"role": "user", "content": park}]}
        made = live.http.post("/v1/responses", json={"model": "ragstone", "input": park}, headers=key)
        kept = [f"/responses/{answer.json()['response_id']}", f"/v1/responses/{made.json()['id']}"]
        job = live.http.post("/documents", files=[("files", ("bar.md", b"The bar."))], headers=key).json()["job_id"]
        done = live.until(lambda: live.http.get(f"/jobs/{job}", headers=key), lambda it: it.json()["ended"])
        found = [answer, stream, made, live.http.post("/v1/chat/completions", json=chat, headers=key), done]
        return "".join(one.text for one in [*found, *(live.http.get(path, headers=key) for path in kept)])

    for key in (reader, site):
        text = told(key)
        assert "keyword search failed" in text
        for internal in ("127.0.0.1", "ostgre", "connect", "services."):
            assert internal not in text
    assert "127.0.0.1" in told(admin)


@pytest.mark.parametrize(
    ("notice", "shown"),
    [
        ("understood as: Where is https://example.org/a?", "understood as: Where is https://example.org/a?"),
        ("bm25 search failed: Postgres at 10.0.0.7:5432 refused; run: ragstone doctor", "keyword search failed"),
        ("The answer was not judged: https://llm.local/v1 refuses", "The answer was not judged"),
        ("The reply of gguf:/srv/models/a.gguf was cut off; raise respond.model.max_tokens", UNAVAILABLE),
        ("Qdrant at qdrant.internal:6333 does not answer", UNAVAILABLE),
        ("2 of 5 sentences are not supported by the documents", "2 of 5 sentences are not supported by the documents"),
    ],
)  # fmt: skip
def test_readers_are_told_what_not_where(notice: str, shown: str) -> None:
    assert View(reader=STAFF).notices([notice, notice]) == (shown,)
    assert View(reader=STAFF, is_admin=True).notices([notice]) == (notice,)


def test_not_ready_without_the_database(tmp_path: Path) -> None:
    server = shared()
    dsn = f"services.postgres.dsn={server.address(server.database('gone'))}"
    wanted = (dsn, "index.catalog=postgres", "services.postgres.catalog=team", "services.engine_seconds=1")
    with closing(open_fast(tmp_path / "kb", READY, *wanted)) as engine:
        add(engine, *DOCUMENTS)
        with served(engine) as live:
            look = lambda: live.http.get("/ready")  # noqa: E731
            assert live.until(look, lambda it: it.status_code == 200).json() == {"status": "ready", "problem": ""}
            server.kill()
            gone = live.until(look, lambda it: it.status_code == 503).json()
            assert gone["status"] == "unavailable"
            assert gone["problem"] in ("the documents cannot be read", "the database does not answer")
            refused = live.ask("What is room 9 called?")
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "unavailable")
            assert "the knowledge base cannot be used now" in refused.text
            server.start()
            live.until(look, lambda it: it.status_code == 200)
