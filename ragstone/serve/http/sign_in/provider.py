"""A provider of OpenID Connect: the code flow with PKCE, from the address to go to, to the person who came back."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast
from urllib.parse import quote, urlencode, urlsplit

from ragstone.core.errors import SettingsError
from ragstone.core.frozen import frozen
from ragstone.serve.http.sign_in import tokens
from ragstone.serve.http.sign_in.failures import SignInFailed
from ragstone.serve.http.sign_in.fetching import fetch
from ragstone.settings.serve import OidcSettings

CONFIGURATION = "/.well-known/openid-configuration"
FRESH_SECONDS = 3_600.0
"""How long what the provider says of itself is believed."""
ROTATION_SECONDS = 5.0
"""How often at most an unknown key makes us ask for the provider's keys, so that forged tokens cause no flood."""
LONGEST_GROUP, MOST_GROUPS = 200, 1_000
Value = TypeVar("Value")


@frozen
class Configuration:
    """What the provider says of itself."""

    authorization: str
    token: str
    keys: str
    userinfo: str
    end_session: str
    names_itself: bool
    """Whether it adds its issuer to what it sends back (RFC 9207)."""
    takes_basic: bool
    """Whether it takes the client's secret in the header, and not only in the form."""


@frozen
class Person:
    """A person as the provider knows them. ``subject`` never changes, ``shown`` may."""

    subject: str
    shown: str
    groups: tuple[str, ...]


