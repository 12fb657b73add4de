"""What one reader can do with a knowledge base."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from ragstone import index
from ragstone.access import Reader
from ragstone.answers import Event
from ragstone.contracts import Document, Hit
from ragstone.engine import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """An engine as its reader sees it."""

    engine: Engine
    reader: Reader

    def ask(self, question: str, where: str | None) -> AsyncGenerator[Event]:
        return self.engine.stream(question, where, reader=self.reader)

    async def search(self, query: str, k: int | None, where: str | None) -> list[Hit]:
        return await self.engine.search(query, k, where, reader=self.reader)

    def document(self, id: str) -> Document:
        return self.engine.document(id, reader=self.reader)

    def listing(self, q: str = "", after: str = "", limit: int = 100) -> index.Listing:
        return self.engine.listing(reader=self.reader, q=q, after=after, limit=limit)
