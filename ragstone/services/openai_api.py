"""Connect to servers that speak the OpenAI protocol, with OpenAI's client, and translate their errors.

A connection lives for one call, because event loops change between calls; the certificates, which are slow to load, are
cached. The client's own retries are off, because `retries` knows the deadline. Only this module imports the client, so
that one place says how to install it.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, NoReturn, cast
from urllib.parse import urlsplit

from ragstone.core.errors import MissingExtra
from ragstone.services.network import is_here
from ragstone.services.reply_parts import Failure, words_of
from ragstone.services.retries import PASSING, Setback, retry_after
from ragstone.services.secrets import without_secret
from ragstone.services.too_long import is_too_long, limit_in
from ragstone.settings.model_servers import LOCAL_SERVERS, Endpoint
from ragstone.settings.services import ServiceSettings

try:
    import httpx2
    import openai
    from openai import APIStatusError as APIStatusError
    from openai import AsyncOpenAI as AsyncOpenAI
    from openai import AsyncStream as AsyncStream
except ModuleNotFoundError as error:
    raise MissingExtra("openai", extra="openai") from error

REJECTED = (400, 413, 422)
"""HTTP status codes of a request that is malformed or too large."""
OUT_OF_QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "insufficient_balance", "payment_required")
FILTERED = ("content_filter", "content_policy_violation")
_MAX_SHOWN = 300
"""Characters of a server's error message that are shown."""
_NO_KEY = "none"
"""Sent if no key is set: many private servers need none, but the client requires one."""


class TooLong(Setback):
    """The prompt is longer than the window, whose tokens are ``limit`` if the server says so."""

    def __init__(self, reason: str, limit: int | None) -> None:
        super().__init__(reason)
        self.limit = limit


