"""Admission: authentication, rate limits and size limits of requests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragstone.core.errors import RagstoneError
from ragstone.history.keys import Key
from ragstone.history.limits import Limits, Quota
from ragstone.serve.http import errors
from ragstone.serve.http.authentication import CALLER, Authenticator, Caller
from ragstone.serve.http.errors import Refused
from ragstone.serve.http.sign_in import cookies
from ragstone.serve.http.visitors import ONLY_ASKS, ROUTES, SITE, Visitors
from ragstone.settings import LimitSettings, ServeSettings

PUBLIC = frozenset({"/health", "/ready", "/widget.js", "/sign-in", "/sign-in/provider", "/sign-in/callback"})
KILOBYTE, MEGABYTE = 1_000, 1_000_000
MAX_BODY = 256 * KILOBYTE
"""Largest request without files or pictures, in bytes."""
MAX_PICTURED = 16 * MEGABYTE
"""Largest question, in bytes: with a picture in base64, or with those of a whole conversation."""
PICTURED = frozenset({"/query", "/research", "/v1/chat/completions", "/v1/responses"})
"""Paths of questions that may have a picture."""
MAX_UPLOAD_FACTOR = 4
"""Largest request with files, as a multiple of the largest file."""
LEAST_RATE = 10 * KILOBYTE
"""Bytes that the body of a request has to bring in a second, beyond the seconds that every request may take."""
BURST = 60
"""Burst of a key that has no limit of its own."""
SOON = 1.0
"""When to try again if nothing better is known."""


class Admission:
    """ASGI middleware that admits a request if its key or session is known and within its limits.

    Every path needs one, except the public ones. What changes something needs more than a cookie, which browsers send
    by themselves.
    """

    def __init__(
        self,
        app: ASGIApp,
        authenticator: Authenticator,
        visitors: Visitors,
        limits: Limits,
        settings: ServeSettings,
        page: Collection[str],
    ) -> None:
        """Guard an application.

        Args:
            app: the inner application.
            authenticator: knows the keys.
            visitors: knows who comes from other sites.
            limits: counts the requests of keys.
            settings: limits of rates, sizes and times.
            page: paths of the page's own files.
        """
        self._app, self._authenticator, self._visitors, self._settings = app, authenticator, visitors, settings
        self._limiter = RateLimiter(settings.limits, limits)
        self._public = PUBLIC | frozenset(page)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        body = _Body(receive, self._max_size(scope), self._settings.request_seconds)
        try:
            with ExitStack() as limited:
                if scope["path"] not in self._public:
                    caller = scope[CALLER] = await self._caller(scope, headers)
                    if caller.key:
                        limited.enter_context(self._limiter.admit(caller.key))
                    if caller.is_visitor:
                        limited.enter_context(self._limiter.admit(self._visitors.together))
                body.check_length(headers.get("content-length", "0"))
                await self._app(scope, body.receive, send)
        except RagstoneError as error:
            await errors.response(error, scope)(scope, receive, send)

    async def _caller(self, scope: Scope, headers: Headers) -> Caller:
        """Return who sends a request.

        Raises:
            Refused: it is unknown, or may not send such a request.
        """
        authorization, site = headers.get("authorization", ""), scope.get(SITE, "")
        address = scope["client"][0] if scope.get("client") else ""
        if self._visitors.is_one(authorization, site):
            look = partial(self._visitors.caller, authorization, address)
            caller = await self._authenticator.looked_up(look)
            if (scope["method"], scope["path"]) not in ROUTES:
                raise Refused("forbidden", ONLY_ASKS)
        else:
            cookie = cookies.read("session", scope, self._settings)
            caller = await self._authenticator.looked_up(partial(self._authenticator.caller, authorization, cookie))
            if caller.session and scope["method"] not in cookies.SAFE:
                cookies.check_page(scope)
            if caller.to_touch:
                await asyncio.to_thread(self._authenticator.touch, caller.to_touch)
        return replace(caller, address=address)

    def _max_size(self, scope: Scope) -> float:
        is_upload = scope["path"] == "/documents" and scope["method"] == "POST"
        if is_upload:
            return MAX_UPLOAD_FACTOR * self._settings.uploads.file_mb * MEGABYTE
        return MAX_PICTURED if scope["path"] in PICTURED and not scope.get(SITE) else MAX_BODY


class _Body:
    """The body of a request, with a largest size, a longest pause between its parts, and a least rate.

    The time in which the application does something else does not count against the client.
    """

    def __init__(self, receive: Receive, max_size: float, seconds: float) -> None:
        self._receive, self._max_size, self._seconds = receive, max_size, seconds
        self._size, self._is_complete, self._waited = 0, False, 0.0

    def check_length(self, content_length: str) -> None:
        """Refuse a body that declares itself too large."""
        if content_length.isdecimal():
            self._check(int(content_length))

    async def receive(self) -> Message:
        if self._is_complete:
            return await self._receive()
        began, left = time.monotonic(), self._seconds + self._size / LEAST_RATE - self._waited
        try:
            message = await asyncio.wait_for(self._receive(), min(self._seconds, left))
        except TimeoutError as error:
            needed = f"{LEAST_RATE / KILOBYTE:g} kB a second after the first {self._seconds:g} seconds"
            raise Refused("too_slow", f"the request arrived too slowly; send at least {needed}") from error
        finally:
            self._waited += time.monotonic() - began
        if message["type"] == "http.request":
            self._is_complete = not message.get("more_body", False)
            self._size += len(message.get("body", b""))
            self._check(self._size)
        return message

    def _check(self, size: int) -> None:
        if size > self._max_size:
            raise Refused("too_large", f"the request is larger than {self._max_size / KILOBYTE:,.0f} kB")


# ---------------------------------------------------------------- rates
class RateLimiter:
    """The quotas of keys, and the refusals of requests that exceed them."""

    def __init__(self, settings: LimitSettings, limits: Limits) -> None:
        """Take the quotas of keys that have none of their own, and what counts requests."""
        self._settings, self._limits = settings, limits

    @contextmanager
    def admit(self, key: Key) -> Generator[None]:
        """Run one request of this key.

        Raises:
            Refused: the key has reached a limit.
        """
        quota = self._quota(key)
        if quota.is_unlimited:
            yield
            return
        exceeded = self._limits.begin(key.id, quota)
        if exceeded and exceeded.limit == "concurrent":
            requests = "1 request" if quota.concurrent == 1 else f"{quota.concurrent} requests"
            raise Refused("too_many", f"only {requests} may be in progress at once", SOON)
        if exceeded:
            requests = "1 request" if quota.per_minute == 1 else f"{quota.per_minute} requests"
            raise Refused("too_many", f"only {requests} a minute are allowed", exceeded.seconds)
        try:
            yield
        finally:
            self._limits.end(key.id)

    def _quota(self, key: Key) -> Quota:
        own, default = key.limits, self._settings
        per_minute = default.rate_per_minute if own.rate_per_minute is None else own.rate_per_minute
        burst = min(BURST, per_minute or BURST) if own.burst is None else own.burst
        concurrent = default.concurrent if own.concurrent is None else own.concurrent
        return Quota(per_minute=per_minute, burst=burst, concurrent=concurrent)
