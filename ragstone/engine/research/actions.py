"""The actions of research: each returns the passages that it finds."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ragstone.core.access import Reader, both
from ragstone.core.filters import Filter, In
from ragstone.core.records import Hit
from ragstone.core.request import Request
from ragstone.core.research import Action
from ragstone.core.timing import Timings
from ragstone.engine.components import Components
from ragstone.engine.replied import hits_of_document
from ragstone.engine.search import Search
from ragstone.engine.steps import named_hits
from ragstone.query.outside import Outside
from ragstone.question import read

READ = 10
"""Passages that a search gives."""
PER_NAME = 4
"""Passages that a name gives."""
LISTED = 30
"""Passages of different documents that a list gives."""
AROUND = 2
"""Passages before and after one that is read on."""


def plannable(version: Components, reader: Reader) -> list[Outside]:
    """Return what may be asked outside with words that a model chose, for this reader."""
    return [one for one in version.models.outside() if one.may_be_planned and one.may_be_used(reader)]


class Actions:
    """Takes actions in one version of a knowledge base, for one reader."""

    def __init__(self, version: Components, search: Search, where: Filter | None, request: Request) -> None:
        self._version, self._search, self._where, self._request = version, search, where, request

    async def take(self, action: Action, read_so_far: Sequence[Hit], language: str) -> list[Hit]:
        """Return the passages that an action finds, best first, only those that the reader may read.

        Raises:
            RetrievalError: no leg of a search could be run, or the tool failed.
        """
        match action.kind:
            case "search":
                hits = await self._found(action.text, self._where, READ)
            case "document":
                within = In(key="id", values=(action.document,))
                hits = await self._found(action.text, both(self._where, within), READ)
            case "name":
                allowed = both(self._request.allowed, self._where)
                hits = await named_hits(self._version, [action.text], language, allowed, PER_NAME)
            case "list":
                every = await self._found(action.text, self._where, LISTED)
                hits = [*{hit.chunk.document_id: hit for hit in reversed(every)}.values()][::-1]
            case "read":
                hits = await asyncio.to_thread(self._around, action.document, read_so_far)
            case "tool":
                hits = await self._asked(action.tool, action.text)
            case "stop":
                hits = []
        return [hit for hit in hits if self._request.reader.may_read(hit.chunk.metadata)]

    async def _asked(self, tool: str, text: str) -> list[Hit]:
        """Return what a tool finds, if the reader may use it."""
        for one in plannable(self._version, self._request.reader):
            if one.name == tool:
                return [*await one.hits(text, self._request)]
        return []

    async def _found(self, text: str, where: Filter | None, count: int) -> list[Hit]:
        evidence = await self._search.evidence(read(text), where, count, self._request, Timings())
        return [*evidence.hits]

    def _around(self, document: str, read_so_far: Sequence[Hit]) -> list[Hit]:
        """Return the passages of a document around those that were read."""
        places = [hit.chunk.index for hit in read_so_far if hit.chunk.document_id == document]
        hits = hits_of_document(self._version.catalog, document)
        return [hit for hit in hits if any(abs(hit.chunk.index - place) <= AROUND for place in places)]
