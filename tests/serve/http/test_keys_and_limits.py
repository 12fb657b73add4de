"""Keys, scopes, groups and limits."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
from kb import add, open_fast
from live import DOCUMENTS, Live, Serving, make_key, served, written_by

from ragstone.core.errors import NotFound, UsageError
from ragstone.history.journal import Journal
from ragstone.history.keys import KeyLimits, Keys
from servers.openai_server import OpenAIServer

PUBLIC = {"/health", "/ready", "/widget.js"}
SIGN_IN = {"/sign-in", "/sign-in/provider", "/sign-in/callback"}
"""Where people get what other routes need."""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server whose knowledge base has keys; its client sends none."""
    folder = tmp_path_factory.mktemp("guarded") / "kb"
    with closing(open_fast(folder)) as engine:
        add(engine, *DOCUMENTS)
        make_key(folder, "first", "admin")
        with served(engine, "widget.enabled=true", "widget.origins=[https://shop.example]") as live:
            yield live


def routes(live: Live) -> Iterator[tuple[str, str]]:
    """Yield every method and path of the OpenAPI document, and some others."""
    admin = make_key(live.engine.folder, "walker", "admin")
    told = live.http.get("/openapi.json", headers=admin).json()
    for path, methods in told["paths"].items():
        for method in methods:
            yield method.upper(), re.sub(r"{.*?}", "x", path)
    yield from [("GET", "/openapi.json"), ("GET", "/docs"), ("POST", "/nothing"), ("GET", "/v2/x"), ("POST", "/mcp")]


def test_every_route_needs_a_key(guarded: Live) -> None:
    walked = list(routes(guarded))
    assert len(walked) > 20
    for method, path in walked:
        for headers in ({}, {"authorization": "Bearer rgs_00000000_" + "A" * 43}, {"authorization": "Basic eDp5"}):
            response = guarded.http.request(method, path, headers=headers)
            if path in SIGN_IN:
                assert response.status_code != 401
            elif path in PUBLIC:
                assert response.status_code == 200
            else:
                assert response.status_code == 401, (method, path)
                assert response.json()["error"]["code"] == "unauthorized"
                assert response.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    ("scope", "method", "path", "may"),
    [
        ("read", "GET", "/documents", True),
        ("read", "POST", "/documents", False),
        ("read", "DELETE", "/documents/house/none.md", False),
        ("read", "POST", "/sync", False),
        ("read", "GET", "/stats", False),
        ("read", "GET", "/settings", False),
        ("read", "GET", "/status", False),
        ("read", "GET", "/jobs", True),
        ("write", "GET", "/documents", False),
        ("write", "DELETE", "/documents/house/none.md", True),
        ("write", "GET", "/settings", False),
        ("admin", "GET", "/documents", True),
        ("admin", "DELETE", "/documents/house/none.md", True),
        ("admin", "GET", "/stats", True),
        ("admin", "GET", "/settings", True),
        ("admin", "GET", "/status", True),
    ],
)
def test_keys_may_do_what_their_scopes_allow(guarded: Live, scope: str, method: str, path: str, may: bool) -> None:
    key = make_key(guarded.engine.folder, f"{scope}er", scope)
    response = guarded.http.request(method, path, headers=key)
    assert (response.status_code != 403) is may, response.text
    if not may:
        assert response.json()["error"]["code"] == "forbidden"


def test_every_admin_route_needs_the_scope(guarded: Live) -> None:
    key = make_key(guarded.engine.folder, "helper", "read", "write", "tokens")
    walked = [(method, path) for method, path in routes(guarded) if path.startswith("/admin/")]
    assert len(walked) > 10
    for method, path in walked:
        response = guarded.http.request(method, path, headers=key)
        assert response.status_code == 403, (method, path, response.text)


def test_refuses_revoked_keys_at_once(guarded: Live) -> None:
    key = make_key(guarded.engine.folder, "leaver")
    assert guarded.http.get("/me", headers=key).json()["name"] == "leaver"
    with closing(Journal(guarded.engine.folder)) as journal:  # as another process does it
        Keys(journal).revoke("leaver")
    assert guarded.http.get("/me", headers=key).status_code == 401


def test_readers_see_only_their_groups_documents(guarded: Live) -> None:
    folder = guarded.engine.folder
    hr, guest = make_key(folder, "hilda", groups=["hr"]), make_key(folder, "guest", groups=[])
    owner = make_key(folder, "owner")
    question = {"question": "What is the salary of the director?", "session": "pay"}

    def get(path: str, key: dict[str, str]) -> httpx2.Response:
        return guarded.http.get(path, headers=key)

    answers = {
        name: guarded.http.post("/query", json=question, headers=key)
        for name, key in {"hr": hr, "guest": guest, "owner": owner}.items()
    }
    assert "nine thousand" in answers["hr"].json()["answer"]
    assert "nine thousand" in answers["owner"].json()["answer"]
    assert "nine thousand" not in answers["guest"].text
    assert "salaries" not in answers["guest"].text
    assert [get("/documents", key).json()["total"] for key in (hr, guest, owner)] == [3, 2, 3]
    assert [get("/documents/hr/salaries.md", key).status_code for key in (hr, guest, owner)] == [200, 404, 200]
    found = guarded.http.post("/search", json={"query": "salary director", "k": 10}, headers=guest).json()["hits"]
    assert "hr/salaries.md" not in [hit["document_id"] for hit in found]
    id = answers["hr"].json()["response_id"]
    assert [get(f"/responses/{id}", key).status_code for key in (hr, guest)] == [200, 404]
    vote = {"response_id": id, "vote": "up"}
    assert guarded.http.post("/feedback", json=vote, headers=guest).status_code == 404
    assert [len(get("/conversations/pay", key).json()["turns"]) for key in (hr, guest, owner)] == [1, 1, 1]
    me = {"name": "hilda", "scopes": ["read"], "groups": ["hr"], "open": False, "person": None, "web_pages": False}
    me |= {"models": [], "writes": False, "has_password": False, "attached_files": 10, "pictures": False}
    assert get("/me", hr).json() == me


