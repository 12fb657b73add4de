"""Get complete replies of a language model, as text or as JSON of a given form, and quote untrusted text for it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from typing import Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, Field, ValidationError, create_model

from ragstone.core.answers import Message, Reply
from ragstone.core.errors import ModelError
from ragstone.core.protocols import ChatModel
from ragstone.core.request import Request
from ragstone.services.lenient_json import parsed

Form = TypeVar("Form", bound=BaseModel)
MAX_REPLIES = 3
"""Replies requested until one has the form."""
_MAX_STARTS = 200
"""Opening braces of a reply that are tried."""
_MAX_SHOWN = 500
"""Characters of a wrong reply that the model sees again."""


@runtime_checkable
class KnowsWindow(Protocol):
    """A model that knows its context window."""

    async def window(self) -> int:
        """Return the tokens of the context window, or 0 if they are not known."""
        ...


async def window_of(model: ChatModel) -> int:
    """Return the tokens of a model's context window, or 0 if the model does not know them."""
    return await model.window() if isinstance(model, KnowsWindow) else 0


async def complete(
    model: ChatModel, messages: Sequence[Message], request: Request, form: type[BaseModel] | None = None
) -> Reply:
    """Return the complete reply.

    Raises:
        ModelError: the model cannot be reached, refuses, or ended without a reply.
    """
    async with aclosing(model.stream(messages, request, form)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Reply):
                return piece
    raise ModelError(f"{model.name} ended without a reply")


async def complete_as(model: ChatModel, messages: Sequence[Message], form: type[Form], request: Request) -> Form:
    """Return a reply of the given form: the last object in a reply that has it. Ask again if there is none.

    Raises:
        ModelError: no reply had the form.
    """
    conversation = list(messages)
    for _ in range(MAX_REPLIES):
        reply = await complete(model, conversation, request, form)
        found, wrong = _read(reply.text, form)
        if found is not None:
            return found
        conversation = [
            *messages,
            Message(role="assistant", content=reply.text[:_MAX_SHOWN]),
            Message(role="user", content=f"That is not the JSON object asked for: {wrong}. Reply with it alone."),
        ]
    raise ModelError(f"{model.name} did not send the requested JSON in {MAX_REPLIES} replies")


def has_form(text: str, form: type[BaseModel]) -> bool:
    """Return whether a reply contains an object of this form."""
    return _read(text, form)[0] is not None


def new_key() -> str:
    """Return a random key that encloses quotations in one prompt, so that no document can know it."""
    return f"k{secrets.token_hex(6)}"


def quoted(parts: Sequence[tuple[str, str]], key: str) -> str:
    """Quote untrusted texts, each with its name and between lines with the key, which the texts cannot contain."""
    return "\n".join(f"{key} {name}\n{text.replace(key, '')}\n{key} end of {name}" for name, text in parts)


def keyed(form: type[Form], key: str) -> type[Form]:
    """Return the form with the key as a field, so that a reply planted in a document is not accepted."""
    return create_model(form.__name__, __base__=form, key=(str, Field(pattern=f"^{key}$")))


def _read(text: str, form: type[Form]) -> tuple[Form | None, str]:
    """Return the last object in the text that has the form, or what is wrong with the text."""
    result: Form | None = None
    wrong = "it contains no object"
    for item in objects(text, form):
        if isinstance(item, str):
            wrong = item
        else:
            result = item
    return result, wrong


def objects(text: str, form: type[Form]) -> Iterator[Form | str]:
    """Yield the objects in a text that have a form, whatever stands around them, and what is wrong with the others."""
    start = text.find("{")
    for _ in range(_MAX_STARTS):
        if start < 0:
            break
        after = start + 1
        if end := _end(text, start):
            try:
                yield form.model_validate(parsed(text[start:end]))
                after = end
            except ValidationError as error:
                first = error.errors()[0]
                yield f"{'.'.join(map(str, first['loc'])) or 'the object'}: {first['msg']}"
        start = text.find("{", after)


def _end(text: str, start: int) -> int:
    """Return where the object at ``start`` ends, by balancing braces outside strings; 0 if it does not."""
    depth, quoted, escaped = 0, False, False
    for place in range(start, len(text)):
        letter = text[place]
        if escaped:
            escaped = False
        elif letter == "\\":
            escaped = quoted
        elif letter == '"':
            quoted = not quoted
        elif not quoted and letter in "{}":
            depth += 1 if letter == "{" else -1
            if depth == 0:
                return place + 1
    return 0
