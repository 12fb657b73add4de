"""What administrators do: keys, people who sign in, and the record of who did what."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import Annotated

from fastapi import Path, Query
from pydantic import Field

from ragstone.core.errors import NotFound, UsageError
from ragstone.engine.jobs.queue import Job, State
from ragstone.history.audit import Act, told_rights
from ragstone.history.keys import SCOPES, Key, KeyLimits, Scope
from ragstone.history.sessions import Via
from ragstone.history.users import is_same_name
from ragstone.serve.http import errors
from ragstone.serve.http.authentication import Administering, Caller, admin_router
from ragstone.serve.http.errors import Refused
from ragstone.serve.http.live_settings import SOURCES
from ragstone.serve.http.messages import Request, Response
from ragstone.serve.http.service import Here

Scopes = Annotated[list[Scope], Field(min_length=1, max_length=len(SCOPES))]
Groups = Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=1_000)]
NewPassword = Annotated[str, Field(min_length=1, max_length=1_000)]
MOST_UNANSWERED = 50
_ADDRESS = re.compile(r"(?:https?|git\+https)://[^\s/@?#]+(?:/\S*)?")
"""Addresses of sources that may be added. None has a password, and none is a file of the server."""
READS = "groups whose documents may be read; null means all documents"


# ---------------------------------------------------------------- messages
class StoredKey(Response):
    """A key without its secret. Times are in seconds since 1970."""

    id: str
    name: str
    scopes: list[Scope]
    groups: list[str] | None = Field(description=READS)
    made: float
    revoked: float | None
    rate_per_minute: int | None = Field(description="its own limit; null stands for that of the server")
    cost_per_day: float | None = Field(description="its own limit; null stands for that of the server")

    @classmethod
    def of(cls, key: Key) -> StoredKey:
        return cls(
            id=key.id,
            name=key.name,
            scopes=list(key.scopes),
            groups=None if key.groups is None else list(key.groups),
            made=key.made,
            revoked=key.revoked,
            rate_per_minute=key.limits.rate_per_minute,
            cost_per_day=key.limits.cost_per_day,
        )


class StoredKeys(Response):
    """All keys, the newest first."""

    keys: list[StoredKey]


class NewKey(Request):
    """A key to make."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    scopes: Scopes
    groups: Groups | None = Field(default=None, description=READS)
    rate_per_minute: Annotated[int, Field(ge=0, le=10**9)] | None = None
    cost_per_day: Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)] | None = None


class MadeKey(Response):
    """A new key with its secret, which is never shown again."""

    secret: str
    key: StoredKey


class StoredPerson(Response):
    """A person who signs in, or is signed in."""

    name: str = Field(description="of the reader")
    shown: str = Field(description="what the person is called")
    via: Via
    scopes: list[Scope]
    groups: list[str] | None = Field(description=READS)
    sessions: int = Field(description="how often the person is signed in now")


class People(Response):
    """The users with passwords, then whoever is signed in through the provider."""

    people: list[StoredPerson]


class NewPerson(Request):
    """A user to add."""

    name: Annotated[str, Field(min_length=1, max_length=64)]
    password: NewPassword
    scopes: Scopes
    groups: Groups | None = Field(default=None, description=READS)


class PersonChange(Request):
    """What a user may do and read from now on, and a new password if one is given."""

    scopes: Scopes
    groups: Groups | None = Field(description=READS)
    password: NewPassword | None = None


class ModelTest(Response):
    """A model, the seconds it took to answer, and why it did not, if so."""

    setting: str
    name: str
    seconds: float
    problem: str


class ModelTests(Response):
    """All models in use that can be tested."""

    models: list[ModelTest]


class LastSync(Response):
    """The last job that synced a source. Times are in seconds since 1970."""

    job_id: str
    state: State
    at: float
    ended: float | None
    error: str
    skipped: int = Field(description="files or pages that could not be read")

    @classmethod
    def of(cls, job: Job) -> LastSync:
        skipped = len(job.report.skipped) if job.report else 0
        return cls(job_id=job.id, state=job.state, at=job.at, ended=job.ended, error=job.error, skipped=skipped)


