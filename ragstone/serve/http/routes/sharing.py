"""Conversations that their readers share by a link, as far as whoever opens it may read what the answers rest on."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from ragstone.core.errors import NotFound
from ragstone.engine.sharing import SharedTurn
from ragstone.serve import as_json
from ragstone.serve.http import errors
from ragstone.serve.http.authentication import Reading
from ragstone.serve.http.messages import Request, Response
from ragstone.serve.http.routes.ask import Answer
from ragstone.serve.http.routes.history import SessionPath
from ragstone.serve.http.service import Here
from ragstone.serve.view import View


# ---------------------------------------------------------------- messages
class LinkRequest(Request):
    """A link to make."""

    days: Annotated[float, Field(gt=0, le=3_650, allow_inf_nan=False)] | None = Field(
        default=None, description="how long it works; null means as long as the conversation is kept"
    )


class Link(Response):
    """A link to a conversation as it was when the link was made. Times are in seconds since 1970."""

    id: str = Field(description="what the record of acts calls it")
    made: float
    until: float | None = Field(description="when it ends; null means with the conversation")


class MadeLink(Response):
    """A new link with its secret, which is never shown again. The page opens it at `#/s/` and the secret."""

    secret: str
    link: Link


class Links(Response):
    """The links to a conversation, the newest first."""

    links: list[Link]


class SharedAnswer(Response):
    """A question of a shared conversation and its answer. ``at`` is in seconds since 1970."""

    at: float
    question: str
    text: str | None = Field(
        description="null if the answer is withheld, because it rests on more than the caller may read, or on what has"
        " changed since"
    )
    answer: Answer | None = Field(description="with its citations and evidence, unless only the text is kept")

    @classmethod
    def of(cls, turn: SharedTurn, view: View) -> SharedAnswer:
        answer = None
        if turn.answer is not None:
            hits = enumerate(view.hits(turn.hits), start=1)
            found = [{"why": None} | as_json.hit(hit, rank) for rank, hit in hits]
            answer = Answer.model_validate({**turn.answer, "hits": found})
        return cls(at=turn.at, question=turn.question, text=turn.text, answer=answer)


class SharedConversation(Response):
    """The turns of a shared conversation, oldest first."""

    turns: list[SharedAnswer]


class CopiedConversation(Response):
    """The caller's own copy of a shared conversation."""

    session: str


# ---------------------------------------------------------------- routes
router = APIRouter(tags=["people"])
Secret = Annotated[str, Path(min_length=1, max_length=100, description="what the link ends with")]


@router.get("/links/{session:path}", responses={**errors.READING})
async def links(session: SessionPath, service: Here, caller: Reading) -> Links:
    """List the links to one of the caller's conversations."""
    found = await asyncio.to_thread(partial(service.engine.history.shares, session, reader=caller.reader))
    return Links(links=[Link.model_validate(one, from_attributes=True) for one in found])


@router.post("/links/{session:path}", status_code=201, responses={**errors.CHANGING})
async def share(session: SessionPath, body: LinkRequest, service: Here, caller: Reading) -> MadeLink:
    """Make a link to one of the caller's conversations as it is now. Its secret is in this response only.

    Whoever opens it is shown each answer only if they may read what it rests on, and neither who asked nor what anybody
    thought of the answers.
    """
    make = partial(service.engine.history.share, session, days=body.days, reader=caller.reader)
    made, secret = await asyncio.to_thread(make)
    await service.noted(caller, "conversation.share", made.id)
    return MadeLink(secret=secret, link=Link.model_validate(made, from_attributes=True))


@router.delete("/links/{session:path}", responses={**errors.CHANGING})
async def take_back(session: SessionPath, service: Here, caller: Reading) -> Links:
    """Take back all links to one of the caller's conversations, and return them."""
    gone = await asyncio.to_thread(partial(service.engine.history.take_back, session, reader=caller.reader))
    if not gone:
        raise NotFound("there is no link to this conversation")
    told = ", ".join(one.id for one in gone)
    await service.noted(caller, "conversation.take_back", told)
    return Links(links=[Link.model_validate(one, from_attributes=True) for one in gone])


@router.get("/shared/{secret}", responses={**errors.READING})
async def shared(secret: Secret, service: Here, caller: Reading) -> SharedConversation:
    """Return a shared conversation, as far as the caller may read what its answers rest on."""
    found = await asyncio.to_thread(partial(service.engine.history.shared, secret, reader=caller.reader))
    return SharedConversation(turns=[SharedAnswer.of(one, caller.view) for one in found])


@router.post("/shared/{secret}", status_code=201, responses={**errors.CHANGING})
async def copy_shared(secret: Secret, service: Here, caller: Reading) -> CopiedConversation:
    """Copy a shared conversation, as far as the caller is shown it, to go on from there."""
    name = await asyncio.to_thread(partial(service.engine.history.copy_shared, secret, reader=caller.reader))
    return CopiedConversation(session=name)
