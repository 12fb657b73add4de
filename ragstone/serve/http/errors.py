"""Errors as clients see them: a status, a code for programs and a message for people.

Routes under ``/v1/`` send the same errors in the form that OpenAI's clients expect.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Literal

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Route
from starlette.types import Scope

from ragstone.core import errors
from ragstone.serve.http.messages import Response
from ragstone.serve.http.telemetry import log_error

REQUEST_ID = "ragstone.request_id"
"""The key of the request's id in its ASGI scope."""
OPENAI_PREFIX = "/v1/"

Code = Literal[
    "usage",
    "settings",
    "unauthorized",
    "forbidden",
    "not_found",
    "method_not_allowed",
    "too_slow",
    "conflict",
    "locked",
    "too_large",
    "unsupported",
    "invalid",
    "too_many",
    "unavailable",
    "timeout",
    "failed",
]
"""The kind of an error. Programs decide by it; people read the message."""
STATUS: dict[Code, int] = {
    "usage": 400,
    "settings": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "too_slow": 408,
    "conflict": 409,
    "locked": 409,
    "too_large": 413,
    "unsupported": 415,
    "invalid": 422,
    "too_many": 429,
    "failed": 500,
    "unavailable": 503,
    "timeout": 504,
}
_CODES: tuple[tuple[type[errors.RagstoneError], Code], ...] = (
    (errors.SettingsError, "settings"),
    (errors.RateLimited, "too_many"),
    (errors.UsageError, "usage"),
    (errors.SourceError, "usage"),
    (errors.NotFound, "not_found"),
    (errors.Locked, "locked"),
    (errors.SettingsMismatch, "conflict"),
    (errors.OutOfTime, "timeout"),
    (errors.MissingExtra, "failed"),
    (errors.EmbeddingError, "unavailable"),
    (errors.EngineError, "unavailable"),
    (errors.ModelError, "unavailable"),
    (errors.RetrievalError, "unavailable"),
    (errors.Damaged, "failed"),
    (errors.ResponseError, "failed"),
    (errors.KnowledgeBaseError, "unavailable"),
)
"""The first class that matches decides."""
_GENERAL: dict[Code, str] = {
    "failed": "the request failed; the server's log has details under this request id",
    "timeout": "the request took longer than the server allows",
    "locked": "another process is changing the knowledge base; try again when it has finished",
    "conflict": "the knowledge base was built with other settings; its administrator has to rebuild it",
}
"""Messages that replace those of our own errors, which name paths, hosts and commands of the server."""
_UNAVAILABLE: tuple[tuple[type[errors.RagstoneError], str], ...] = (
    (errors.EmbeddingError, "the service that embeds texts is unavailable"),
    (errors.EngineError, "a search engine is unavailable"),
    (errors.ModelError, "the language model is unavailable"),
    (errors.RetrievalError, "search is unavailable"),
    (errors.KnowledgeBaseError, "the knowledge base cannot be used now"),
)
"""What is unavailable, without its name and address. The first class that matches decides."""
_CODE_OF_STATUS: dict[int, Code] = {
    status: code for code, status in STATUS.items() if code not in ("settings", "conflict")
}


