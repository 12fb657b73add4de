"""Read the events of a reply from the bytes of a server, as leniently as possible.

A reply is an event stream, lines of JSON, or one JSON object, whatever its content type says.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Any, cast

_LINE_END = re.compile(r"\r\n|\n|\r(?!\Z)")
"""The end of a line; a carriage return at the end of the text may be half of one."""
DONE = object()
"""The event that ends a stream."""


@dataclass(frozen=True, slots=True)
class Broken:
    """Text that is no event."""

    text: str


class _Events:
    """Turns bytes into events: decoded JSON, `DONE`, or `Broken`."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._data: list[str] = []
        self._plain: list[str] = []

    def add(self, chunk: bytes) -> list[Any]:
        """Take bytes, and return the events that are complete."""
        *lines, self._rest = _LINE_END.split(self._rest + self._decoder.decode(chunk))
        return self._of(lines)

    def end(self) -> list[Any]:
        """Return the events that only the end of the connection completes."""
        rest = self._rest + self._decoder.decode(b"", final=True)
        events = self._of([*_LINE_END.split(rest), ""])
        if self._plain:  # one object on several lines
            whole, self._plain = "\n".join(self._plain), []
            events += _decoded(whole) or [Broken(whole)]
        return events

    def _of(self, lines: list[str]) -> list[Any]:
        return [event for line in lines for event in self._of_line(line.strip("\ufeff\r"))]

    def _of_line(self, line: str) -> list[Any]:
        text = line.strip()
        if not text:
            data, self._data = "\n".join(self._data), []
            return _decoded(data) or ([Broken(data)] if data else [])
        if text.startswith(":") or text.partition(":")[0] in ("event", "id", "retry"):
            return []
        if not text.startswith("data:"):
            if not self._plain and (event := _decoded(text)):
                return event
            self._plain.append(line)
            return []
        while text.startswith("data:"):  # some proxies write it twice
            text = text.removeprefix("data:").strip()
        if event := _decoded("\n".join([*self._data, text])):
            self._data = []
            return event
        self._data.append(text)
        return []


async def events(chunks: AsyncIterator[bytes]) -> AsyncGenerator[Any]:
    """Yield the events among the bytes of a reply, up to the end of the connection."""
    decoder = _Events()
    async for chunk in chunks:
        for event in decoder.add(chunk) or [{}]:  # a sign of life is an event that says nothing
            yield event
    for event in decoder.end():
        yield event


def _decoded(text: str) -> list[Any]:
    """Return the event of a text, or nothing."""
    if text.strip("[] ").upper() == "DONE":
        return [DONE]
    if not text.startswith(("{", "[", '"')):
        return []
    try:
        value: Any = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return []
    if isinstance(value, str):  # JSON in a text
        return _decoded(value)
    return cast("list[Any]", value) if isinstance(value, list) else [value]
