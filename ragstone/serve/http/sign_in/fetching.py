"""Requests to the provider: JSON in and out, within limits of time and size, without following redirects."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any, cast

from ragstone.serve.http.sign_in.failures import SignInFailed
from ragstone.services.pinned import FetchError, SafeClient

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
    # A company's provider may be on its own network.
    client = SafeClient(allow_private=True, setting="", connect_seconds=SECONDS / 3)
    try:
        async with asyncio.timeout(SECONDS), aclosing(client):
            method = "GET" if form is None else "POST"
            reply = await client.send(method, url, sent, form, most=MAX_BYTES, most_of_refusal=MAX_BYTES)
    except (TimeoutError, FetchError) as error:
        raise SignInFailed("provider", f"{url} cannot be reached: {error or type(error).__name__}") from error
    try:
        parsed: Any = json.loads(reply.body)
    except (ValueError, RecursionError):
        parsed = None
    if reply.status != 200:
        fields = cast(dict[str, Any], parsed) if isinstance(parsed, dict) else {}
        why = str(fields.get("error", ""))[:100]
        raise SignInFailed("provider", f"{url} refuses with status {reply.status}: {why!r}")
    if not isinstance(parsed, dict):
        raise SignInFailed("provider", f"{url} does not send a JSON object")
    return cast(dict[str, Any], parsed)
