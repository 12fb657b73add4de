"""Server-sent events: a stream to a client that may leave, or lie behind something that cuts silent connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar, get_type_hints

from fastapi.responses import Response
from pydantic import BaseModel
from starlette.types import Receive, Scope, Send

STREAM = "text/event-stream"
SILENCE = 15.0
"""Seconds after which a comment is sent, so that proxies keep the connection."""
AHEAD = 32
"""Events that are made before the client has taken them."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One event: its name, and what is told."""

    event: str
    data: BaseModel

    def encoded(self) -> bytes:
        return f"event: {self.event}\ndata: {self.data.model_dump_json()}\n\n".encode()


class EventStream(Response):
    """Sends events as they come. When the client leaves, or the server stops, what makes them is closed.

    The status is sent with the first event: an error before it is an error of the request.
    """

    media_type = STREAM

    def __init__(self, events: AsyncGenerator[Sent], seconds: float, told: Callable[[Exception], Sent]) -> None:
        """
        Args:
            events: what is sent.
            seconds: that they may take in all.
            told: the last event, where making them fails.
        """
        super().__init__(headers={"cache-control": "no-cache", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._events, self._seconds, self._told = events, seconds, told

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope
        await while_there(receive, self._send(send))

    async def _send(self, send: Send) -> None:
        queue: asyncio.Queue[Sent | Exception | None] = asyncio.Queue(AHEAD)
        making = asyncio.create_task(_fill(queue, self._events, self._seconds))
        begun = False
        try:
            while True:
                try:
                    async with asyncio.timeout(SILENCE):  # `wait_for` may swallow a cancellation before Python 3.12
                        one = await queue.get()
                except TimeoutError:
                    if begun:
                        await send({"type": "http.response.body", "body": b": waiting\n\n", "more_body": True})
                    continue
                if isinstance(one, Exception):
                    if not begun:
                        raise one
                    last = self._told(one).encoded()
                    await send({"type": "http.response.body", "body": last})
                    return
                if not begun:
                    begun = True
                    await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                if one is None:
                    await send({"type": "http.response.body", "body": b""})
                    return
                await send({"type": "http.response.body", "body": one.encoded(), "more_body": True})
        finally:
            making.cancel()
            await asyncio.gather(making, return_exceptions=True)


async def _fill(queue: asyncio.Queue[Sent | Exception | None], events: AsyncGenerator[Sent], seconds: float) -> None:
    """Make events until they end; in one task, so that what counts a question's costs sees all of it."""
    try:
        async with asyncio.timeout(seconds), aclosing(events):
            async for event in events:
                await queue.put(event)
        await queue.put(None)
    except Exception as error:
        await queue.put(error)


async def while_there(receive: Receive, work: Coroutine[Any, Any, T]) -> T | None:
    """What the work gives; it is stopped when the client leaves, and gives nothing then."""
    working, leaving = asyncio.create_task(work), asyncio.create_task(_left(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _left(receive: Receive) -> None:
    """Wait until the client has gone; its request has been read."""
    while (await receive())["type"] != "http.disconnect":
        pass


def described(events: type[BaseModel]) -> dict[str, Any]:
    """The content of a response that is a stream, for the OpenAPI document: a schema of any one of its events.

    Args:
        events: its fields are the names of events, and their types what stands in the data.
    """
    schemas = [event_schema(name, json_schema(told.__name__)) for name, told in get_type_hints(events).items()]
    return {STREAM: {"schema": {"oneOf": schemas}}}


def event_schema(name: str, data: dict[str, Any]) -> dict[str, Any]:
    """The schema of one event, from that of its data."""
    properties = {"event": {"type": "string", "const": name}, "data": data}
    return {"type": "object", "properties": properties, "required": ["event", "data"]}


def json_schema(model: str) -> dict[str, Any]:
    """The schema of a text that is JSON of the model of that name."""
    told = {"$ref": f"#/components/schemas/{model}"}
    return {"type": "string", "contentMediaType": "application/json", "contentSchema": told}
