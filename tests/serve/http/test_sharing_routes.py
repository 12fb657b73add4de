"""Links to conversations over HTTP: made and taken back by their reader, opened by others within their own rights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import httpx2
import pytest
from signing_in import PASSWORD, Browser, Scene, scene, users

from ragstone.history.journal import Journal
from ragstone.history.keys import Keys

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


def test_links_end_with_whoever_made_them(here: Scene) -> None:
    root, eve = signed_in(here, "root"), signed_in(here, "eve")
    users(here.journal).add("cy", PASSWORD, ["read"], ["hr"])
    cy = signed_in(here, "cy")
    cy.post("/query", {"question": PAY, "session": "pay"})
    cy.post("/query", {"question": ROOMS, "session": "rooms"})
    secret = cy.post("/links/rooms", {}).json()["secret"]
    assert eve.get(f"/shared/{secret}").status_code == 200
    assert delete(root, "/admin/people/cy") == 204
    assert (eve.get(f"/shared/{secret}").status_code, eve.post(f"/shared/{secret}").status_code) == (404, 404)


def test_name_given_again_begins_without_conversations(here: Scene) -> None:
    """Whoever has the name now may not read what the one before could."""
    users(here.journal).add("dan", PASSWORD, ["read"], ["hr"])
    dan = signed_in(here, "dan")
    dan.post("/query", {"question": PAY, "session": "pay"})
    users(here.journal).remove("dan")
    users(here.journal).add("dan", PASSWORD, ["read"], [])
    other = signed_in(here, "dan")
    assert other.get("/conversations").json() == {"conversations": []}
    assert other.get("/conversations/pay").status_code == 404


def test_links_outlive_a_key_that_is_replaced(here: Scene) -> None:
    eve, url = signed_in(here, "eve"), here.live.url
    with closing(Keys(Journal(here.journal))) as keys:
        (old, secret), (new, _) = keys.make("robot", ["read"]), keys.make("robot", ["read"])
        robot = httpx2.Client(base_url=url, headers={"authorization": f"Bearer {secret}"}, timeout=30)
        with robot:
            robot.post("/query", json={"question": ROOMS, "session": "r"})
            link = robot.post("/links/r", json={}).json()["secret"]
        keys.revoke(old.id)
        assert eve.get(f"/shared/{link}").status_code == 200
        keys.revoke(new.id)
        assert eve.get(f"/shared/{link}").status_code == 404
