"""What a server accepts of a request, learnt from its refusals.

A request follows the newest specification. A part that a server refuses is rewritten or left out, also in later
requests: the role of the system, parameters, streaming, the form of a reply.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel

from ragstone.core.answers import Message
from ragstone.core.printable import encodable
from ragstone.services.schemas import strict_schema
from ragstone.services.too_long import is_too_long
from ragstone.settings.services import ModelSettings

Fields = dict[str, Any]
"""The body of an HTTP request."""
Way = Literal["limited_schema", "json_schema", "json_object", "text"]
WAYS: tuple[Way, ...] = ("limited_schema", "json_schema", "json_object", "text")
"""Ways to request a form, strictest first: not every server accepts the limits of length and number in a schema."""
_OPTIONAL = ("stream_options", "top_p", "temperature")
"""Optional parts of a request; of two that exclude each other, the first one is left out."""
_CAPS = ("max_tokens", "max_completion_tokens", "max_new_tokens")
_ROLES = re.compile(
    r"\brole|system (?:message|prompt|instruction)|developer instruction|chat template|raise_exception", re.IGNORECASE
)
_ALTERNATE = re.compile(r"alternat|consecutive|same role|must (?:start|begin) with|last message", re.IGNORECASE)
_EMPTY = re.compile(r"content.{0,60}(?:empty|non-?empty|blank|required)|empty.{0,40}content", re.IGNORECASE | re.DOTALL)
_STREAM = re.compile(
    r"stream\w*\W.{0,60}(?:not |n't |un|false|disabled)|(?:not|n't|un|disabled).{0,60}\bstream",
    re.IGNORECASE | re.DOTALL,
)
_UNKNOWN = re.compile(
    r"unsupported|not supported|n't support|unknown|unrecogni[sz]ed|unexpected|extra|not permitted|not allowed"
    r"|deprecated|instead|invalid parameter",
    re.IGNORECASE,
)
_SMALLEST = 256
"""The smallest limit of a reply that is tried if prompt and reply together are too long."""


class Dialect:
    """What one model of one server accepts."""

    def __init__(self, model: str, settings: ModelSettings) -> None:
        self._model, self._settings = model, settings
        self._left_out: set[str] = set()
        self._cap_name, self._cap = "max_tokens", settings.max_tokens
        self._folds_system = self._merges = self._fills = False
        self._streams = True
        self._is_minimal = False
        self.way = 0
        """The place in `WAYS` of the form that was accepted last."""

    def request(self, messages: Sequence[Message], form: type[BaseModel] | None, way: int, cap: int = 0) -> Fields:
        """Return the body of a request; ``cap`` limits the tokens of this reply further."""
        body: Fields = {
            "model": self._model,
            "messages": _with_pictures(self._messages(messages), messages[-1].pictures if messages else ()),
            "stream": self._streams,
            # A form holds a judgement, which should be the same tomorrow.
            "temperature": self._settings.temperature if form is None else 0.0,
            self._cap_name: min(self._cap, cap or self._cap),
        }
        if self._streams:
            body["stream_options"] = {"include_usage": True}
        if self._settings.top_p < 1:
            body["top_p"] = self._settings.top_p
        if form is not None and WAYS[way] in ("limited_schema", "json_schema"):
            schema, strict = strict_schema(form, limits=WAYS[way] == "limited_schema")
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": form.__name__.strip("_"), "schema": schema, "strict": strict},
            }
        elif form is not None and WAYS[way] == "json_object":
            body["response_format"] = {"type": "json_object"}
        return {name: value for name, value in body.items() if name not in self._left_out}

    def adapt(self, refusal: str, body: Fields, *, failed: bool = False) -> bool:
        """Change what the server refuses of a body, by its words; return whether anything changed.

        Args:
            refusal: the words of the refusal.
            body: of the refused request.
            failed: the server calls it a failure of its own. Then only its chat template can be the reason.
        """
        if self._adapts_roles(refusal, body):
            return True
        if failed or is_too_long(refusal):
            return False
        return (
            self._adapts_cap(refusal, body)
            or self._drops(refusal, body)
            or self._stops_streaming(refusal, body)
            or self._becomes_minimal(refusal, body)
        )

    def shorter(self, said: str, body: Fields) -> int:
        """Return a smaller limit of the reply if a refusal as too long counts the reply too; 0 if that is no help."""
        cap = next((int(body[name]) for name in _CAPS if name in body), 0)
        counts_reply = any(name in said for name in _CAPS) or re.search("completion|output", said)
        return cap // 2 if counts_reply and cap // 2 >= _SMALLEST else 0

    # ------------------------------------------------------------ messages
    def _messages(self, messages: Sequence[Message]) -> list[dict[str, str]]:
        out = [{"role": str(one.role), "content": encodable(one.content)} for one in messages]
        if self._fills:
            out = [one for one in out if one["content"].strip()] or out
        if self._folds_system:
            system = "\n\n".join(one["content"] for one in out if one["role"] == "system")
            out = [one for one in out if one["role"] != "system"]
            first = next((place for place, one in enumerate(out) if one["role"] == "user"), None)
            if first is None:
                out = [{"role": "user", "content": system}, *out]
            elif system:
                out[first] = {"role": "user", "content": f"{system}\n\n{out[first]['content']}"}
        return _merged(out) if self._merges else out

    def _adapts_roles(self, refusal: str, body: Fields) -> bool:
        roles = [one["role"] for one in body["messages"]]
        if not self._fills and _EMPTY.search(refusal) and not all(map(_has_words, body["messages"])):
            self._fills = True
            return True
        if not _ROLES.search(refusal) and not _ALTERNATE.search(refusal):
            return False
        if _ALTERNATE.search(refusal) and not self._merges and _merged(body["messages"]) != body["messages"]:
            self._merges = True
            return True
        if not self._folds_system and "system" in roles:
            self._folds_system = True
            return True
        return False

    # ------------------------------------------------------------ parameters
    def _adapts_cap(self, refusal: str, body: Fields) -> bool:
        name = self._cap_name
        if not re.search(rf"\b{name}\b", refusal) or name not in body:
            return False
        if name == "max_tokens" and "max_completion_tokens" in refusal:
            self._cap_name = "max_completion_tokens"
            return True
        smaller = [int(one.replace(",", "")) for one in re.findall(r"\d[\d,]*", refusal) if one.strip(",")]
        smaller = [one for one in smaller if 1 < one < body[name] and one not in (400, 422)]
        if smaller:
            self._cap = max(smaller)
        elif _UNKNOWN.search(refusal) and name == "max_tokens" and "too" not in refusal:
            self._left_out.add(name)
        elif body[name] // 2 >= _SMALLEST:
            self._cap = body[name] // 2
        else:
            self._left_out.add(name)
        return True

    def _drops(self, said: str, body: Fields) -> bool:
        named = [part for part in _OPTIONAL if part in said and part in body]
        both = len(named) > 1 and re.search(r"\bboth\b|only one|mutually", said)
        self._left_out |= set(named[:1] if both else named)
        return bool(named)

    def _stops_streaming(self, said: str, body: Fields) -> bool:
        if not body["stream"] or not _STREAM.search(said):
            return False
        self._streams = False
        return True

    def _becomes_minimal(self, said: str, body: Fields) -> bool:
        """Reduce the request to what every server knows if the server does not say what it refuses."""
        if said.strip(" .").casefold() not in ("", "bad request", "invalid request") or self._is_minimal:
            return False
        self._is_minimal = self._folds_system = self._merges = True
        self._left_out |= set(_OPTIONAL)
        return "response_format" not in body


def _with_pictures(messages: list[dict[str, str]], pictures: Sequence[bytes]) -> list[Fields]:
    """Return messages as they are sent, the last one with pictures, if there are any."""
    if not pictures:
        return [*messages]
    parts: list[Fields] = [{"type": "text", "text": messages[-1]["content"]}]
    for picture in pictures:
        address = f"data:image/jpeg;base64,{b64encode(picture).decode()}"
        parts.append({"type": "image_url", "image_url": {"url": address}})
    return [*messages[:-1], {**messages[-1], "content": parts}]


def _has_words(message: Fields) -> bool:
    return not isinstance(message["content"], str) or bool(message["content"].strip())


def _merged(messages: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return the messages with those of one role in a row as one, beginning with the user after the system."""
    out: list[dict[str, str]] = []
    for message in messages:
        if out and out[-1]["role"] == message["role"]:
            out[-1] = {**message, "content": f"{out[-1]['content']}\n\n{message['content']}"}
        else:
            out.append(dict(message))
    begin = 1 if out and out[0]["role"] == "system" else 0
    while len(out) > begin + 1 and out[begin]["role"] == "assistant":
        del out[begin]
    return out
