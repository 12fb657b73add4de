"""Which errors a route's clients have to expect, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from ragstone.serve.http.wire.base import Problem

_WORDS = {
    400: "What was asked cannot be done as asked.",
    401: "A key is needed.",
    403: "The key does not allow this, or the page that asks is a foreign one.",
    404: "There is no such thing, or it is not for this reader.",
    408: "The request came too slowly.",
    409: "Another process is at work on the same.",
    413: "The request is too large.",
    415: "The body is of a kind that is not understood.",
    422: "The request is malformed.",
    429: "Too much at once; try again after the seconds that Retry-After tells.",
    500: "It failed.",
    503: "Something that is needed is not available; try again later.",
    504: "It took too long.",
}


def _expect(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Problem, "description": _WORDS[status]} for status in sorted(statuses)}


reading = _expect(400, 401, 403, 404, 422, 429, 500, 503)
changing = _expect(400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 500, 503, 504)
uploading = _expect(400, 401, 403, 408, 413, 415, 422, 429, 500, 503)
asking = _expect(400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 500, 503, 504)
