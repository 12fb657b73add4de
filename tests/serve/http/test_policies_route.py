"""Learned policies over HTTP, for administrators."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from kb import add, calls_on_the_loop, open_fast
from live import DOCUMENTS, Live, make_key, served
from voting import cast, learner_of

from ragstone.engine.learning import Learning
from ragstone.learning.policy import Choices

PATHS = ("/policies", "/policies/explain")


@pytest.fixture(scope="module")
def learning(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server with keys and a trial with few votes."""
    folder = tmp_path_factory.mktemp("learning") / "kb"
    with closing(open_fast(folder, "learning.mode=gated")) as engine:
        add(engine, *DOCUMENTS)
        engine.learning.start_trial({"": Choices(top_k=2)}, "short is sweet")
        cast(engine, 12, bool)
        make_key(folder, "first", "admin")
        with served(engine) as live:
            yield live


def test_policies_are_for_administrators_only(learning: Live) -> None:
    keys = {scope: make_key(learning.engine.folder, scope, scope) for scope in ("read", "write", "admin")}
    for path in PATHS:
        assert learning.http.get(path).status_code == 401
        statuses = {scope: learning.http.get(path, headers=key).status_code for scope, key in keys.items()}
        assert statuses == {"read": 403, "write": 403, "admin": 200}


def test_listing_policies_holds_up_no_other_request(learning: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    noted = calls_on_the_loop(monkeypatch, Learning, "changes")
    assert learning.http.get("/policies", headers=make_key(learning.engine.folder, "eve", "admin")).json()["policies"]
    assert not noted


def test_returns_policies_and_the_running_trial(learning: Live) -> None:
    admin = make_key(learning.engine.folder, "ada", "admin")
    listed, told = (learning.http.get(path, headers=admin).json() for path in PATHS)
    assert listed["in_use"] == 0
    assert [(one["version"], one["parent"], one["changes"]) for one in listed["policies"]] == [
        (0, None, []),
        (1, 0, ["top_k 5 -> 2"]),
    ]
    now = learning.engine.learning.report()
    assert (told["mode"], told["trial"], told["votes"]) == ("gated", "trial 1", 12)
    assert told["why"] == now.why
    assert told["cautions"] == list(now.cautions)
    assert [one["action"] for one in told["moments"]] == ["began", "went on"]
    (point,) = told["moments"][1]["points"]
    assert (point["trial"], point["version"], point["bar"]) == ("trial 1", 1, 40)
    arms = {one["role"]: one for one in told["arms"]}
    assert sum(one["arm"]["votes"] for one in arms.values()) == 12
    challenger = arms["challenger"]
    assert challenger["few"]
    assert (challenger["arm"]["difference"], challenger["arm"]["needs"]) == (None, None)
    with learner_of(learning.engine) as learner:
        seed = learner.log.seed()
    texts = [learning.http.get(path, headers=admin).text for path in PATHS]
    assert all(seed not in text for text in texts), "the seed predicts every draw"


def test_administrators_try_promote_and_revert(learning: Live) -> None:
    admin = make_key(learning.engine.folder, "eva", "admin")
    reader = make_key(learning.engine.folder, "rob", "read")

    def act(path: str, body: object, key: dict[str, str] = admin) -> int:
        return learning.http.post(f"/admin/learning/{path}", json=body, headers=key).status_code

    def in_use() -> int:
        return learning.http.get("/policies", headers=admin).json()["in_use"]

    try_three = {"choices": {"top_k": 3}, "why": "three will do"}
    assert [act(path, {"version": 0}, reader) for path in ("trial", "promote", "revert")] == [403, 403, 403]
    assert act("trial", try_three) == 400  # one is under way
    assert act("promote", {"version": 9}) == 404
    assert act("promote", {"version": 1}) == 204
    assert in_use() == 1
    assert act("promote", {"version": 1}) == 400
    assert act("revert", {}) == 204
    assert in_use() == 0
    assert act("revert", {}) == 400
    assert act("trial", {"choices": {"top_k": 99}}) == 400
    assert act("trial", {"choices": {"magic": 1}}) == 422
    assert act("trial", {**try_three, "kind": "riddle"}) == 400
    assert act("trial", try_three) == 204
    arms = learning.http.get("/policies/explain", headers=admin).json()["arms"]
    assert ["top_k 5 -> 3"] in [one["changes"] for one in arms]
    entries = learning.http.get("/admin/audit", headers=admin).json()["entries"]
    assert [(one["act"], one["what"]) for one in entries[:3]] == [
        ("learning.try", "top_k=3"),
        ("learning.revert", "version 0"),
        ("learning.promote", "version 1"),
    ]
