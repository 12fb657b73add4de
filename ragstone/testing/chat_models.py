"""Checks of language models: pieces that make up the reply, a reply that counts, and an end when asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing

from ragstone.core.answers import Message, Piece, Reply
from ragstone.core.protocols import ChatModel
from ragstone.core.request import Request
from ragstone.services.chat import complete
from ragstone.testing.expect import expect

ASKED = (
    Message(role="system", content="You are brief."),
    Message(role="user", content="Count from one to twenty, in words."),
)
"""A conversation that any model can continue."""


def pieces_make_up_the_final_reply(model: ChatModel) -> None:
    """Check that a stream is text in pieces, and last the whole reply."""

    async def collect() -> list[Piece]:
        async with aclosing(model.stream(ASKED, request=Request.by_owner())) as stream:
            return [piece async for piece in stream]

    pieces = asyncio.run(collect())
    expect(pieces and isinstance(pieces[-1], Reply), "a stream ends with a Reply", pieces[-1:])
    words = [piece for piece in pieces[:-1] if isinstance(piece, str)]
    expect(len(words) == len(pieces) - 1, "a stream has only text before its Reply")
    expect(all(words), "no piece of a stream is empty")
    last = pieces[-1]
    text = last.text if isinstance(last, Reply) else last
    expect(text, "the reply is not empty")
    expect("".join(words) == text, "the pieces make up the text of the Reply", ("".join(words), text))


def reply_counts_its_tokens(model: ChatModel) -> None:
    """Check that a reply counts the tokens of prompt and completion."""
    reply = asyncio.run(complete(model, ASKED, request=Request.by_owner()))
    expect(reply.prompt_tokens >= 5, "a reply counts the tokens of its prompt", reply.prompt_tokens)
    expect(reply.completion_tokens >= 1, "a reply counts its own tokens", reply.completion_tokens)
    long = [ASKED[0], Message(role="user", content=ASKED[1].content * 5)]
    more = asyncio.run(complete(model, long, request=Request.by_owner())).prompt_tokens
    expect(more > reply.prompt_tokens, "a longer prompt has more tokens", (reply.prompt_tokens, more))


def has_a_name_and_counts_tokens(model: ChatModel) -> None:
    """Check the name, and that the tokens of a text can be counted before it is sent."""
    expect(":" in model.name, "the name is that of the settings, such as kind:name", model.name)
    empty, short, long = (model.count(text) for text in ("", "one two three four five six", "one two three " * 20))
    expect(empty <= 2, "an empty text has next to no tokens", empty)
    expect(5 <= short < long, "a longer text has more tokens", (short, long))


def serves_calls_at_once(model: ChatModel) -> None:
    """Check that two calls at the same time are both answered."""

    async def both() -> list[Reply]:
        calls = (complete(model, ASKED, request=Request.by_owner()) for _ in range(2))
        return list(await asyncio.gather(*calls))

    expect(all(reply.text for reply in asyncio.run(both())), "calls at the same time are all answered")


def closing_the_stream_ends_it_soon(model: ChatModel) -> None:
    """Check that a stream can be left after its first piece, and that the model then serves the next call."""

    async def begin() -> Piece | None:
        async with aclosing(model.stream(ASKED, request=Request.by_owner())) as stream:
            async for piece in stream:
                return piece
        return None

    expect(isinstance(asyncio.run(begin()), str), "a stream begins with text")
    after = asyncio.run(complete(model, ASKED, request=Request.by_owner()))
    expect(after.text, "the model answers after a stream was left")


CHAT_MODEL_CHECKS: tuple[Callable[[ChatModel], None], ...] = (
    pieces_make_up_the_final_reply,
    reply_counts_its_tokens,
    has_a_name_and_counts_tokens,
    serves_calls_at_once,
    closing_the_stream_ends_it_soon,
)


def check_chat_model(model: ChatModel) -> None:
    """Run all checks of language models.

    Raises:
        Failed: at the first that does not hold.
    """
    for check in CHAT_MODEL_CHECKS:
        check(model)
