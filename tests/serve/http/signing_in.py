"""Shared by the tests of sign-in: a browser without a window, and a server that signs people in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from kb import READY, add, open_fast
from live import DOCUMENTS, SLOW, Live, served

from ragstone.history.journal import Journal
from ragstone.history.sessions import Sessions
from ragstone.history.users import Users
from ragstone.serve.http.service import Service
from ragstone.serve.http.sign_in.throttle import Throttle
from servers.oidc_server import CLIENT, SECRET, OidcServer

PASSWORD = "correct horse battery"
ADA = {"sub": "248289761001", "name": "Ada Lovelace", "groups": ["hr", "staff"]}
PAGE = {"x-ragstone": "page", "sec-fetch-site": "same-origin"}
"""What the page's own requests carry."""
SESSION = "ragstone-session"


@dataclass
class Browser:
    """Cookies and requests of one person; it follows redirects only when told to."""

    url: str
    headers: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self.http = httpx2.Client(base_url=self.url, headers=self.headers, timeout=SLOW)

    @property
    def cookies(self) -> dict[str, str]:
        return dict(self.http.cookies.items())

    def get(self, path: str, **query: str) -> httpx2.Response:
        return self.http.get(path, params=query or None)

    def post(self, path: str, body: Any = None, headers: dict[str, str] = PAGE) -> httpx2.Response:
        return self.http.post(path, json=body, headers=headers)

    def begin(self, place: str = "") -> dict[str, str]:
        """Begin a sign-in, and return what the provider is asked."""
        sent = self.get("/sign-in/provider", place=place)
        assert sent.status_code == 303, sent.text
        assert "error" not in sent.headers["location"]
        return {name: values[0] for name, values in parse_qs(urlsplit(sent.headers["location"]).query).items()}

    def back(self, provider: OidcServer, asked: dict[str, str], **changed: str | None) -> httpx2.Response:
        """Come back from the provider with a code; None leaves a part of its answer out."""
        code = provider.code_for(asked, provider.person or {})
        answer = {"state": asked["state"], "code": code, "iss": provider.issuer} | changed
        return self.get("/sign-in/callback", **{name: value for name, value in answer.items() if value is not None})

    def sign_in(self, provider: OidcServer, place: str = "") -> httpx2.Response:
        return self.back(provider, self.begin(place))

    def by_password(self, name: str = "ada", password: str = PASSWORD) -> httpx2.Response:
        return self.post("/sign-in", {"name": name, "password": password})

    def is_in(self) -> bool:
        return self.get("/me").status_code == 200


@dataclass
class Scene:
    """A server, its provider, and what is stored."""

    live: Live
    provider: OidcServer
    browsers: list[Browser] = field(default_factory=list[Browser])

    @property
    def service(self) -> Service:
        return self.live.server.config.app.state.service  # type: ignore[union-attr]

    @property
    def journal(self) -> Path:
        return self.live.engine.folder

    def browser(self, **headers: str) -> Browser:
        self.browsers.append(Browser(self.live.url, headers))
        return self.browsers[-1]

    def close(self) -> None:
        while self.browsers:
            self.browsers.pop().http.close()

    def fresh(self) -> None:
        """Make the provider honest again, forgive all failures, and close what is open."""
        self.close()
        self.provider.person, self.provider.forge, self.provider.userinfo = dict(ADA), None, None
        self.service.sign_in.throttle = Throttle()


def users(folder: Path) -> Users:
    return Users(Journal(folder))


def sessions(folder: Path) -> Sessions:
    return Sessions(Journal(folder))


@contextmanager
def scene(folder: Path, *settings: str) -> Iterator[Scene]:
    """Serve three documents to whoever signs in: Ada by her password, or anybody through the provider."""
    with (
        pytest.MonkeyPatch.context() as patched,
        OidcServer(dict(ADA)) as provider,
        closing(open_fast(folder, READY)) as engine,
    ):
        patched.setenv("OIDC_TEST_SECRET", SECRET)
        add(engine, *DOCUMENTS)
        with closing(Journal(folder)) as journal:
            Users(journal).add("ada", PASSWORD, ["read", "write"], ["hr"])
        own = {"issuer": provider.issuer, "client_id": CLIENT, "client_secret_env": "OIDC_TEST_SECRET"}
        changes = (*(f"oidc.{name}={value}" for name, value in own.items()), *settings)
        with served(engine, *changes) as live, closing(Scene(live, provider)) as made:
            yield made
