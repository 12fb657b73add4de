"""The layer that keeps foreign web pages out: a browser would otherwise ask for them, on a machine that trusts it.

A page elsewhere may call this server only where its origin is named (CORS). While no key is needed, the name that the
server is called by must be one of its own: a foreign name that was made to lead here (DNS rebinding) is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragstone.errors import RagstoneError
from ragstone.serve.http import problems
from ragstone.serve.http.problems import Refused

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
SAFE = ("GET", "HEAD")
METHODS = "GET, HEAD, POST, DELETE"
ALLOWED = "accept, authorization, content-type, x-request-id"
EXPOSED = "retry-after, x-request-id"
LASTS = "600"
"""Seconds that a browser may remember what is allowed."""


class Guard:
    """Looks at where a request comes from, and by which name it asks."""

    def __init__(
        self, app: ASGIApp, origins: Collection[str], names: Collection[str], is_open: Callable[[], bool]
    ) -> None:
        """
        Args:
            app: what is behind it.
            origins: of pages elsewhere that may call.
            names: of this server, beside those of loopback; none: any, where keys are needed.
            is_open: whether no key is needed now.
        """
        self._app, self._origins, self._is_open = app, frozenset(origins), is_open
        self._names = frozenset(name.lower() for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin, host = headers.get("origin", "").lower(), headers.get("host", "").lower()
        foreign = bool(origin) and urlsplit(origin).netloc != host
        try:
            self._refuse_name(_name(host))
            if foreign and origin not in self._origins:
                raise Refused("forbidden", "pages of this origin may not call; serve.origins names those that may")
            if not origin and scope["method"] not in SAFE and headers.get("sec-fetch-site", "") == "cross-site":
                raise Refused("forbidden", "a page elsewhere asks for this, and does not say which")
        except RagstoneError as error:
            await problems.response(error, scope[problems.REQUEST_ID])(scope, receive, send)
            return
        if not foreign:
            await self._app(scope, receive, send)
        elif scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            granted = {"access-control-allow-methods": METHODS, "access-control-allow-headers": ALLOWED}
            response = Response(status_code=204, headers=granted | {"access-control-max-age": LASTS})
            await response(scope, receive, _granting(send, origin))
        else:
            await self._app(scope, receive, _granting(send, origin))

    def _refuse_name(self, name: str) -> None:
        if "*" in self._names and not self._is_open():
            return
        if name not in LOOPBACK | self._names and (self._names or self._is_open()):
            raise Refused("forbidden", "the server is not known by this name; serve.names lists the names it has")


def _granting(send: Send, origin: str) -> Send:
    async def out(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["access-control-allow-origin"] = origin
            headers["access-control-expose-headers"] = EXPOSED
            headers["cross-origin-resource-policy"] = "cross-origin"
            headers.add_vary_header("origin")
        await send(message)

    return out


def _name(host: str) -> str:
    """The name without the port."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]
