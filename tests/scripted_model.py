"""A `ChatModel` that says what a test tells it to, piece by piece, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence

from pydantic import BaseModel

from ragstone.core.answers import Message, Piece, Reply
from ragstone.core.errors import ModelError
from ragstone.core.request import Request

Line = str | Exception | tuple[str, Exception] | Callable[[Sequence[Message]], str]
SIZE = 7
"""Characters of a piece."""


class ScriptedModel:
    """Gives one line after the other, and the last for ever; of a pair, the error after the words. Words are tokens."""

    def __init__(self, *lines: Line, name: str = "scripted:one") -> None:
        self._lines, self.name = list(lines), name
        self.asked: list[Sequence[Message]] = []
        self.forms: list[type[BaseModel] | None] = []
        self.stopped = 0

    def count(self, text: str) -> int:
        return len(text.split())

    async def stream(
        self,
        messages: Sequence[Message],
        request: Request,  # noqa: ARG002
        form: type[BaseModel] | None = None,
    ) -> AsyncGenerator[Piece]:
        self.asked.append(messages)
        self.forms.append(form)
        line = self._lines.pop(0) if len(self._lines) > 1 else self._lines[0]
        text, error = line if isinstance(line, tuple) else ("", line) if isinstance(line, Exception) else (line, None)
        text = text if isinstance(text, str) else text(messages)
        try:
            for start in range(0, len(text), SIZE):
                yield text[start : start + SIZE]
            if error:
                raise error
            prompt = sum(self.count(message.content) for message in messages)
            yield Reply(text=text, prompt_tokens=prompt, completion_tokens=self.count(text))
        except GeneratorExit:
            self.stopped += 1
            raise


REFUSED = ModelError("scripted:one refuses")
