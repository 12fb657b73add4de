"""Errors as OpenAI's clients understand them, on the routes that are made for these."""

from __future__ import annotations

import re

from pydantic import ValidationError
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragstone.serve.http import problems
from ragstone.serve.http.wire import openai as wire
from ragstone.serve.http.wire.base import Problem

PREFIX = "/v1/"
_KINDS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_FIELD = re.compile(r"(?:body\.)?([a-z_]+)[.:]")
"""What a message begins with that tells of a field."""


class OpenAIErrors:
    """The layer that turns the body of every error on these routes, wherever it comes from, into that of OpenAI's."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(PREFIX):
            await self._app(scope, receive, send)
            return
        begun: Message = {}
        body = b""

        async def out(message: Message) -> None:
            nonlocal begun, body
            if message["type"] == "http.response.start" and message["status"] >= 400:
                begun = message
                return
            if not begun:
                await send(message)
                return
            body += message.get("body", b"")
            if not message.get("more_body", False):
                body = _told(_trouble(body), begun["status"]).model_dump_json().encode()
                MutableHeaders(scope=begun)["content-type"] = "application/json"
                MutableHeaders(scope=begun)["content-length"] = str(len(body))
                await send(begun)
                await send({"type": "http.response.body", "body": body})

        await self._app(scope, receive, out)


def _trouble(body: bytes) -> dict[str, str]:
    """What one of our error bodies tells; of any other, that there is none."""
    try:
        return Problem.model_validate_json(body).error.model_dump()
    except ValidationError:
        return {"code": "failed", "message": "the request failed", "request_id": ""}


def failure(error: Exception, request_id: str) -> wire.Failed:
    """An error within a stream."""
    told = problems.trouble(error, request_id)
    return _told(told.model_dump(), problems.STATUS[told.code])


def _told(trouble: dict[str, str], status: int) -> wire.Failed:
    named = _FIELD.match(trouble["message"]) if status in (400, 422) else None
    kind = "server_error" if status >= 500 else _KINDS.get(status, "invalid_request_error")
    return wire.Failed(
        error=wire.Failure(
            message=f"{trouble['message']} (request {trouble['request_id'] or 'unknown'})",
            type=kind,
            param=named[1] if named else None,
            code=trouble["code"],
        )
    )
