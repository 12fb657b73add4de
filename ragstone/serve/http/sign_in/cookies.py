"""The two cookies: that of a session, and that of a sign-in that has begun at a provider.

Over TLS their names begin with ``__Host-``: a browser accepts them only from this host, for all of its paths, and sends
them only encrypted, so no neighbouring site can set or read them.
"""

from __future__ import annotations

from typing import Literal

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import Response
from starlette.types import Scope

from ragstone.core.errors import RagstoneError
from ragstone.serve.http.errors import Refused
from ragstone.serve.http.networks import origin_parts
from ragstone.settings import ServeSettings

Kind = Literal["session", "sign-in"]
PAGE_HEADER = "x-ragstone"
PAGE = "page"
"""A header that only the page sends: a form of a foreign site cannot, and a script of one would be asked first."""
SAFE = ("GET", "HEAD", "OPTIONS")


def is_encrypted(scope: Scope, settings: ServeSettings) -> bool:
    """Return whether the browser's connection is encrypted, here or by a proxy."""
    return scope["scheme"] == "https" or settings.url.startswith("https://")


def read(kind: Kind, scope: Scope, settings: ServeSettings) -> str:
    """Return the value of a cookie; empty if there is none."""
    sent = cookie_parser(Headers(scope=scope).get("cookie", ""))
    return sent.get(_name(kind, encrypted=is_encrypted(scope, settings)), "")


def put(response: Response, kind: Kind, value: str, scope: Scope, settings: ServeSettings, seconds: float) -> None:
    """Set a cookie for some seconds; zero removes it."""
    encrypted = is_encrypted(scope, settings)
    response.set_cookie(
        _name(kind, encrypted=encrypted),
        value,
        max_age=int(seconds),
        path="/",
        secure=encrypted,
        httponly=True,
        samesite="lax",
    )


def check_page(scope: Scope) -> None:
    """Check that a request comes from the page, because browsers send cookies with those of other pages, too.

    Raises:
        Refused: it does not.
    """
    headers = Headers(scope=scope)
    origin, site = headers.get("origin", "").lower(), headers.get("sec-fetch-site", "")
    parts = origin_parts(origin)
    is_own = parts.netloc == headers.get("host", "").lower() and (parts.scheme == "https" or scope["scheme"] == "http")
    if not (is_own if origin else site == "same-origin") or headers.get(PAGE_HEADER, "") != PAGE:
        raise refused_elsewhere()


def refused_elsewhere() -> RagstoneError:
    """Return the error for a request that does not come from the page."""
    return Refused("forbidden", "only the page itself may do this for someone who is signed in; programs need a key")


def _name(kind: Kind, *, encrypted: bool) -> str:
    return f"{'__Host-' if encrypted else ''}ragstone-{kind}"
