"""Administrators make keys, look after people, and see who did what."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from live import Serving, written_by
from signing_in import ADA, PASSWORD, Browser, Scene, scene

from ragstone.catalog.lock import indexing
from servers.openai_server import OpenAIServer

EVERYTHING = {"scopes": ["read"], "groups": None}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with scene(tmp_path_factory.mktemp("administered") / "kb", "oidc.may_administer=[boss]") as here:
        yield here


@pytest.fixture
def boss(here: Scene) -> Browser:
    here.fresh()
    here.provider.person = {**ADA, "sub": "1", "name": "Bo", "groups": ["boss"]}
    boss = here.browser()
    boss.sign_in(here.provider)
    return boss


def record(boss: Browser) -> list[tuple[str, str, str]]:
    return [(one["who"], one["act"], one["what"]) for one in boss.get("/admin/audit").json()["entries"]]


def test_keys_are_made_shown_once_and_revoked(here: Scene, boss: Browser) -> None:
    made = boss.post("/admin/keys", {"name": "robot", "scopes": ["write", "read"], "groups": ["hr"]})
    assert made.status_code == 201
    secret, key = made.json()["secret"], made.json()["key"]
    bearer = {"authorization": f"Bearer {secret}"}
    here.live.until(lambda: here.live.http.get("/me", headers=bearer).status_code, lambda status: status == 200)
    listed = boss.get("/admin/keys")
    assert secret not in listed.text
    assert key in listed.json()["keys"]
    path = f"/admin/keys/{key['id']}"
    assert boss.http.delete(path, headers={"x-ragstone": "page"}).status_code == 403
    revoked = boss.http.delete(path, headers={"x-ragstone": "page", "origin": here.live.url})
    assert revoked.json()["revoked"] is not None
    here.live.until(lambda: here.live.http.get("/me", headers=bearer).status_code, lambda status: status == 401)
    bo = f"Bo ({here.provider.issuer}#1)"
    told = [(bo, "key.revoke", f"robot ({key['id']})"), (bo, "key.make", f"robot ({key['id']}) · read, write · hr")]
    assert record(boss)[:2] == told
    assert secret not in str(record(boss))


def test_people_are_added_changed_and_removed(here: Scene, boss: Browser) -> None:
    own = {"x-ragstone": "page", "origin": here.live.url}
    assert boss.post("/admin/people", {"name": "zoe", "password": PASSWORD, **EVERYTHING}).status_code == 204
    zoe = here.browser()
    assert zoe.by_password("zoe").status_code == 204
    listed = {one["name"]: one for one in boss.get("/admin/people").json()["people"]}
    assert (listed["zoe"]["sessions"], listed["zoe"]["groups"]) == (1, None)
    assert any(one["shown"] == "Bo" and one["via"] == "oidc" for one in listed.values())
    changed = boss.http.patch(
        "/admin/people/zoe", json={"scopes": ["read"], "groups": ["hr"], "password": f"{PASSWORD}!"}, headers=own
    )
    assert changed.status_code == 204
    assert not zoe.is_in()
    assert zoe.by_password("zoe", f"{PASSWORD}!").status_code == 204
    assert boss.http.delete("/admin/sessions/zoe", headers=own).status_code == 204
    assert not zoe.is_in()
    assert boss.http.delete("/admin/people/zoe", headers=own).status_code == 204
    assert zoe.by_password("zoe", f"{PASSWORD}!").status_code == 401
    acts = ["user.remove", "person.sign_out", "user.change", "user.password", "user.add"]
    assert [act for _, act, _ in record(boss)[:5]] == acts
    assert PASSWORD not in str(record(boss))


def test_a_provider_s_person_is_signed_out(here: Scene, boss: Browser) -> None:
    here.provider.person = dict(ADA)
    ada = here.browser()
    ada.sign_in(here.provider)
    name = f"{here.provider.issuer}#{ADA['sub']}".replace("#", "%23")
    own = {"x-ragstone": "page", "origin": here.live.url}
    assert boss.http.delete(f"/admin/sessions/{name}", headers=own).status_code == 204
    assert not ada.is_in()


@pytest.mark.parametrize("spelt", ["root", "ROOT", "Root"])
def test_nobody_removes_or_demotes_themselves(here: Scene, boss: Browser, spelt: str) -> None:
    own = {"x-ragstone": "page", "origin": here.live.url}
    assert boss.post("/admin/people", {"name": "root", "password": PASSWORD, "scopes": ["admin"]}).status_code == 204
    root = here.browser()
    root.by_password("root")
    assert root.http.delete(f"/admin/people/{spelt}", headers=own).status_code == 409
    assert root.http.patch(f"/admin/people/{spelt}", json=EVERYTHING, headers=own).status_code == 409
    assert root.is_in()
    changed = {"scopes": ["read", "admin"], "groups": ["hr"]}
    assert root.http.patch(f"/admin/people/{spelt}", json=changed, headers=own).status_code == 204
    assert boss.http.patch("/admin/people/root", json=EVERYTHING, headers=own).status_code == 204
    assert boss.http.delete("/admin/people/root", headers=own).status_code == 204


def test_revoking_an_id_spares_keys_named_like_it(here: Scene, boss: Browser) -> None:
    own = {"x-ragstone": "page", "origin": here.live.url}
    victim = boss.post("/admin/keys", {"name": "app", "scopes": ["read"]}).json()["key"]
    named = boss.post("/admin/keys", {"name": victim["id"], "scopes": ["admin"]}).json()["key"]
    assert boss.http.delete(f"/admin/keys/{victim['id']}", headers=own).status_code == 200
    revoked = {one["id"]: one["revoked"] for one in boss.get("/admin/keys").json()["keys"]}
    assert (revoked[victim["id"]] is None, revoked[named["id"]]) == (False, None)
    assert boss.http.delete(f"/admin/keys/{victim['id']}", headers=own).status_code == 404
    assert record(boss)[0][1:] == ("key.revoke", f"app ({victim['id']})")


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ("/admin/keys", {"name": "x", "scopes": []}),
        ("/admin/keys", {"name": "x", "scopes": ["all"]}),
        ("/admin/keys", {"name": " ", "scopes": ["read"]}),
        ("/admin/people", {"name": "x", "password": "short", **EVERYTHING}),
        ("/admin/people", {"name": "a/b", "password": PASSWORD, **EVERYTHING}),
        ("/admin/people", {"name": "ada", "password": PASSWORD, **EVERYTHING}),
    ],
)
def test_refuses_wrong_keys_and_people(boss: Browser, path: str, wrong: object) -> None:
    assert boss.post(path, wrong).status_code in (400, 422)


def test_only_administrators_administer(here: Scene, boss: Browser) -> None:
    ada = here.browser()
    ada.by_password()
    for path in ("/admin/keys", "/admin/people", "/admin/audit"):
        assert ada.get(path).status_code == 403
        assert boss.get(path).status_code == 200
    assert ada.post("/admin/keys", {"name": "x", "scopes": ["admin"]}).status_code == 403
    assert ada.post("/admin/people", {"name": "x", "password": PASSWORD, "scopes": ["admin"]}).status_code == 403


def test_the_record_is_read_page_by_page(boss: Browser) -> None:
    for number in range(3):
        boss.post("/admin/keys", {"name": f"k{number}", "scopes": ["read"]})
    first = boss.get("/admin/audit", limit="2").json()["entries"]
    second = boss.get("/admin/audit", limit="2", before=str(first[-1]["number"])).json()["entries"]
    assert [one["what"][:2] for one in (*first, *second)][:3] == ["k2", "k1", "k0"]


def test_tells_what_was_asked_and_not_found(boss: Browser) -> None:
    for question in ("How much is a train to Vilnius?", "how much is a  train to Vilnius", "Where do visitors park?"):
        answer = boss.post("/query", {"question": question}).json()
    boss.post("/feedback", {"response_id": answer["response_id"], "vote": "up"})
    told = boss.get("/admin/asked").json()
    found = [(one["question"], one["count"]) for one in told["unanswered"]]
    assert found == [("how much is a  train to Vilnius", 2)]
    assert (told["up"], told["down"]) == (1, 0)
    only_shown = {
        "question": "Where do visitors park?",
        "settings": {"respond.abstain_below": 1, "respond.closest_from": 0},
    }
    assert boss.post("/query", only_shown).json()["outcome"] == "closest"
    listed = {one["question"]: one["shown"] for one in boss.get("/admin/asked").json()["unanswered"]}
    assert listed == {"how much is a  train to Vilnius": 0, "Where do visitors park?": 1}
    total = boss.get("/stats").json()["total"]
    assert total["refused"] + total["closest"] == 3


def test_a_job_is_stopped_and_keeps_what_it_stored(here: Scene, boss: Browser) -> None:
    own = {"x-ragstone": "page", "origin": here.live.url}
    made = boss.post("/admin/keys", {"name": "uploader", "scopes": ["read", "write"]}).json()["secret"]
    bearer = {"authorization": f"Bearer {made}"}
    here.live.until(lambda: here.live.http.get("/me", headers=bearer).status_code, lambda status: status == 200)
    with indexing(here.journal):
        sent = [
            here.live.http.post("/documents", files={"files": (f"{name}.md", b"# Mill\n\nIt grinds.")}, headers=bearer)
            for name in ("running", "waiting")
        ]
        ids = [one.json()["job_id"] for one in sent]
        for id in ids:
            assert boss.http.delete(f"/admin/jobs/{id}", headers=own).status_code == 204
    for id in ids:
        ended = here.live.until(lambda id=id: boss.get(f"/jobs/{id}").json(), lambda job: job["ended"] is not None)
        assert ended["state"] == "failed"
        assert "stopped" in ended["error"]
        assert boss.http.delete(f"/admin/jobs/{id}", headers=own).status_code == 409
    after = here.live.http.post("/documents", files={"files": ("after.md", b"# After")}, headers=bearer)
    path = f"/jobs/{after.json()['job_id']}"
    done = here.live.until(lambda: boss.get(path).json(), lambda job: job["ended"] is not None)
    assert done["state"] == "done", "the next job runs"
    assert boss.http.delete("/admin/jobs/none", headers=own).status_code == 404


def test_models_are_tested(boss: Browser) -> None:
    tested = boss.post("/admin/models/test")
    assert tested.status_code == 200, tested.text
    (embedder,) = tested.json()["models"]
    assert (embedder["setting"], embedder["problem"]) == ("index.embedder", "")
    assert boss.get("/admin/sources").json() == {"sources": []}


def test_tells_why_a_model_does_not_answer(serving: Serving) -> None:
    with OpenAIServer(lambda _: "OK") as model:
        live = serving(asked=written_by(model))
        _, writer = live.http.post("/admin/models/test").json()["models"]
        assert (writer["name"], writer["problem"]) == ("openai:m", "")
    _, writer = live.http.post("/admin/models/test").json()["models"]
    assert writer["problem"]
