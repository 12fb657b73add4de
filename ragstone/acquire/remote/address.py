"""Addresses of sources, such as ``sftp://ann@files.example/reports``, and what a source is opened with."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ragstone.core.errors import SourceError, UsageError
from ragstone.core.frozen import frozen
from ragstone.services.network import checked_addresses
from ragstone.settings import AcquireSettings, ConnectionSettings, RemoteSettings

if TYPE_CHECKING:
    from ragstone.services.pinned_client import PinnedClient

SETTING = "acquire.remote.allow_private"


@frozen
class Address:
    """An address in its parts, decoded. ``path`` has no slash at its ends; ``port`` is 0 if none is named."""

    scheme: str
    user: str
    host: str
    port: int
    path: str
    fragment: str

    def __str__(self) -> str:
        """The address without the fragment."""
        place = f"{self.scheme}://{self.place}"
        return f"{place}/{self.path}" if self.path else place

    @property
    def server(self) -> str:
        """The host as an address has it, with the port if one is named."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}" if self.port else host

    @property
    def place(self) -> str:
        """The user and the server, without the scheme and the path."""
        return f"{self.user}@{self.server}" if self.user else self.server

    @property
    def origin(self) -> str:
        """The address of the server on the web; a scheme that ends in ``http`` is without encryption."""
        return f"{'http' if self.scheme.endswith('http') else 'https'}://{self.server}"


@frozen
class Opening:
    """What a source is opened with: its settings, and a folder where it may keep what later syncs need."""

    connection: ConnectionSettings
    settings: AcquireSettings
    folder: Path

    @property
    def remote(self) -> RemoteSettings:
        """How servers are reached."""
        return self.settings.remote

    def secret(self, default: str, what: str) -> str:
        """Return a password or token from the environment.

        Args:
            default: the variable, unless the connection names another.
            what: whose secret it is, for the error message.

        Raises:
            SourceError: the variable is not set.
        """
        name = self.connection.secret or default
        if not (found := os.environ.get(name, "")):
            raise SourceError(f"set the environment variable {name} to the {what}")
        return found

    def client(self, headers: Callable[[], Mapping[str, str]]) -> PinnedClient:
        """Return an HTTP client; ``headers`` returns the fields that it sends, such as credentials, once it is used."""
        # Imported on first use: it takes a fifth of the time that the engine takes to import.
        from ragstone.services.pinned_client import Limits, PinnedClient

        remote = self.remote
        limits = Limits(
            allow_private=remote.allow_private,
            timeout_seconds=remote.timeout_seconds,
            retries=remote.retries,
            setting=SETTING,
        )
        return PinnedClient(lambda: {"User-Agent": self.settings.crawl.user_agent, **headers()}, limits)

    def basic(self, user: str, default: str) -> dict[str, str]:
        """Return the header field of a user with the password from the environment; see `secret`."""
        return _basic(user, self.secret(default, f"password of {user}"))

    def token(self, user: str, default: str, site: str) -> dict[str, str]:
        """Return the header field for a site: of a user with an API token, or without one of a personal token."""
        if user:
            return _basic(user, self.secret(default, f"API token of {user} for {site}"))
        return {"Authorization": f"Bearer {self.secret(default, f'personal access token for {site}')}"}

    def allowed(self, host: str, port: int) -> list[str]:
        """Return the addresses of a server.

        Raises:
            SourceError: it has none, or one on a private network, which the settings do not allow.
        """
        return checked_addresses(host, port, allow_private=self.remote.allow_private, setting=SETTING)


def _basic(user: str, secret: str) -> dict[str, str]:
    encoded = base64.b64encode(f"{user}:{secret}".encode()).decode("ascii")
    return {"Authorization": f"Basic {encoded}"}


def parsed(address: str) -> Address:
    """Return an address in its parts.

    Raises:
        UsageError: it is malformed, or contains a password or a query, which would be stored and shown.
    """
    try:
        parts = urlsplit(address)
        port = parts.port or 0
    except ValueError as error:
        raise UsageError(f"this is not the address of a source: {error}") from error
    if parts.password is not None or parts.query:
        shown = f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
        raise UsageError(
            f"the address of {shown} has a password or a query in it, which would be stored with every document;"
            " leave it out and set the environment variable named in docs/sources.md"
        )
    if not parts.scheme or any(ord(char) < 32 for char in address):
        raise UsageError(f"'{address}' is not the address of a source")
    return Address(
        scheme=parts.scheme.lower(),
        user=unquote(parts.username or ""),
        host=unquote(parts.hostname or ""),
        port=port,
        path=unquote(parts.path).strip("/"),
        fragment=unquote(parts.fragment),
    )
