"""Attacks on sign-in. None of them gets a session, and none acts in the name of somebody who is signed in."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from signing_in import ADA, PAGE, PASSWORD, SESSION, Browser, Scene, scene, sessions

from ragstone.history.sessions import Session
from servers.oidc_server import CLIENT, SECRET, Claims, SigningKey

THEIRS = SigningKey("ES256")
"""A key of the attacker's."""
FOREIGN = "https://evil.example"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    origins = "origins=[https://chat.example]"
    with scene(tmp_path_factory.mktemp("attacked") / "kb", "oidc.may_sign_in=[staff]", origins) as shared:
        yield shared


@pytest.fixture
def here(shared: Scene) -> Scene:
    shared.fresh()
    return shared


def is_out(browser: Browser, answer: httpx2.Response) -> bool:
    """Return whether no session came of an answer."""
    return (
        SESSION not in answer.headers.get("set-cookie", "") and SESSION not in browser.cookies and not browser.is_in()
    )


# ---------------------------------------------------------------- forged tokens
def encoded(part: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


def by_hand(header: Claims, claims: Claims, secret: bytes) -> str:
    """Sign with a secret, as no library does it with a public key."""
    text = f"{encoded(header)}.{encoded(claims)}"
    signature = hmac.new(secret, text.encode(), hashlib.sha256).digest()
    return f"{text}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def with_public_key(here: Scene, claims: Claims) -> str:
    key = here.provider.key
    pem = key.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return by_hand({"alg": "HS256", "kid": key.id}, claims, pem)


def tampered(here: Scene, claims: Claims) -> str:
    head, _, signature = here.provider.key.sign({**claims, "groups": []}).split(".")
    return f"{head}.{encoded(claims)}.{signature}"


def own_jwk(here: Scene, claims: Claims) -> str:
    header: Any = {"kid": here.provider.key.id, "jwk": THEIRS.public()}
    return jwt.encode(claims, THEIRS.private, "ES256", header)


Forged = Callable[[Scene, Claims], Claims | str]
FORGED: dict[str, Forged] = {
    "alg none": lambda _, claims: jwt.encode(claims, None, "none"),
    "alg none, with a known key": lambda here, claims: (
        f"{encoded({'alg': 'none', 'kid': here.provider.key.id})}.{encoded(claims)}."
    ),
    "HS256 with the public key": with_public_key,
    "HS256 with the client's secret": lambda _, claims: by_hand({"alg": "HS256"}, claims, SECRET.encode()),
    "unknown kid": lambda _, claims: THEIRS.sign(claims),
    "another key under a known kid": lambda here, claims: THEIRS.sign(claims, kid=here.provider.key.id),
    "a key in the header": own_jwk,
    "an address of keys in the header": lambda _, claims: THEIRS.sign(claims, jku=f"{FOREIGN}/keys"),
    "changed after signing": tampered,
    "no token": lambda *_: "not.a.token",
    "an extension that must be understood": lambda here, claims: jwt.encode(
        claims, here.provider.key.private, "RS256", {"kid": here.provider.key.id, "crit": ["x"], "x": 1}
    ),
    "another audience": lambda _, claims: {**claims, "aud": "another"},
    "several audiences": lambda _, claims: {**claims, "aud": [CLIENT, "another"]},
    "given to another party": lambda _, claims: {**claims, "aud": [CLIENT, "another"], "azp": "another"},
    "no audience": lambda _, claims: {**claims, "aud": None},
    "another issuer": lambda _, claims: {**claims, "iss": FOREIGN},
    "the issuer with a slash": lambda _, claims: {**claims, "iss": f"{claims['iss']}/"},
    "expired": lambda _, claims: {**claims, "exp": claims["iat"] - 3_600},
    "never expires": lambda _, claims: {name: claims[name] for name in claims if name != "exp"},
    "of the future": lambda _, claims: {**claims, "iat": claims["iat"] + 3_600},
    "nonce of another sign-in": lambda _, claims: {**claims, "nonce": "another"},
    "no nonce": lambda _, claims: {name: claims[name] for name in claims if name != "nonce"},
    "nobody": lambda _, claims: {**claims, "sub": ""},
    "a subject that is no text": lambda _, claims: {**claims, "sub": 7},
    "of another access token": lambda _, claims: {**claims, "at_hash": "a" * 22},
    "in no group that may sign in": lambda _, claims: {**claims, "groups": ["guests"]},
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_tokens_get_no_session(here: Scene, name: str) -> None:
    here.provider.forge = lambda claims: FORGED[name](here, claims)
    eve = here.browser()
    answer = eve.sign_in(here.provider)
    reason = "not_allowed" if "may sign in" in name else "refused"
    assert answer.headers["location"] == f"../#/sign-in/{reason}"
    assert is_out(eve, answer)


def test_honest_tokens_get_one(here: Scene) -> None:
    """The attacks fail for what they forge, and not because nothing works."""
    assert here.browser().sign_in(here.provider).headers["location"] == "../#/"
    here.provider.forge = lambda claims: {**claims, "aud": [CLIENT, "another"], "azp": CLIENT}
    ada = here.browser()
    ada.sign_in(here.provider)
    assert ada.is_in()


# ---------------------------------------------------------------- the way to the provider and back
def replayed(here: Scene) -> tuple[Browser, httpx2.Response]:
    eve, asked = here.browser(), None
    asked = eve.begin()
    kept = eve.cookies["ragstone-sign-in"]
    code = here.provider.code_for(asked, ADA)
    eve.back(here.provider, asked, code=code)
    thief = here.browser(cookie=f"ragstone-sign-in={kept}")
    return thief, thief.back(here.provider, asked, code=here.provider.code_for(asked, ADA))


def code_used_twice(here: Scene) -> tuple[Browser, httpx2.Response]:
    ada, eve = here.browser(), here.browser()
    asked = ada.begin()
    code = here.provider.code_for(asked, ADA)
    ada.back(here.provider, asked, code=code)
    return eve, eve.back(here.provider, eve.begin(), code=code)


def stolen_code(here: Scene) -> tuple[Browser, httpx2.Response]:
    """A code that was stolen before its owner used it fits no other verifier: that is what PKCE is for."""
    ada, eve = here.browser(), here.browser()
    return eve, eve.back(here.provider, eve.begin(), code=here.provider.code_for(ada.begin(), ADA))


def code_without_challenge(here: Scene) -> tuple[Browser, httpx2.Response]:
    eve = here.browser()
    asked = eve.begin()
    unproved = {name: value for name, value in asked.items() if not name.startswith("code_challenge")}
    return eve, eve.back(here.provider, asked, code=here.provider.code_for(unproved, ADA))


def given_to_victim(here: Scene) -> tuple[Browser, httpx2.Response]:
    """Eve begins and makes Ada end it, so that Ada would work in Eve's name."""
    eve, ada = here.browser(), here.browser()
    asked = eve.begin()
    ada.begin()
    return ada, ada.back(here.provider, asked)


def without_cookie(here: Scene) -> tuple[Browser, httpx2.Response]:
    asked, bare = here.browser().begin(), here.browser()
    return bare, bare.back(here.provider, asked)


def answering(**changed: str | None) -> Callable[[Scene], tuple[Browser, httpx2.Response]]:
    def attack(here: Scene) -> tuple[Browser, httpx2.Response]:
        eve = here.browser()
        return eve, eve.back(here.provider, eve.begin(), **changed)

    return attack


def told_of_another(here: Scene) -> tuple[Browser, httpx2.Response]:
    here.provider.person = {"sub": "1"}
    here.provider.userinfo = {"sub": "2", "groups": ["staff"]}
    eve = here.browser()
    return eve, eve.sign_in(here.provider)


ON_THE_WAY: dict[str, Callable[[Scene], tuple[Browser, httpx2.Response]]] = {
    "no state": answering(state=None),
    "empty state": answering(state=""),
    "foreign state": answering(state="x" * 43),
    "no code": answering(code=None),
    "invented code": answering(code="x"),
    "answer of another issuer": answering(iss=FOREIGN),
    "no issuer although promised": answering(iss=None),
    "error beside a code": answering(error="access_denied"),
    "answer used twice": replayed,
    "code used twice": code_used_twice,
    "stolen code": stolen_code,
    "code without a challenge": code_without_challenge,
    "sign-in given to a victim": given_to_victim,
    "no cookie": without_cookie,
    "userinfo of another person": told_of_another,
}


@pytest.mark.parametrize("name", ON_THE_WAY)
def test_wrong_answers_get_no_session(here: Scene, name: str) -> None:
    eve, answer = ON_THE_WAY[name](here)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("../#/sign-in/")
    assert is_out(eve, answer)


@pytest.mark.parametrize(
    "place",
    [
        FOREIGN,
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "data:text/html,x",
        "#",
        "#/\r\nset-cookie: ragstone-session=x",
        f"#/ {FOREIGN}",
        "../../evil",
        "http:evil.example",
        f"?next={FOREIGN}",
        "#/<script>",
    ],
)
def test_redirects_only_into_the_page(here: Scene, place: str) -> None:
    ada = here.browser()
    landed = ada.sign_in(here.provider, place)
    assert landed.headers["location"] == "../#/"
    assert landed.url.join(landed.headers["location"]).host == "127.0.0.1"


@pytest.mark.parametrize(
    "told",
    [
        {"issuer": FOREIGN},
        {"code_challenge_methods_supported": ["plain"]},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"token_endpoint": "ftp://127.0.0.1/token"},
        {"jwks_uri": None},
    ],
)
def test_refuses_unsafe_providers(here: Scene, told: Claims, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(here.provider, "configured", told)
    monkeypatch.setattr("ragstone.serve.http.sign_in.provider.FRESH_SECONDS", 0.0)
    from ragstone.serve.http.sign_in.provider import Provider

    monkeypatch.setattr(here.service.sign_in, "provider", Provider(here.service.settings.oidc))
    answer = here.browser().get("/sign-in/provider")
    assert answer.headers["location"] == "../#/sign-in/provider"


# ---------------------------------------------------------------- sessions
def test_a_planted_session_is_not_taken_over(here: Scene) -> None:
    eve = here.browser()
    eve.by_password()
    planted = eve.cookies[SESSION]
    ada = here.browser()
    ada.http.cookies.set(SESSION, planted, domain="127.0.0.1")
    ada.sign_in(here.provider)
    assert here.live.http.get("/me", headers={"cookie": f"{SESSION}={planted}"}).status_code == 401
    again = eve.by_password() and eve.cookies[SESSION]
    eve.by_password()
    assert here.live.http.get("/me", headers={"cookie": f"{SESSION}={again}"}).status_code == 401
    invented = here.browser(cookie=f"{SESSION}=chosen-by-eve")
    invented.by_password()
    assert here.live.http.get("/me", headers={"cookie": f"{SESSION}=chosen-by-eve"}).status_code == 401


def test_sessions_through_another_provider_are_over(here: Scene) -> None:
    for name, is_known in ((f"{here.provider.issuer}#1", True), (f"{FOREIGN}#1", False)):
        cookie = sessions(here.journal).begin(name, "Ada", "oidc", ("read",), (), 600)
        assert here.browser(cookie=f"{SESSION}={cookie}").is_in() is is_known
    with_none = Session(name=f"{FOREIGN}#1", shown="", via="oidc", scopes=("read",), groups=(), made=0, until=1)
    assert not with_none.is_through("")


def test_a_stolen_cookie_is_worthless_after_signing_out(here: Scene) -> None:
    ada = here.browser()
    ada.by_password()
    stolen = {"cookie": f"{SESSION}={ada.cookies[SESSION]}"}
    assert here.live.http.get("/me", headers=stolen).status_code == 200
    ada.post("/sign-out")
    assert here.live.http.get("/me", headers=stolen).status_code == 401


def test_a_cookie_is_no_key_and_a_hash_no_cookie(here: Scene) -> None:
    ada = here.browser()
    ada.by_password()
    cookie = ada.cookies[SESSION]
    kept = hashlib.sha256(cookie.encode()).hexdigest()
    for headers in ({"authorization": f"Bearer {cookie}"}, {"cookie": f"{SESSION}={kept}"}, {"cookie": f"{SESSION}="}):
        assert here.live.http.get("/me", headers=headers).status_code == 401
    both = {"cookie": f"{SESSION}={cookie}", "authorization": "Bearer rgs_00000000_" + "A" * 43}
    assert here.live.http.get("/me", headers=both).status_code == 401, "a wrong key is not forgiven for a cookie"


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"x-ragstone": "page"},
        {"sec-fetch-site": "same-origin"},
        {"x-ragstone": "page", "origin": FOREIGN},
        {"x-ragstone": "page", "origin": "null"},
        {"x-ragstone": "page", "origin": "https://chat.example"},
        {"x-ragstone": "page", "sec-fetch-site": "cross-site"},
        {"x-ragstone": "page", "sec-fetch-site": "same-site"},
        {"x-ragstone": "page", "sec-fetch-site": "none"},
        {"x-ragstone": "form", "sec-fetch-site": "same-origin"},
        {"x-ragstone": "page", "origin": FOREIGN, "sec-fetch-site": "same-origin"},
    ],
)
def test_foreign_pages_cannot_use_a_session(here: Scene, sent: dict[str, str]) -> None:
    cookie = sessions(here.journal).begin("ada", "ada", "password", ("read", "write"), ("hr",), 600)
    ada = here.browser(cookie=f"{SESSION}={cookie}")
    writes = (("POST", "/query"), ("DELETE", "/documents/house/rooms.md"), ("POST", "/mcp"), ("POST", "/sign-out"))
    for method, path in writes:
        answer = ada.http.request(method, path, json={"question": "Where do visitors park?"}, headers=sent)
        assert answer.status_code == 403, (method, path)
    assert here.browser().post("/sign-in", {"name": "ada", "password": PASSWORD}, sent).status_code == 403
    assert ada.get("/documents").json()["total"] == 3
    assert (
        ada.post("/query", {"question": "Where do visitors park?"}, {**PAGE, "origin": here.live.url}).status_code
        == 200
    )


def test_an_http_page_cannot_use_an_encrypted_session(here: Scene) -> None:
    ada = here.browser()
    body = {"name": "ada", "password": PASSWORD}
    over_tls = {"x-ragstone": "page", "x-forwarded-proto": "https"}
    own = here.live.url
    assert ada.post("/sign-in", body, {**over_tls, "origin": own}).status_code == 403
    assert ada.post("/sign-in", body, {**over_tls, "origin": own.replace("http:", "https:")}).status_code == 204


def test_no_attack_left_a_session(here: Scene) -> None:
    own = {f"{here.provider.issuer}#{subject}" for subject in (ADA["sub"], "1")}
    assert {one.name for one in sessions(here.journal).all()} <= {"ada", f"{FOREIGN}#1", *own}
