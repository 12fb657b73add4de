"""Administrators choose the language model that answers while servers run, and add servers of models."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from kb import READY, add, open_fast
from live import DOCUMENTS, Live, make_key, served

from ragstone.history.changed_settings import ChangedSettings
from ragstone.history.journal import Journal
from ragstone.history.keys import KeyLimits
from ragstone.serve.http.routes.models import router
from servers.openai_server import KEY, Fault, OpenAIServer, refusal

QUESTION = "Where do visitors park?"
SECRET = "services.openai.api_key=sk-of-the-settings"


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("models") / "kb"
    with closing(open_fast(folder, READY, SECRET, "services.retries=0")) as engine:
        add(engine, *DOCUMENTS)
        with served(engine, "models=[own:m, extractive]") as live:
            yield live


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer(lambda _: "FOUND: yes\nVisitors park behind the mill. [1]") as model:
        yield model


@pytest.fixture
def own(live: Live, model: OpenAIServer) -> Iterator[str]:
    """Add the model's server under the name own; return the name of its model."""
    assert post(live, "servers", name="own", address=model.url, api_key=KEY) == 204
    yield "own:m"
    post(live, "choose", name=None)
    live.http.delete("/admin/models/servers/own")


def post(live: Live, path: str, **body: object) -> int:
    return live.http.post(f"/admin/models/{path}", json=body).status_code


def test_chosen_model_answers_until_taken_back(live: Live, own: str) -> None:
    assert live.http.get("/admin/models").json()["model"] == "extractive"
    assert post(live, "choose", name=own) == 204
    assert live.ask(QUESTION).json()["model"] == own
    told = live.http.get("/admin/models").json()
    assert (told["model"], told["configured"], told["changed"]) == (own, "extractive", True)
    assert live.http.delete("/admin/models/servers/own").status_code == 409
    assert post(live, "choose", name=None) == 204
    assert live.ask(QUESTION).json()["model"] == "extractive"


def test_key_is_stored_and_never_shown(live: Live, own: str, model: OpenAIServer) -> None:
    assert live.http.post("/admin/models/try", json={"name": own}).json()["problem"] == "", "the server takes the key"
    (server,) = [one for one in live.http.get("/admin/models").json()["servers"] if one["name"] == "own"]
    assert server == {"name": "own", "address": model.url, "has_key": True, "added": True}
    for path in ("/admin/models", "/admin/models/running", "/admin/settings", "/settings", "/admin/audit"):
        assert KEY not in live.http.get(path).text
    acts = [(one["act"], one["what"]) for one in live.http.get("/admin/audit").json()["entries"]]
    assert ("model.add_server", f"own \u00b7 {model.url}") in acts


def test_key_follows_no_new_address(live: Live, own: str, model: OpenAIServer) -> None:
    assert post(live, "servers", name="own", address=model.url) == 204
    assert live.http.post("/admin/models/try", json={"name": own}).json()["problem"] == "", "the same address"
    with OpenAIServer(lambda _: "OK") as other:
        for name in ("own", "openai"):
            assert post(live, "servers", name=name, address=other.url) == 204
            assert live.http.post("/admin/models/try", json={"name": f"{name}:m"}).json()["problem"]
        assert live.http.delete("/admin/models/servers/openai").status_code == 204
        sent = [value for one in other.asked for value in one.headers.values()]
        assert sent
        assert not [value for value in sent if KEY in value or "sk-of-the-settings" in value]


def test_copies_no_key_of_the_settings(live: Live) -> None:
    assert post(live, "servers", name="openai") == 409
    assert "openai" not in [one["name"] for one in live.http.get("/admin/models").json()["servers"] if one["added"]]


def test_trial_tells_speed_or_problem(live: Live, own: str, model: OpenAIServer) -> None:
    tried = live.http.post("/admin/models/try", json={"name": own}).json()
    assert "park" in tried["trial"]["answer"]
    assert tried["trial"]["seconds"] >= tried["trial"]["first_seconds"] > 0
    assert tried["trial"]["tokens_per_second"] > 0
    model.faults.append(Fault(kind="status", status=401, body=refusal("Incorrect API key")))
    tried = live.http.post("/admin/models/try", json={"name": own}).json()
    assert tried["problem"]
    assert tried["trial"] is None


def test_trial_is_charged_and_keeps_to_the_budget(tmp_path: Path, model: OpenAIServer) -> None:
    known = (f"services.servers.own.base_url={model.url}", f"services.servers.own.api_key={KEY}", READY)
    priced = ("services.prices={m: [1000, 1000]}", "services.budget_per_day=10")  # a reply is reserved at about 4.1
    with closing(open_fast(tmp_path / "kb", *known, *priced)) as engine, served(engine) as live:
        poor = make_key(engine.folder, "poor", "admin", limits=KeyLimits(cost_per_day=0.0001))
        tried = live.http.post("/admin/models/try", json={"name": "own:m"}, headers=poor).json()
        assert tried["problem"] == ""
        assert live.http.post("/admin/models/try", json={"name": "own:m"}, headers=poor).status_code == 429
    tight = (*known, priced[0], "services.budget_per_day=4")
    with closing(open_fast(tmp_path / "kb", *tight)) as engine, served(engine) as live:
        rich = make_key(engine.folder, "rich", "admin")
        tried = live.http.post("/admin/models/try", json={"name": "own:m"}, headers=rich).json()
        assert "budget_per_day" in tried["problem"]


@pytest.mark.parametrize(
    "name", ["ragstone.services.models:Choice", "os:system", "gguf:/etc/passwd", "huggingface:x/y", "own:"]
)
@pytest.mark.usefixtures("own")
def test_refuses_models_that_are_files_or_code(live: Live, name: str) -> None:
    assert post(live, "choose", name=name) == 400
    assert post(live, "try", name=name) == 400
    assert live.ask(QUESTION, model=name).status_code == 403


def test_ignores_model_of_missing_server(live: Live) -> None:
    with closing(Journal(live.engine.folder)) as journal:
        ChangedSettings(journal).set("respond.model.name", "os:system")
    assert live.until(lambda: live.http.get("/admin/models").json()["changed"], bool)
    assert live.http.get("/admin/models").json()["model"] == "extractive"
    assert live.ask(QUESTION).json()["model"] == "extractive"
    assert post(live, "choose", name=None) == 204


def test_question_chooses_among_allowed_models(live: Live, own: str) -> None:
    assert live.http.get("/me").json()["models"] == ["own:m", "extractive"]
    assert live.ask(QUESTION, model=own).json()["model"] == own
    assert live.ask(QUESTION).json()["model"] == "extractive"
    assert live.ask(QUESTION, model="own:other").status_code == 403


def test_refuses_readers(live: Live) -> None:
    headers = make_key(live.engine.folder, "reader", "read", "write")
    routes = [route for route in router.routes if isinstance(route, APIRoute)]
    assert len(routes) == 6
    for route in routes:
        for method in route.methods or ():
            path = route.path.replace("{name}", "own")
            assert live.http.request(method, path, json={}, headers=headers).status_code == 403, path
