"""A scripted model that plans research as a good small model would, and errs in a third of its replies."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import ClassVar

from pydantic import BaseModel

from ragstone.core.answers import Message, Piece, Reply
from ragstone.core.request import Request

BROKEN = ("I would search for the river.", "{", '{"action": "fly"}', "", "null", '{"key": "k", "action": "stop"}')
_WORD = re.compile(r"\w+")


class ErringPlanner:
    """Searches for the title of a supporting passage that it is not shown, if what it is shown mentions the title.

    ``titles`` are those of the question at hand. Its answers say nothing."""

    name = "scripted:erring"
    titles: ClassVar[Sequence[str]] = ()
    calls: ClassVar[Iterator[int]] = itertools.count()

    def __init__(self, settings: object) -> None:
        del settings

    def count(self, text: str) -> int:
        return max(1, len(text) // 4)

    async def stream(
        self, messages: Sequence[Message], request: Request, form: type[BaseModel] | None = None
    ) -> AsyncGenerator[Piece]:
        del request, form
        text = self._reply(messages) or " "
        yield text
        prompt = sum(self.count(message.content) for message in messages)
        yield Reply(text=text, prompt_tokens=prompt, completion_tokens=self.count(text))

    def _reply(self, messages: Sequence[Message]) -> str:
        if "Decide on one next action" not in messages[0].content:
            return "The documents say so [1]."
        number = next(self.calls)
        if number % 3 == 2:
            return BROKEN[number // 3 % len(BROKEN)]
        key = re.findall(r'"key": "(\w+)"', messages[0].content)[-1]
        shown, _, done = messages[1].content.partition(f"{key} actions so far")
        for title in self.titles:
            is_read = re.search(rf"{key} passage \d+: {re.escape(title)}\n", shown)
            if not is_read and plain(title) in plain(shown) and f"search: {title}" not in done:
                return json.dumps({"key": key, "action": "search", "text": title})
        return json.dumps({"key": key, "action": "stop"})


def plain(text: str) -> str:
    """Return the words of a text in lower case, with a blank before and behind each."""
    return f" {' '.join(_WORD.findall(text.lower()))} "
