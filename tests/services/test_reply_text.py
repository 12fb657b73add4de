"""Thinking, special tokens and wrappers are taken off, however a reply is cut into pieces."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator

import pytest
from services.behaviours import ANSWER, TEXT, THOUGHT, Behaviour

from ragstone.core.answers import Piece, Reply
from ragstone.core.errors import ModelError
from ragstone.services.reply_text import Habits, cleaned

UNMARKED = "The pump may have 9 bar, or 4.2."
"""Thinking that looks like an answer."""


async def pieces_of(text: str, size: int) -> AsyncGenerator[Piece]:
    for at in range(0, len(text), size):
        yield text[at : at + size]
    yield Reply(text=text, completion_tokens=5)


def clean(text: str, size: int = 7, habits: Habits | None = None, *, form: bool = False) -> tuple[str, Reply]:
    async def collect() -> list[Piece]:
        return [one async for one in cleaned(pieces_of(text, size), "own:model", habits or Habits(), form=form)]

    *words, reply = asyncio.run(collect())
    assert isinstance(reply, Reply)
    return "".join(map(str, words)), reply


def content(behaviour: Behaviour) -> str:
    """Return the text that a row streams."""
    events = [json.loads(one.removeprefix(b"data: ")) for one in behaviour.sends.pieces[:-1]]
    deltas = [one["choices"][0]["delta"] for one in events if one["choices"]]
    return "".join(one["content"] for one in deltas if isinstance(one.get("content"), str))


def is_streamed_text(behaviour: Behaviour) -> bool:
    """Return whether the whole reply of a row is text in events."""
    pieces = behaviour.sends.pieces
    return pieces[0].startswith(b"data: ") and b'"reasoning' not in pieces[0] and b'"thinking"' not in pieces[0]


@pytest.mark.parametrize("behaviour", list(filter(is_streamed_text, TEXT)), ids=lambda one: one.name)
def test_pieces_of_any_size_are_cleaned_alike(behaviour: Behaviour):
    text = content(behaviour)
    for size in (1, 2, 3, 5, 8, 13, 40, len(text)):
        words, reply = clean(text, size)
        assert reply.text == words == behaviour.text


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_learns_that_a_model_thinks_without_a_tag(size: int):
    habits = Habits()
    for turn in range(2):
        words, reply = clean(f"{UNMARKED}\n</think>\n{ANSWER}", size, habits)
        assert (reply.text, reply.reasoning) == (ANSWER, UNMARKED)
        assert words == ANSWER or turn == 0
    assert clean(ANSWER, size, habits)[0] == ANSWER  # it waits for the end


def test_streams_at_once_what_is_no_thinking():
    async def first() -> Piece:
        stream = cleaned(pieces_of(ANSWER, 4), "own:model", Habits())
        try:
            return await anext(stream)
        finally:
            await stream.aclose()

    assert asyncio.run(first()) == "The pump"


def test_stops_waiting_for_a_model_that_does_not_think():
    habits = Habits()
    assert clean(f"Okay. {ANSWER}", habits=habits)[0] == f"Okay. {ANSWER}"
    assert habits.thinks_first is False


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ('{"answer": "It \\"opens\\" at ten [1].", "sources": [1', 'It "opens" at ten [1].'),
        ('{"reasoning": "So.", "answer": "It opens at ten.", "sour', "It opens at ten."),
        ('{"answer": "It opens at', "It opens at"),
        ('{"name": "x", "text": "It opens', '{"name": "x", "text": "It opens'),
        ('{"sources": [1', '{"sources": [1'),
    ],
)
def test_json_that_was_cut_off_shows_its_answer(written: str, shown: str):
    assert clean(written)[1].text == shown


def test_json_that_was_asked_for_is_kept():
    text = '{"answer": "yes"}'
    assert clean(f"<think>{THOUGHT}</think>{text}", form=True)[1].text == text
    assert clean(text)[1].text == "yes"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Use `</think>` at the end.", "Use `</think>` at the end."),
        ("A line with ` one tick\n<think>a</think>b", "A line with ` one tick\nb"),
        ("~~~\n<think>\n~~~\nText.", "~~~\n<think>\n~~~\nText."),
        ("See <think> in the manual.", "See <think> in the manual."),
        ("Text <think>a</think> and more.", "Text  and more."),
        ("```markdown\nA.\n```\nThen:\n```sh\nls\n```", "```markdown\nA.\n```\nThen:\n```sh\nls\n```"),
        ("<answer>Yes.</answer>", "Yes."),
        ("Write <answer>Yes.</answer>", "Write <answer>Yes.</answer>"),
        ("<details>\n<summary>More</summary>\n</details>", "<details>\n<summary>More</summary>\n</details>"),
        ("```sh\nls\n```<|im_end|>", "```sh\nls\n```"),
        ("```sh\nls<|im_end|>", "```sh\nls"),
    ],
)
def test_code_and_quotations_are_kept(text: str, kept: str):
    for size in (1, 6, 100):
        assert clean(text, size)[1].text == kept


@pytest.mark.parametrize("text", ["", "  \n", "<think>", f"<think>{THOUGHT}", "<|im_end|>", f"{THOUGHT}</think>"])
def test_empty_reply_is_a_failure(text: str):
    with pytest.raises(ModelError, match="own:model sent an empty reply"):
        clean(text, 3)
