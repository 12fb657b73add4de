"""One request to a search service: within limits of time and size, tried again where that may help.

The address is the user's own. It is checked as the crawler checks its addresses, and no redirect is followed, so that
neither a service nor a change of DNS leads into a private network that was not allowed.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast

import httpcore2

from ragstone.errors import RetrievalError
from ragstone.models.network import resolve
from ragstone.models.pinned import FetchError, PinnedBackend, in_words
from ragstone.models.retries import PASSING, Attempts, Setback, persist, retry_after
from ragstone.services import ServiceSettings

MOST_BYTES = 8_000_000
"""Of an answer; twenty pages of 100,000 characters fit."""
_SHOWN = 200
"""Characters of a service's own words that are shown."""
_REFUSED = 1000
"""Bytes of a refusal that are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A search service. ``section`` is where its settings are; ``secret`` never stands in a message."""

    name: str
    section: str
    base_url: str
    allow_private: bool
    secret: str = field(default="", repr=False)


async def ask(
    service: Service,
    settings: ServiceSettings,
    target: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: Any = None,
) -> Any:
    """What a service answers, as the JSON it is.

    Args:
        service: who is asked.
        settings: how long and how often.
        target: what is asked for, after the address of the service.
        headers: sent with the usual ones.
        body: sent as JSON; without it nothing is.

    Raises:
        RetrievalError: it cannot be reached, refuses, or sends no JSON; named, with what to do.
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
            raise Setback("no answer in time; services.timeout_seconds allows for more", passing=True) from error
        except FetchError as error:
            raise Setback(str(error), passing=error.passing) from error
        except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.RemoteProtocolError) as error:
            passing = not isinstance(error.__cause__, ssl.SSLError)
            raise Setback(f"{in_words(error)}; is {service.section}.base_url right?", passing=passing) from error
        except (httpcore2.ProtocolError, httpcore2.UnsupportedProtocol, UnicodeError) as error:
            raise Setback(f"{in_words(error)}; is {service.section}.base_url right?") from error

    try:
        return await persist(attempt, settings)
    except Setback as error:
        raise RetrievalError(f"{service.name} {error}") from (None if service.secret else error)


async def _once(service: Service, target: str, headers: Mapping[str, str], content: bytes | None) -> Any:
    inner = cast(httpcore2.AsyncNetworkBackend, httpcore2.AnyIOBackend())
    pinned = PinnedBackend(
        inner, resolve, allow_private=service.allow_private, setting=f"{service.section}.allow_private"
    )
    url = f"{service.base_url}{target}"
    method, fields_sent = "GET" if content is None else "POST", list(headers.items())
    async with (
        httpcore2.AsyncConnectionPool(_tls(), network_backend=pinned) as pool,
        pool.stream(method, url, headers=fields_sent, content=content) as answer,
    ):
        fields = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in answer.headers}
        received = bytearray()
        limit = MOST_BYTES if answer.status == 200 else _REFUSED
        async for part in answer.aiter_stream():
            received += part
            if len(received) > limit:
                if answer.status != 200:
                    break
                raise Setback(f"sent more than {MOST_BYTES} bytes")
    if answer.status != 200:
        raise _refused(service, answer.status, fields, bytes(received[:_REFUSED]))
    try:
        return json.loads(received)
    except (ValueError, RecursionError) as error:
        raise Setback(f"did not answer in JSON; is {service.section}.base_url right?") from error


def _refused(service: Service, status: int, fields: Mapping[str, str], body: bytes) -> Setback:
    said = " ".join(body.decode("utf-8", "replace").split())
    said = said.replace(service.secret, "***") if service.secret else said
    told = f"HTTP {status}" + (f": {said[:_SHOWN]}" if said and not said.startswith("<") else "")
    wait = retry_after(fields.get("retry-after", ""))
    match status:
        case 401 | 403 if service.secret:
            return Setback(f"refuses the key ({told}); check {service.section}.api_key")
        case 402:
            return Setback(f"has no credit left ({told})")
        case 403:
            return Setback(f"refuses ({told}); a SearXNG answers in JSON if its search.formats names json")
        case 404:
            return Setback(f"does not know this address ({told}); check {service.section}.base_url")
        case 429:
            return Setback(f"gets too many requests ({told}); try again later", passing=True, wait=wait)
        case _ if 300 <= status < 400:
            return Setback(f"is somewhere else ({told}), which is not followed; check {service.section}.base_url")
        case _ if status in PASSING or status >= 500:
            return Setback(f"failed ({told}); try again later", passing=True, wait=wait)
        case _:
            return Setback(f"refuses ({told})")


@cache
def _tls() -> ssl.SSLContext:
    return httpcore2.default_ssl_context()