class SyncedSource(Response):
    """A source that can be synced. Times are in seconds since 1970."""

    source: str
    added: bool = Field(description="whether it was added while the server runs, and can be removed")
    every_seconds: float | None = Field(description="how often it is synced; null means only on demand")
    paused: bool
    next: float | None = Field(description="when it is synced next; null if it is paused or has no schedule")
    last: LastSync | None = Field(description="null if it was not synced lately")


class Sources(Response):
    """The sources of the setting `serve.sources`, and those that were added."""

    sources: list[SyncedSource]


class NewSource(Request):
    """A source to add."""

    source: Annotated[str, Field(min_length=1, max_length=2_000)]


class ScheduleChange(Request):
    """How often a source is synced."""

    source: Annotated[str, Field(min_length=1, max_length=2_000)]
    every_seconds: Annotated[float, Field(ge=60, le=31_536_000, allow_inf_nan=False)] | None = Field(
        description="null: only on demand"
    )
    paused: bool = False


class UnansweredQuestion(Response):
    """A question that was not answered. ``last`` is in seconds since 1970."""

    question: str
    count: int
    shown: int = Field(description="how often passages that may answer were shown; the other times it was refused")
    last: float


class Asked(Response):
    """What was asked and not answered, the most frequent first, and what people said of the answers."""

    unanswered: list[UnansweredQuestion]
    up: int
    down: int


class AuditEntry(Response):
    """What somebody did. ``at`` is in seconds since 1970; an empty ``who`` is somebody on the server's machine."""

    number: int
    at: float
    who: str
    act: Act
    what: str


class AuditLog(Response):
    """Acts, the newest first."""

    entries: list[AuditEntry]


# ---------------------------------------------------------------- keys
router = admin_router()
Id = Annotated[str, Path(min_length=1, max_length=100)]
PersonName = Annotated[str, Path(min_length=1, max_length=600, description="may contain slashes")]


@router.get("/keys", responses={**errors.READING})
async def keys(service: Here) -> StoredKeys:
    """List all keys."""
    return StoredKeys(keys=[StoredKey.of(one) for one in await asyncio.to_thread(service.keys.all)])


@router.post("/keys", status_code=201, responses={**errors.CHANGING})
async def make_key(body: NewKey, service: Here, caller: Administering) -> MadeKey:
    """Make a key. Its secret is in this response only."""
    limits = KeyLimits(rate_per_minute=body.rate_per_minute, cost_per_day=body.cost_per_day)
    key, secret = await asyncio.to_thread(service.keys.make, body.name, body.scopes, body.groups, limits)
    await service.noted(caller, "key.make", told_rights(key))
    return MadeKey(secret=secret, key=StoredKey.of(key))


@router.delete("/keys/{id}", responses={**errors.CHANGING})
async def revoke_key(id: Id, service: Here, caller: Administering) -> StoredKey:
    """Revoke a key; every server refuses it within a second."""
    found = next((one for one in await asyncio.to_thread(service.keys.all) if one.id == id), None)
    if found is None:
        raise NotFound(f"there is no key '{id}'")
    (key,) = await asyncio.to_thread(service.keys.revoke, id)
    await service.noted(caller, "key.revoke", f"{key.name} ({key.id})")
    return StoredKey.of(key)


# ---------------------------------------------------------------- people
@router.get("/people", responses={**errors.READING})
async def people(service: Here) -> People:
    """List the users with passwords, and whoever is signed in through the provider."""
    users, sessions = await asyncio.to_thread(service.users.all), await asyncio.to_thread(service.sessions.all)
    by_name = {
        one.name: StoredPerson(
            name=one.name,
            shown=one.name,
            via="password",
            scopes=list(one.scopes),
            groups=_listed(one.groups),
            sessions=0,
        )
        for one in users
    }
    for session in sessions:
        person = by_name.get(session.name) or StoredPerson(
            name=session.name,
            shown=session.shown,
            via=session.via,
            scopes=list(session.scopes),
            groups=_listed(session.groups),
            sessions=0,
        )
        by_name[session.name] = person.model_copy(update={"sessions": person.sessions + 1})
    return People(people=list(by_name.values()))


