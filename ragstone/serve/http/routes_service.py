"""Routes of the server itself: is it alive, is it ready, who am I."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import SecretStr

import ragstone
from ragstone.config import leaves, written
from ragstone.serve.http import wire_errors
from ragstone.serve.http.door import Administering, Reading
from ragstone.serve.http.metrics import TYPE
from ragstone.serve.http.service import Here
from ragstone.serve.http.wire import service as wire

router = APIRouter(tags=["service"])


@router.get("/health")
async def health() -> wire.Health:
    """Answers as long as the server lives. No key is needed."""
    return wire.Health(status="alive", version=ragstone.__version__)


@router.get("/ready", response_model=wire.Readiness, responses={503: {"model": wire.Readiness}})
async def ready(service: Here) -> JSONResponse:
    """Whether a question would be answered without waiting for models to load. No key is needed."""
    now = wire.Readiness(status="ready" if service.is_ready else "starting")
    return JSONResponse(now.model_dump(), 200 if service.is_ready else 503)


@router.get("/me", responses={**wire_errors.reading})
async def me(caller: Reading) -> wire.Me:
    """Who asks: the name, scopes and groups of the key."""
    groups = caller.reader.groups
    return wire.Me(
        name=caller.reader.name,
        scopes=sorted(caller.scopes),
        groups=None if groups is None else sorted(groups),
        open=caller.is_open,
    )


@router.get("/metrics", response_class=PlainTextResponse, responses={**wire_errors.reading})
async def metrics(service: Here, caller: Reading) -> PlainTextResponse:
    """Counts and times of requests since the server was started, for Prometheus."""
    del caller
    gauges: dict[str, float] = {"ready": service.is_ready}
    if (unfinished := await service.jobs.unfinished()) is not None:
        gauges["jobs_unfinished"] = unfinished
    return PlainTextResponse(service.metrics.text(gauges), media_type=TYPE)


@router.get("/settings", responses={**wire_errors.reading})
async def settings(service: Here, caller: Administering) -> wire.SettingList:
    """The settings in force, without secrets."""
    del caller
    shown: list[wire.Setting] = []
    for path, info, value in leaves(service.engine.settings):
        text = str(value) if isinstance(value, SecretStr) else written(value)  # of a secret, asterisks
        shown.append(wire.Setting(path=path, value=text, description=info.description or ""))
    return wire.SettingList(settings=shown)


@router.get("/stats", responses={**wire_errors.reading})
async def stats(
    service: Here,
    caller: Administering,
    days: Annotated[float, Query(ge=0, le=3_650, allow_inf_nan=False, description="so many days back")] = 7.0,
) -> wire.Stats:
    """Questions, how they ended and how long they took: in all, by the day and by the hour."""
    del caller
    report = await asyncio.to_thread(service.engine.statistics, days)
    now = await asyncio.to_thread(service.engine.status)
    told = {"documents": now.documents, "chunks": now.chunks}
    return wire.Stats.model_validate(asdict(report) | told)
