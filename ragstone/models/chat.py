"""A whole reply of a language model, built on its stream; one that must be JSON of a given form; and quoting for it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import aclosing
from typing import TypeVar

from pydantic import BaseModel, Field, ValidationError, create_model

from ragstone.answers import Message, Reply
from ragstone.errors import ModelError
from ragstone.protocols import ChatModel

Form = TypeVar("Form", bound=BaseModel)
ATTEMPTS = 3
"""Replies asked for until one has the form."""
_STARTS = 50
"""Places where the object may begin that are tried."""
_SHOWN = 500
"""Characters of a wrong reply that the model is shown."""


async def complete(model: ChatModel, messages: Sequence[Message], form: type[BaseModel] | None = None) -> Reply:
    """The whole reply.

    Raises:
        ModelError: the model could not be reached, refused, or ended without a reply.
    """
    async with aclosing(model.stream(messages, form)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Reply):
                return piece
    raise ModelError(f"{model.name} ended without a reply")


async def complete_as(model: ChatModel, messages: Sequence[Message], form: type[Form]) -> Form:
    """A reply of a form. One that has it not is looked through for an object that has, and else asked for again.

    Raises:
        ModelError: no reply had the form.
    """
    asked = list(messages)
    for _ in range(ATTEMPTS):
        reply = await complete(model, asked, form)
        found, wrong = _read(reply.text, form)
        if found is not None:
            return found
        asked = [
            *messages,
            Message(role="assistant", content=reply.text[:_SHOWN]),
            Message(role="user", content=f"That is not the JSON object asked for: {wrong}. Reply with it alone."),
        ]
    raise ModelError(f"{model.name} did not give the JSON asked for in {ATTEMPTS} replies")


def new_key() -> str:
    """Marks what is quoted in one request; drawn anew for each, so that no document can know it."""
    return f"k{secrets.token_hex(6)}"


def quoted(parts: Sequence[tuple[str, str]], key: str) -> str:
    """Untrusted texts, each under its name and between lines with the key, which none of them can close."""
    return "\n".join(f"{key} {name}\n{text.replace(key, '')}\n{key} end of {name}" for name, text in parts)


def keyed(form: type[Form], key: str) -> type[Form]:
    """The form with the key, so that no reply that stands in a document is taken for the model's own."""
    return create_model(form.__name__, __base__=form, key=(str, Field(pattern=f"^{key}$")))


def _read(text: str, form: type[Form]) -> tuple[Form | None, str]:
    """The first object in the text that has the form; otherwise what is wrong with what there is."""
    wrong = "there is no object in it"
    start = text.find("{")
    for _ in range(_STARTS):
        if start < 0:
            break
        for end in _ends(text, start):
            try:
                return form.model_validate_json(text[start:end]), ""
            except ValidationError as error:
                first = error.errors()[0]
                wrong = f"{'.'.join(map(str, first['loc'])) or 'the object'}: {first['msg']}"
        start = text.find("{", start + 1)
    return None, wrong


def _ends(text: str, start: int) -> list[int]:
    """Where the object that begins at ``start`` may end: where its braces, outside strings, are balanced."""
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
                return [place + 1]
    return []