class Provider:
    """The provider that the settings name. Nothing is asked of it before somebody signs in."""

    def __init__(self, settings: OidcSettings, clock: Callable[[], float] = time.monotonic) -> None:
        """Take the settings, and a clock of seconds.

        Raises:
            SettingsError: the environment variable with the secret is empty.
        """
        self._settings, self._clock = settings, clock
        self._secret = os.environ.get(settings.client_secret_env, "") if settings.client_secret_env else ""
        if settings.client_secret_env and not self._secret:
            raise SettingsError(
                f"serve.oidc.client_secret_env names {settings.client_secret_env}, which is empty; set it to the"
                " secret that the provider gave"
            )
        self._configuration: _Kept[Configuration] = _Kept(self._configured, clock)
        self._keys: _Kept[Sequence[Mapping[str, Any]]] = _Kept(self._listed_keys, clock)

    @property
    def name(self) -> str:
        """What the provider is called on the button."""
        return self._settings.name or urlsplit(self._settings.issuer).hostname or ""

    async def address(self, redirect_uri: str, state: str, nonce: str, verifier: str) -> str:
        """Return where the browser goes to sign in.

        Raises:
            SignInFailed: the provider cannot be asked.
        """
        asked = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(self._settings.scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge(verifier),
            "code_challenge_method": "S256",
        }
        return _with_query((await self._configuration.get()).authorization, asked)

    async def person(self, code: str, redirect_uri: str, nonce: str, verifier: str) -> Person:
        """Return who signed in, by the code that the provider sent back.

        Raises:
            SignInFailed: the code, the token or a claim is wrong, or the provider cannot be asked.
        """
        configuration = await self._configuration.get()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        headers: dict[str, str] = {}
        if self._secret and configuration.takes_basic:
            both = f"{quote(self._settings.client_id, safe='')}:{quote(self._secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(both.encode()).decode()}"
        else:
            form["client_id"] = self._settings.client_id
            if self._secret:
                form["client_secret"] = self._secret
        given = await fetch(configuration.token, headers, urlencode(form).encode())
        id_token, access_token = given.get("id_token"), given.get("access_token", "")
        if not isinstance(id_token, str) or not isinstance(access_token, str):
            raise SignInFailed("refused", "the provider sent no ID token")
        expected = tokens.Expected(
            issuer=self._settings.issuer, client_id=self._settings.client_id, nonce=nonce, access_token=access_token
        )
        claims = await self._verified(id_token, expected)
        return self._person(await self._with_userinfo(claims, configuration.userinfo, access_token))

    async def check_issuer(self, sent: str | None) -> None:
        """Check the issuer that came back with a code, so that no other provider's code is taken for this one's.

        Raises:
            SignInFailed: it is another's, or missing although the provider sends it.
        """
        promised = (await self._configuration.get()).names_itself
        if (sent is not None and sent != self._settings.issuer) or (sent is None and promised):
            raise SignInFailed("refused", "the answer comes from another provider")

    async def sign_out_address(self, back: str) -> str | None:
        """Return where the browser goes to sign out at the provider, too; None if it offers no such address."""
        try:
            address = (await self._configuration.get()).end_session
        except SignInFailed:  # signing out here must work without the provider
            return None
        asked = {"client_id": self._settings.client_id, "post_logout_redirect_uri": back}
        return _with_query(address, asked) if address else None

    async def _verified(self, token: str, expected: tokens.Expected) -> dict[str, Any]:
        keys = await self._keys.get()
        try:
            return tokens.verified(token, keys, expected)
        except tokens.KeyUnknown:
            return tokens.verified(token, await self._keys.get(no_older_than=ROTATION_SECONDS), expected)

    async def _with_userinfo(self, claims: dict[str, Any], address: str, access_token: str) -> dict[str, Any]:
        """Add what the provider tells only at its own address; what the token says is signed, and stays."""
        if _at(claims, self._settings.groups_claim) is not None or not address or not access_token:
            return claims
        told = await fetch(address, {"Authorization": f"Bearer {access_token}"})
        if told.get("sub") != claims["sub"]:
            raise SignInFailed("refused", "the provider told of another person")
        return told | claims

    def _person(self, claims: Mapping[str, Any]) -> Person:
        named = _at(claims, self._settings.groups_claim)
        listed = cast(list[object], named) if isinstance(named, list) else [named]
        groups = [one.strip() for one in listed if isinstance(one, str) and one.strip()]
        shown = next((claims[one] for one in ("name", "preferred_username", "email") if claims.get(one)), "")
        return Person(
            subject=claims["sub"],
            shown=str(shown)[:LONGEST_GROUP] or claims["sub"],
            groups=tuple(sorted({one for one in groups if len(one) <= LONGEST_GROUP})[:MOST_GROUPS]),
        )

    async def _configured(self) -> Configuration:
        issuer = self._settings.issuer
        described = await fetch(issuer.rstrip("/") + CONFIGURATION)
        if described.get("issuer") != issuer:
            raise SignInFailed(
                "provider", f"the provider calls itself {described.get('issuer')!r:.200}; check serve.oidc.issuer"
            )
        challenges = described.get("code_challenge_methods_supported")
        if isinstance(challenges, list) and "S256" not in challenges:
            raise SignInFailed("provider", "the provider does not support PKCE with S256")
        methods = described.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        return Configuration(
            authorization=self._address(described, "authorization_endpoint"),
            token=self._address(described, "token_endpoint"),
            keys=self._address(described, "jwks_uri"),
            userinfo=self._address(described, "userinfo_endpoint", required=False),
            end_session=self._address(described, "end_session_endpoint", required=False),
            names_itself=described.get("authorization_response_iss_parameter_supported") is True,
            takes_basic="client_secret_basic" in methods,
        )

    def _address(self, described: Mapping[str, Any], name: str, *, required: bool = True) -> str:
        address = described.get(name) or ""
        if not address and not required:
            return ""
        parts = urlsplit(str(address))
        # Whoever could read along would read codes and secrets, so only an issuer on this machine may do without TLS.
        if (
            not parts.hostname
            or parts.scheme not in {"https", urlsplit(self._settings.issuer).scheme}
            or parts.fragment
        ):
            raise SignInFailed("provider", f"the provider's {name} is no address of https")
        return str(address)

    async def _listed_keys(self) -> Sequence[Mapping[str, Any]]:
        listed = (await fetch((await self._configuration.get()).keys)).get("keys")
        if not isinstance(listed, list):
            raise SignInFailed("provider", "the provider lists no keys")
        return [cast(dict[str, Any], one) for one in cast(list[object], listed) if isinstance(one, dict)]


class _Kept(Generic[Value]):
    """Something of the provider's that is fetched when it is needed and kept for a while; by one caller at a time."""

    def __init__(self, fetched: Callable[[], Awaitable[Value]], clock: Callable[[], float]) -> None:
        self._fetched, self._clock, self._lock = fetched, clock, asyncio.Lock()
        self._value: Value | None = None
        self._at = float("-inf")

    async def get(self, no_older_than: float = FRESH_SECONDS) -> Value:
        async with self._lock:
            if self._value is None or self._clock() - self._at >= no_older_than:
                self._value, self._at = await self._fetched(), self._clock()
            return self._value


def challenge(verifier: str) -> str:
    """Return the challenge of a PKCE verifier, by the method S256 of RFC 7636."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def new_secret() -> str:
    """Return 256 random bits, as a nonce or a verifier."""
    return secrets.token_urlsafe(32)


def _at(claims: Mapping[str, Any], path: str) -> Any:
    """Return a claim by its whole name, or else by a path of names with dots in between."""
    if path in claims:
        return claims[path]
    found: Any = claims
    for name in path.split("."):
        found = cast(dict[str, Any], found).get(name) if isinstance(found, dict) else None
    return found


def _with_query(address: str, asked: Mapping[str, str]) -> str:
    return f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(asked)}"
