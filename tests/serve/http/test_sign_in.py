"""People sign in through a provider or with a password, and are readers with scopes and groups."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing
from pathlib import Path

import httpx2
import pytest
from live import SLOW, Live, make_key
from signing_in import ADA, PAGE, PASSWORD, SESSION, Scene, scene, sessions, users

from ragstone.core.errors import NotFound, SettingsError, UsageError
from ragstone.history.counts import SharedCounts
from ragstone.history.journal import Journal
from ragstone.history.sessions import SIGN_IN_SECONDS, Sessions, SignIn
from ragstone.history.users import Users
from ragstone.serve.http.errors import Refused
from ragstone.serve.http.sign_in.desk import FREE_OF_ADDRESS, FREE_OF_NAME, rights_of
from ragstone.serve.http.sign_in.failures import SignInFailed
from ragstone.serve.http.sign_in.provider import Person, Provider
from ragstone.serve.http.sign_in.throttle import Throttle
from ragstone.settings.serve import OidcSettings, ServeSettings
from servers.oidc_server import CLIENT, SECRET, OidcServer

SALARY = {"question": "What is the salary of the director?"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with scene(tmp_path_factory.mktemp("sign-in") / "kb", "oidc.may_administer=[boss]", "oidc.name=Acme") as shared:
        yield shared


@pytest.fixture
def here(shared: Scene) -> Scene:
    shared.fresh()
    return shared


# ---------------------------------------------------------------- through a provider
def test_says_how_to_sign_in(here: Scene) -> None:
    assert here.browser().get("/sign-in").json() == {"provider": "Acme", "passwords": True}


def test_provider_signs_people_in(here: Scene) -> None:
    ada = here.browser()
    assert ada.get("/me").status_code == 401
    asked = ada.begin("#/sources")
    assert asked["code_challenge_method"] == "S256"
    assert asked["redirect_uri"] == f"{here.live.url}/sign-in/callback"
    landed = ada.back(here.provider, asked)
    assert (landed.status_code, landed.headers["location"]) == (303, "../#/sources")
    me = ada.get("/me").json()
    assert me["name"] == f"{here.provider.issuer}#{ADA['sub']}"
    assert (me["person"], me["scopes"], me["groups"]) == ("Ada Lovelace", ["read"], ["hr", "staff"])


def test_groups_of_the_provider_decide_what_is_read(here: Scene) -> None:
    ada, guest = here.browser(), here.browser()
    ada.sign_in(here.provider)
    here.provider.person = {"sub": "2", "preferred_username": "guest"}
    guest.sign_in(here.provider)
    assert "nine thousand" in ada.post("/query", SALARY).json()["answer"]
    assert "nine thousand" not in guest.post("/query", SALARY).text
    assert guest.get("/me").json()["person"] == "guest"
    assert guest.get("/documents").json()["total"] == 2


def test_groups_come_from_userinfo_if_not_from_the_token(here: Scene) -> None:
    here.provider.person = {"sub": "3"}
    here.provider.userinfo = {"sub": "3", "groups": "boss", "name": "Bo"}
    bo = here.browser()
    bo.sign_in(here.provider)
    me = bo.get("/me").json()
    assert (me["person"], me["scopes"], me["groups"]) == ("Bo", ["admin", "read"], ["boss"])
    assert bo.get("/settings").status_code == 200


def test_tells_the_provider_no_invented_host(here: Scene) -> None:
    eve = here.browser(host="evil.example")
    refused = eve.get("/sign-in/provider")
    assert refused.headers["location"] == "../#/sign-in/provider"
    assert not eve.cookies
    ada = here.browser()
    ada.sign_in(here.provider)
    assert ada.post("/sign-out", headers=PAGE | {"host": "evil.example"}).json() == {"address": None}
    assert not ada.is_in()


def test_tells_the_provider_the_configured_address(tmp_path: Path) -> None:
    with scene(tmp_path / "kb", "url=https://docs.example/kb") as here:
        asked = here.browser(host="evil.example").begin()
    assert asked["redirect_uri"] == "https://docs.example/kb/sign-in/callback"


def test_signing_out_ends_the_session(here: Scene) -> None:
    ada = here.browser()
    ada.sign_in(here.provider)
    told = ada.post("/sign-out").json()
    assert told["address"].startswith(f"{here.provider.issuer}/logout?client_id={CLIENT}&post_logout_redirect_uri=")
    assert SESSION not in ada.cookies
    assert not ada.is_in()


def test_failures_lead_back_to_the_page(here: Scene) -> None:
    ada = here.browser()
    asked = ada.begin()
    landed = ada.back(here.provider, asked, code=None, error="access_denied")
    assert landed.headers["location"] == "../#/sign-in/declined"


def test_an_unreachable_provider_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with OidcServer() as gone:
        settings = OidcSettings(issuer=gone.issuer, client_id=CLIENT)
    provider = Provider(settings)
    with pytest.raises(SignInFailed, match="cannot be reached"):
        asyncio.run(provider.address("http://here/sign-in/callback", "s", "n", "v"))
    monkeypatch.delenv("NO_SUCH_SECRET", raising=False)
    with pytest.raises(SettingsError, match="NO_SUCH_SECRET"):
        Provider(settings.model_copy(update={"client_secret_env": "NO_SUCH_SECRET"}))


def test_follows_rotated_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    with OidcServer(dict(ADA)) as server:
        monkeypatch.setenv("A_SECRET", SECRET)
        settings = OidcSettings(issuer=server.issuer, client_id=CLIENT, client_secret_env="A_SECRET")
        provider = Provider(settings, lambda: now[0])

        async def signed_in() -> Person:
            asked = {"redirect_uri": "x", "code_challenge": "iMnq5o6zALKXGivsnlom_0F5_WYda32GHkxlV7mq7hQ", "nonce": "n"}
            return await provider.person(server.code_for(asked, ADA), "x", "n", "verifier")

        async def through() -> None:
            assert (await signed_in()).shown == "Ada Lovelace"
            old = server.rotate("ES256")
            now[0] += 6
            assert (await signed_in()).groups == ("hr", "staff")
            server.forge = lambda claims: old.sign(claims)
            now[0] += 6
            with pytest.raises(SignInFailed, match="does not list"):
                await signed_in()
            asked = server.asked.count("/keys")
            for _ in range(3):  # forged tokens cause no flood of requests
                with pytest.raises(SignInFailed, match="does not list"):
                    await signed_in()
            assert server.asked.count("/keys") == asked

        asyncio.run(through())


@pytest.mark.parametrize(
    ("groups", "scopes", "read"),
    [
        (["x"], None, None),
        (["in"], ("read",), ("in",)),
        (["in", "ed", "x"], ("read", "write"), ("ed", "in", "x")),
        (["in", " boss "], ("read", "admin"), ("boss", "in")),
        (["in", "all"], ("read",), None),
    ],
)
def test_settings_map_groups_to_rights(groups: list[str], scopes: object, read: object) -> None:
    settings = OidcSettings(
        may_sign_in=("in",), may_write=("ed",), may_administer=("boss",), may_read_all=("all", "none")
    )
    assert rights_of(groups, settings) == (None if scopes is None else (scopes, read))


@pytest.mark.parametrize(
    "wrong",
    [
        {"issuer": "http://id.example"},
        {"issuer": "https://id.example"},
        {"issuer": "ftp://127.0.0.1", "client_id": "x"},
        {"client_secret_env": "a secret itself"},
        {"scopes": ["profile"]},
    ],
)
def test_refuses_unsafe_settings(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        OidcSettings.model_validate(wrong)
    with pytest.raises(ValueError):
        ServeSettings.model_validate({"url": "docs.example"})


# ---------------------------------------------------------------- with a password
def test_password_signs_a_user_in(here: Scene) -> None:
    ada = here.browser()
    assert ada.by_password("Ada").status_code == 204
    me = ada.get("/me").json()
    assert (me["name"], me["person"], me["scopes"], me["groups"]) == ("ada", "ada", ["read", "write"], ["hr"])
    assert ada.post("/query", {**SALARY, "session": "pay"}).status_code == 200
    program = make_key(here.journal, "ada", groups=["hr"])  # a key of the same name is the same reader
    time.sleep(0.55)
    kept = here.live.http.get("/conversations", headers=program).json()["conversations"]
    assert [one["session"] for one in kept] == ["pay"]
    assert ada.post("/sign-out").json() == {"address": None}
    assert not ada.is_in()


def test_a_new_user_reads_nothing_of_the_old_one(here: Scene) -> None:
    people = users(here.journal)
    people.add("cy", PASSWORD, ["read", "write"])
    old = here.browser()
    old.by_password("cy")
    answer = old.post("/query", {**SALARY, "session": "pay"}).json()["response_id"]
    job = old.http.post("/documents", files=[("files", ("pay.md", b"Pay."))], headers=PAGE).json()["job_id"]
    here.live.until(lambda: old.get(f"/jobs/{job}").json(), lambda it: it["ended"] is not None)
    assert old.post("/feedback", {"response_id": answer, "vote": "up"}).status_code == 200
    people.remove("cy")
    people.add("cy", PASSWORD, ["read", "write"], ["guests"])
    new = here.browser()
    new.by_password("cy")
    assert new.get("/conversations").json()["conversations"] == []
    assert new.get("/jobs").json()["jobs"] == []
    for path in (f"/responses/{answer}", f"/jobs/{job}"):
        assert new.get(path).status_code == 404


def test_a_change_of_a_user_ends_their_sessions(here: Scene) -> None:
    people = users(here.journal)
    people.add("bob", PASSWORD, ["read"])
    bob = here.browser()
    changes = (
        lambda: people.set_rights("bob", ["read"], ["hr"]),
        lambda: people.set_password("bob", f"{PASSWORD}!"),
        lambda: people.remove("bob"),
    )
    for change, password in zip(changes, (PASSWORD, PASSWORD, f"{PASSWORD}!"), strict=True):
        assert bob.by_password("bob", password).status_code == 204
        assert bob.is_in()
        change()
        assert not bob.is_in()
    assert bob.by_password("bob", f"{PASSWORD}!").status_code == 401


def test_a_person_changes_their_own_password(here: Scene) -> None:
    users(here.journal).add("dan", PASSWORD, ["read"])
    dan, elsewhere, grace = here.browser(), here.browser(), here.browser()
    dan.by_password("dan")
    elsewhere.by_password("dan")
    grace.sign_in(here.provider)
    assert (dan.get("/me").json()["has_password"], grace.get("/me").json()["has_password"]) == (True, False)
    change = {"current": PASSWORD, "new": f"{PASSWORD}?"}
    assert grace.post("/sign-in/password", change).status_code == 403
    assert dan.post("/sign-in/password", change, {}).status_code in (401, 403), "only the page"
    assert dan.post("/sign-in/password", change | {"current": "a guess of it"}).status_code == 401
    assert dan.post("/sign-in/password", change | {"new": "short"}).status_code == 400
    assert elsewhere.is_in()
    assert dan.post("/sign-in/password", change).status_code == 204
    assert dan.is_in()
    assert not elsewhere.is_in()
    assert here.browser().by_password("dan", PASSWORD).status_code == 401
    assert here.browser().by_password("dan", f"{PASSWORD}?").status_code == 204


def test_slows_down_guesses(here: Scene) -> None:
    eve = here.browser()
    statuses = [eve.by_password("ada", f"guess number {n}").status_code for n in range(7)]
    assert statuses == [401] * 5 + [429] * 2
    refused = eve.by_password()
    assert refused.status_code == 429, "the right one has to wait, too"
    assert refused.headers["retry-after"] == "1"


def test_parallel_guesses_gain_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty people at a trusted proxy send 120 guesses at once; checking all of those would take longer than a wait."""
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "127.0.0.1")

    def guess(live: Live, name: str, address: str) -> int:
        sent = {"name": name, "password": "a wrong password"}
        with httpx2.Client(base_url=live.url, timeout=SLOW) as http:
            return http.post("/sign-in", json=sent, headers=PAGE | {"x-forwarded-for": address}).status_code

    with scene(tmp_path / "kb") as here, ThreadPoolExecutor(60) as clients:
        everywhere = [*clients.map(lambda n: guess(here.live, "ada", f"10.2.{n}.1"), range(120))]
        of_one_machine = [*clients.map(lambda n: guess(here.live, f"name{n}", "10.1.1.1"), range(60))]
    assert [found.count(401) for found in (everywhere, of_one_machine)] == [FREE_OF_NAME, FREE_OF_ADDRESS]


