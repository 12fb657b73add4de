"""What agents can do with a knowledge base. Nothing here knows a protocol; `mcp_server` speaks it.

Every tool only reads, and sees what its reader may see.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from ragstone.answers import Answered, EvidenceFound
from ragstone.errors import ResponseError
from ragstone.serve.agents.desk import Desk
from ragstone.serve.agents.results import LONGEST, Found, FoundHit, Listing, ReadText, Replied

MOST_HITS = 50
MOST_LISTED = 200

Told = Callable[[str], Awaitable[None]]
"""Takes a word on how far a tool has come."""
Given = Found | Replied | ReadText | Listing
Where = Annotated[
    str | None,
    Field(description="Only documents whose metadata fit, such as: language = en and kind = pdf. Leave out for all."),
]


class Arguments(BaseModel):
    """What a tool takes; one that it does not know is an error."""

    model_config = ConfigDict(extra="forbid")


class SearchArguments(Arguments):
    query: str = Field(description="What to look for: a question or keywords, in any language.")
    k: int | None = Field(None, ge=1, le=MOST_HITS, description="How many passages; leave out for the usual number.")
    where: Where = None


class AskArguments(Arguments):
    question: str = Field(description="One question, complete in itself, in any language.")
    where: Where = None


class ReadArguments(Arguments):
    document_id: str = Field(description="The document_id of a passage or a citation, exactly as it was given.")
    start: int = Field(0, ge=0, description="The first character.")
    end: int | None = Field(
        None, ge=0, description=f"The character after the last one. At most {LONGEST:,} characters come at once."
    )


class ListArguments(Arguments):
    q: str = Field("", description="Only documents with this in their title or id.")
    limit: int = Field(50, ge=1, le=MOST_LISTED, description="How many at once.")
    after: str = Field("", description="The 'next' of the list before this one.")


async def search(desk: Desk, asked: SearchArguments, _: Told) -> Found:
    hits = await desk.search(asked.query, asked.k, asked.where)
    return Found(query=asked.query, hits=tuple(FoundHit.of(hit, rank) for rank, hit in enumerate(hits, start=1)))


async def ask(desk: Desk, asked: AskArguments, told: Told) -> Replied:
    async with aclosing(desk.ask(asked.question, asked.where)) as events:
        async for event in events:
            if isinstance(event, EvidenceFound):
                await told(f"{len(event.evidence.hits)} passages found; writing the answer")
            if isinstance(event, Answered):
                return Replied.of(event.answer)
    raise ResponseError("the stream ended without an answer")


async def read_source(desk: Desk, asked: ReadArguments, _: Told) -> ReadText:
    return ReadText.of(desk.document(asked.document_id), asked.start, asked.end)


async def list_documents(desk: Desk, asked: ListArguments, _: Told) -> Listing:
    return Listing.of(desk.listing(asked.q, asked.after, asked.limit))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Something an agent can do; ``run`` is handed what it ``takes``, and gives what it ``gives``."""

    title: str
    description: str
    takes: type[Arguments]
    gives: type[Given]
    run: Callable[[Desk, Any, Told], Awaitable[Given]]


TOOLS = {
    "search": Tool(
        title="Search the documents",
        description="Find the passages of the documents that match a question or keywords best. Gives their text, and"
        " the document and characters where each stands. Use it to look for material yourself; to have a question"
        " answered, use ask.",
        takes=SearchArguments,
        gives=Found,
        run=search,
    ),
    "ask": Tool(
        title="Ask the documents",
        description="Answer a question from the documents. Each sentence of the answer has markers such as [1], which"
        " stand for citations: exact words of a document, with their place. Where the documents do not answer the"
        " question, the result says so (abstained) instead of guessing.",
        takes=AskArguments,
        gives=Replied,
        run=ask,
    ),
    "read_source": Tool(
        title="Read a document",
        description="Read a document, or the characters around a passage or citation, word for word.",
        takes=ReadArguments,
        gives=ReadText,
        run=read_source,
    ),
    "list_documents": Tool(
        title="List the documents",
        description="List the documents there are, in a stable order, a page at a time.",
        takes=ListArguments,
        gives=Listing,
        run=list_documents,
    ),
}
