"""Connect only to addresses that were checked.

A name is resolved once per connection, and the connection is made to the address that was checked. A name that changes
its address in between (DNS rebinding) gains nothing.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable

import httpcore2

from ragstone.services.network import Resolve, refusal


class FetchError(Exception):
    """A request failed; the text says why. ``passing``: another attempt may succeed."""

    def __init__(self, reason: str, *, passing: bool = False) -> None:
        super().__init__(reason)
        self.passing = passing


class PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to the address that was checked, even if the name resolves to another one later.

    Args:
        inner: makes the connections.
        resolve: resolves names.
        allow_private: whether private addresses are allowed.
        setting: name of the setting that allows them, for the error message.
    """

    def __init__(
        self, inner: httpcore2.AsyncNetworkBackend, resolve: Resolve, *, allow_private: bool, setting: str
    ) -> None:
        self._inner, self._resolve = inner, resolve
        self._allow_private, self._setting = allow_private, setting

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        # TLS starts later with the host name, so certificates are checked against the name.
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise FetchError(f"{host} has no address", passing=isinstance(error, socket.gaierror)) from error
        if reason := refusal(host, addresses, allow_private=self._allow_private, setting=self._setting):
            raise FetchError(reason)
        failure: Exception = FetchError(f"{host} has no address", passing=True)
        for address in addresses:
            try:
                return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


def in_words(error: Exception) -> str:
    """Describe a failed connection."""
    name = type(error).__name__
    words = {
        "ConnectTimeout": "no connection in time",
        "ReadTimeout": "no answer in time",
        "ConnectError": "no connection",
        "ReadError": "the connection broke",
        "RemoteProtocolError": "the connection ended, or the reply is not HTTP",
    }.get(name, name)
    return f"{words} ({error})" if str(error) else words
