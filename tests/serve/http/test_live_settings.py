"""Settings that administrators change while servers run hold for the next question of every server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest
from kb import READY, add, open_fast
from live import DOCUMENTS, Live, make_key, served

from ragstone.history.journal import Journal

QUESTION = "Where do visitors park?"
REFUSING = ("respond.closest_from=1", "respond.abstain_below=0.3")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Live, Live]]:
    """Two servers of one knowledge base, one of which learns; what is not sure enough they refuse."""
    folder = tmp_path_factory.mktemp("changed") / "kb"
    with ExitStack() as stack:
        first = stack.enter_context(closing(open_fast(folder, READY, "learning.mode=gated", *REFUSING)))
        add(first, *DOCUMENTS)
        second = stack.enter_context(closing(open_fast(folder, READY, *REFUSING, create=False)))
        yield stack.enter_context(served(first)), stack.enter_context(served(second))


def change(live: Live, path: str, value: object) -> int:
    return live.http.post("/admin/settings", json={"path": path, "value": value}).status_code


def outcome(live: Live) -> str:
    return live.ask(QUESTION).json()["outcome"]


def is_refusal(found: str) -> bool:
    return found == "refusal"


def held(live: Live, path: str) -> tuple[object, object]:
    found = {one["path"]: one for one in live.http.get("/admin/settings").json()["settings"]}
    return found[path]["configured"], found[path]["changed"]


def test_a_change_holds_for_all_servers_until_it_is_taken_back(two: tuple[Live, Live]) -> None:
    first, second = two
    assert {outcome(live) for live in two} == {"answer"}
    assert change(first, "respond.abstain_below", 1) == 204
    assert outcome(first) == "refusal"
    assert first.until(lambda: outcome(second), is_refusal)
    assert held(first, "respond.abstain_below")[1] == 1
    assert first.ask(QUESTION, settings={"respond.abstain_below": 0.05}).json()["outcome"] == "answer"
    assert change(second, "respond.abstain_below", None) == 204
    assert outcome(second) != "refusal"
    assert first.until(lambda: not is_refusal(outcome(first)), bool)
    entries = first.http.get("/admin/audit").json()["entries"]
    assert [(one["act"], one["what"]) for one in entries[:2]] == [
        ("setting.change", "respond.abstain_below \u00b7 as configured"),
        ("setting.change", "respond.abstain_below \u00b7 1"),
    ]


def test_search_follows_and_learning_goes_on(two: tuple[Live, Live]) -> None:
    live = two[0]
    assert change(live, "rank.top_k", 1) == 204
    answer = live.ask(QUESTION, explain=True).json()
    assert len(answer["hits"]) == 1
    assert len(live.http.post("/search", json={"query": QUESTION}).json()["hits"]) == 1
    with closing(Journal(live.engine.folder)) as journal, journal.reading() as db:
        assert db
        assert db.execute("SELECT 1 FROM assignments WHERE response = ?", [answer["response_id"]]).fetchone()
    assert change(live, "rank.top_k", None) == 204


@pytest.mark.parametrize(
    ("path", "value", "status"),
    [
        ("rank.top_k", 0, 400),
        ("rank.top_k", 10**6, 400),
        ("rank.top_k", "many", 400),
        ("rank.reranker", "cross_encoder", 400),
        ("respond.language", "english", 400),
        ("respond.abstain_below", 2, 400),
        ("services.postgres.url", "postgresql://evil", 404),
        ("serve.host", "0.0.0.0", 404),
    ],
)
def test_refuses_other_settings_and_values(two: tuple[Live, Live], path: str, value: object, status: int) -> None:
    before = two[0].http.get("/admin/settings").json()
    assert change(two[0], path, value) == status
    assert two[0].http.get("/admin/settings").json() == before


def test_only_administrators_change_settings(two: tuple[Live, Live]) -> None:
    key = make_key(two[0].engine.folder, "rob", "read")
    sent = two[0].http.post("/admin/settings", json={"path": "rank.top_k", "value": 1}, headers=key)
    assert sent.status_code == 403
