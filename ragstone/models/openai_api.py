"""Servers that speak the OpenAI protocol, by OpenAI's own client: connections to them, and what they say is wrong.

A connection lives as long as one call, for event loops come and go between two calls; what is costly about it, the
certificates, is loaded once. The client's own retries are off: `retries` knows the deadline.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, NoReturn
from urllib.parse import urlsplit

from ragstone.errors import MissingExtra
from ragstone.models.retries import PASSING, Setback, retry_after
from ragstone.services import ServiceSettings

try:
    import httpx2
    import openai
except ModuleNotFoundError as error:
    raise MissingExtra("openai", extra="openai") from error

NOT_SO = (400, 413, 422)
"""Codes of HTTP that say there is something wrong with the request, or too much of it."""
TOO_LONG = ("context_length_exceeded", "exceed_context_size_error")
"""Codes of OpenAI's and llama.cpp's."""
_SHOWN = 300
"""Characters of a server's own words that are shown."""
_NO_KEY = "none"
"""Sent where no key is set: many servers of one's own want none, but the client insists on one."""


class OpenAIServer:
    """A server: how it is reached, and how its errors read."""

    def __init__(self, settings: ServiceSettings, *, azure: bool = False) -> None:
        self._settings, self._azure = settings, azure
        self._key = (settings.azure if azure else settings.openai).api_key.get_secret_value()
        self.address = settings.azure.endpoint if azure else settings.openai.base_url
        self.shown = self.address
        """The address as errors show it; settings let none with a key in it pass."""
        self.host = urlsplit(self.address).netloc
        self._section = "services.azure" if azure else "services.openai"
        self._variable = "AZURE_OPENAI_API_KEY" if azure else "OPENAI_API_KEY"

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[openai.AsyncOpenAI]:
        """A client for one call, closed after it."""
        key, timeout = self._key or _NO_KEY, self._settings.timeout_seconds
        # Proxies of the environment are for the world outside.
        web = openai.DefaultAsyncHttpxClient(verify=_certificates(), trust_env=not _is_loopback(self.host))
        if self._azure:
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
    async def within(self, seconds: float) -> AsyncIterator[None]:
        """Run what stands inside for at most so long, its failures told as `Setback`.

        A refusal of the request as it was made (`NOT_SO`) stays the client's own error: who made the request may know
        how to make it in another way.
        """
        try:
            async with asyncio.timeout(seconds):
                yield
        except openai.APIStatusError as error:
            if error.status_code in NOT_SO:
                raise
            self.fail(error)
        except TimeoutError as error:
            raise self._timed_out(seconds) from error
        except (openai.OpenAIError, ValueError, TypeError) as error:
            self.fail(error)

    def fail(self, error: Exception) -> NoReturn:
        """Tell what went wrong in plain words, without the key.

        Raises:
            Setback: always. A server may repeat the key it was given; then the error is not kept as the cause, for a
                traceback would show it.
        """
        raise self._setback(error) from (None if self._key and self._key in _everything(error) else error)

    def _setback(self, error: Exception) -> Setback:
        match error:
            case openai.APITimeoutError():
                return self._timed_out(self._settings.timeout_seconds)
            case openai.APIStatusError():
                return self._refused(error)
            case openai.APIConnectionError():
                cause = error.__cause__
                why = f" ({self.clean(str(cause))})" if cause and str(cause) else ""
                broke = cause is not None and type(cause).__name__ in ("RemoteProtocolError", "ReadError")
                if broke:
                    return Setback(f"the connection broke{why}; try again", passing=True)
                remedy = f"is the address right ({self._section}), and the network there?"
                return Setback(f"cannot be reached{why}; {remedy}", passing=not _is_certificate(cause))
            case openai.APIError():  # told within a stream
                return Setback(f"it failed while answering: {self.clean(error.message)}", passing=True)
            case _:
                return Setback(f"what it sent is not the OpenAI protocol; check {self._section}", passing=True)

    def clean(self, text: str) -> str:
        """A server's words, shortened, on one line, and without the key."""
        text = " ".join(text.split())
        if self._key:
            text = text.replace(self._key, "***")
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"

    def _timed_out(self, seconds: float) -> Setback:
        limits = self._settings
        if seconds < limits.timeout_seconds:  # that was all there was left
            return Setback(f"took longer than services.deadline_seconds={limits.deadline_seconds:g}")
        return Setback(f"nothing came for services.timeout_seconds={limits.timeout_seconds:g}", passing=True)

    def _refused(self, error: openai.APIStatusError) -> Setback:
        status = error.status_code
        said, code = said_by(error)
        told = f"{self.clean(said)} (HTTP {status})" if said else f"HTTP {status}"
        if status in (401, 403):
            return Setback(f"refuses the key: {told}; check {self._section}.api_key ({self._variable})")
        if status == 404:
            return Setback(f"does not know this: {told}; check the model's name and the address ({self._section})")
        if code == "insufficient_quota":
            return Setback(f"the account has nothing left: {told}; look at its plan and billing")
        if code in TOO_LONG:
            remedy = "lower respond.context_tokens, or raise respond.model.window_tokens of a local model"
            return Setback(f"the text is longer than the model reads: {told}; {remedy}")
        if code in ("content_filter", "content_policy_violation"):
            return Setback(f"its content filter refuses: {told}; ask in other words, or choose another model")
        wait = retry_after(error.response.headers.get("retry-after", ""))
        if status == 429:
            return Setback(f"too many requests: {told}; try again later", passing=True, wait=wait)
        if status in PASSING or status >= 500:
            return Setback(f"the server failed: {told}; try again later", passing=True, wait=wait)
        return Setback(f"refuses: {told}; check the settings of the model and {self._section}")


def sendable(text: str) -> str:
    """The same text, but for halves of surrogate pairs, which no JSON can be sent with."""
    return text.encode("utf-8", "replace").decode("utf-8")


def said_by(error: openai.APIStatusError) -> tuple[str, str]:
    """The message of a server's refusal, and its code; empty where it gives none."""
    body: object = error.body
    if isinstance(body, Mapping):
        told: Mapping[Any, Any] = body
        inner = told.get("error")
        message = told.get("message") or told.get("detail") or (inner if isinstance(inner, str) else "")
        code = told.get("code")
        return str(message or ""), code if isinstance(code, str) else str(told.get("type") or "")
    text = error.response.text if error.response.is_stream_consumed or error.response.is_closed else ""
    return ("" if text.lstrip().startswith("<") else text), ""  # a page of HTML tells nobody anything


def _everything(error: BaseException) -> str:
    """All that a traceback of an error would print of it."""
    told, here = "", error
    while here is not None:
        told += f"{here} {here!r}"
        here = here.__cause__ or here.__context__
    return told


def _is_certificate(cause: BaseException | None) -> bool:
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _is_loopback(host: str) -> bool:
    return host.rpartition(":")[0] in ("127.0.0.1", "localhost", "[::1]")


@cache
def _certificates() -> ssl.SSLContext:
    return httpx2.create_ssl_context()