def test_waits_double_and_end() -> None:
    now = [1000.0]
    throttle = Throttle(clock=lambda: now[0])
    waits: list[float | None] = []
    for _ in range(2):
        throttle.attempt(("ada",), 2)
    for _ in range(12):
        with pytest.raises(Refused) as refused:
            throttle.attempt(("ada",), 2)
        waits.append(refused.value.retry_after)
        now[0] += refused.value.retry_after or 0
        throttle.attempt(("ada",), 2)
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]
    throttle.attempt(("bob",), 2)
    throttle.succeed(("ada",))
    throttle.attempt(("ada",), 2)


def test_guesses_in_all_processes_count_together(tmp_path: Path) -> None:
    now = [1000.0]
    one, other = (Throttle(SharedCounts(tmp_path), lambda: now[0]) for _ in range(2))
    with closing(one), closing(other):
        for throttle in (one, other, one):
            throttle.attempt(("name", "ada"), 3)
        for throttle in (one, other):
            with pytest.raises(Refused):
                throttle.attempt(("name", "ada"), 3)
        now[0] -= 5_000  # a clock that is set back
        with pytest.raises(Refused) as refused:
            other.attempt(("name", "ada"), 3)
        assert refused.value.retry_after == 1
        other.succeed(("name", "ada"))
        one.attempt(("name", "ada"), 3)
        assert b"ada" not in (tmp_path / "counts.db").read_bytes()


