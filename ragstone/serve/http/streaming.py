"""Server-sent events to a client that may go away, or sit behind a proxy that cuts silent connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from typing import Any, TypeVar, get_type_hints

from fastapi.responses import Response
from pydantic import BaseModel
from starlette.types import Receive, Scope, Send

from ragstone.core.errors import ResponseError
from ragstone.core.frozen import frozen

STREAM = "text/event-stream"
KEEP_ALIVE_SECONDS = 15.0
"""How long a stream may be silent before it sends a comment."""
AHEAD = 32
"""Events that are made before the client has read the earlier ones."""
T = TypeVar("T")


@frozen
class ServerEvent:
    """One event: its data, and its name if it has one."""

    data: BaseModel | str
    event: str = ""

    def encode(self) -> bytes:
        """Return the event as it is sent."""
        name = f"event: {self.event}\n" if self.event else ""
        data = self.data if isinstance(self.data, str) else self.data.model_dump_json()
        return f"{name}data: {data}\n\n".encode()


class EventStream(Response):
    """Sends events as they are made. It closes their generator when the client goes away or the server stops.

    The status goes out with the first event, so that an error before it is an ordinary error response. sse-starlette
    was tried and sends the status at once; it also replaces uvicorn's signal handler to cut streams when the server is
    told to stop, where ours let answers in progress finish.
    """

    media_type = STREAM

    def __init__(
        self, events: AsyncGenerator[ServerEvent], seconds: float, on_error: Callable[[Exception], ServerEvent]
    ) -> None:
        """Stream events.

        Args:
            events: what is sent.
            seconds: how long they may take in total.
            on_error: returns the last event if making them fails.
        """
        super().__init__(headers={"cache-control": "no-cache", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._events, self._seconds, self._on_error = events, seconds, on_error

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope
        await while_connected(receive, self._send(send))

    async def _send(self, send: Send) -> None:
        queue: asyncio.Queue[ServerEvent | Exception | None] = asyncio.Queue(AHEAD)
        producer = asyncio.create_task(_produce(queue, self._events, self._seconds))
        started = False

        async def send_body(body: bytes, *, more: bool = True) -> None:
            await send({"type": "http.response.body", "body": body, "more_body": more})

        try:
            while True:
                try:
                    async with asyncio.timeout(KEEP_ALIVE_SECONDS):  # `wait_for` can lose a cancellation before 3.12
                        item = await queue.get()
                except TimeoutError:
                    if started:
                        await send_body(b": waiting\n\n")
                    continue
                if not started:
                    if isinstance(item, Exception):
                        raise item
                    started = True
                    await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                if isinstance(item, ServerEvent):
                    await send_body(item.encode())
                    continue
                await send_body(self._on_error(item).encode() if item else b"", more=False)
                return
        finally:
            producer.cancel()
            await asyncio.gather(producer, return_exceptions=True)


async def _produce(
    queue: asyncio.Queue[ServerEvent | Exception | None], events: AsyncGenerator[ServerEvent], seconds: float
) -> None:
    """Put events into the queue until they end, all from one task."""
    try:
        async with asyncio.timeout(seconds), aclosing(events):
            async for event in events:
                await queue.put(event)
        await queue.put(None)
    except (asyncio.CancelledError, GeneratorExit):  # the client has gone
        raise
    except Exception as error:
        await queue.put(error)
    except BaseException as error:  # such as a panic of a library in Rust: nothing else would end the stream
        failed = ResponseError(f"{type(error).__name__}: {error}")
        failed.__cause__ = error
        await queue.put(failed)


async def while_connected(receive: Receive, work: Coroutine[Any, Any, T]) -> T | None:
    """Return the result of the work; if the client goes away first, stop the work and return None."""
    working, leaving = asyncio.create_task(work), asyncio.create_task(_disconnected(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _disconnected(receive: Receive) -> None:
    """Wait until the client has gone. Its request must have been read."""
    while (await receive())["type"] != "http.disconnect":
        pass


# ---------------------------------------------------------------- the OpenAPI document
def described(events: type[BaseModel]) -> dict[str, Any]:
    """Return the content of a streamed response: a schema that matches any one of its events.

    Args:
        events: a model whose field names are the names of the events, and whose field types are their data.
    """
    schemas = [event_schema(name, json_schema(data.__name__)) for name, data in get_type_hints(events).items()]
    return {STREAM: {"schema": {"oneOf": schemas}}}


def event_schema(name: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of one event from that of its data."""
    properties = {"event": {"type": "string", "const": name}, "data": data}
    return {"type": "object", "properties": properties, "required": ["event", "data"]}


def json_schema(model: str) -> dict[str, Any]:
    """Return the schema of a string that holds JSON of a model."""
    reference = {"$ref": f"#/components/schemas/{model}"}
    return {"type": "string", "contentMediaType": "application/json", "contentSchema": reference}
