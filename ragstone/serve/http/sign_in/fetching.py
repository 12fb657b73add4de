"""Requests to the provider: JSON in and out, within limits of time and size, without following redirects."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Mapping
from functools import cache
from typing import Any, cast

import httpcore2

from ragstone.serve.http.sign_in.failures import SignInFailed

SECONDS = 10.0
MAX_BYTES = 1_000_000


async def fetch(url: str, headers: Mapping[str, str] | None = None, form: bytes | None = None) -> dict[str, Any]:
    """Return the JSON object at an address, which is sent a form if one is given.

    Raises:
        SignInFailed: the provider cannot be reached, refuses, or sends no JSON object.
    """
    sent = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "Ragstone", **(headers or {})}
    if form is not None:
        sent |= {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": str(len(form))}
    try:
        async with asyncio.timeout(SECONDS):
            status, body = await _once(url, sent, form)
    except (TimeoutError, httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        raise SignInFailed("provider", f"{url} cannot be reached: {error or type(error).__name__}") from error
    try:
        found: Any = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if status != 200:
        known = cast(dict[str, Any], found) if isinstance(found, dict) else {}
        raise SignInFailed("provider", f"{url} refuses with status {status}: {str(known.get('error', ''))[:100]!r}")
    if not isinstance(found, dict):
        raise SignInFailed("provider", f"{url} does not send a JSON object")
    return cast(dict[str, Any], found)


async def _once(url: str, headers: Mapping[str, str], form: bytes | None) -> tuple[int, bytes]:
    method, received = "GET" if form is None else "POST", bytearray()
    async with (
        httpcore2.AsyncConnectionPool(_tls()) as pool,
        pool.stream(method, url, headers=list(headers.items()), content=form) as answer,
    ):
        async for part in answer.aiter_stream():
            received += part
            if len(received) > MAX_BYTES:
                raise SignInFailed("provider", f"{url} sends more than {MAX_BYTES:,} bytes")
        return answer.status, bytes(received)


@cache
def _tls() -> ssl.SSLContext:
    return httpcore2.default_ssl_context()
