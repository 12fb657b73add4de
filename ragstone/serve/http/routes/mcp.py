"""The Model Context Protocol at /mcp: the tools of `ragstone mcp`, each request as the reader of its key."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from ragstone.core.answers import Event
from ragstone.core.catalog import Listing
from ragstone.core.errors import RagstoneError
from ragstone.core.records import Document, Hit
from ragstone.serve.http import errors
from ragstone.serve.http.authentication import CALLER, Caller
from ragstone.serve.http.errors import REQUEST_ID, Refused
from ragstone.serve.http.service import Service
from ragstone.serve.mcp.mcp_server import StreamableHttp
from ragstone.serve.mcp.tools import Backend


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyBackend:
    """A knowledge base as a key may use it, within its limits and at its cost."""

    service: Service
    caller: Caller

    def ask(self, question: str, where: str | None) -> AsyncGenerator[Event]:
        return self.service.ask(self.caller, question, where)

    async def search(self, query: str, k: int | None, where: str | None) -> Sequence[Hit]:
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


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None]:
    # The host and the origin were checked before, as for all routes.
    app.state.mcp = StreamableHttp(_backend, explain=_explain)
    async with app.state.mcp.running():
        yield


class _Endpoint:
    """Passes on requests whose key may read."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller = scope[CALLER]
        try:
            caller.require("read")
        except Refused as error:
            await errors.response(error, scope)(scope, receive, send)
            return
        server: StreamableHttp = scope["app"].state.mcp
        await server(scope, receive, send)


router = APIRouter(lifespan=_lifespan)
router.add_route("/mcp", _Endpoint(), include_in_schema=False)  # pyright: ignore[reportArgumentType]