def test_limits_the_rate_of_one_key(guarded: Live) -> None:
    folder = guarded.engine.folder
    hasty = make_key(folder, "hasty", limits=KeyLimits(rate_per_minute=60, burst=3))
    calm = make_key(folder, "calm")
    statuses = [guarded.http.get("/me", headers=hasty) for _ in range(5)]
    assert [one.status_code for one in statuses] == [200, 200, 200, 429, 429]
    assert statuses[-1].headers["retry-after"] == "1"
    assert statuses[-1].json()["error"]["code"] == "too_many"
    assert guarded.http.get("/me", headers=calm).status_code == 200
    time.sleep(1.05)
    assert guarded.http.get("/me", headers=hasty).status_code == 200


def test_burst_never_exceeds_the_rate(guarded: Live) -> None:
    slow = make_key(guarded.engine.folder, "slow", limits=KeyLimits(rate_per_minute=2))
    assert [guarded.http.get("/me", headers=slow).status_code for _ in range(3)] == [200, 200, 429]


def test_limits_concurrent_requests_of_a_key(serving: Serving) -> None:
    with OpenAIServer(lambda _: "Visitors park behind the mill [1].", pause=0.1) as model:
        live = serving(asked=written_by(model))
        key = make_key(live.engine.folder, "one", limits=KeyLimits(concurrent=1))
        with ThreadPoolExecutor(3) as pool:
            asked = [
                pool.submit(live.http.post, "/query", json={"question": f"Where do visitors park {i}?"}, headers=key)
                for i in range(3)
            ]
            statuses = sorted(one.result().status_code for one in asked)
        assert statuses[0] == 200
        assert statuses[-1] == 429
        assert live.ask(question="Where do they park?").status_code == 401
        assert live.http.get("/me", headers=key).status_code == 200


def test_limits_the_daily_cost_of_a_key(serving: Serving) -> None:
    with OpenAIServer(lambda _: "Visitors park behind the mill [1].") as model:
        live = serving(asked=(*written_by(model), "services.prices={m: [1000, 1000]}"))
        key = make_key(live.engine.folder, "poor", limits=KeyLimits(cost_per_day=0.0001))
        rich = make_key(live.engine.folder, "rich", limits=KeyLimits(cost_per_day=1000))
        question = {"question": "Where do visitors park?"}
        first = live.http.post("/query", json=question, headers=key)
        assert first.json()["usage"]["cost"] > 0.0001
        refused = live.http.post("/query", json=question, headers=key)
        assert refused.status_code == 429
        assert 0 < int(refused.headers["retry-after"]) <= 86_400
        assert live.http.get("/me", headers=key).status_code == 200
        assert live.http.post("/query", json=question, headers=rich).status_code == 200


# ---------------------------------------------------------------- the keys themselves
@pytest.fixture
def keys(tmp_path: Path) -> Iterator[Keys]:
    with closing(Keys(Journal(tmp_path))) as keys:
        yield keys


def test_stores_only_hashes_of_keys(keys: Keys, tmp_path: Path) -> None:
    key, text = keys.make("ada", ["read", "write"], ["hr", "hr "])
    assert text.startswith(f"rgs_{key.id}_")
    assert key.groups == ("hr",)
    for file in tmp_path.iterdir():
        assert text.split("_", 2)[2].encode() not in file.read_bytes()
    assert keys.ring().find(text) == key


@pytest.mark.parametrize("change", [lambda text: text[:-1], lambda text: text + "A", lambda text: text.swapcase()])
def test_refuses_partial_keys(keys: Keys, change: Any) -> None:
    _, text = keys.make("ada", ["read"])
    assert keys.ring().find(change(text)) is None
    assert keys.ring().find("") is None


def test_revokes_all_keys_of_a_name_or_none(keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    keys.make("bob", ["read"])
    keys.make("bob", ["read"])
    with monkeypatch.context() as patch:
        ends = iter([None])
        patch.setattr("ragstone.history.keys.end_links_if_unused", lambda *_: next(ends))
        with pytest.raises(StopIteration):
            keys.revoke("bob")
    assert [key.revoked for key in keys.all()] == [None, None]
    assert len(keys.revoke("bob")) == 2


def test_stays_closed_without_valid_keys(keys: Keys) -> None:
    assert not keys.ring()
    key, text = keys.make("ada", ["read"])
    keys.make("bob", ["read"])
    assert [one.id for one in keys.revoke(key.id)] == [key.id]
    keys.revoke("bob")
    assert keys.ring()
    assert keys.ring().find(text) is None
    with pytest.raises(NotFound, match="valid"):
        keys.revoke("bob")


@pytest.mark.parametrize(("name", "scopes"), [(" ", ["read"]), ("a\nb", ["read"]), ("a", ["all"]), ("a", [])])
def test_keys_need_a_name_and_scopes(keys: Keys, name: str, scopes: list[str]) -> None:
    with pytest.raises(UsageError):
        keys.make(name, scopes)
