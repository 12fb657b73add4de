"""The application: routes, and the layers that every request passes on its way to them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from ipaddress import ip_address

from fastapi import APIRouter, FastAPI

from ragstone.engine import Engine
from ragstone.errors import MissingExtra, RagstoneError
from ragstone.index import Journal
from ragstone.sections import ServeSettings
from ragstone.serve.http import (
    document,
    page,
    problems,
    routes_asking,
    routes_documents,
    routes_jobs,
    routes_openai,
    routes_people,
    routes_policies,
    routes_service,
)
from ragstone.serve.http.door import Door
from ragstone.serve.http.front import Front
from ragstone.serve.http.gate import Gate
from ragstone.serve.http.guard import Guard
from ragstone.serve.http.jobs import Jobs
from ragstone.serve.http.limits import Limits
from ragstone.serve.http.openai_errors import OpenAIErrors
from ragstone.serve.http.service import Service
from ragstone.serve.http.turns import Turns
from ragstone.usage.keys import Keys

ROUTERS: tuple[APIRouter, ...] = (
    routes_asking.router,
    routes_documents.router,
    routes_jobs.router,
    routes_people.router,
    routes_policies.router,
    routes_service.router,
    routes_openai.router,
)
"""The routes, in the order of the OpenAPI document. More are added here."""


def build_app(engine: Engine, settings: ServeSettings | None = None, *, more: Sequence[APIRouter] = ()) -> FastAPI:
    """The application of an open engine, which stays the caller's to close.

    Args:
        engine: what answers.
        settings: those of the engine if not given.
        more: routes beside our own.
    """
    own = settings or engine.settings.serve
    door = Door(Keys(Journal(engine.folder)), may_be_open=is_loopback(own.host))
    service = Service(
        engine=engine,
        settings=own,
        door=door,
        keys=Keys(Journal(engine.folder)),
        turns=Turns(own.limits.questions),
        jobs=Jobs(engine),
    )
    app = FastAPI(
        title="Ragstone",
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
        lifespan=_lifespan,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.service = service
    routers = (*ROUTERS, *_of_extras(), *more)
    for router in routers:
        app.include_router(router)
    problems.install(app, [route for router in routers for route in router.routes])
    document.install(app)
    page.mount(app)
    # The last one is the outermost.
    app.add_middleware(Gate, door=door, limits=Limits(own.limits), settings=own, page=page.files())
    app.add_middleware(Guard, origins=own.origins, names=_names(own), is_open=lambda: door.is_open)
    app.add_middleware(Front, metrics=service.metrics)
    app.add_middleware(OpenAIErrors)
    return app


def _of_extras() -> Iterator[APIRouter]:
    with suppress(MissingExtra):
        from ragstone.serve.http import routes_mcp

        yield routes_mcp.router


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _names(settings: ServeSettings) -> tuple[str, ...]:
    """What the server may be called, where that was told."""
    own = () if settings.host in ("0.0.0.0", "::") or is_loopback(settings.host) else (settings.host,)
    return (*settings.names, *own) if settings.names else ()


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    warming = asyncio.create_task(_warm(service))
    await service.jobs.start()
    try:
        yield
    finally:
        warming.cancel()
        await asyncio.gather(warming, return_exceptions=True)
        await service.jobs.stop()
        service.keys.close()
        service.door.close()


async def _warm(service: Service) -> None:
    with suppress(RagstoneError):  # the first question tells what is wrong
        await asyncio.to_thread(service.engine.warm)
    service.is_ready = True
    service.turns.begin.set()
