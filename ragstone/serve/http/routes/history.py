"""What the server keeps for each caller: conversations, answers, feedback. Callers see only their own."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from pydantic import Field

from ragstone.core.errors import NotFound
from ragstone.serve import as_json
from ragstone.serve.http import errors
from ragstone.serve.http.authentication import Reading
from ragstone.serve.http.errors import Refused
from ragstone.serve.http.messages import Request, Response
from ragstone.serve.http.routes.ask import PRINTABLE, Answer
from ragstone.serve.http.service import Here

Vote = Literal["up", "down"]
Opinion = Annotated[str, Field(max_length=4_000)]


# ---------------------------------------------------------------- messages
class Session(Response):
    """A conversation. ``last`` is the time of its last question, in seconds since 1970."""

    session: str
    title: str = Field(description="what the caller calls it, or else the first question")
    turns: int
    last: float
    pinned: bool = Field(description="whether the caller keeps it at the top")


class SessionList(Response):
    """Conversations: those that are pinned, then the others, most recent first each."""

    conversations: list[Session]


class Turn(Response):
    """A question of a conversation and its answer. ``at`` is in seconds since 1970."""

    at: float
    question: str
    answer: str
    response_id: str = Field(description="of the full answer; empty if it is no longer kept")


class Conversation(Response):
    """The turns of a conversation, oldest first."""

    session: str
    turns: list[Turn]


class SessionChange(Request):
    """What to call a conversation, and whether to keep it at the top; what is left out stays as it is."""

    title: Annotated[str, Field(max_length=200, pattern=PRINTABLE)] | None = Field(
        default=None, description="empty: the first question again"
    )
    pinned: bool | None = None


class Forgotten(Response):
    """How many turns of a conversation were deleted."""

    turns: int


class FeedbackRequest(Request):
    """A vote on an answer. A later vote replaces an earlier one."""

    response_id: Annotated[str, Field(min_length=1, max_length=100)]
    vote: Vote
    reason: Opinion = Field(default="", description="in the voter's own words")
    correction: Opinion = Field(default="", description="id of the document that has the right answer")


class Feedback(Response):
    """A voter's last vote on an answer. ``at`` is in seconds since 1970."""

    response_id: str
    voice: str
    at: float
    vote: Vote
    reason: str
    correction: str


class KeptResponse(Response):
    """An answer as it was given, and the votes on it. ``at`` is in seconds since 1970."""

    response_id: str
    at: float
    question: str
    answer: Answer
    feedback: list[Feedback]


# ---------------------------------------------------------------- routes
router = APIRouter(tags=["people"])
SessionPath = Annotated[str, Path(max_length=200, pattern=PRINTABLE, description="may contain slashes")]
ResponseId = Annotated[str, Path(min_length=1, max_length=100)]


@router.get("/conversations", responses={**errors.READING})
async def conversations(
    service: Here,
    caller: Reading,
    q: Annotated[str, Query(max_length=1_000, description="words of the title, a question or an answer")] = "",
) -> SessionList:
    """List the caller's conversations, pinned ones first, then the most recent."""
    found = await asyncio.to_thread(partial(service.engine.history.conversations, reader=caller.reader, q=q))
    sessions = [
        Session(session=one.name, title=one.title or one.first, turns=one.turns, last=one.last, pinned=one.pinned)
        for one in found
    ]
    return SessionList(conversations=sessions)


@router.get("/conversations/{session:path}", responses={**errors.READING})
async def conversation(session: SessionPath, service: Here, caller: Reading) -> Conversation:
    """Return the turns of a conversation."""
    found = await asyncio.to_thread(partial(service.engine.history.turns, session, reader=caller.reader))
    if not found:
        raise NotFound("there is no such conversation")
    turns = [Turn.model_validate(one, from_attributes=True) for one in found]
    return Conversation(session=session, turns=turns)


@router.patch("/conversations/{session:path}", responses={**errors.CHANGING})
async def change_conversation(
    session: SessionPath, body: SessionChange, service: Here, caller: Reading
) -> SessionChange:
    """Rename or pin a conversation."""
    name = partial(service.engine.history.name, session, title=body.title, pinned=body.pinned, reader=caller.reader)
    await asyncio.to_thread(name)
    return body


@router.delete("/conversations/{session:path}", responses={**errors.READING})
async def forget(session: SessionPath, service: Here, caller: Reading) -> Forgotten:
    """Delete a conversation with its text and the files that are attached to it."""
    turns = await asyncio.to_thread(partial(service.engine.history.forget, session, reader=caller.reader))
    if not turns:
        raise NotFound("there is no such conversation")
    service.sweeper.wake()
    return Forgotten(turns=turns)


@router.get("/responses/{response_id}", responses={**errors.READING})
async def kept_response(
    response_id: ResponseId,
    service: Here,
    caller: Reading,
    explain: Annotated[bool, Query(description="return the evidence that is still stored")] = False,
) -> KeptResponse:
    """Return an answer that was given to the caller, and the votes on it."""
    response = await asyncio.to_thread(partial(service.engine.history.response, response_id, reader=caller.reader))
    hits: list[dict[str, Any]] | None = None
    if explain:
        hits = [
            as_json.hit(one, rank, explain=True) for rank, one in enumerate(caller.view.hits(response.hits), start=1)
        ]
    answer = {"hits": hits} | caller.view.stored(response.answer)
    return KeptResponse(
        response_id=response.response_id,
        at=response.at,
        question=response.question,
        answer=Answer.model_validate(answer),
        feedback=[Feedback.model_validate(one, from_attributes=True) for one in response.feedback],
    )


@router.post("/feedback", responses={**errors.CHANGING})
async def feedback(body: FeedbackRequest, service: Here, caller: Reading) -> Feedback:
    """Vote on an answer that was given to the caller. Visitors of a site can give no reason."""
    if caller.is_visitor and (body.reason or body.correction):
        raise Refused("forbidden", "visitors of a site vote without a reason")
    rate = partial(service.engine.history.rate, body.response_id, vote=body.vote, reader=caller.reader)
    given = await asyncio.to_thread(partial(rate, voice=caller.voice, reason=body.reason, correction=body.correction))
    return Feedback.model_validate(given, from_attributes=True)
