"""A provider of OpenID Connect on loopback: discovery, authorization, tokens, keys, userinfo and sign-out.

It follows OpenID Connect Core 1.0 (code flow), Discovery 1.0, RP-Initiated Logout 1.0, RFC 7636 (PKCE) and RFC 9207,
and signs with real keys. Codes work once and only with their verifier. ``forge`` changes what it signs, for attacks.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from servers.loopback import Loopback

CLIENT, SECRET = "ragstone", "s3cret of the client"
SECONDS = 300
Claims = dict[str, Any]
Forge = Callable[[Claims], Claims | str]
"""Takes the claims of an ID token and returns others, or a whole token."""


@dataclass
class SigningKey:
    """A key of the provider's: RSA for RS256, elliptic for ES256."""

    algorithm: str = "RS256"
    id: str = field(default_factory=lambda: secrets.token_hex(4))

    def __post_init__(self) -> None:
        is_rsa = self.algorithm == "RS256"
        self.private = rsa.generate_private_key(65_537, 2_048) if is_rsa else ec.generate_private_key(ec.SECP256R1())

    def public(self) -> Claims:
        """Return the public half as a JSON Web Key."""
        kind: Any = RSAAlgorithm if self.algorithm == "RS256" else ECAlgorithm
        return {**kind.to_jwk(self.private.public_key(), as_dict=True), "kid": self.id, "use": "sig"}

    def sign(self, claims: Mapping[str, Any], **header: str) -> str:
        return jwt.encode(dict(claims), self.private, self.algorithm, {"kid": self.id, **header})


@dataclass
class _Code:
    asked: dict[str, str]
    claims: Claims


class OidcServer(Loopback):
    """A provider. ``person`` is who signs in: the claims about them; None shows a form instead, as in a browser."""

    def __init__(self, person: Claims | None = None) -> None:
        super().__init__()
        self.person = person
        self.people: dict[str, Claims] = {}
        """Who can sign in with the form, by name."""
        self.key = SigningKey()
        self.keys = [self.key]
        self.forge: Forge | None = None
        self.userinfo: Claims | None = None
        """What the address of userinfo tells; None tells the person's claims."""
        self.configured: Claims = {}
        """Replaces parts of what the provider says of itself."""
        self.codes: dict[str, _Code] = {}
        self.asked: list[str] = []
        """The paths of all requests."""
        self._subject: Claims = {}
        self.given: Claims = {}
        """The last response of the token endpoint."""

    @property
    def issuer(self) -> str:
        return f"{self.origin}/realm"

    def rotate(self, algorithm: str = "RS256") -> SigningKey:
        """Sign with a new key from now on, and list no other; return the old one."""
        old, self.key = self.key, SigningKey(algorithm)
        self.keys = [self.key]
        return old

    def code_for(self, asked: Mapping[str, str], person: Claims) -> str:
        """Return a code, as if this person had agreed to what was asked for."""
        code = secrets.token_urlsafe(16)
        self.codes[code] = _Code(dict(asked), person)
        return code

    def _take(self, handler: BaseHTTPRequestHandler, raw: bytes) -> None:
        parts = urlsplit(handler.path)
        path = parts.path.removeprefix("/realm")
        self.asked.append(path)
        sent = {name: values[0] for name, values in parse_qs(parts.query + "&" + raw.decode()).items()}
        match path:
            case "/.well-known/openid-configuration":
                _send(handler, 200, self._configuration())
            case "/keys":
                _send(handler, 200, {"keys": [one.public() for one in self.keys]})
            case "/authorize":
                self._authorize(handler, sent)
            case "/token":
                self._exchange(handler, sent)
            case "/userinfo":
                self._tell(handler)
            case "/logout":
                _redirect(handler, sent.get("post_logout_redirect_uri", "/"))
            case _:
                _send(handler, 404, {"error": "not_found"})

    def _configuration(self) -> Claims:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "end_session_endpoint": f"{self.issuer}/logout",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256", "ES256"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        } | self.configured

    def _authorize(self, handler: BaseHTTPRequestHandler, asked: dict[str, str]) -> None:
        if asked.get("client_id") != CLIENT or not asked.get("redirect_uri", "").endswith("/sign-in/callback"):
            _send(handler, 400, {"error": "invalid_client"})
            return
        person = self.person or self.people.get(asked.get("person", ""))
        if person is None:
            self._form(handler, asked)
            return
        wrong = asked.get("response_type") != "code" or asked.get("code_challenge_method") != "S256"
        answer = {"state": asked.get("state", ""), "iss": self.issuer}
        answer |= {"error": "invalid_request"} if wrong else {"code": self.code_for(asked, person)}
        _redirect(handler, f"{asked['redirect_uri']}?{urlencode(answer)}")

    def _form(self, handler: BaseHTTPRequestHandler, asked: Mapping[str, str]) -> None:
        fields = "".join(
            f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">'
            for name, value in asked.items()
        )
        page = (
            '<!doctype html><html lang="en"><title>Provider</title><link rel="icon" href="data:,">'
            "<main><h1>Sign in</h1>"
            f'<form action="authorize">{fields}<label>Person <input name="person"></label><button>Go on</button></form>'
        )
        _answer(handler, 200, "text/html; charset=utf-8", page.encode())

    def _exchange(self, handler: BaseHTTPRequestHandler, sent: Mapping[str, str]) -> None:
        kind, _, text = handler.headers.get("Authorization", "").partition(" ")
        id, _, secret = base64.b64decode(text).decode().partition(":") if kind == "Basic" else ("", "", "")
        if (unquote(id), unquote(secret)) != (CLIENT, SECRET):
            _send(handler, 401, {"error": "invalid_client"})
            return
        code = self.codes.pop(sent.get("code", ""), None)  # it works once
        digest = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
        if (
            code is None
            or sent.get("grant_type") != "authorization_code"
            or sent.get("redirect_uri") != code.asked["redirect_uri"]
            or base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != code.asked.get("code_challenge")
        ):
            _send(handler, 400, {"error": "invalid_grant"})
            return
        access = secrets.token_urlsafe(16)
        half = hashlib.sha256(access.encode()).digest()[:16]
        now = int(time.time())
        claims: Claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "iat": now,
            "exp": now + SECONDS,
            "nonce": code.asked.get("nonce", ""),
            "at_hash": base64.urlsafe_b64encode(half).rstrip(b"=").decode(),
            **code.claims,
        }
        forged = self.forge(claims) if self.forge else claims
        token = forged if isinstance(forged, str) else self.key.sign(forged)
        self.given = {"access_token": access, "token_type": "Bearer", "expires_in": SECONDS, "id_token": token}
        self._subject = code.claims
        _send(handler, 200, self.given)

    def _tell(self, handler: BaseHTTPRequestHandler) -> None:
        if handler.headers.get("Authorization") != f"Bearer {self.given.get('access_token')}":
            _send(handler, 401, {"error": "invalid_token"})
        else:
            _send(handler, 200, self._subject if self.userinfo is None else self.userinfo)


def _send(handler: BaseHTTPRequestHandler, status: int, told: Claims) -> None:
    _answer(handler, status, "application/json", json.dumps(told).encode())


def _redirect(handler: BaseHTTPRequestHandler, to: str) -> None:
    handler.send_response(302)
    handler.send_header("Location", to)
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def _answer(handler: BaseHTTPRequestHandler, status: int, kind: str, content: bytes) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)
