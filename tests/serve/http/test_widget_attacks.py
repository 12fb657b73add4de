"""Attacks on the chat of other sites. None reads more than a visitor may, changes anything, or outruns a limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from kb import READY, add, open_fast
from live import DOCUMENTS, Live, make_key, served

from ragstone.history.journal import Journal
from ragstone.history.keys import Keys
from ragstone.history.sessions import Sessions
from ragstone.history.tokens import Tokens

SITE = "https://shop.example"
EVIL = "https://evil.example"
SETTINGS = (
    "widget.enabled=true",
    f"widget.origins=[{SITE}]",
    "widget.anonymous=true",
    "widget.rate_per_minute=1000",
    "origins=[https://chat.example]",
)
PUBLIC, SECRET = "Where do visitors park?", "What is the salary of the director?"
PREFLIGHT = {"access-control-request-method": "POST", "access-control-request-headers": "authorization,content-type"}


@dataclass(frozen=True)
class Scene:
    """A server, the header of a key that makes tokens for the group "hr", and the cookie of a session."""

    live: Live
    key: dict[str, str]
    cookie: dict[str, str]

    def ask(self, question: str = PUBLIC, *, origin: str = SITE, **headers: str) -> httpx2.Response:
        sent = {"origin": origin, **headers} if origin else headers
        return self.live.http.post("/query", json={"question": question}, headers=sent)

    def token(self, visitor: str = "ann", groups: tuple[str, ...] = ()) -> dict[str, str]:
        body = {"visitor": visitor, "groups": groups}
        made = self.live.http.post("/tokens", json=body, headers=self.key)
        assert made.status_code == 201, made.text
        return bearer(made.json()["token"])

    def call(self, method: str, path: str, **headers: str) -> httpx2.Response:
        return self.live.http.request(method, path, json={}, headers={"origin": SITE, **headers})


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("widget") / "kb"
    with pytest.MonkeyPatch.context() as patched, closing(open_fast(folder, READY)) as engine:
        patched.setenv("FORWARDED_ALLOW_IPS", "10.0.0.1")  # no proxy stands in front
        add(engine, *DOCUMENTS)
        key = make_key(folder, "shop", "tokens", groups=["hr"])
        with closing(Journal(folder)) as journal:
            cookie = Sessions(journal).begin("ada", "Ada", "password", ("read", "write", "admin"), None, 600)
        with served(engine, *SETTINGS) as live:
            yield Scene(live, key, {"cookie": f"ragstone-session={cookie}"})


def test_visitors_get_what_they_may_have(here: Scene) -> None:
    """The attacks fail for what they are, and not because nothing works."""
    granted = here.live.http.options("/query", headers={"origin": SITE, **PREFLIGHT})
    assert granted.headers["access-control-allow-origin"] == SITE
    anonymous = here.ask()
    assert "mill" in anonymous.json()["answer"]
    assert anonymous.headers["access-control-allow-origin"] == SITE
    assert anonymous.headers["vary"] == "Origin"
    assert "nine thousand" in here.ask(SECRET, **here.token(groups=("hr",))).json()["answer"]
    assert here.live.http.get("/widget.js", headers={"origin": SITE}).headers["access-control-allow-origin"] == SITE
    script = here.live.http.get("/widget.js", headers={"sec-fetch-site": "cross-site"})
    assert script.headers["content-type"].startswith("text/javascript")
    assert script.headers["cross-origin-resource-policy"] == "cross-origin"


# ---------------------------------------------------------------- attacks
def over(here: Scene) -> httpx2.Response:
    with closing(Journal(here.live.engine.folder)) as journal:
        key = next(one for one in Keys(journal).all() if one.name == "shop")
        text = Tokens(journal, lambda: 1_000.0).make(key, "ann", [], 600)
    return here.ask(**bearer(text))


def of_another_base(here: Scene) -> httpx2.Response:
    folder = here.live.engine.folder.parent / "other"
    folder.mkdir(exist_ok=True)
    with closing(Journal(folder)) as journal:
        key, _ = Keys(journal).make("shop", ["tokens"])
        text = Tokens(journal).make(key, "ann", ["hr"], 600)
    return here.ask(SECRET, **bearer(text))


def of_a_revoked_key(here: Scene) -> httpx2.Response:
    secret = make_key(here.live.engine.folder, "leaked", "tokens")
    token = here.live.http.post("/tokens", json={"visitor": "ann"}, headers=secret).json()["token"]
    assert here.ask(**bearer(token)).status_code == 200
    with closing(Keys(Journal(here.live.engine.folder))) as keys:
        keys.revoke("leaked")
    return here.ask(**bearer(token))


def altered(here: Scene) -> httpx2.Response:
    text = here.token()["authorization"]
    return here.ask(**{"authorization": text[:-1] + ("A" if text[-1] != "A" else "B")})


def widened(here: Scene) -> httpx2.Response:
    body = {"visitor": "ann", "groups": ["hr", "board"]}
    return here.live.http.post("/tokens", json=body, headers=here.key)


def read_everything(here: Scene) -> httpx2.Response:
    return here.live.http.post("/tokens", json={"visitor": "ann", "groups": None}, headers=here.key)


def made_with(here: Scene, *scopes: str) -> httpx2.Response:
    key = make_key(here.live.engine.folder, "reader", *scopes)
    return here.live.http.post("/tokens", json={"visitor": "ann"}, headers=key)


def under_settings(here: Scene, **more: Any) -> httpx2.Response:
    body = {"question": PUBLIC, **more}
    return here.live.http.post("/query", json=body, headers={"origin": SITE, **here.token()})


def by_a_form(here: Scene, origin: str) -> httpx2.Response:
    headers = {"content-type": "text/plain", "origin": origin, **here.cookie}
    return here.live.http.post("/query", content=b'{"question": "Where?"}', headers=headers)


def preflight(here: Scene, path: str, method: str, origin: str) -> httpx2.Response:
    asked = {**PREFLIGHT, "access-control-request-method": method, "origin": origin}
    return here.live.http.options(path, headers=asked)


def with_key_of_the_page(here: Scene) -> httpx2.Response:
    return here.ask(**make_key(here.live.engine.folder, "careless", "read"))


Attack = Callable[[Scene], httpx2.Response]
REFUSED: dict[str, tuple[int, Attack]] = {
    "an origin that is not listed": (403, lambda it: it.ask(origin=EVIL)),
    "no origin at all": (401, lambda it: it.ask(origin="")),
    "the null origin": (403, lambda it: it.ask(origin="null")),
    "a subdomain": (403, lambda it: it.ask(origin="https://www.shop.example")),
    "a name that ends alike": (403, lambda it: it.ask(origin="https://myshop.example")),
    "a name that begins alike": (403, lambda it: it.ask(origin="https://shop.example.evil.example")),
    "a dot at the end": (403, lambda it: it.ask(origin="https://shop.example.")),
    "another scheme": (403, lambda it: it.ask(origin="http://shop.example")),
    "another port": (403, lambda it: it.ask(origin="https://shop.example:8443")),
    "two origins": (403, lambda it: it.ask(origin=f"{SITE} {EVIL}")),
    "a token from an origin that is not listed": (403, lambda it: it.ask(origin=EVIL, **it.token())),
    "a preflight from elsewhere": (403, lambda it: preflight(it, "/query", "POST", EVIL)),
    "a preflight to delete": (403, lambda it: preflight(it, "/documents/x", "DELETE", SITE)),
    "a preflight to administer": (403, lambda it: preflight(it, "/admin/keys", "POST", SITE)),
    "a preflight for tokens": (403, lambda it: preflight(it, "/tokens", "POST", SITE)),
    "a token that is over": (401, over),
    "a token of another knowledge base": (401, of_another_base),
    "a token of a revoked key": (401, of_a_revoked_key),
    "an altered token": (401, altered),
    "an empty token": (401, lambda it: it.ask(**bearer("rgt_"))),
    "more groups than the key has": (403, widened),
    "a token that reads everything": (422, read_everything),
    "a token made with a key that only reads": (403, lambda it: made_with(it, "read")),
    "a token made with a key that writes": (403, lambda it: made_with(it, "read", "write")),
    "a token made by a session": (
        403,
        lambda it: it.live.http.post("/tokens", json={"visitor": "a"}, headers=it.cookie),
    ),
    "a token made with a token": (
        403,
        lambda it: it.live.http.post("/tokens", json={"visitor": "a"}, headers=it.token()),
    ),
    "a key that reads with a key for tokens": (403, lambda it: it.live.http.get("/documents", headers=it.key)),
    "a key on the site's page": (403, with_key_of_the_page),
    "settings of the visitor's own": (403, lambda it: under_settings(it, settings={"rank.top_k": 50})),
    "a profile": (403, lambda it: under_settings(it, profile="quick")),
    "how scores came about": (403, lambda it: under_settings(it, explain=True)),
    "a form of a foreign site, with a cookie": (403, lambda it: by_a_form(it, EVIL)),
    "a form of the site, with a cookie": (415, lambda it: by_a_form(it, SITE)),
    "the site's page deletes by a cookie": (
        403,
        lambda it: it.call("DELETE", "/documents/house/rooms.md", **it.cookie),
    ),
    "the site's page makes a key by a cookie": (403, lambda it: it.call("POST", "/admin/keys", **it.cookie)),
    "the site's page reads by a cookie": (403, lambda it: it.call("GET", "/conversations", **it.cookie)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(here: Scene, name: str) -> None:
    status, attack = REFUSED[name]
    answer = attack(here)
    assert answer.status_code == status, answer.text
    assert answer.headers.get("access-control-allow-origin", SITE) == SITE
    assert "access-control-allow-credentials" not in answer.headers
    assert "mill" not in answer.text


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/documents"),
        ("DELETE", "/documents/house/rooms.md"),
        ("POST", "/sync"),
        ("POST", "/pages"),
        ("GET", "/feedback"),
        ("GET", "/documents"),
        ("GET", "/documents/house/parking.md"),
        ("GET", "/originals/house/parking.md"),
        ("GET", "/rows/house/parking.md"),
        ("GET", "/conversations"),
        ("DELETE", "/conversations/a"),
        ("GET", "/responses/a"),
        ("POST", "/search"),
        ("GET", "/me"),
        ("GET", "/stats"),
        ("GET", "/settings"),
        ("GET", "/metrics"),
        ("GET", "/admin/keys"),
        ("POST", "/admin/keys"),
        ("POST", "/v1/chat/completions"),
        ("POST", "/query/"),
        ("GET", "/query"),
    ],
)
def test_tokens_only_ask(here: Scene, method: str, path: str) -> None:
    for headers in (here.token(), {"origin": SITE, **here.token()}, {"origin": SITE}):
        answer = here.live.http.request(method, path, headers=headers)
        assert answer.status_code == 403, answer.text


QUIET: dict[str, Attack] = {
    "an anonymous visitor": lambda it: it.ask(SECRET),
    "a token without groups": lambda it: it.ask(SECRET, **it.token()),
    "a session's cookie from the site's page": lambda it: it.ask(SECRET, **it.cookie),
    "a filter on the document": lambda it: it.live.http.post(
        "/query", json={"question": SECRET, "where": 'title = "Salaries"'}, headers={"origin": SITE}
    ),
    "the conversation of another visitor": lambda it: _continued(it),
}


def _continued(here: Scene) -> httpx2.Response:
    asked = {"question": SECRET, "session": "shared"}
    here.live.http.post("/query", json=asked, headers={"origin": SITE, **here.token("ann", ("hr",))})
    more = {"question": "How much is it, again?", "session": "shared"}
    return here.live.http.post("/query", json=more, headers={"origin": SITE, **here.token("bob")})


@pytest.mark.parametrize("name", QUIET)
def test_tells_nothing_of_restricted_documents(here: Scene, name: str) -> None:
    answer = QUIET[name](here)
    assert answer.status_code == 200, answer.text
    assert "nine thousand" not in answer.text
    assert "salaries.md" not in answer.text


@pytest.mark.parametrize("guessed", ["chat", "1", "0123456789abcdef0123456", "my-own-long-name-of-a-conversation"])
def test_anonymous_visitors_share_no_conversation(here: Scene, guessed: str) -> None:
    def ask(question: str, session: str) -> httpx2.Response:
        return here.live.http.post("/query", json={"question": question, "session": session}, headers={"origin": SITE})

    assert ask(PUBLIC, guessed).status_code == 400
    for own in ("0c7f9a61b2d84e35a9f01b6d", "8b1c8c2e-4d8e-4b3e-9d0c-3f2a1b0c9d8e"):
        ask(PUBLIC, own)
        assert any(PUBLIC in notice for notice in ask("And when does it close?", own).json()["notices"])
    assert here.live.http.post(
        "/query", json={"question": PUBLIC, "session": guessed}, headers={"origin": SITE, **here.token()}
    ).is_success, "a token separates visitors by itself"


# ---------------------------------------------------------------- opinions
def voted(here: Scene, response: str, vote: str = "up", *, origin: str = SITE, **more: str) -> httpx2.Response:
    headers = {"origin": origin, **{key: more.pop(key) for key in ("authorization", "cookie") if key in more}}
    return here.live.http.post("/feedback", json={"response_id": response, "vote": vote, **more}, headers=headers)


def test_visitors_rate_their_own_answers(here: Scene) -> None:
    ann, bob = here.token("ann"), here.token("bob")
    answers = {who: here.ask(**header).json()["response_id"] for who, header in (("ann", ann), ("", {}))}
    up, down = voted(here, answers["ann"], **ann), voted(here, answers["ann"], "down", **here.token("ann"))
    assert (up.status_code, down.status_code, down.json()["vote"]) == (200, 200, "down")
    unnamed = voted(here, answers[""])
    assert (unnamed.status_code, unnamed.json()["voice"].startswith("visitor-")) == (200, True)
    said = here.live.engine.history.opinions(1)
    assert (said.up, said.down) == (1, 1)
    for refused in (voted(here, answers["ann"], **bob), voted(here, answers["ann"]), voted(here, answers[""], **bob)):
        assert refused.status_code == 404, "the answer of another visitor"
    assert voted(here, answers[""], origin=EVIL).status_code == 403
    for more in ({"reason": "spam"}, {"correction": "hr/salaries.md"}):
        assert voted(here, answers[""], **more).status_code == 403


def test_the_site_s_page_does_not_vote_by_a_cookie(here: Scene) -> None:
    page = {**here.cookie, "origin": here.live.url, "x-ragstone": "page"}
    response = here.live.http.post("/query", json={"question": PUBLIC}, headers=page).json()["response_id"]
    assert voted(here, response, "down", **here.cookie).status_code == 404
    form = {"content-type": "text/plain", "origin": SITE, **here.cookie}
    sent = f'{{"response_id": "{response}", "vote": "down"}}'
    assert here.live.http.post("/feedback", content=sent, headers=form).status_code == 415
    kept = here.live.http.get(f"/responses/{response}", headers=page).json()
    assert kept["feedback"] == []


def test_votes_count_toward_the_limits(tmp_path: Path) -> None:
    limits = ("widget.rate_per_minute=3",)
    with closing(open_fast(tmp_path / "kb", READY)) as engine:
        add(engine, *DOCUMENTS)
        with served(engine, *SETTINGS, *limits) as live:
            here = Scene(live, {}, {})
            response = here.ask().json()["response_id"]
            assert [voted(here, response).status_code for _ in range(4)] == [200, 200, 429, 429]


def test_tokens_tell_their_visitors_apart(here: Scene) -> None:
    def tag(visitor: str) -> str:
        return here.live.http.post("/tokens", json={"visitor": visitor}, headers=here.key).json()["visitor"]

    assert tag("ann") == tag("ann") != tag("bob")
    assert "ann" not in tag("ann")


def test_sites_are_visitors_of_a_server_without_keys(tmp_path: Path) -> None:
    with closing(open_fast(tmp_path / "kb", READY)) as engine:
        add(engine, *DOCUMENTS)
        with served(engine, *SETTINGS) as live:
            here = Scene(live, {}, {})
            assert "nine thousand" in here.ask(SECRET, origin="").text, "its owner"
            assert "nine thousand" not in here.ask(SECRET).text
            assert here.call("GET", "/documents").status_code == 403
            refused = live.http.post("/tokens", json={"visitor": "ann"})
            assert refused.status_code == 403
            assert "ragstone key make" in refused.json()["error"]["message"]


# ---------------------------------------------------------------- limits
def test_limits_are_not_outrun(tmp_path: Path) -> None:
    limits = ("widget.rate_per_minute=2", "widget.total_per_minute=7")
    with pytest.MonkeyPatch.context() as patched, closing(open_fast(tmp_path / "kb", READY)) as engine:
        patched.setenv("FORWARDED_ALLOW_IPS", "10.0.0.1")
        add(engine, *DOCUMENTS)
        key = make_key(tmp_path / "kb", "shop", "tokens")
        with served(engine, *SETTINGS, *limits) as live:
            here = Scene(live, key, {})
            tricks: list[dict[str, str]] = [{}, {"x-forwarded-for": "1.2.3.4"}, {"forwarded": "for=1.2.3.4"}]
            tricks += [{"x-real-ip": "1.2.3.4"}, {"user-agent": "another"}, {"cookie": "ragstone-session=a"}]
            assert [here.ask(**one).status_code for one in tricks] == [200, 200, 429, 429, 429, 429]
            assert [here.ask(**here.token("ann")).status_code for _ in range(4)] == [200, 200, 429, 429], "new tokens"
            everybody = [here.ask(**here.token(f"visitor {number}")).status_code for number in range(5)]
            assert everybody == [200, 200, 200, 429, 429], "many visitors"
            assert int(here.ask().headers["retry-after"]) > 0


# ---------------------------------------------------------------- frames, and when it is off
def test_only_listed_sites_frame_the_page(here: Scene) -> None:
    headers = here.live.http.get("/").headers
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-frame-options"] == "DENY"
    with served(here.live.engine, *SETTINGS, f"widget.frame_ancestors=[{SITE}]") as live:
        headers = live.http.get("/").headers
        assert headers["content-security-policy"].endswith(f"frame-ancestors {SITE}")
        assert "x-frame-options" not in headers


def test_is_off_unless_switched_on(here: Scene) -> None:
    token = here.token()
    with served(here.live.engine, f"widget.origins=[{SITE}]", "widget.anonymous=true") as live:
        off = Scene(live, here.key, here.cookie)
        assert off.ask().status_code == 403
        assert off.ask(origin="", **token).status_code == 401
        for answer in (live.http.get("/widget.js"), live.http.post("/tokens", json={"visitor": "a"}, headers=off.key)):
            assert answer.status_code == 404
            assert "serve.widget.enabled" in answer.json()["error"]["message"]