def test_guesses_count_though_their_file_fails(tmp_path: Path) -> None:
    (tmp_path / "counts.db").write_bytes(b"no database" * 1000)
    with closing(Throttle(SharedCounts(tmp_path), lambda: 1000.0)) as throttle:
        for _ in ("in memory", "in another file"):
            throttle.attempt(("name", "ada"), 1)
        with pytest.raises(Refused):
            throttle.attempt(("name", "ada"), 1)


@pytest.mark.parametrize(
    ("names", "addresses", "free"),
    [
        (lambda n: f"user{n}", lambda n: f"2001:db8::{n:x}", 30),
        (lambda n: f"user{n}", lambda n: "::ffff:10.0.0.1" if n % 2 else "10.0.0.1", 30),
        (lambda n: ("Åda", "A\u030ada", "åDA")[n % 3], lambda n: f"2001:db8:0:1::{n:x}", 5),
    ],
)
def test_one_guesser_is_one(
    here: Scene, names: Callable[[int], str], addresses: Callable[[int], str], free: int
) -> None:
    desk = here.service.sign_in

    async def guessed() -> list[str]:
        codes: list[str] = []
        for n in range(free + 1):
            with pytest.raises(Refused) as refused:
                await desk.by_password(names(n), "a wrong password", addresses(n))
            codes.append(refused.value.code)
        return codes

    assert asyncio.run(guessed()) == ["unauthorized"] * free + ["too_many"]


