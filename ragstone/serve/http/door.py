"""Who may come in: nobody's key is needed until one is made; from then on every request shows one."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from ragstone.access import OWNER, Reader
from ragstone.serve.http.problems import Refused
from ragstone.usage.keys import SCOPES, Key, KeyRing, Keys, Scope

CALLER = "ragstone.caller"
"""Where the scope of a request has who asks."""
FRESH = 0.5
"""Seconds after which it is looked again which keys there are: what another process revoked opens nothing then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks: what they may do, what they may read, and with which key; none, where none was ever made."""

    scopes: frozenset[Scope]
    reader: Reader
    key: Key | None = None

    @property
    def is_open(self) -> bool:
        """Whether no key was needed."""
        return self.key is None

    def may(self, scope: Scope) -> bool:
        """Whether this is allowed; to an administrator everything is."""
        return scope in self.scopes or "admin" in self.scopes


ANYBODY = Caller(scopes=frozenset(SCOPES), reader=OWNER)
"""Who asks while no key has been made: somebody on this machine."""


class Door:
    """Tells who asks."""

    def __init__(self, keys: Keys, *, may_be_open: bool, clock: Callable[[], float] = time.monotonic) -> None:
        """
        Args:
            keys: those of the knowledge base, over a connection of their own, for they are read between two requests.
            may_be_open: whether requests without a key are let in until one is made.
            clock: tells seconds.
        """
        self._keys, self._may_be_open, self._clock = keys, may_be_open, clock
        self._ring, self._looked = KeyRing(), float("-inf")

    def close(self) -> None:
        """Let go of the keys."""
        self._keys.close()

    @property
    def is_open(self) -> bool:
        """Whether no key is needed now.

        Raises:
            KnowledgeBaseError: the keys cannot be read; nobody comes in then.
        """
        now = self._clock()
        if now - self._looked >= FRESH:
            self._ring, self._looked = self._keys.ring(), now
        return self._may_be_open and not self._ring

    def caller(self, authorization: str) -> Caller:
        """Who asks, by the header of the request.

        Raises:
            Refused: a key is needed, and this is none.
            KnowledgeBaseError: the keys cannot be read.
        """
        if self.is_open:
            return ANYBODY
        kind, _, text = authorization.partition(" ")
        key = self._ring.find(text.strip()) if kind.lower() == "bearer" else None
        if key is None:
            said = "this key is not known, or was revoked" if authorization else "a key is needed"
            raise Refused("unauthorized", f"{said}; send it as: Authorization: Bearer rgs_...")
        return Caller(scopes=frozenset(key.scopes), reader=key.reader, key=key)


_SCHEME = HTTPBearer(auto_error=False, scheme_name="key", description="A key made with `ragstone key make`.")


def allowed(scope: Scope) -> Callable[..., object]:
    """A dependency: who asks, if they may do this."""

    async def _caller(request: Request, _: Annotated[object, Depends(_SCHEME)]) -> Caller:
        caller: Caller = request.scope[CALLER]
        if not caller.may(scope):
            raise Refused("forbidden", f"this needs a key with the scope '{scope}'")
        return caller

    return _caller


Reading = Annotated[Caller, Depends(allowed("read"))]
Writing = Annotated[Caller, Depends(allowed("write"))]
Administering = Annotated[Caller, Depends(allowed("admin"))]
