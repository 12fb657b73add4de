"""The server itself: health, the caller, metrics, settings, statistics and learned policies."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import Field, SecretStr

import ragstone
from ragstone.core.answers import EXTRACTIVE
from ragstone.engine.model_check import why_no_pictures
from ragstone.history.keys import Scope
from ragstone.serve.http import errors
from ragstone.serve.http.authentication import Administering, Reading
from ragstone.serve.http.messages import Response
from ragstone.serve.http.routes.jobs import Progress, may_add_pages
from ragstone.serve.http.service import Here
from ragstone.serve.http.telemetry import CONTENT_TYPE
from ragstone.settings.load import leaves, written


# ---------------------------------------------------------------- messages
class Health(Response):
    """The server is running."""

    status: Literal["alive"]
    version: str


class Readiness(Response):
    """Whether questions are answered now, without waiting for models to load."""

    status: Literal["ready", "starting", "unavailable"]
    problem: str = Field(description="why not; empty if ready")


class Me(Response):
    """The caller."""

    name: str
    scopes: list[Scope]
    groups: list[str] | None = Field(description="groups whose documents the caller may read; null means all documents")
    open: bool = Field(description="true if no key is needed, because none was made")
    person: str | None = Field(description="the person who is signed in; null for a key")
    has_password: bool = Field(description="whether the person can change their password here")
    web_pages: bool = Field(description="whether the caller may add web pages by their address")
    attached_files: int = Field(description="files that a conversation may have; 0 if the caller may attach none")
    models: list[str] = Field(description="language models that a question may choose from")
    writes: bool = Field(description="whether a language model writes the answers, which else quote")
    pictures: bool = Field(description="whether a question may have a picture, because a model describes it")


class Setting(Response):
    """A setting in effect; secrets are shown as asterisks."""

    path: str
    value: str
    description: str


class SettingList(Response):
    """All settings that apply to questions."""

    settings: list[Setting]


class Times(Response):
    """Durations in milliseconds; the percentiles are accurate to about a tenth."""

    count: int
    mean: float
    p50: float
    p95: float


class Engine(Response):
    """An external engine, and the changes that it lacks; ``problem`` says why it cannot be asked."""

    leg: str
    engine: str
    behind: int
    problem: str


class RunningIngest(Response):
    """An ingest that runs now."""

    doing: str = Field(description="add, sync, crawl or rebuild")
    progress: Progress


class State(Response):
    """What the knowledge base holds, and what it was built with."""

    documents: int
    chunks: int
    megabytes: float
    version: str = Field(description="of the server")
    preset: str
    built_with: dict[str, str | int] = Field(description="the settings that decide what is stored")
    generation: int = Field(description="number of the last change of what is stored")
    behind: int = Field(description="changes that keyword search does not know yet; the next use adds them")
    skipped: int = Field(description="files that could not be read the last time")
    jobs_waiting: int
    jobs_running: int
    engines: list[Engine]
    substitutes: list[str] = Field(description="what stands in for engines and services of the preset")
    notices: list[str] = Field(description="what should be changed, with the commands")
    running: list[RunningIngest] = Field(description="what is being added now, by any process of this folder")


class Period(Response):
    """What happened in an hour (2026-01-31T07), on a day (2026-01-31), or in total; UTC."""

    period: str
    questions: int
    answered: int
    closest: int = Field(description="passages that may answer were shown")
    refused: int = Field(description="refusals: nothing came close")
    failed: int
    stopped: int = Field(description="stopped by the client")
    degraded: int = Field(description="answered although a part was unavailable")
    searches: int = Field(description="without an answer")
    confidence: float | None = Field(description="mean over the answers, without abstentions")
    failures: dict[str, int] = Field(description="by type of error")
    times_ms: dict[str, Times] = Field(description="by stage")
    cache_hits: dict[str, int]
    cache_misses: dict[str, int]
    found_by: dict[str, int] = Field(
        description="pieces of evidence by the search that found them, and by only one or both"
    )


class Stats(Response):
    """Statistics of all processes that serve this knowledge base, most recent period first."""

    total: Period
    moving: dict[str, float] = Field(description="moving averages of the answers, nine tenths of the earlier value")
    daily: list[Period]
    hourly: list[Period]
    documents: int = Field(description="stored now")
    chunks: int = Field(description="stored now")


class Policy(Response):
    """A version of the learned policy."""

    version: int
    parent: int | None
    at: float = Field(description="seconds since 1970")
    changes: list[str] = Field(description="what it changes in the settings")


class PolicyList(Response):
    """All versions of the learned policy."""

    in_use: int
    policies: list[Policy]


class TrialArm(Response):
    """One version in a trial, with its figures."""

    version: int
    share: float = Field(description="share of the questions that it answers")
    requests: int
    votes: int
    reward: float = Field(description="mean per question: 1 for up, -1 for down, 0 for no vote")
    ups: float | None
    difference: float | None = Field(description="in the share of up votes, from the version in use; null if too few")
    low: float | None
    high: float | None
    evidence: float | None = Field(description="promoted once it reaches the bar")
    bar: float | None
    needs: int | None = Field(description="more votes needed at this rate; null if unknown or never")


class OnTrial(Response):
    """An arm of a trial, its role, and what it changes."""

    role: str
    changes: list[str]
    arm: TrialArm
    few: bool = Field(description="true if it or the version in use has too few votes to show a difference")


class EvidencePoint(Response):
    """The evidence for a challenger at one moment of a trial."""

    trial: str
    version: int
    evidence: float
    bar: float


class Moment(Response):
    """A decision."""

    number: int
    at: float
    action: str
    why: str
    champion: int
    votes: int
    points: list[EvidencePoint]


class Learned(Response):
    """The state of learning."""

    mode: str
    champion: int
    changes: list[str]
    trial: str
    why: str
    votes: int
    next_in: int
    arms: list[OnTrial]
    moments: list[Moment]
    cautions: list[str]
    trouble: str


# ---------------------------------------------------------------- routes
router = APIRouter(tags=["service"])


@router.get("/policies", responses={**errors.READING})
async def policies(service: Here, _: Administering) -> PolicyList:
    """List every version of the learned policy; version 0 is the settings alone."""
    learning = service.engine.learning

    def listed() -> PolicyList:
        shown = [
            Policy(version=one.version, parent=one.parent, at=one.at, changes=list(learning.changes(one.version)))
            for one in learning.policies()
        ]
        return PolicyList(in_use=learning.report().champion, policies=shown)

    return await asyncio.to_thread(listed)


@router.get("/policies/explain", responses={**errors.READING})
async def explain_policies(service: Here, _: Administering) -> Learned:
    """Return the policy in use, the trial, its evidence so far, and all decisions with their reasons."""
    return Learned.model_validate(asdict(await asyncio.to_thread(service.engine.learning.report)))


@router.get("/health")
async def health() -> Health:
    """Return as long as the server runs. No key is needed."""
    return Health(status="alive", version=ragstone.__version__)


@router.get("/ready", response_model=Readiness, responses={503: {"model": Readiness}})
async def ready(service: Here) -> JSONResponse:
    """Return whether questions are answered now, without waiting for models to load. No key is needed."""
    if not service.is_ready:
        readiness = Readiness(status="starting", problem="the models are being loaded")
    elif problem := await service.readiness.problem():
        readiness = Readiness(status="unavailable", problem=problem)
    else:
        readiness = Readiness(status="ready", problem="")
    return JSONResponse(readiness.model_dump(), 200 if readiness.status == "ready" else 503)


@router.get("/me", responses={**errors.READING})
async def me(service: Here, caller: Reading) -> Me:
    """Return the caller: name, scopes and groups of the key or of the person who is signed in."""
    groups, settings = caller.reader.groups, await service.live.settings()
    return Me(
        name=caller.reader.name,
        scopes=sorted(caller.scopes),
        groups=None if groups is None else sorted(groups),
        open=caller.key is None,
        person=caller.session.shown if caller.session else None,
        has_password=caller.session is not None and caller.session.via == "password",
        web_pages=may_add_pages(service, caller),
        attached_files=0 if caller.is_visitor else service.settings.uploads.attached_files,
        models=list(service.settings.models),
        writes=settings.respond.model.name != EXTRACTIVE,
        pictures=bool(settings.acquire.captions.model) and not why_no_pictures(settings) and not caller.is_visitor,
    )


@router.get("/metrics", response_class=PlainTextResponse, responses={**errors.READING})
async def metrics(service: Here, _: Reading) -> PlainTextResponse:
    """Return counts and times of requests since the server started, for Prometheus."""
    gauges: dict[str, float] = {"ready": service.is_ready}
    if (unfinished := await service.jobs.unfinished()) is not None:
        gauges["jobs_unfinished"] = unfinished
    return PlainTextResponse(service.metrics.render(gauges), media_type=CONTENT_TYPE)


@router.get("/settings", responses={**errors.READING})
async def settings(service: Here, _: Administering) -> SettingList:
    """Return the settings in effect, without secrets."""
    shown: list[Setting] = []
    for path, info, value in leaves(service.engine.settings):
        text = str(value) if isinstance(value, SecretStr) else written(value)  # of a secret, asterisks
        shown.append(Setting(path=path, value=text, description=info.description or ""))
    return SettingList(settings=shown)


@router.get("/status", responses={**errors.READING})
async def state(service: Here, _: Administering) -> State:
    """Return what the knowledge base holds, what it was built with, and what is still to be done."""
    status = await asyncio.to_thread(service.engine.status)
    return State(
        documents=status.documents,
        chunks=status.chunks,
        megabytes=status.megabytes,
        version=ragstone.__version__,
        preset=status.built_with.preset,
        built_with=dict(status.built_with.settings),
        generation=status.generation,
        behind=status.behind,
        skipped=len(status.skipped),
        jobs_waiting=status.jobs.waiting,
        jobs_running=status.jobs.running,
        engines=[Engine.model_validate(one, from_attributes=True) for one in status.engines],
        substitutes=list(status.substitutes),
        notices=list(status.notices),
        running=[RunningIngest(doing=one.doing, progress=Progress.of(one.progress)) for one in status.running],
    )


@router.get("/stats", responses={**errors.READING})
async def stats(
    service: Here,
    _: Administering,
    days: Annotated[float, Query(ge=0, le=3_650, allow_inf_nan=False, description="number of days")] = 7.0,
) -> Stats:
    """Return questions, their outcomes and durations: in total, by day and by hour."""
    report = await asyncio.to_thread(service.engine.history.statistics, days)
    stored = await asyncio.to_thread(service.engine.status)
    return Stats.model_validate(asdict(report) | {"documents": stored.documents, "chunks": stored.chunks})
