"""Send a request to a search service, within limits of time and size, and retry failures that may pass.

The address comes from the settings. It is checked like the addresses of the crawler, and redirects are not followed, so
neither the service nor a changed DNS entry can lead into a private network that is not allowed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import field
from typing import Any

from ragstone.core.errors import RetrievalError
from ragstone.core.frozen import frozen
from ragstone.core.request import Request
from ragstone.services.pinned import FetchError, Reply, SafeClient
from ragstone.services.retries import PASSING, Attempts, Setback, persist, retry_after
from ragstone.services.secrets import without_secret
from ragstone.settings.services import ServiceSettings

MAX_BYTES = 8_000_000
"""Size of a reply; twenty pages of 100,000 characters fit."""
_MAX_SHOWN = 200
"""Characters of a service's error message that are shown."""
_MAX_REFUSAL = 1000
"""Bytes of a refusal that are read."""


@frozen
class Service:
    """A search service. ``section`` names its settings; ``secret`` is kept out of messages."""

    name: str
    section: str
    base_url: str
    allow_private: bool
    secret: str = field(default="", repr=False)


async def ask(
    service: Service,
    settings: ServiceSettings,
    target: str,
    request: Request,
    *,
    headers: Mapping[str, str] | None = None,
    body: Any = None,
) -> Any:
    """Send a request and return the parsed JSON reply.

    Args:
        service: to ask.
        settings: time-outs and retries.
        target: path and query, relative to the address of the service.
        request: when all its calls must be over, and what it sent.
        headers: in addition to the usual ones.
        body: sent as JSON by POST; without one the request is a GET.

    Raises:
        RetrievalError: the service cannot be reached, refuses, or sends no JSON.
    """
    content = None if body is None else json.dumps(body).encode()
    sent = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "Ragstone", **(headers or {})}
    if content is not None:
        sent |= {"Content-Type": "application/json", "Content-Length": str(len(content))}

    async def attempt(attempts: Attempts) -> Any:
        try:
            async with asyncio.timeout(attempts.patience()):
                return await _once(service, target, sent, content)
        except TimeoutError as error:
            raise Setback("no reply in time; raise services.timeout_seconds to wait longer", passing=True) from error
        except FetchError as error:
            raise Setback(f"{error}; is {service.section}.base_url right?", passing=error.passing) from error

    request.meter.note_sent(f"web search {service.name}", service.base_url, "the question as typed")
    try:
        return await persist(attempt, settings, request.deadline)
    except Setback as error:
        raise RetrievalError(f"{service.name} {error}") from (None if service.secret else error)


async def _once(service: Service, target: str, headers: Mapping[str, str], content: bytes | None) -> Any:
    client = SafeClient(allow_private=service.allow_private, setting=f"{service.section}.allow_private")
    async with aclosing(client):
        method, url = "GET" if content is None else "POST", f"{service.base_url}{target}"
        reply = await client.send(method, url, headers, content, most=MAX_BYTES, most_of_refusal=_MAX_REFUSAL)
    if reply.status != 200:
        raise _refused(service, reply)
    try:
        return json.loads(reply.body)
    except (ValueError, RecursionError) as error:
        raise Setback(f"did not reply in JSON; is {service.section}.base_url right?") from error


def _refused(service: Service, reply: Reply) -> Setback:
    status = reply.status
    said = without_secret(" ".join(reply.body.decode("utf-8", "replace").split()), service.secret)
    reason = f"HTTP {status}" + (f": {said[:_MAX_SHOWN]}" if said and not said.startswith("<") else "")
    wait = retry_after(reply.headers.get("retry-after", ""))
    match status:
        case 401 | 403 if service.secret:
            return Setback(f"refuses the key ({reason}); check {service.section}.api_key")
        case 402:
            return Setback(f"has no credit left ({reason})")
        case 403:
            return Setback(f"refuses ({reason}); SearXNG sends JSON only if its search.formats contains json")
        case 404:
            return Setback(f"does not know this address ({reason}); check {service.section}.base_url")
        case 429:
            return Setback(f"received too many requests ({reason}); try again later", passing=True, wait=wait)
        case _ if 300 <= status < 400:
            return Setback(f"redirects ({reason}), which is not followed; check {service.section}.base_url")
        case _ if status in PASSING or status >= 500:
            return Setback(f"failed ({reason}); try again later", passing=True, wait=wait)
        case _:
            return Setback(f"refuses ({reason})")
