"""Access tokens (OAuth 2.0) that are renewed before they expire."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from urllib.parse import urlencode

from ragstone.acquire.remote.address import Opening
from ragstone.core.errors import SourceError
from ragstone.core.frozen import frozen

_EARLY = 120.0
"""Seconds before its end at which a token is renewed."""
_FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}


@frozen
class TokenRequest:
    """Where a token is requested, and the fields of the form."""

    url: str
    fields: Mapping[str, str]


class Token:
    """An access token, requested when it is first used.

    Args:
        opening: how servers are reached.
        ask: returns the request for the next token.
    """

    def __init__(self, opening: Opening, ask: Callable[[], TokenRequest]) -> None:
        self._opening, self._ask = opening, ask
        self._headers = dict[str, str]()
        self._ends = -math.inf

    def headers(self) -> dict[str, str]:
        """Return the header field with a token that lasts for the next requests.

        Raises:
            SourceError: the server gives no token.
        """
        if time.monotonic() > self._ends - _EARLY:
            token, seconds = self._requested(self._ask())
            self._headers = {"Authorization": f"Bearer {token}"}
            self._ends = time.monotonic() + seconds
        return self._headers

    def _requested(self, request: TokenRequest) -> tuple[str, float]:
        try:
            with closing(self._opening.client(dict[str, str])) as plain:
                reply = plain.request("POST", request.url, headers=_FORM, content=urlencode(request.fields).encode())
            granted = json.loads(reply.body)
            return str(granted["access_token"]), float(granted.get("expires_in", 3600))
        except SourceError as error:
            raise SourceError(f"no access token: {error}; check the id and the secret of the application") from error
        except (ValueError, KeyError, TypeError) as error:
            raise SourceError(f"{request.url} did not send an access token") from error