class Refused(errors.RagstoneError):
    """A request that the server refuses before it does any work for it."""

    def __init__(self, code: Code, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.code: Code = code
        self.retry_after = retry_after


class Trouble(Response):
    """What went wrong, with the request id under which the server's log has it."""

    code: Code
    message: str
    request_id: str


class Problem(Response):
    """The body of every error response."""

    error: Trouble


class Failure(Response):
    """What went wrong."""

    message: str
    type: str
    param: str | None
    code: str | None


class Failed(Response):
    """The body of every error response, as OpenAI's clients expect it."""

    error: Failure


def code_of(error: Exception) -> Code:
    """Return the code of an error."""
    if isinstance(error, Refused):
        return error.code
    if isinstance(error, TimeoutError):
        return "timeout"
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code
    return "failed"


def problem(error: Exception, request_id: str) -> Problem:
    """Return an error as clients see it, and log it if the client is not at fault."""
    code = code_of(error)
    if STATUS[code] >= 500 and not isinstance(error, Refused):
        package = {"package": error.package} if isinstance(error, errors.MissingExtra) else {}
        log_error(error, {"id": request_id, **package})
    message = _message(error, code)
    message = message.encode(errors="replace").decode()  # it may repeat half of a surrogate pair that was sent
    return Problem(error=Trouble(code=code, message=message, request_id=request_id))


def _message(error: Exception, code: Code) -> str:
    if isinstance(error, Refused):
        return str(error)
    if isinstance(error, errors.MissingExtra):  # trying again cannot help
        return f"this request needs {error.package}, which is not installed on the server; its administrator can add it"
    if code == "unavailable":
        what = next(what for kind, what in _UNAVAILABLE if isinstance(error, kind))
        return f"{what}; the server's log has details under this request id"
    return _GENERAL.get(code, str(error))


def response(error: Exception, scope: Scope) -> JSONResponse:
    """Return the response to a request that failed, by the request's ASGI scope."""
    body = problem(error, scope[REQUEST_ID])
    code = body.error.code
    headers = {"cache-control": "no-store"}
    wait: float | None = getattr(error, "retry_after", None)
    if wait is None and code in ("unavailable", "locked"):
        wait = 1
    if wait is not None:
        headers["retry-after"] = str(max(1, math.ceil(wait)))
    if code == "too_slow":
        headers["connection"] = "close"  # or the rest of the request would hold it open
    if code == "unauthorized":
        headers["www-authenticate"] = 'Bearer realm="ragstone"'
    content = _openai(body.error) if scope["path"].startswith(OPENAI_PREFIX) else body
    return JSONResponse(content.model_dump(), STATUS[code], headers)


# ---------------------------------------------------------------- errors of the framework
def install(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Send every error in the one form, whether a route or the framework raised it."""

    async def on_error(request: Request, error: Exception) -> JSONResponse:
        return response(error, request.scope)

    async def on_http_exception(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        if isinstance(error.__cause__, errors.RagstoneError):  # raised while the framework read the body
            return response(error.__cause__, request.scope)
        methods = _methods(routes, request.scope["path"])
        # The static files answer for every path, so an unsupported method on one of ours ends there as not found.
        status = 405 if error.status_code == 404 and methods else error.status_code
        refused = Refused(_CODE_OF_STATUS.get(status, "usage"), _sentence(status))
        out = response(refused, request.scope)
        out.headers.update(error.headers or {})
        if status == 405:
            out.headers["allow"] = ", ".join(sorted(methods))
        return out

    async def on_invalid(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        problems = error.errors()
        if any(one.get("loc") == ("body",) and isinstance(one.get("input"), bytes) for one in problems):
            # Any other content type could come from a foreign page without a preflight request.
            hint = "send JSON, with the header 'content-type: application/json'"
            return response(Refused("unsupported", hint), request.scope)
        return response(Refused("invalid", "; ".join(map(_in_words, problems[:5]))), request.scope)

    app.add_exception_handler(errors.RagstoneError, on_error)
    app.add_exception_handler(TimeoutError, on_error)
    app.add_exception_handler(HTTPException, on_http_exception)
    app.add_exception_handler(RequestValidationError, on_invalid)


def _methods(routes: Sequence[BaseRoute], path: str) -> set[str]:
    """Return all methods of a path; the framework names only those of the first route that matches."""
    matching = (route for route in routes if isinstance(route, Route) and route.path_regex.match(path))
    return {method for route in matching for method in route.methods or ()}


def _sentence(status: int) -> str:
    return {
        400: "the request cannot be read",
        404: "there is no such address; /openapi.json lists them all",
        405: "this address does not support that method",
    }.get(status, HTTPStatus(status).phrase.lower())


_EMPTY = (("string_too_short", {"min_length": 1}), ("string_pattern_mismatch", {"pattern": r"\S"}))
"""The type and context of the error of a field that must have a word and has none."""


def _in_words(found: dict[str, Any]) -> str:
    """Describe an invalid field without repeating what the client sent."""
    place = found.get("loc", ())
    is_empty = (found.get("type"), found.get("ctx")) in _EMPTY
    if is_empty and place and isinstance(place[-1], str):
        return f"the {place[-1]} is empty"
    path = ".".join(map(str, place))
    return f"{path}: {str(found.get('msg', '')).removeprefix('Value error, ')}"


# ---------------------------------------------------------------- OpenAI's form
_OPENAI_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_FIELD = re.compile(r"(?:body\.)?([a-z_]+)[.:]")
"""The name of a field at the beginning of a message."""


def openai_failure(error: Exception, request_id: str) -> Failed:
    """Return an error that ends a stream of OpenAI's."""
    return _openai(problem(error, request_id).error)


def _openai(trouble: Trouble) -> Failed:
    status = STATUS[trouble.code]
    field = _FIELD.match(trouble.message) if status in (400, 422) else None
    kind = "server_error" if status >= 500 else _OPENAI_TYPES.get(status, "invalid_request_error")
    return Failed(
        error=Failure(
            message=f"{trouble.message} (request {trouble.request_id})",
            type=kind,
            param=field[1] if field else None,
            code=trouble.code,
        )
    )


# ---------------------------------------------------------------- the OpenAPI document
_DESCRIPTIONS = {
    400: "The request cannot be carried out as it is.",
    401: "A key is missing or unknown.",
    403: "The key does not allow this, or the request comes from a foreign web page.",
    404: "It does not exist, or this reader may not see it.",
    408: "The request arrived too slowly.",
    409: "Another process is working on the same thing.",
    413: "The request is too large.",
    415: "The content type of the body is not supported.",
    422: "The request is malformed.",
    429: "Too many requests; try again after the seconds in Retry-After.",
    500: "The request failed.",
    503: "Something that the request needs is unavailable; try again later.",
    504: "The request took too long.",
}


def _responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"description": _DESCRIPTIONS[status]} for status in statuses}


READING = _responses(400, 401, 403, 404, 422, 429, 500, 503)
CHANGING = _responses(400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 500, 503, 504)
UPLOADING = _responses(400, 401, 403, 408, 413, 415, 422, 429, 500, 503)