@router.post("/people", status_code=204, responses={**errors.CHANGING})
async def add_person(body: NewPerson, service: Here, caller: Administering) -> None:
    """Add a user, who signs in with a name and a password."""
    user = await asyncio.to_thread(service.users.add, body.name, body.password, body.scopes, body.groups)
    await service.noted(caller, "user.add", told_rights(user))


@router.patch("/people/{name}", status_code=204, responses={**errors.CHANGING})
async def change_person(name: Id, body: PersonChange, service: Here, caller: Administering) -> None:
    """Set what a user may do and read, and a new password if one is given. Their sessions end."""
    if _is_own(name, caller) and "admin" not in body.scopes:
        raise Refused("conflict", "nobody can take the scope 'admin' from themselves; another administrator can")
    if body.password is not None:
        user = await asyncio.to_thread(service.users.set_password, name, body.password)
        await service.noted(caller, "user.password", user.name)
    user = await asyncio.to_thread(service.users.set_rights, name, body.scopes, body.groups)
    await service.noted(caller, "user.change", told_rights(user))


@router.delete("/people/{name}", status_code=204, responses={**errors.CHANGING})
async def remove_person(name: Id, service: Here, caller: Administering) -> None:
    """Remove a user. Their sessions end; their conversations are kept, without the files attached to them."""
    if _is_own(name, caller):
        raise Refused("conflict", "nobody can remove themselves; another administrator can")
    user = await asyncio.to_thread(service.users.remove, name)
    service.sweeper.wake()
    await service.noted(caller, "user.remove", user.name)


@router.delete("/sessions/{name:path}", status_code=204, responses={**errors.CHANGING})
async def sign_person_out(name: PersonName, service: Here, caller: Administering) -> None:
    """End all sessions of a person."""
    shown = next((one.shown for one in await asyncio.to_thread(service.sessions.all) if one.name == name), None)
    if shown is None:
        raise NotFound("this person is not signed in")
    await asyncio.to_thread(service.sessions.end_all_of, name)
    await service.noted(caller, "person.sign_out", shown)


# ---------------------------------------------------------------- what was asked
@router.get("/asked", responses={**errors.READING})
async def asked(
    service: Here,
    days: Annotated[float, Query(ge=0, le=3_650, allow_inf_nan=False, description="number of days")] = 7.0,
) -> Asked:
    """Return which questions of all readers were not answered, and what people said of the answers."""
    history = service.engine.history
    found = await asyncio.to_thread(history.unanswered, days, MOST_UNANSWERED)
    said = await asyncio.to_thread(history.opinions, days)
    unanswered = [UnansweredQuestion.model_validate(one, from_attributes=True) for one in found]
    return Asked(unanswered=unanswered, up=said.up, down=said.down)


# ---------------------------------------------------------------- models and sources
@router.post("/models/test", responses={**errors.CHANGING})
async def test_models(service: Here, caller: Administering) -> ModelTests:
    """Ask each model in use for a little, and return how it answers. A service may charge for that."""
    found = await service.check_models(caller)
    return ModelTests(models=[ModelTest.model_validate(one, from_attributes=True) for one in found])


@router.get("/sources", responses={**errors.READING})
async def sources(service: Here) -> Sources:
    """Return the sources that can be synced, their schedules, and how the last sync of each ended."""
    schedules = {one.source: one for one in await asyncio.to_thread(service.scheduler.schedules.all)}
    last = await service.scheduler.last_syncs()
    followed: list[SyncedSource] = []
    for source in await service.scheduler.sources():
        planned, synced = schedules.get(source), last.get(source)
        followed.append(
            SyncedSource(
                source=source,
                added=source not in service.scheduler.configured,
                every_seconds=planned.every if planned else None,
                paused=planned.paused if planned else False,
                next=planned.due if planned and not planned.paused else None,
                last=LastSync.of(synced.job) if synced else None,
            )
        )
    return Sources(sources=followed)


