"""Visitors of sites that show the chat: with a short-lived token that the site's server made, or without a name.

Whatever a visitor shows, they may only ask, and rate the answers. The page of a site never acts by a key or a cookie.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import replace

from ragstone.core.access import VISITORS, Reader
from ragstone.history.keys import Key, KeyLimits
from ragstone.history.store import JournalStore
from ragstone.history.tokens import PREFIX, Tokens
from ragstone.serve.http.authentication import Caller
from ragstone.serve.http.errors import Refused
from ragstone.serve.http.networks import network_of
from ragstone.settings.serve import WidgetSettings

SITE = "ragstone.site"
"""The key of the site's origin in the ASGI scope of a request that its page sends."""
ROUTES = frozenset({("POST", "/query"), ("POST", "/feedback")})
"""All that visitors may use, as methods and paths."""
SITE_ROUTES = ROUTES | {("GET", "/widget.js")}
"""All that the page of a site may ask a browser for, if it names its origin."""
ONLY_ASKS = "visitors of a site may only ask questions and rate answers"
ANONYMOUS = Reader(name=VISITORS, groups=frozenset())
_UNGUESSABLE = re.compile(r"(?:-?[0-9A-Fa-f]){24,}")
OFF = "the chat for other sites is off; the setting serve.widget.enabled turns it on"


class Visitors:
    """Finds the visitor who sends a request."""

    def __init__(self, journal: JournalStore, settings: WidgetSettings, in_force: Callable[[str], Key | None]) -> None:
        """Know the visitors of a knowledge base.

        Args:
            journal: where tokens are kept.
            settings: of the chat on other sites.
            in_force: returns a key by its id, unless it was revoked.
        """
        self._tokens, self._settings, self._in_force = Tokens(journal), settings, in_force
        self.together = _counted(VISITORS, settings.total_per_minute, 0, settings.cost_per_day)
        """Stands for all visitors where their requests are counted, and pays for those without a token."""

    @staticmethod
    def is_one(authorization: str, site: str) -> bool:
        """Return whether a request is a visitor's: its page's origin is a site's, or it shows a token."""
        return bool(site) or _secret(authorization).startswith(PREFIX)

    def caller(self, authorization: str, address: str) -> Caller:
        """Return the visitor who sends a request.

        Args:
            authorization: the header; empty if there is none.
            address: of the visitor's machine.

        Raises:
            Refused: visitors may not ask, or a token is needed, or it is over.
            KnowledgeBaseError: the journal cannot be read.
        """
        if not self._settings.enabled:
            raise Refused("unauthorized", OFF)
        secret = _secret(authorization)
        if secret.startswith(PREFIX):
            token = self._tokens.find(secret)
            payer = self._in_force(token.key) if token else None
            if token is None or payer is None:
                raise Refused("unauthorized", "this token is over; the site's server can make another one")
            return self._visitor(token.reader, token.reader.name, payer)
        if authorization:
            reason = "a key does not belong on a web page; with it, the site's server can make tokens: POST /tokens"
            raise Refused("forbidden", reason)
        if not self._settings.anonymous:
            raise Refused("unauthorized", "a token is needed; the site's server can make one: POST /tokens")
        visitor = self._visitor(ANONYMOUS, network_of(address), self.together)
        return replace(visitor, voice=visitor.name)  # they share a name, and each has an opinion

    def _visitor(self, reader: Reader, told_apart_by: str, payer: Key) -> Caller:
        key = _counted(visitor_id(told_apart_by), self._settings.rate_per_minute, self._settings.concurrent, 0.0)
        return Caller(scopes=frozenset(("read",)), reader=reader, key=key, is_visitor=True, payer=payer)


def check_session(caller: Caller, session: str) -> None:
    """Check that only the browser that began a conversation can know its name.

    Visitors without a token are one reader, so the name is all that separates their conversations.

    Raises:
        Refused: other visitors could guess the name.
    """
    if caller.reader == ANONYMOUS and session and not _UNGUESSABLE.fullmatch(session):
        raise Refused("usage", "session: without a token, name a conversation by 24 or more random hexadecimal digits")


def visitor_id(told_apart_by: str) -> str:
    """Return what a visitor is called where they are counted; it does not show who they are."""
    return f"visitor-{hashlib.sha256(told_apart_by.encode()).hexdigest()[:16]}"


def _counted(id: str, per_minute: int, concurrent: int, cost_per_day: float) -> Key:
    """Return what stands for visitors where requests and costs are counted: a key without a secret."""
    limits = KeyLimits(rate_per_minute=per_minute, concurrent=concurrent, cost_per_day=cost_per_day)
    return Key(id=id, name=id, scopes=("read",), groups=(), limits=limits, made=0.0)


def _secret(authorization: str) -> str:
    kind, _, text = authorization.partition(" ")
    return text.strip() if kind.lower() == "bearer" else ""
