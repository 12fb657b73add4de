"""What all messages have in common, and the one form of every error."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Scalar = str | int | float | bool
Metadata = dict[str, Scalar | list[Scalar]]
"""Facts of a document, all usable in filters."""

Code = Literal[
    "usage",
    "settings",
    "unauthorized",
    "forbidden",
    "not_found",
    "method_not_allowed",
    "too_slow",
    "conflict",
    "locked",
    "too_large",
    "unsupported",
    "invalid",
    "too_many",
    "unavailable",
    "timeout",
    "failed",
]
"""What kind of error it is. Programs decide by this, people read the message."""

Share = Annotated[float, Field(ge=0, le=1)]
Characters = Annotated[int, Field(ge=0, description="counted as Unicode code points")]


def _is_whole(number: float) -> bool:
    return number.is_integer() and abs(number) <= 2**53


class Request(BaseModel):
    """What a client sends. A name that is not known is refused, for it would otherwise be lost without a word."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _whole_numbers(cls, sent: Any) -> Any:
        """In JSON 1.0 is a whole number; nothing else is taken for what it is not."""
        if not isinstance(sent, dict):
            return sent
        return {name: int(it) if isinstance(it, float) and _is_whole(it) else it for name, it in sent.items()}


class Response(BaseModel):
    """What the server sends. Every field is always there."""

    model_config = ConfigDict(frozen=True)


class Trouble(Response):
    """What went wrong, and the id under which the log knows it."""

    code: Code
    message: str
    request_id: str


class Problem(Response):
    """The body of every response that is no success."""

    error: Trouble