@router.post("/sources", status_code=204, responses={**errors.CHANGING})
async def add_source(body: NewSource, service: Here, caller: Administering) -> None:
    """Let a source be synced: a web site, a Git repository, or a connection that the settings name.

    An address needs the setting `serve.web_pages`. No file of the server and no private network is reached by one.
    """
    source, settings = body.source, service.engine.settings.acquire
    if caller.reader.groups is not None:
        raise Refused("forbidden", "only administrators who read everything add sources")
    if source not in settings.connections and source not in settings.sites:
        if not _ADDRESS.fullmatch(source):
            raise UsageError("a source is https://..., git+https://..., or a name in acquire.connections")
        if not service.settings.web_pages:
            raise Refused("forbidden", "sources are added by their address only if serve.web_pages is on")
    if source in await service.scheduler.sources():
        raise Refused("conflict", f"'{source}' can be synced already")
    await service.live.store(f"{SOURCES}{source}", source)
    await service.noted(caller, "source.add", source)


@router.delete("/sources", status_code=204, responses={**errors.CHANGING})
async def remove_source(
    source: Annotated[str, Query(min_length=1, max_length=2_000)], service: Here, caller: Administering
) -> None:
    """End the syncs of a source that was added. Its documents stay."""
    if source not in await service.live.added_sources():
        raise NotFound(f"'{source}' was not added here")
    await asyncio.to_thread(service.scheduler.schedules.remove, source)
    await service.live.store(f"{SOURCES}{source}", None)
    await service.noted(caller, "source.remove", source)


@router.post("/sources/schedule", status_code=204, responses={**errors.CHANGING})
async def schedule_source(body: ScheduleChange, service: Here, caller: Administering) -> None:
    """Sync a source every so often, pause that, or end it. Whichever server runs does it."""
    if body.source not in await service.scheduler.sources():
        raise NotFound(f"'{body.source}' is not in the setting serve.sources, and was not added")
    schedules = service.scheduler.schedules
    if body.every_seconds is None:
        await asyncio.to_thread(schedules.remove, body.source)
        how = "on demand"
    else:
        await asyncio.to_thread(partial(schedules.set, body.source, body.every_seconds, paused=body.paused))
        how = f"every {body.every_seconds:g} s{', paused' if body.paused else ''}"
    await service.noted(caller, "source.schedule", f"{body.source} · {how}")


# ---------------------------------------------------------------- jobs
@router.delete("/jobs/{job_id}", status_code=204, responses={**errors.CHANGING})
async def cancel_job(job_id: Id, service: Here, caller: Administering) -> None:
    """Stop a job of this server. What it has stored stays."""
    if not service.jobs.cancel(job_id):
        status = await service.jobs.get(job_id)
        reason = "it is over already" if status.job.is_over else "another process runs it"
        raise Refused("conflict", f"the job cannot be stopped: {reason}")
    await service.noted(caller, "job.cancel", job_id)


# ---------------------------------------------------------------- the record
@router.get("/audit", responses={**errors.READING})
async def audit(
    service: Here,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Annotated[int | None, Query(ge=1, le=2**53, description="only acts before the one of this number")] = None,
) -> AuditLog:
    """Return what administrators did, the newest first."""
    entries = await asyncio.to_thread(service.audit.last, limit, before)
    return AuditLog(entries=[AuditEntry.model_validate(one, from_attributes=True) for one in entries])


def _is_own(name: str, caller: Caller) -> bool:
    return caller.session is not None and is_same_name(caller.session.name, name)


def _listed(groups: tuple[str, ...] | None) -> list[str] | None:
    return None if groups is None else list(groups)
