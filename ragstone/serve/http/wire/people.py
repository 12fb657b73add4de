"""What is kept of the people who ask: conversations, answers, and what they thought of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ragstone.serve import as_json
from ragstone.serve.http.wire.asking import Answer
from ragstone.serve.http.wire.base import Request, Response
from ragstone.usage.responses import Feedback as FeedbackRecord
from ragstone.usage.responses import Response as ResponseRecord

Vote = Literal["up", "down"]
Opinion = Annotated[str, Field(max_length=4_000)]


class Session(Response):
    """A conversation that is kept. ``last`` is when it was last gone on with, in seconds since 1970."""

    session: str
    title: str = Field(description="the question it began with")
    turns: int
    last: float


class SessionList(Response):
    """Conversations, the last one first."""

    conversations: list[Session]


class Turn(Response):
    """A question of a conversation and its answer. ``at`` is in seconds since 1970."""

    at: float
    question: str
    answer: str
    response_id: str = Field(description="of the whole answer; empty where it is not kept")


class Conversation(Response):
    """What was said, the oldest first."""

    session: str
    turns: list[Turn]


class Forgotten(Response):
    """How many questions of a conversation were deleted."""

    turns: int


class FeedbackRequest(Request):
    """Whether an answer was good. Said again it counts once; the last word counts."""

    response_id: Annotated[str, Field(min_length=1, max_length=100)]
    vote: Vote
    reason: Opinion = Field(default="", description="in the words of who says it")
    correction: Opinion = Field(default="", description="document that would have been right, by its id")


class Feedback(Response):
    """What somebody thinks of an answer: the last thing they said. ``at`` is in seconds since 1970."""

    response_id: str
    voice: str
    at: float
    vote: Vote
    reason: str
    correction: str

    @classmethod
    def of(cls, record: FeedbackRecord) -> Feedback:
        return cls.model_validate(record, from_attributes=True)


class KeptResponse(Response):
    """An answer as it was given, and what was said of it. ``at`` is in seconds since 1970."""

    response_id: str
    at: float
    question: str
    answer: Answer
    feedback: list[Feedback]

    @classmethod
    def of(cls, record: ResponseRecord, *, explain: bool) -> KeptResponse:
        hits = [as_json.hit(one, rank, explain=True) for rank, one in enumerate(record.hits, start=1)]
        return cls(
            response_id=record.response_id,
            at=record.at,
            question=record.question,
            answer=Answer.model_validate({"hits": hits if explain else None} | dict(record.answer)),
            feedback=[Feedback.of(one) for one in record.feedback],
        )