# ---------------------------------------------------------------- what is stored
def overtake(journal: Journal, patched: pytest.MonkeyPatch, change: Callable[[Users], object]) -> Users:
    """Return users whose next write comes just after a change by somebody else."""
    writing = journal.writing

    def late() -> AbstractContextManager[sqlite3.Connection]:
        patched.setattr(journal, "writing", writing)
        change(Users(journal))
        return writing()

    patched.setattr(journal, "writing", late)
    return Users(journal)


@pytest.mark.parametrize(
    "change",
    [
        lambda users: users.remove("ada"),
        lambda users: users.set_password("ada", f"{PASSWORD}!"),
        lambda users: users.set_rights("ada", ["read"], []),
    ],
)
def test_no_session_outlives_a_change(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, change: Callable[[Users], object]
) -> None:
    Users(journal).add("ada", PASSWORD, ["read", "write"])
    assert overtake(journal, monkeypatch, change).begin_session("ada", PASSWORD, 60) is None
    assert Sessions(journal).all() == []


def test_changes_do_not_bring_removed_users_back(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    Users(journal).add("ada", PASSWORD, ["read"])
    with pytest.raises(NotFound):
        overtake(journal, monkeypatch, lambda users: users.remove("ada")).set_rights("ada", ["admin"], None)
    assert Users(journal).check("ada", PASSWORD) is None
    with pytest.raises(UsageError, match="already"):
        overtake(journal, monkeypatch, lambda users: users.add("ADA", PASSWORD, ["read"])).add(
            "ada", PASSWORD, ["admin"]
        )
    assert [(one.name, one.scopes) for one in Users(journal).all()] == [("ADA", ("read",))]


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal(tmp_path)) as opened:
        yield opened


def test_stores_no_password_and_no_cookie(journal: Journal) -> None:
    Users(journal).add("ada", PASSWORD, ["read"])
    cookie = Sessions(journal).begin("ada", "ada", "password", ("read",), None, 60)
    for file in journal.path.parent.iterdir():
        assert PASSWORD.encode() not in file.read_bytes()
        assert cookie.encode() not in file.read_bytes()
    with journal.reading() as db:
        assert db
        ((stored,),) = db.execute("SELECT hash FROM users")
    assert stored.startswith("$argon2id$v=19$m=19456,t=2,p=1$")