class OpenAIServer:
    """A server: connects to it and translates its errors."""

    def __init__(self, settings: ServiceSettings, endpoint: Endpoint) -> None:
        self._settings, self._endpoint, self._key = settings, endpoint, endpoint.key
        self.address = endpoint.address
        """The address, also for error messages; the settings refuse addresses that contain a key."""
        self.prefix = ""
        self._section = endpoint.section
        setting = f"{self._section}.{'endpoint' if endpoint.kind == 'azure' else 'base_url'}"
        self.remedy = f"check {setting}, and that the server speaks the OpenAI protocol"
        """The remedy for a reply that does not follow the protocol."""

    def completes_path(self) -> bool:
        """Prefix paths with ``/v1`` if the address has no path, as most servers need it; return whether it did."""
        if self._endpoint.kind == "azure" or urlsplit(self.address).path or self.prefix:
            return False
        self.prefix = "/v1"
        return True

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator[openai.AsyncOpenAI]:
        """Open a client for one call."""
        key, timeout = self._key or _NO_KEY, self._settings.timeout_seconds
        # Proxies from the environment are not for the local machine.
        is_local = is_here(self.address)
        web = openai.DefaultAsyncHttpxClient(verify=_certificates(), trust_env=not is_local)
        if self._endpoint.kind == "azure":
            client = openai.AsyncAzureOpenAI(
                azure_endpoint=self.address,
                api_key=key,
                api_version=self._settings.azure.api_version,
                timeout=timeout,
                max_retries=0,
                http_client=web,
            )
        else:
            client = openai.AsyncOpenAI(
                base_url=self.address, api_key=key, timeout=timeout, max_retries=0, http_client=web
            )
        async with client:
            yield client

    @asynccontextmanager
    async def within(self, seconds: float, passed_on: Sequence[int] = REJECTED) -> AsyncGenerator[None]:
        """Limit the time of the body and translate its failures into `Setback`.

        Errors with the status codes ``passed_on`` are raised as they are, because the caller may be able to change the
        request.
        """
        try:
            async with asyncio.timeout(seconds):
                yield
        except openai.APIStatusError as error:
            if error.status_code in passed_on:
                raise
            self.fail(error)
        except TimeoutError as error:
            raise self._timed_out(seconds) from error
        except (openai.OpenAIError, httpx2.HTTPError, ValueError, TypeError) as error:
            self.fail(error)

    def fail(self, error: Exception) -> NoReturn:
        """Raise a failure in plain words, without the key.

        Raises:
            Setback: always. If the server repeats the key, the cause is dropped, because a traceback would show it.
        """
        everything = _everything(error)
        raise self.setback(error) from (error if without_secret(everything, self._key) == everything else None)

    def setback(self, error: Exception) -> Setback:
        """Return a failure in plain words."""
        match error:
            case openai.APITimeoutError() | httpx2.TimeoutException():
                return self._timed_out(self._settings.timeout_seconds)
            case openai.APIStatusError():
                return self._refused(error)
            case openai.APIConnectionError():
                cause = error.__cause__
                why = f" ({self.clean(str(cause))})" if cause and str(cause) else ""
                broke = cause is not None and type(cause).__name__ in ("RemoteProtocolError", "ReadError")
                if broke:
                    return Setback(f"the connection broke{why}; try again", passing=True)
                is_untrusted = any(isinstance(one, ssl.SSLError) for one in _chain(cause))
                remedy = f"check the address ({self._section}) and the network"
                if self._endpoint.kind in LOCAL_SERVERS:
                    remedy = f"start it, or check {self._section}.base_url; to list what runs, run: ragstone models"
                return Setback(f"cannot be reached{why}; {remedy}", passing=not is_untrusted)
            case httpx2.HTTPError():  # within a stream
                return Setback("the connection broke; try again", passing=True)
            case _:
                return Setback(f"the reply is not in the OpenAI protocol; check {self._section}", passing=True)

    def clean(self, text: str) -> str:
        """Return a server's message on one line, shortened, without the key."""
        text = without_secret(" ".join(text.split()), self._key)
        return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"

    def _timed_out(self, seconds: float) -> Setback:
        limits = self._settings
        if seconds < limits.timeout_seconds:  # no more time was left
            return Setback(f"took longer than services.deadline_seconds={limits.deadline_seconds:g}")
        return Setback(f"no reply within services.timeout_seconds={limits.timeout_seconds:g}", passing=True)

    def _refused(self, error: openai.APIStatusError) -> Setback:
        status = error.status_code
        said, code = said_by(error)
        reason = f"{self.clean(said)} (HTTP {status})" if said else f"HTTP {status}"
        if setback := self._known(said, code, reason):
            return setback
        if status in (401, 403):
            variable = f" ({self._endpoint.variable})" if self._endpoint.variable else ""
            return Setback(f"refuses the key: {reason}; check {self._section}.api_key{variable}")
        if status == 402:
            return Setback(f"the account is out of quota: {reason}; check its plan and billing")
        if status == 404:
            pull = "; to fetch a model, run: ollama pull NAME" if self._endpoint.kind == "ollama" else ""
            return Setback(
                f"does not know this: {reason}; check the model's name and the address ({self._section}){pull}"
            )
        wait = retry_after(error.response.headers.get("retry-after", ""))
        if status == 429:
            return Setback(f"too many requests: {reason}; try again later", passing=True, wait=wait)
        if status in PASSING or status >= 500:
            return Setback(f"the server failed: {reason}; try again later", passing=True, wait=wait)
        return Setback(f"refuses: {reason}; check the settings of the model and {self._section}")

    def reported(self, failure: Failure) -> Setback:
        """Return a failure that the server reports within a reply."""
        reason = self.clean(failure.said)
        failed = Setback(f"failed while replying: {reason}", passing=failure.passing)
        return self._known(failure.said, failure.code, reason) or failed

    def _known(self, refusal: str, code: str, reason: str) -> Setback | None:
        """Return a failure that servers report under different status codes; None if it is none of these."""
        if code in OUT_OF_QUOTA:
            return Setback(f"the account is out of quota: {reason}; check its plan and billing")
        if is_too_long(refusal, code):
            remedy = "lower respond.context_tokens, or raise the window (respond.model.window_tokens of a gguf: model)"
            return TooLong(f"the text is longer than the model's window: {reason}; {remedy}", limit_in(refusal))
        if code in FILTERED:
            return Setback(f"its content filter refuses: {reason}; rephrase the question, or choose another model")
        return None


def said_by(error: openai.APIStatusError) -> tuple[str, str]:
    """Return the message and the code of a server's refusal; empty if it has none."""
    body: object = error.body
    if isinstance(body, list) and body:  # as Gemini sends it
        body = cast("list[object]", body)[0]
    if isinstance(body, dict):
        return words_of(cast("dict[str, Any]", body))
    text = error.response.text if error.response.is_stream_consumed or error.response.is_closed else ""
    return ("" if text.lstrip().startswith("<") else text), ""  # an HTML page explains nothing


def _everything(error: BaseException) -> str:
    """Return everything that a traceback would print of an error."""
    return "".join(f"{one} {one!r}" for one in _chain(error))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what led to it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@cache
def _certificates() -> ssl.SSLContext:
    return httpx2.create_ssl_context()
