"""What agents can do with a knowledge base. Nothing here knows a protocol; `mcp_server` speaks it.

The tools only read, and only what their reader may see.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import partial
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, ConfigDict, Field

from ragstone.core.access import Reader
from ragstone.core.answers import Event, EvidenceFound, answer_in
from ragstone.core.catalog import Listing as ListingRecord
from ragstone.core.frozen import frozen
from ragstone.core.hits import Hits
from ragstone.core.records import Document
from ragstone.core.research import ActionTaken, Effort, Forecast, ResearchEvent
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.serve.as_json import search_note
from ragstone.serve.mcp.results import MAX_CHARACTERS, Found, FoundHit, Listing, ReadText, Replied
from ragstone.serve.view import View
from ragstone.serve.views.research import step

MAX_HITS = 50
MAX_LISTED = 200


class Backend(Protocol):
    """A knowledge base as one reader may use it."""

    def ask(self, question: str, where: str | None) -> AsyncGenerator[Event]: ...
    def research(self, question: str, where: str | None, effort: Effort) -> AsyncGenerator[ResearchEvent]: ...
    async def search(self, query: str, k: int | None, where: str | None) -> Hits: ...
    async def document(self, id: str) -> Document: ...
    async def listing(self, q: str = "", after: str = "", limit: int = 100) -> ListingRecord: ...


@frozen
class LocalBackend:
    """An engine in this process, for one reader."""

    engine: KnowledgeBase
    reader: Reader

    @property
    def _view(self) -> View:
        return View(reader=self.reader)

    async def ask(self, question: str, where: str | None) -> AsyncGenerator[Event]:
        async with aclosing(self.engine.stream(question, self._view.where(where), reader=self.reader)) as events:
            async for event in events:
                yield self._view.event(event)

    async def research(self, question: str, where: str | None, effort: Effort) -> AsyncGenerator[ResearchEvent]:
        events = self.engine.research(question, self._view.where(where), reader=self.reader, effort=effort)
        async with aclosing(events):
            async for event in events:
                yield self._view.research(event)

    async def search(self, query: str, k: int | None, where: str | None) -> Hits:
        return self._view.found(await self.engine.search(query, k, self._view.where(where), reader=self.reader))

    async def document(self, id: str) -> Document:
        read = partial(self.engine.documents.get, id, reader=self.reader)
        return self._view.document(await asyncio.to_thread(read))

    async def listing(self, q: str = "", after: str = "", limit: int = 100) -> ListingRecord:
        read = partial(self.engine.documents.list, reader=self.reader, q=q, after=after, limit=limit)
        return self._view.listing(await asyncio.to_thread(read))


# ---------------------------------------------------------------- arguments
Where = Annotated[
    str | None,
    Field(description="Use only documents whose metadata match, such as: language = en and kind = pdf. Omit for all."),
]


class Arguments(BaseModel):
    """The arguments of a tool; unknown ones are errors."""

    model_config = ConfigDict(extra="forbid")


class SearchArguments(Arguments):
    query: str = Field(description="What to look for: a question or keywords, in any language.")
    k: int | None = Field(None, ge=1, le=MAX_HITS, description="How many passages; omit for the default.")
    where: Where = None


class AskArguments(Arguments):
    question: str = Field(description="One self-contained question, in any language.")
    where: Where = None


class ResearchArguments(AskArguments):
    effort: Effort = Field("research", description="How much work the question is worth.")


class ReadArguments(Arguments):
    document_id: str = Field(description="The document_id of a passage or a citation, exactly as given.")
    start: int = Field(0, ge=0, description="The first character.")
    end: int | None = Field(
        None,
        ge=0,
        description=f"The character after the last one. One call returns at most {MAX_CHARACTERS:,} characters.",
    )


class ListArguments(Arguments):
    q: str = Field("", description="Only documents with this in their title or id.")
    limit: int = Field(50, ge=1, le=MAX_LISTED, description="How many to return.")
    after: str = Field("", description="The 'next' of the previous page.")


# ---------------------------------------------------------------- tools
OnProgress = Callable[[str], Awaitable[None]]
Result = Found | Replied | ReadText | Listing


@frozen
class Tool:
    """A tool: ``run`` takes ``arguments`` and returns ``result``."""

    title: str
    description: str
    arguments: type[Arguments]
    result: type[Result]
    run: Callable[[Backend, Any, OnProgress], Awaitable[Result]]


async def search(backend: Backend, arguments: SearchArguments, _: OnProgress) -> Found:
    hits = await backend.search(arguments.query, arguments.k, arguments.where)
    found = tuple(FoundHit.of(hit, rank) for rank, hit in enumerate(hits, start=1))
    return Found(query=arguments.query, hits=found, note=search_note(hits))


async def ask(backend: Backend, arguments: AskArguments, on_progress: OnProgress) -> Replied:
    async def heard(event: Event) -> None:
        if isinstance(event, EvidenceFound):
            count = len(event.evidence.hits)
            found = "1 passage found" if count == 1 else f"{count} passages found"
            await on_progress(f"{found}; writing the answer")

    return Replied.of(await answer_in(backend.ask(arguments.question, arguments.where), heard))


async def research(backend: Backend, arguments: ResearchArguments, on_progress: OnProgress) -> Replied:
    async def heard(event: ResearchEvent) -> None:
        if isinstance(event, Forecast | ActionTaken):
            await on_progress(step(event))

    events = backend.research(arguments.question, arguments.where, arguments.effort)
    return Replied.of(await answer_in(events, heard))


async def read_source(backend: Backend, arguments: ReadArguments, _: OnProgress) -> ReadText:
    return ReadText.of(await backend.document(arguments.document_id), arguments.start, arguments.end)


async def list_documents(backend: Backend, arguments: ListArguments, _: OnProgress) -> Listing:
    return Listing.of(await backend.listing(arguments.q, arguments.after, arguments.limit))


TOOLS = {
    "search": Tool(
        title="Search the documents",
        description="Find the passages that best match a question or keywords. Returns their text, and the document"
        " and characters of each. Use it to look for material yourself; to have a question answered, use ask.",
        arguments=SearchArguments,
        result=Found,
        run=search,
    ),
    "ask": Tool(
        title="Ask the documents",
        description="Answer a question from the documents. Each sentence of the answer has markers such as [1], which"
        " refer to citations: the exact words of a document and their place. If the documents do not answer the"
        " question, the result says so (abstained) instead of guessing.",
        arguments=AskArguments,
        result=Replied,
        run=ask,
    ),
    "research": Tool(
        title="Research the documents",
        description='Answer a question that needs several searches, or list all documents that fit, such as "All press'
        ' releases about 5G in 2023" or "How many contracts have a clause on liability?". It takes longer than ask.',
        arguments=ResearchArguments,
        result=Replied,
        run=research,
    ),
    "read_source": Tool(
        title="Read a document",
        description="Read a document, or the characters around a passage or citation, word for word.",
        arguments=ReadArguments,
        result=ReadText,
        run=read_source,
    ),
    "list_documents": Tool(
        title="List the documents",
        description="List the documents in a stable order, a page at a time.",
        arguments=ListArguments,
        result=Listing,
        run=list_documents,
    ),
}
