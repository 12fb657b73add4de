"""The Model Context Protocol at /mcp: the same tools as `ragstone mcp`, each request as the reader of its key."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from ragstone.answers import Event
from ragstone.contracts import Hit
from ragstone.serve.agents.desk import Desk
from ragstone.serve.agents.mcp_server import OverHttp
from ragstone.serve.http.door import CALLER, Caller
from ragstone.serve.http.problems import REQUEST_ID, Refused, response, trouble
from ragstone.serve.http.questions import asked, in_turn
from ragstone.serve.http.service import Service


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeyDesk(Desk):
    """What a key can do: in its turn, and at its cost."""

    service: Service
    caller: Caller

    def ask(self, question: str, where: str | None) -> AsyncGenerator[Event]:
        return asked(self.service, self.caller, question, where)

    async def search(self, query: str, k: int | None, where: str | None) -> list[Hit]:
        async with in_turn(self.service, self.caller):
            return await self.engine.search(query, k, where, reader=self.reader)


def _desk(request: Request) -> Desk:
    service: Service = request.app.state.service
    caller: Caller = request.scope[CALLER]
    return _KeyDesk(engine=service.engine, reader=caller.reader, service=service, caller=caller)


@asynccontextmanager
async def _running(app: FastAPI) -> AsyncIterator[None]:
    # Which hosts and pages may call is looked at before, for all routes alike.
    app.state.mcp = OverHttp(_desk, explain=lambda error: trouble(error, "").message)
    async with app.state.mcp.running():
        yield


class _Mcp:
    """Hands a request on, if its key may read."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not scope[CALLER].may("read"):
            refused = response(Refused("forbidden", "this needs a key with the scope 'read'"), scope[REQUEST_ID])
            await refused(scope, receive, send)
            return
        spoken: OverHttp = scope["app"].state.mcp
        await spoken(scope, receive, send)


router = APIRouter(lifespan=_running)
router.add_route("/mcp", _Mcp(), include_in_schema=False)  # pyright: ignore[reportArgumentType]
