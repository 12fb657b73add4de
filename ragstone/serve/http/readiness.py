"""Whether the knowledge base can be read now, for load balancers that ask again and again."""

from __future__ import annotations

import asyncio
import time

from ragstone.core.errors import RagstoneError
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.history.keys import Keys

LOOK_SECONDS = 1.0
"""How long a look may take, and how long its result counts. Anybody may ask, so more looks would be a burden."""


class Readiness:
    """Reads the catalog and the journal, once for everybody who asks at the same time."""

    def __init__(self, engine: KnowledgeBase, keys: Keys) -> None:
        self._engine, self._keys = engine, keys
        self._look: asyncio.Task[str] | None = None
        self._until = 0.0

    async def problem(self) -> str:
        """Return what keeps questions from being answered, in words for everybody; empty if nothing does."""
        if self._look is None or (self._look.done() and time.monotonic() >= self._until):
            self._look = asyncio.create_task(self._looked())
        # A look that hangs goes on, so that a database that is gone holds one thread and not one for each request.
        done, _ = await asyncio.wait((self._look,), timeout=LOOK_SECONDS)
        return self._look.result() if done else "the database does not answer"

    async def _looked(self) -> str:
        found = await asyncio.to_thread(self._read)
        self._until = time.monotonic() + LOOK_SECONDS
        return found

    def _read(self) -> str:
        try:
            with self._engine.current() as version:
                version.catalog.stamp()
        except (RagstoneError, OSError):
            return "the documents cannot be read"
        try:
            self._keys.state()
        except (RagstoneError, OSError):
            return "the keys and conversations cannot be read"
        return ""
