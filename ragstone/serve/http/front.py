"""What every request passes first: an id, headers of safety, a line of the log, a catch for what nobody expected."""

from __future__ import annotations

import re
import time
import traceback
import uuid

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragstone.serve.http import problems
from ragstone.serve.http.door import CALLER
from ragstone.serve.http.log import note
from ragstone.serve.http.metrics import Metrics

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""What a browser may do with a page of ours: load what comes with it, and nothing else."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
"""Others are counted together: who asks could invent any number of them."""


class Front:
    """The outermost layer."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        """Take what is behind it, and what counts requests."""
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        method = scope["method"] if scope["method"] in METHODS else "OTHER"
        id = scope[problems.REQUEST_ID] = given if _ID.fullmatch(given) else uuid.uuid4().hex
        started, status, sent = time.perf_counter(), 0, 0
        self._metrics.under_way += 1

        async def out(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = id
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if scope["path"] != "/" and not scope["path"].startswith("/assets/"):
                    headers.setdefault("cache-control", "no-store")
            elif message["type"] == "http.response.body":
                sent += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, out)
        except Exception as error:
            places = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
            note("error", {"id": id, "error": type(error).__name__, "at": places[-12:]})
            if not status:
                await problems.response(error, id)(scope, receive, out)
        finally:
            self._metrics.under_way -= 1
            seconds = time.perf_counter() - started
            route = getattr(scope.get("route"), "path", "")
            caller = scope.get(CALLER)
            self._metrics.request(method, route, status, seconds)
            told: dict[str, object] = {"id": id, "method": method, "route": route, "status": status}
            told |= {"ms": round(seconds * 1000, 1), "bytes": sent}
            note("request", told | {"key": caller.key.id if caller and caller.key else ""})
