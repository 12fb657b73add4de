"""Errors as HTTP has them: a status, a code for programs, a message for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Route

from ragstone import errors
from ragstone.serve.http.wire.base import Code, Problem, Trouble

REQUEST_ID = "ragstone.request_id"
"""Where the scope of a request has its id."""


class Refused(errors.RagstoneError):
    """A request is refused before anything is done for it."""

    def __init__(self, code: Code, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.code: Code = code
        self.retry_after = retry_after


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
    (errors.TooOften, "too_many"),
    (errors.UsageError, "usage"),
    (errors.SourceError, "usage"),
    (errors.NotFound, "not_found"),
    (errors.Locked, "locked"),
    (errors.SettingsMismatch, "conflict"),
    (errors.OutOfTime, "timeout"),
    (errors.MissingExtra, "unavailable"),
    (errors.EmbeddingError, "unavailable"),
    (errors.ModelError, "unavailable"),
    (errors.RetrievalError, "unavailable"),
    (errors.Damaged, "failed"),
    (errors.ResponseError, "failed"),
    (errors.KnowledgeBaseError, "unavailable"),
)
"""The first that fits holds."""
_OF_STATUS: dict[int, Code] = {status: code for code, status in STATUS.items() if code not in ("settings", "conflict")}


def trouble(error: Exception, request_id: str) -> Trouble:
    """An error as clients are told of it. Where it is ours and not theirs, paths and names stay in the log."""
    code = code_of(error)
    message = str(error) if isinstance(error, errors.RagstoneError) else ""
    if isinstance(error, TimeoutError):
        message = "this took longer than the server allows"
    elif STATUS[code] >= 500 and not isinstance(error, Refused):
        message = f"{_WORDS[code]}; the server's log tells more under this request's id"
    return Trouble(code=code, message=message, request_id=request_id)


_WORDS: dict[Code, str] = {
    "failed": "the request failed",
    "unavailable": "something that is needed for this is not available now",
    "timeout": "this took longer than the server allows",
}


def code_of(error: Exception) -> Code:
    """What kind of error it is."""
    if isinstance(error, Refused):
        return error.code
    if isinstance(error, TimeoutError):
        return "timeout"
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code
    return "failed"


def response(error: Exception, request_id: str) -> JSONResponse:
    """The whole response."""
    told = trouble(error, request_id)
    headers = {"cache-control": "no-store"}
    wait = getattr(error, "retry_after", None)
    if wait is None and told.code in ("unavailable", "locked"):
        wait = 1
    if wait is not None:
        headers["retry-after"] = str(max(1, math.ceil(wait)))
    if told.code == "unauthorized":
        headers["www-authenticate"] = 'Bearer realm="ragstone"'
    return JSONResponse(Problem(error=told).model_dump(), STATUS[told.code], headers)


def install(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Let every error leave in the one form, whichever of the routes it comes from."""

    async def _ours(request: Request, error: Exception) -> JSONResponse:
        return response(error, request.scope[REQUEST_ID])

    async def _of_framework(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        if isinstance(error.__cause__, errors.RagstoneError):  # raised while the framework read the body
            return response(error.__cause__, request.scope[REQUEST_ID])
        methods = _methods(routes, request.scope["path"])
        # The page answers for every address, so that one of ours asked by another method is not found there.
        status = 405 if error.status_code == 404 and methods else error.status_code
        out = response(Refused(_OF_STATUS.get(status, "usage"), _sentence(status)), request.scope[REQUEST_ID])
        out.headers.update(error.headers or {})
        if status == 405:
            out.headers["allow"] = ", ".join(sorted(methods))
        return out

    async def _invalid(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        if any(_is_unread(problem) for problem in error.errors()):
            kind = "send JSON, and say so with the header 'content-type: application/json'"
            return response(Refused("unsupported", kind), request.scope[REQUEST_ID])
        told = "; ".join(_in_words(problem) for problem in error.errors()[:5])
        return response(Refused("invalid", told), request.scope[REQUEST_ID])

    app.add_exception_handler(errors.RagstoneError, _ours)
    app.add_exception_handler(TimeoutError, _ours)
    app.add_exception_handler(HTTPException, _of_framework)
    app.add_exception_handler(RequestValidationError, _invalid)


def _methods(routes: Sequence[BaseRoute], path: str) -> set[str]:
    """What an address knows; the framework names only what the first route knows that fits."""
    fitting = (route for route in routes if isinstance(route, Route) and route.path_regex.match(path))
    return {method for route in fitting for method in route.methods or ()}


def _sentence(status: int) -> str:
    return {
        400: "the request cannot be read",
        404: "there is no such address; /openapi.json lists them",
        405: "this address does not know that method",
    }.get(status, HTTPStatus(status).phrase.lower())


def _is_unread(problem: dict[str, object]) -> bool:
    """Whether the body was not taken for JSON: a page elsewhere can send any other kind without being asked first."""
    return problem.get("loc") == ("body",) and isinstance(problem.get("input"), bytes)


def _in_words(problem: dict[str, object]) -> str:
    """What is wrong with a request, without what it said."""
    where = problem.get("loc", ())
    path = ".".join(str(part) for part in where) if isinstance(where, tuple) else ""
    return f"{path}: {str(problem.get('msg', '')).removeprefix('Value error, ')}"
