"""An HTTP client with an access token that is renewed before it expires."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from urllib.parse import urlencode

from ragstone.acquire.remote.address import Opening
from ragstone.core.errors import SourceError
from ragstone.core.frozen import frozen
from ragstone.services.pinned_client import PinnedClient

_EARLY = 120.0
"""Seconds before its end at which a token is renewed."""
_FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}


@frozen
class TokenRequest:
    """Where a token is requested, and the fields of the form."""

    url: str
    fields: Mapping[str, str]


class TokenClient:
    """Gives a client whose token lasts for the next requests.

    Args:
        opening: how servers are reached.
        ask: returns the request for the next token.
    """

    def __init__(self, opening: Opening, ask: Callable[[], TokenRequest]) -> None:
        self._opening, self._ask = opening, ask
        self._client: PinnedClient | None = None
        self._ends = 0.0

    def client(self) -> PinnedClient:
        """Return the client; it may be another one after a while.

        Raises:
            SourceError: the server gives no token.
        """
        if self._client is None or time.monotonic() > self._ends - _EARLY:
            token, seconds = self._requested(self._ask())
            self.close()
            self._client = self._opening.client({"Authorization": f"Bearer {token}"})
            self._ends = time.monotonic() + seconds
        return self._client

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _requested(self, request: TokenRequest) -> tuple[str, float]:
        plain = self._opening.client({})
        try:
            reply = plain.request("POST", request.url, headers=_FORM, content=urlencode(request.fields).encode())
            granted = json.loads(reply.body)
            return str(granted["access_token"]), float(granted.get("expires_in", 3600))
        except SourceError as error:
            raise SourceError(f"no access token: {error}; check the id and the secret of the application") from error
        except (ValueError, KeyError, TypeError) as error:
            raise SourceError(f"{request.url} did not send an access token") from error
        finally:
            plain.close()
