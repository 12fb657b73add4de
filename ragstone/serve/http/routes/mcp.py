"""The Model Context Protocol at /mcp: the tools of `ragstone mcp`, each request as the reader of its key.

The protocol is imported and started with the first request, because its types take half a second and 25 MB.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from ragstone.core.answers import Event
from ragstone.core.catalog import Listing
from ragstone.core.errors import RagstoneError
from ragstone.core.frozen import frozen
from ragstone.core.hits import Hits
from ragstone.core.records import Document
from ragstone.core.research import LEVELS, Effort, ResearchEvent
from ragstone.serve.http import errors
from ragstone.serve.http.authentication import CALLER, Caller
from ragstone.serve.http.errors import REQUEST_ID, Refused
from ragstone.serve.http.service import Service
from ragstone.serve.mcp.tools import Backend

if TYPE_CHECKING:
    from ragstone.serve.mcp.mcp_server import StreamableHttp


@frozen
class KeyBackend:
    """A knowledge base as a key may use it, within its limits and at its cost."""

    service: Service
    caller: Caller

    def ask(self, question: str, where: str | None) -> AsyncGenerator[Event]:
        return self.service.ask(self.caller, question, where)

    def research(self, question: str, where: str | None, effort: Effort) -> AsyncGenerator[ResearchEvent]:
        budget = self.service.within_time(LEVELS[effort])
        return self.service.research(self.caller, question, where, effort=effort, budget=budget)

    async def search(self, query: str, k: int | None, where: str | None) -> Hits:
        return await self.service.search(self.caller, query, k, where)

    async def document(self, id: str) -> Document:
        read = partial(self.service.engine.documents.get, id, reader=self.caller.reader)
        return self.caller.view.document(await asyncio.to_thread(read))

    async def listing(self, q: str = "", after: str = "", limit: int = 100) -> Listing:
        read = partial(self.service.engine.documents.list, reader=self.caller.reader, q=q, after=after, limit=limit)
        return self.caller.view.listing(await asyncio.to_thread(read))


def _backend(request: Request) -> Backend:
    return KeyBackend(service=request.app.state.service, caller=request.scope[CALLER])


def _explain(request: Request, error: RagstoneError) -> str:
    return errors.problem(error, request.scope[REQUEST_ID]).error.message


def _made() -> StreamableHttp:
    from ragstone.serve.mcp.mcp_server import StreamableHttp

    # The host and the origin were checked before, as for all routes.
    return StreamableHttp(_backend, explain=_explain)


class _OnDemand:
    """The protocol's server, run from the first request on by a task of its own, which also ends it."""

    def __init__(self) -> None:
        self._ending = asyncio.Event()
        self._server: asyncio.Future[StreamableHttp] | None = None
        self._task: asyncio.Task[None] | None = None

    async def server(self) -> StreamableHttp:
        if self._server is None:
            self._server = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._run(self._server))
        return await asyncio.shield(self._server)

    async def _run(self, started: asyncio.Future[StreamableHttp]) -> None:
        try:
            server = await asyncio.to_thread(_made)
        except Exception as error:
            started.set_exception(error)
            return
        async with server.running():
            started.set_result(server)
            await self._ending.wait()

    async def end(self) -> None:
        self._ending.set()
        if self._task:
            await self._task


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None]:
    app.state.mcp = on_demand = _OnDemand()
    try:
        yield
    finally:
        await on_demand.end()


class _Endpoint:
    """Passes on requests whose key may read."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller = scope[CALLER]
        try:
            caller.require("read")
        except Refused as error:
            await errors.response(error, scope)(scope, receive, send)
            return
        on_demand: _OnDemand = scope["app"].state.mcp
        server = await on_demand.server()
        await server(scope, receive, send)


router = APIRouter(lifespan=_lifespan)
router.add_route("/mcp", _Endpoint(), include_in_schema=False)  # pyright: ignore[reportArgumentType]
