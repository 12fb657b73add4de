"""Links to conversations over HTTP: made and taken back by their reader, opened by others within their own rights."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from signing_in import PASSWORD, Browser, Scene, scene, users

ROOMS, PAY = "What is room 7 called?", "What is the salary of the director?"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with scene(tmp_path_factory.mktemp("sharing") / "kb") as here:
        users(here.journal).add("eve", PASSWORD, ["read"], [])
        users(here.journal).add("root", PASSWORD, ["admin"])
        yield here


def signed_in(here: Scene, name: str) -> Browser:
    browser = here.browser()
    assert browser.by_password(name).status_code == 204
    return browser


def delete(browser: Browser, path: str) -> int:
    own = {"x-ragstone": "page", "origin": browser.url}
    return browser.http.delete(path, headers=own).status_code


def test_a_reader_without_rights_sees_what_is_public_and_copies_it(here: Scene) -> None:
    ada, eve = signed_in(here, "ada"), signed_in(here, "eve")
    for question in (PAY, ROOMS):
        assert ada.post("/query", {"question": question, "session": "a/b"}).status_code == 200
    made = ada.post("/links/a/b", {"days": 2})
    assert made.status_code == 201
    secret, link = made.json()["secret"], made.json()["link"]
    assert link["until"] - link["made"] == 2 * 86_400
    assert ada.get("/links/a/b").json() == {"links": [link]}

    hers = [one["text"] for one in ada.get(f"/shared/{secret}").json()["turns"]]
    sent = eve.get(f"/shared/{secret}")
    told = sent.json()["turns"]
    assert [one["text"] for one in told] == [None, hers[1]]
    assert "Marie Curie" in hers[1]
    assert [one["question"] for one in told] == [PAY, ROOMS]
    assert told[1]["answer"]["response_id"] == ""
    for hidden in ('"ada"', "salaries", hers[0]):
        assert hidden not in sent.text.replace(PAY, "")
    copy = eve.post(f"/shared/{secret}").json()["session"]
    (turn,) = eve.get(f"/conversations/{copy}").json()["turns"]
    assert turn["answer"] == hers[1]
    assert eve.get(f"/responses/{turn['response_id']}").status_code == 200
    assert ada.get(f"/conversations/{copy}").status_code == 404

    for attempt in (eve.post("/links/a/b", {}).status_code, delete(eve, "/links/a/b")):
        assert attempt == 404
    assert here.browser().get(f"/shared/{secret}").status_code == 401
    assert delete(ada, "/links/a/b") == 200
    assert (eve.get(f"/shared/{secret}").status_code, eve.post(f"/shared/{secret}").status_code) == (404, 404)
    acts = signed_in(here, "root").get("/admin/audit").json()["entries"]
    assert [(one["who"], one["act"], one["what"]) for one in acts[:2]] == [
        ("ada", "conversation.take_back", link["id"]),
        ("ada", "conversation.share", link["id"]),
    ]
    assert secret not in str(acts)


@pytest.mark.parametrize("days", [0, -1, 1e9, "soon"])
def test_refuses_a_wrong_time(here: Scene, days: object) -> None:
    assert signed_in(here, "ada").post("/links/any", {"days": days}).status_code == 422
