"""Builds the application: the routes, the page, and the layers that every request passes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from importlib.util import find_spec

from fastapi import APIRouter, FastAPI
from fastapi.middleware.cors import CORSMiddleware

from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.history.audit import Audit
from ragstone.history.changed_settings import ChangedSettings
from ragstone.history.counts import SharedCounts, SharedRunning
from ragstone.history.keys import Keys
from ragstone.history.limits import Limits
from ragstone.history.schedules import Schedules
from ragstone.history.sessions import Sessions
from ragstone.history.tokens import Tokens
from ragstone.history.users import Users
from ragstone.serve.http import errors, openapi
from ragstone.serve.http.admission import Admission
from ragstone.serve.http.authentication import Authenticator
from ragstone.serve.http.job_runner import JobRunner
from ragstone.serve.http.live_settings import LiveSettings
from ragstone.serve.http.middleware import OriginGuard, RequestLog
from ragstone.serve.http.page import PAGE, PageFiles, page_files
from ragstone.serve.http.question_slots import QuestionSlots, slots_for
from ragstone.serve.http.readiness import Readiness
from ragstone.serve.http.routes import (
    administration,
    ask,
    attachments,
    collections,
    documents,
    erasure,
    history,
    jobs,
    learning,
    live_settings,
    models,
    openai,
    openai_responses,
    originals,
    research,
    sharing,
    sign_in,
    status,
    widget,
)
from ragstone.serve.http.scheduler import Scheduler
from ragstone.serve.http.service import Service
from ragstone.serve.http.sign_in.desk import SignInDesk
from ragstone.serve.http.sign_in.throttle import Throttle
from ragstone.serve.http.stops import Stops
from ragstone.serve.http.sweeper import Sweeper
from ragstone.serve.http.telemetry import log_error
from ragstone.serve.http.visitors import Visitors
from ragstone.services.network import is_loopback
from ragstone.settings import ServeSettings

ROUTERS: tuple[APIRouter, ...] = (
    ask.router,
    collections.router,
    research.router,
    documents.router,
    originals.router,
    jobs.router,
    attachments.router,
    history.router,
    sharing.router,
    status.router,
    sign_in.router,
    widget.router,
    administration.router,
    erasure.router,
    learning.router,
    collections.changing,
    live_settings.router,
    models.router,
    openai.router,
    openai_responses.router,
)
"""The routers, in the order of the OpenAPI document. Add yours here."""


def build_app(
    engine: KnowledgeBase,
    settings: ServeSettings | None = None,
    *,
    processes: int = 1,
    warm_first: bool = False,
) -> FastAPI:
    """Return the application of an open engine. The caller has to close the engine.

    Args:
        engine: the knowledge base.
        settings: those of the engine if not given.
        processes: how many processes serve this knowledge base, this one included.
        warm_first: whether to load the models before the first connection is accepted.
    """
    own = settings or engine.settings.serve
    jobs = JobRunner(engine, own)
    reading = engine.history.journal()  # a connection of its own, so that no writer delays admission
    authenticator = Authenticator(
        reading,
        may_be_open=is_loopback(own.host) and not own.oidc.issuer,
        idle_seconds=own.sessions.idle_minutes * 60,
        issuer=own.oidc.issuer,
    )
    journal = engine.history.journal()
    keys = Keys(journal)
    live = LiveSettings(engine, ChangedSettings(journal))
    service = Service(
        engine=engine,
        settings=own,
        authenticator=authenticator,
        keys=keys,
        users=Users(journal),
        sessions=Sessions(journal),
        tokens=Tokens(journal),
        audit=Audit(journal),
        slots=QuestionSlots(slots_for(engine.settings, own.limits.questions, processes)),
        jobs=jobs,
        live=live,
        scheduler=Scheduler(jobs, Schedules(journal), own.sources, live),
        limits=Limits(SharedCounts(engine.folder), SharedRunning(engine.folder, lambda: jobs.server, jobs.servers))
        if processes > 1
        else Limits(),
        stops=Stops(SharedCounts(engine.folder)) if processes > 1 else Stops(),
        sign_in=SignInDesk(engine.history.journal(), own, Throttle(SharedCounts(engine.folder))),
        readiness=Readiness(engine, keys),
        sweeper=Sweeper(engine, jobs, own.uploads.attached_days),
        warm_first=warm_first,
    )
    app = FastAPI(
        title="Ragstone",
        docs_url=None,  # FastAPI's pages load scripts from other servers
        redoc_url=None,
        lifespan=_lifespan,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.service = service
    routers = (*ROUTERS, *_optional_routers())
    for router in routers:
        app.include_router(router)
    errors.install(app, [route for router in routers for route in router.routes])
    openapi.install(app)
    page = page_files()
    if page:  # mounted last, because it answers for every address that no route matches
        app.mount("/", PageFiles(directory=PAGE, html=True), name="page")
    # The last layer is the outermost.
    visitors = Visitors(reading, own.widget, authenticator.in_force)
    app.add_middleware(
        Admission, authenticator=authenticator, visitors=visitors, limits=service.limits, settings=own, page=page
    )
    sites, frame_ancestors = (own.widget.origins, own.widget.frame_ancestors) if own.widget.enabled else ((), ())
    app.add_middleware(
        CORSMiddleware,
        allow_origins=(*own.origins, *sites),
        allow_methods=("GET", "HEAD", "POST", "PATCH", "DELETE"),
        allow_headers=("accept", "authorization", "content-type", "x-request-id"),
        expose_headers=("retry-after", "x-request-id"),
    )
    app.add_middleware(
        OriginGuard,
        origins=own.origins,
        sites=sites,
        names=_names(own),
        is_open=lambda: authenticator.looked_up(authenticator.is_open),
    )
    app.add_middleware(RequestLog, metrics=service.metrics, frame_ancestors=frame_ancestors)
    return app


def _optional_routers() -> Iterator[APIRouter]:
    if find_spec("mcp") is not None:
        from ragstone.serve.http.routes import mcp

        yield mcp.router


def _names(settings: ServeSettings) -> tuple[str, ...]:
    """Return the host names of the server, if the settings list any."""
    own = () if settings.host in ("0.0.0.0", "::") or is_loopback(settings.host) else (settings.host,)
    return (*settings.names, *own) if settings.names else ()


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None]:
    service: Service = app.state.service
    warming = asyncio.create_task(_warm(service))
    await service.jobs.start()
    running = [warming, *map(asyncio.create_task, (service.scheduler.run(), service.sweeper.run()))]
    if service.warm_first:
        await warming
    try:
        yield
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        service.limits.close()
        service.stops.close()
        await service.jobs.stop()
        service.keys.close()
        service.authenticator.close()
        service.sign_in.close()


async def _warm(service: Service) -> None:
    try:
        await asyncio.to_thread(service.engine.warm)
    except Exception as error:  # each question reports it; without this, all of them would wait for the models forever
        log_error(error, {"during": "loading the models"})
    service.is_ready = True
    service.slots.opened.set()
