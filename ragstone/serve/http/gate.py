"""The layer that lets requests in: who asks, whether that key has some left, and how large a request may be.

What is not named as public here needs a key, whatever routes there are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import nullcontext

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragstone.errors import RagstoneError
from ragstone.sections import ServeSettings
from ragstone.serve.http import problems
from ragstone.serve.http.door import CALLER, Door
from ragstone.serve.http.limits import Limits
from ragstone.serve.http.problems import Refused

PUBLIC = frozenset({"/health", "/ready"})
KILOBYTE, MEGABYTE = 1_000, 1_000_000


class Gate:
    """Stands before all routes."""

    def __init__(
        self, app: ASGIApp, door: Door, limits: Limits, settings: ServeSettings, page: Collection[str]
    ) -> None:
        """
        Args:
            app: what is behind it.
            door: knows the keys.
            limits: of each key.
            settings: sizes and times.
            page: addresses of the page's own files.
        """
        self._app, self._door, self._limits, self._settings = app, door, limits, settings
        self._public = PUBLIC | frozenset(page)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _Body(receive, self._largest(scope), self._settings.request_seconds)
        try:
            headers = Headers(scope=scope)
            taking = nullcontext()
            if scope["path"] not in self._public:
                caller = scope[CALLER] = self._door.caller(headers.get("authorization", ""))
                if caller.key:
                    taking = self._limits.within(caller.key)
            with taking:
                body.refuse(headers.get("content-length", "0"))
                await self._app(scope, body.receive, send)
        except RagstoneError as error:
            await problems.response(error, scope[problems.REQUEST_ID])(scope, receive, send)

    def _largest(self, scope: Scope) -> float:
        uploads = scope["path"] == "/documents" and scope["method"] == "POST"
        return self._settings.uploads.request_mb * MEGABYTE if uploads else self._settings.body_kb * KILOBYTE


class _Body:
    """The body of a request, which may be so large, and between whose parts may pass so much time."""

    def __init__(self, receive: Receive, largest: float, seconds: float) -> None:
        self._receive, self._largest, self._seconds = receive, largest, seconds
        self._size, self._more = 0, True

    def refuse(self, length: str) -> None:
        """Refuse what says of itself that it is too large."""
        if length.isdecimal() and int(length) > self._largest:
            raise self._too_large()

    async def receive(self) -> Message:
        if not self._more:
            return await self._receive()
        try:
            message = await asyncio.wait_for(self._receive(), self._seconds)
        except TimeoutError as error:
            raise Refused("too_slow", f"nothing of the request came for {self._seconds:g} seconds") from error
        if message["type"] == "http.request":
            self._more = message.get("more_body", False)
            self._size += len(message.get("body", b""))
            if self._size > self._largest:
                raise self._too_large()
        return message

    def _too_large(self) -> Refused:
        return Refused("too_large", f"the request is larger than {self._largest / KILOBYTE:,.0f} kB")
