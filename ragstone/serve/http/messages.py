"""The base classes and types of all request and response bodies."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

Scalar = str | int | float | bool
Metadata = dict[str, Scalar | list[Scalar]]
"""The metadata of a document. Filters can use every key."""
Share = Annotated[float, Field(ge=0, le=1)]
Characters = Annotated[int, Field(ge=0, description="counted as Unicode code points")]


class Request(BaseModel):
    """A request body. An unknown field is an error, because it would otherwise be dropped silently."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _integers(cls, sent: Any) -> Any:
        """Accept 1.0 as an integer, as JSON does. Strict mode refuses every other conversion."""
        if not isinstance(sent, dict):
            return sent
        fields = cast(dict[str, Any], sent)
        return {name: int(value) if _is_integer(value) else value for name, value in fields.items()}


def _is_integer(value: object) -> bool:
    return isinstance(value, float) and value.is_integer() and abs(value) <= 2**53


class Response(BaseModel):
    """A response body. Every field is always present."""

    model_config = ConfigDict(frozen=True)
