"""Routes of what is kept of the people who ask: conversations, answers, feedback. Each sees their own."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Query

from ragstone.errors import NotFound
from ragstone.serve.http import wire_errors
from ragstone.serve.http.door import Reading
from ragstone.serve.http.service import Here
from ragstone.serve.http.wire import people as wire
from ragstone.serve.http.wire.asking import NAMES

router = APIRouter(tags=["people"])
Session = Annotated[str, Path(max_length=200, pattern=NAMES, description="slashes in it may stand as they are")]
ResponseId = Annotated[str, Path(min_length=1, max_length=100)]


@router.get("/conversations", responses={**wire_errors.reading})
async def conversations(service: Here, caller: Reading) -> wire.SessionList:
    """The conversations of whoever asks, the last one first."""
    kept = await asyncio.to_thread(partial(service.engine.conversations, reader=caller.reader))
    shown = [wire.Session(session=one.name, title=one.first, turns=one.turns, last=one.last) for one in kept]
    return wire.SessionList(conversations=shown)


@router.get("/conversations/{session:path}", responses={**wire_errors.reading})
async def conversation(session: Session, service: Here, caller: Reading) -> wire.Conversation:
    """What was said in a conversation."""
    said = await asyncio.to_thread(partial(service.engine.turns, session, reader=caller.reader))
    if not said:
        raise NotFound("there is no such conversation")
    turns = [wire.Turn.model_validate(one, from_attributes=True) for one in said]
    return wire.Conversation(session=session, turns=turns)


@router.delete("/conversations/{session:path}", responses={**wire_errors.reading})
async def forget(session: Session, service: Here, caller: Reading) -> wire.Forgotten:
    """Delete a conversation, its words too."""
    turns = await asyncio.to_thread(partial(service.engine.forget, session, reader=caller.reader))
    if not turns:
        raise NotFound("there is no such conversation")
    return wire.Forgotten(turns=turns)


@router.get("/responses/{response_id}", responses={**wire_errors.reading})
async def kept_response(
    response_id: ResponseId,
    service: Here,
    caller: Reading,
    explain: Annotated[bool, Query(description="tell the evidence, as far as it is still stored")] = False,
) -> wire.KeptResponse:
    """An answer that was given to whoever asks, as it was, and what was said of it."""
    found = await asyncio.to_thread(partial(service.engine.response, response_id, reader=caller.reader))
    return wire.KeptResponse.of(found, explain=explain)


@router.post("/feedback", responses={**wire_errors.changing})
async def feedback(body: wire.FeedbackRequest, service: Here, caller: Reading) -> wire.Feedback:
    """Say whether an answer was good. Only answers that were given to the same reader can be rated."""
    rate = partial(service.engine.feedback, body.response_id, vote=body.vote, reader=caller.reader)
    return wire.Feedback.of(await asyncio.to_thread(partial(rate, reason=body.reason, correction=body.correction)))
