"""Tasks that chat programs send in the background: a title, tags or further questions for a conversation.

Open WebUI and LibreChat send them like questions, several for each turn. They are about the conversation, which stands
in the task itself, and want a JSON object or a bare title.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field

from ragstone.core.answers import Message, Turn
from ragstone.core.frozen import frozen
from ragstone.core.protocols import ChatModel
from ragstone.core.request import Request
from ragstone.services.chat import complete_as

_LONGEST_TITLE = 60
_TASK = re.compile(r"\s*#+ Task:\s*(.*)")
_CONVERSATION = re.compile(r"<chat_history>(.*)</chat_history>|<text>", re.DOTALL)
_BARE_TITLE = re.compile(
    r"^(?:Please generate|Provide) a concise, 5-word-or-less title for the conversation\b"
    r"|^Analyze this conversation and provide:\n1\. The detected language\b",
    re.MULTILINE,
)
_SPEAKER = re.compile(r"^(USER|ASSISTANT|AI):[ \t]*", re.MULTILINE | re.IGNORECASE)
_Line = Annotated[str, Field(max_length=300)]


class _Title(BaseModel):
    title: _Line


class _Tags(BaseModel):
    tags: Annotated[list[_Line], Field(max_length=10)]


class _FollowUps(BaseModel):
    follow_ups: Annotated[list[_Line], Field(max_length=10)]


class _Queries(BaseModel):
    queries: Annotated[list[_Line], Field(max_length=10)]


class _Continuation(BaseModel):
    text: _Line


@frozen
class Task:
    """A background task: the form of its result, and what the user said in the conversation, the oldest first."""

    text: str
    form: type[BaseModel]
    said: tuple[str, ...]
    is_bare: bool = False

    FORMS: ClassVar[Sequence[type[BaseModel]]] = (_Title, _Tags, _FollowUps, _Queries, _Continuation)

    async def done_by(self, model: ChatModel, request: Request) -> str:
        """Return the result that a model writes.

        Raises:
            ModelError: the model failed, or wrote something else.
        """
        return self._sent(await complete_as(model, [Message(role="user", content=self.text)], self.form, request))

    def done_without_model(self) -> str:
        """Return a result from the words of the conversation alone."""
        first, last = (self.said[at] if self.said else "" for at in (0, -1))
        title = textwrap.shorten(first, _LONGEST_TITLE, placeholder=" …") or "…"
        values = {"title": title, "tags": ["General"], "follow_ups": [], "queries": [last[:300]] if last else []}
        return self._sent(self.form.model_validate({"text": ""} | values))

    def _sent(self, result: BaseModel) -> str:
        return result.title if self.is_bare and isinstance(result, _Title) else result.model_dump_json()


def task_of(question: str, before: Sequence[Turn] = ()) -> Task | None:
    """Return the background task in a question of a chat program; None if it is a question."""
    if bare := _BARE_TITLE.search(question):
        around = [question[: bare.start()], question[bare.end() :]]
        messages = (*(turn.question for turn in before), *(one for part in around for one in _said(part)))
        if not messages and around[0].strip():  # the messages of a user in a row
            messages = (around[0].strip(),)
        return Task(text=question, form=_Title, said=messages, is_bare=not bare[0].startswith("Analyze"))
    began, conversation = _TASK.match(question), _CONVERSATION.search(question)
    if not began or not conversation:
        return None
    messages = _said(conversation[1] or "")
    rules = question.replace(conversation[1] or "", "")
    for form in Task.FORMS:
        if f'"{next(iter(form.model_fields))}"' in rules:
            return Task(text=question, form=form, said=messages)
    return Task(text=question, form=_Title, said=messages, is_bare=True) if " title " in f"{began[1]} " else None


def _said(conversation: str) -> tuple[str, ...]:
    parts = _SPEAKER.split(conversation)[1:]
    speakers, texts = parts[::2], parts[1::2]
    return tuple(text.strip() for who, text in zip(speakers, texts, strict=True) if who.upper() == "USER")
