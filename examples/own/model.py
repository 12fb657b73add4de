"""A language model of your own: respond.model.name=own.model:Parrot."""

from collections.abc import AsyncGenerator, Sequence

from pydantic import BaseModel

from ragstone.core.answers import Message, Piece, Reply
from ragstone.core.request import Request
from ragstone.settings.services import ModelSettings


class Parrot:
    """Repeats the end of what it was told."""

    def __init__(self, settings: ModelSettings) -> None:
        self.name, self._most = "own:parrot", settings.max_tokens

    def count(self, text: str) -> int:
        return len(text.split())

    async def stream(
        self, messages: Sequence[Message], request: Request, form: type[BaseModel] | None = None
    ) -> AsyncGenerator[Piece]:
        words = messages[-1].content.split()[-self._most :]
        for word in words:
            yield f"{word} "
        read = sum(self.count(message.content) for message in messages)
        yield Reply(text="".join(f"{word} " for word in words), prompt_tokens=read, completion_tokens=len(words))