def test_sessions_end_after_a_time_and_a_pause(journal: Journal) -> None:
    now = [0.0]
    kept = Sessions(journal, lambda: now[0])
    cookie = kept.begin("ada", "Ada", "password", ("read",), ("hr",), 1_000)
    found = kept.find(cookie, 100)
    assert found
    assert (found[0].reader.groups, found[1]) == ({"hr"}, False)
    now[0] = 99
    assert kept.find(cookie, 100) == (found[0], True)
    kept.touch(cookie)
    now[0] = 198
    assert kept.find(cookie, 100)
    now[0] = 199
    assert kept.find(cookie, 100) is None
    for moment in range(150, 1_000, 50):
        now[0] = moment
        kept.touch(cookie)
    assert kept.find(cookie, 100)
    now[0] = 1_000
    assert kept.find(cookie, 100) is None
    assert kept.all() == []


def test_a_sign_in_works_once_and_not_for_long(journal: Journal) -> None:
    now = [0.0]
    kept = Sessions(journal, lambda: now[0])
    begun = SignIn(nonce="n", verifier="v", place="#/")
    state, browser = kept.begin_sign_in(begun)
    assert kept.take_sign_in(state, "another") is None
    assert kept.take_sign_in(state, browser) == begun
    assert kept.take_sign_in(state, browser) is None
    state, browser = kept.begin_sign_in(begun)
    now[0] = SIGN_IN_SECONDS
    assert kept.take_sign_in(state, browser) is None


def test_begun_sign_ins_cannot_fill_the_disk(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragstone.history.sessions.MOST_SIGN_INS", 3)
    now = [0.0]
    kept = Sessions(journal, lambda: now[0])
    begun = []
    for _ in range(5):
        now[0] += 1
        begun.append(kept.begin_sign_in(SignIn(nonce="n", verifier="v", place="#/")))
    assert [kept.take_sign_in(*one) is not None for one in begun] == [False, False, True, True, True]


def test_users_need_names_and_strong_passwords(journal: Journal) -> None:
    people = Users(journal)
    assert not people.were_ever_added()
    wrong = {"": PASSWORD, "a/b": PASSWORD, "a:b": PASSWORD, " ada": PASSWORD, "bob": "short", "eve": "adaevelove1"}
    for name, password in {**wrong, "zoe": "aaaaaaaaaaaa"}.items():
        with pytest.raises(UsageError):
            people.add(name, password, ["read"])
    with pytest.raises(UsageError, match="scope"):
        people.add("bob", PASSWORD, ["all"])
    people.add("Zoë", PASSWORD, ["read"])
    with pytest.raises(UsageError, match="already"):
        people.add("zoë", PASSWORD, ["read"])
    people.remove("zoe\u0308")
    assert people.all() == []
    assert people.were_ever_added(), "the server does not open again"
    with pytest.raises(NotFound, match="user list"):
        people.set_password("Zoë", PASSWORD)


def test_cookies_are_guarded(here: Scene) -> None:
    plain = here.browser().by_password().headers["set-cookie"]
    assert plain.startswith("ragstone-session=")
    assert {"httponly", "samesite=lax", "path=/"} <= set(plain.lower().split("; "))
    proxied = {**PAGE, "x-forwarded-proto": "https"}
    body = {"name": "ada", "password": PASSWORD}
    encrypted = here.browser().post("/sign-in", body, proxied).headers["set-cookie"]
    assert encrypted.startswith("__Host-ragstone-session=")
    assert {"httponly", "samesite=lax", "path=/", "secure"} <= set(encrypted.lower().split("; "))
    cookie = encrypted.partition(";")[0]
    https = here.live.http.get("/me", headers={"cookie": cookie, "x-forwarded-proto": "https"})
    assert https.status_code == 200
    unprefixed = {"cookie": cookie.removeprefix("__Host-"), "x-forwarded-proto": "https"}
    assert here.live.http.get("/me", headers=unprefixed).status_code == 401


def test_signing_in_opens_no_door_to_others(here: Scene) -> None:
    assert sessions(here.journal).all() is not None
    stranger = here.browser()
    for path in ("/me", "/documents", "/openapi.json"):
        assert stranger.get(path).status_code == 401
