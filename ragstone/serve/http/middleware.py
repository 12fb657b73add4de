"""The outer ASGI layers: request ids, security headers, the access log, and protection from foreign web pages."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragstone.core.errors import RagstoneError
from ragstone.serve.http import errors
from ragstone.serve.http.authentication import CALLER, Caller
from ragstone.serve.http.errors import REQUEST_ID, Refused
from ragstone.serve.http.networks import LOOPBACK, host_of, origin_parts
from ragstone.serve.http.telemetry import Metrics, log_request
from ragstone.serve.http.visitors import SITE, SITE_ROUTES

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors "
)
SECURITY_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
HSTS = "max-age=31536000"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
"""Methods with a metric of their own; clients could invent any number of others."""


class RequestLog:
    """Gives every request an id, its response security headers, and the log a line.

    uvicorn sets the scheme: https if it serves TLS itself, or if a proxy that it trusts (``FORWARDED_ALLOW_IPS``,
    loopback by default) says so.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, frame_ancestors: Sequence[str] = ()) -> None:
        """Log the requests of an application, which only pages of some origins may show in a frame."""
        self._app, self._metrics = app, metrics
        ancestors = " ".join(frame_ancestors) or "'none'"
        self._headers = {**SECURITY_HEADERS, "content-security-policy": f"{CONTENT_SECURITY_POLICY}{ancestors}"}
        if not frame_ancestors:  # the older header cannot name an origin
            self._headers["x-frame-options"] = "DENY"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent_id = Headers(scope=scope).get("x-request-id", "")
        request_id = scope[REQUEST_ID] = sent_id if _ID.fullmatch(sent_id) else uuid.uuid4().hex
        method: str = scope["method"] if scope["method"] in METHODS else "OTHER"
        started, status, size = time.perf_counter(), 0, 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                _set_headers(message, scope, request_id, self._headers)
            elif message["type"] == "http.response.body":
                size += len(message.get("body", b""))
            await send(message)

        self._metrics.active.inc()
        try:
            await self._app(scope, receive, send_with_headers)
        except Exception as error:
            failed = errors.response(error, scope)  # logs it
            if not status:
                await failed(scope, receive, send_with_headers)
        finally:
            self._metrics.active.dec()
            seconds = time.perf_counter() - started
            route: str = getattr(scope.get("route"), "path", "")
            caller: Caller | None = scope.get(CALLER)
            self._metrics.count_request(method, route, status, seconds)
            log_request(
                {
                    "id": request_id,
                    "method": method,
                    "route": route,
                    "status": status,
                    "ms": round(seconds * 1000, 1),
                    "bytes": size,
                    "key": caller.key.id if caller and caller.key else "",
                }
            )


def _set_headers(message: Message, scope: Scope, request_id: str, security: Mapping[str, str]) -> None:
    headers = MutableHeaders(scope=message)
    headers["x-request-id"] = request_id
    for name, value in security.items():
        headers.setdefault(name, value)
    if scope["scheme"] == "https":
        headers["strict-transport-security"] = HSTS
    if scope["path"] != "/" and not scope["path"].startswith("/assets/"):
        headers.setdefault("cache-control", "no-store")


class OriginGuard:
    """Refuses what foreign web pages ask for through a browser on a machine that the server trusts.

    A page of another origin may call only if ``serve.origins`` lists it; if ``serve.widget.origins`` does, it may ask
    questions and rate answers as a visitor, and nothing else. While no key is needed, the host name must be
    one of the server's own, so that a foreign name that resolves to this address (DNS rebinding) is refused.
    Starlette's TrustedHostMiddleware cannot do that: its list is fixed, and its refusals have no request id.
    """

    def __init__(
        self,
        app: ASGIApp,
        origins: Collection[str],
        sites: Collection[str],
        names: Collection[str],
        is_open: Callable[[], Awaitable[bool]],
    ) -> None:
        """Guard an application.

        Args:
            app: the inner application.
            origins: origins of pages that may call.
            sites: origins of pages that show the chat.
            names: host names of this server besides loopback; none allows any name once keys are needed.
            is_open: returns whether requests need no key now.
        """
        self._app, self._origins, self._sites, self._is_open = app, frozenset(origins), frozenset(sites), is_open
        self._names = frozenset(name.lower() for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                await self._check(scope)
            except RagstoneError as error:
                await errors.response(error, scope)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        host, origin = headers.get("host", "").lower(), headers.get("origin", "").lower()
        if not await self._is_known(host_of(host)):
            raise Refused("forbidden", "this host name is unknown; the setting serve.names lists the known ones")
        is_foreign = bool(origin) and origin_parts(origin).netloc != host
        if is_foreign and origin in self._sites:
            method = scope["method"]
            if method == "OPTIONS":
                method = headers.get("access-control-request-method", "")
            if (method, scope["path"]) not in SITE_ROUTES:
                raise Refused("forbidden", "pages of this origin may only ask questions and rate answers")
            scope[SITE] = origin
        elif is_foreign and origin not in self._origins:
            raise Refused(
                "forbidden", "pages of this origin may not call; the setting serve.origins lists those that may"
            )
        is_safe = scope["method"] in ("GET", "HEAD")
        if not origin and not is_safe and headers.get("sec-fetch-site", "") == "cross-site":
            raise Refused("forbidden", "the request comes from a foreign web page that does not name its origin")

    async def _is_known(self, name: str) -> bool:
        if name in LOOPBACK or name in self._names:
            return True
        return (not self._names or "*" in self._names) and not await self._is_open()
