"""How indexes follow the catalog: under the lock of an ingest, and at a question that finds one behind."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace

from ragstone.catalog.lock import ONCE, Patience, indexing
from ragstone.core.catalog import EngineStatus
from ragstone.core.errors import EngineError, KnowledgeBaseError, Locked
from ragstone.core.reports import AddReport
from ragstone.engine.components import Components
from ragstone.engine.progress import BEAT_SECONDS
from ragstone.index.follow.protocol import ExternalIndex, SyncedIndex
from ragstone.index.keyword.terms import NEWEST

_BEHIND = "an ingest is running; keyword search does not know the newest documents yet"
CATCH_UP_LIMIT = 100_000
"""Maximum number of changes that a question may add to an engine that lacks them."""


@contextmanager
def locked(version: Components, patience: Patience) -> Generator[None]:
    """Hold the lock that allows changes to the documents.

    Raises:
        Locked: another process held it until ``patience`` ended.
        KnowledgeBaseError: another version came into use meanwhile; writes to this one would be lost.
    """
    with version.location.indexing(patience):
        refuse_superseded(version)
        version.location.make_durable()
        yield


async def lock(version: Components, patience: Patience, on_wait: Callable[[str], None] | None = None) -> ExitStack:
    """Return the lock, held; waiting for it does not block the event loop.

    Args:
        version: the version to lock.
        patience: how long to wait.
        on_wait: receives the name of the process that is indexing, once in each second of waiting.
    """
    pause, stack, reported = patience.pauses(), ExitStack(), time.monotonic()
    while True:
        try:
            stack.enter_context(locked(version, ONCE))
            return stack
        except Locked as refusal:
            await asyncio.sleep(pause(refusal))
            if on_wait is not None and time.monotonic() - reported > BEAT_SECONDS:
                on_wait(refusal.holder)
                reported = time.monotonic()


def refuse_superseded(version: Components) -> None:
    """Refuse to write to a version that is no longer the one in use.

    Raises:
        KnowledgeBaseError: it is not.
    """
    if version.location.current() != version.source.path:
        raise KnowledgeBaseError(f"{version.folder} was rebuilt a moment ago; try again")


def follow(version: Components) -> None:
    """Bring every index up to the catalog. Call it only under the lock.

    An unavailable engine is skipped, so that no ingest waits for it; it catches up when it is back.
    """
    terms = version.indexes.terms()
    terms.follow()
    for leg in (version.indexes.keywords(), version.indexes.vectors(), version.indexes.mirror()):
        if leg is None or leg is terms or (isinstance(leg, ExternalIndex) and leg.problem):
            continue
        with suppress(EngineError):  # `with_engine_notices` reports it
            leg.follow(write=True)


async def follow_to_the_end(version: Components) -> None:
    """Run `follow` in a thread to its end, even if cancelled: the caller keeps its lock until then."""
    following = asyncio.ensure_future(asyncio.to_thread(follow, version))
    try:
        await asyncio.shield(following)
    except asyncio.CancelledError:
        await following
        raise


async def with_engine_notices(version: Components, report: AddReport) -> AddReport:
    """Return the report with a notice for each external engine that is behind."""

    def behind() -> list[EngineStatus]:
        return [one for leg in version.external_indexes() if (one := leg.status()).behind or one.problem]

    engines = await asyncio.to_thread(behind)
    notices = [
        one.problem or f"{one.engine} is {one.behind:,} change{'' if one.behind == 1 else 's'} behind"
        for one in engines
    ]
    suffix = "; the documents are stored, and it catches up when it is back"
    return replace(report, notices=(*report.notices, *(f"{one}{suffix}" for one in notices)))


async def follow_keywords(version: Components) -> tuple[str, ...]:
    """Bring the keyword index up to date after an interrupted ingest; the vector index does that itself.

    Returns:
        Why that failed; empty if it succeeded.
    """
    terms = version.indexes.terms
    if terms.is_made and terms().stamp == version.catalog.stamp():
        return ()  # two look-ups cost less than starting a thread
    return await asyncio.to_thread(_follow_keywords, version)


def _follow_keywords(version: Components) -> tuple[str, ...]:
    terms = version.indexes.terms()
    if (stamp := terms.stamp) == version.catalog.stamp():
        return ()
    if not terms.is_local:  # it follows under the lock of the ingest; chunks that it lacks are compared in memory
        return (_BEHIND,) if version.catalog.changes_since(stamp.generation) > NEWEST else ()
    own_vectors = version.settings.index.vectors == "embedded"
    try:
        with indexing(version.folder, ONCE, asking=True):
            terms.follow()
            if version.location.is_shared and own_vectors and version.has_embedder:  # no ingest on this host will
                version.indexes.vectors().follow(write=True)
    except Locked:
        return (_BEHIND,)
    except KnowledgeBaseError as error:
        return (f"keyword search is not up to date: {error}",)
    return ()


def catch_up(version: Components, leg: SyncedIndex) -> bool:
    """Bring one engine up to the catalog unless an ingest is running; return whether it is done."""
    with version.source.catching_up:
        try:
            # Among all hosts, because they share the engine.
            shared = version.location.is_shared
            with version.location.indexing(ONCE) if shared else indexing(version.folder, ONCE, asking=True):
                leg.follow(write=True)
        except Locked:
            return False
    return True
