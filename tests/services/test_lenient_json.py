"""JSON as models write it, and the object of a form among their words."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest
from pydantic import BaseModel

from ragstone.core.answers import Message, Piece, Reply
from ragstone.core.errors import ModelError
from ragstone.core.request import Request
from ragstone.services.chat import complete_as
from ragstone.services.lenient_json import parsed


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, "b": [1, 2]}', {"a": 1, "b": [1, 2]}),
        ('{"a": 1, "b": [1, 2,],}', {"a": 1, "b": [1, 2]}),
        ("{'a': 'it''s', 'b': True, 'c': None}", {"a": "it''s", "b": True, "c": None}),
        ("{'a': 'it\\'s \"so\"', 'b': False}", {"a": 'it\'s "so"', "b": False}),
        ("{'a': 'the pump's pressure', 'b': 2}", {"a": "the pump's pressure", "b": 2}),
        ('{"a": 1, // the first\n "b": 2 /* the last */}', {"a": 1, "b": 2}),
        ('{"a": "http://x//y, True, None,]"}', {"a": "http://x//y, True, None,]"}),
        ("{“a”: “b”}", {"a": "b"}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ("no JSON", None),
        ("{" * 100_000, None),
    ],
)
def test_mends_usual_slips(text: str, value: object):
    assert parsed(text) == value


class Verdict(BaseModel):
    score: int


class Says:
    """A model that says the next of these texts."""

    name = "own:says"

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)

    def count(self, text: str) -> int:
        return len(text)

    async def stream(self, messages: Sequence[Message], request: Request, form: object = None) -> AsyncGenerator[Piece]:  # noqa: ARG002
        yield Reply(text=self.texts.pop(0))


@pytest.mark.parametrize(
    "text",
    [
        '{"score": 9}',
        'First I thought {"score": 0}, but no.\n{"score": 9}',
        "```json\n{'score': 9,}\n```",
        '{"score": 9} and {"other": 1}',
        'a { b } {"score": 9}',
        '{"result": {"score": 9}}',
    ],
)
def test_last_object_of_the_form_counts(text: str):
    asked = asyncio.run(complete_as(Says(text), [], Verdict, Request.by_owner()))
    assert asked == Verdict(score=9)


def test_asks_again_for_the_form():
    model = Says("nine", '{"score": "high"}', '{"score": 9}')
    assert asyncio.run(complete_as(model, [], Verdict, Request.by_owner())).score == 9
    with pytest.raises(ModelError, match="did not send the requested JSON in 3 replies"):
        asyncio.run(complete_as(Says("a", "b", "c"), [], Verdict, Request.by_owner()))
