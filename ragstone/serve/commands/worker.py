"""The command that works on a knowledge base for as long as it runs: worker."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Coroutine
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.serve import failures, typed
from ragstone.serve.options import DEFAULT_KB, Asked, Kb, with_settings

if TYPE_CHECKING:
    from ragstone.engine import Engine
    from ragstone.jobs.queue import Job
    from ragstone.reports import AddReport

FOR_EVER = float("inf")


@with_settings
def worker(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SOURCE]...",
            help="Files, folders, and sites: an address, or a name in the settings. None: jobs are taken.",
            show_default=False,
        ),
    ] = None,
    *,
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    every: Annotated[
        str, typer.Option(metavar="TIME", help="From the end of one round to the next: 30s, 15m, 1h, 2d.")
    ] = "1h",
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="Where the settings would store something else, rebuild; without it, refuse."),
    ] = False,
    until_empty: Annotated[
        bool, typer.Option("--until-empty", help="End when no job is left that anybody has to do.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
) -> None:
    """Work on a knowledge base while others serve it: keep it up to date, or do what was put in the queue.

    With sources, goes round them at once and whenever --every has passed: files are synced, sites are crawled. A
    source that fails is told, and tried again in the next round. Without, takes the jobs that add --queue, sync
    --queue and a server have put: any number of workers may, and what one that is killed had in hand is done by
    another. Whoever answers questions from the same knowledge base finds what is new with the next question. Ends at
    Ctrl-C or SIGTERM; what was stored is kept.
    """
    from ragstone.engine import Engine
    from ragstone.errors import UsageError

    pause = typed.seconds(every)
    Engine.refuse_unreadable([source for source in sources or () if source == ""])
    if sources and until_empty:
        raise UsageError("--until-empty is for jobs; name no source with it")
    if not sources and rebuild:
        raise UsageError("--rebuild is for sources; name one")
    telling = _Telling(kb, as_json=as_json)
    try:
        if sources:
            asyncio.run(_stoppable(_round_and_round(_Rounds(asked, kb, sources, telling, rebuild=rebuild), pause)))
        else:
            asyncio.run(_stoppable(_jobs(asked, kb, telling, until_empty=until_empty)))
    except asyncio.CancelledError:
        failures.tell("stopped; what was stored is kept")


async def _stoppable(work: Coroutine[None, None, None]) -> None:
    """SIGTERM does what Ctrl-C does: what is under way ends where it does no harm."""
    me = asyncio.current_task()
    assert me is not None, "asyncio.run makes one"
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, me.cancel)
    await work


async def _round_and_round(rounds: _Rounds, pause: float) -> None:
    while True:
        await rounds.go()
        await asyncio.sleep(pause)


async def _jobs(asked: Asked, kb: Path, telling: _Telling, *, until_empty: bool) -> None:
    """Take jobs. The knowledge base stays open, and with it the embedder: the next job need not wait for it."""
    from ragstone.jobs.worker import Worker

    with closing(asked.open(kb, create=True, wait=FOR_EVER)) as engine:
        await Worker(engine, telling.job, failures.tell).go(until_empty=until_empty)


class _Telling:
    """What was done, a line each."""

    def __init__(self, kb: Path, *, as_json: bool) -> None:
        self._kb, self._as_json = kb, as_json

    def report(self, what: str, report: AddReport) -> None:
        from ragstone.serve import render, screen

        now = datetime.now(UTC).isoformat(timespec="seconds")
        if self._as_json:
            print(json.dumps({"at": now, "what": what, **asdict(report)}))
        else:
            first, *rest = render.report(report, str(self._kb))
            screen.write([screen.line(f"{now} {screen.one_line(what)}: ", *first.parts), *rest])
        sys.stdout.flush()

    def job(self, job: Job) -> None:
        what = f"{job.kind} {job.id}"
        if job.report:
            self.report(what, job.report)
            return
        rest = "it is tried again" if not job.is_over else "it is given up"
        failures.tell(f"{what}: {job.error}; {rest}")


class _Rounds:
    def __init__(self, asked: Asked, kb: Path, sources: list[str], telling: _Telling, *, rebuild: bool) -> None:
        self._asked, self._kb, self._sources, self._telling, self._rebuild = asked, kb, sources, telling, rebuild

    async def go(self) -> None:
        """Each source once. The knowledge base is opened anew each time: between rounds no memory is held."""
        from ragstone.errors import MissingExtra, RagstoneError, SettingsMismatch, UsageError

        for source in self._sources:
            try:
                await self._one(source)
            except (UsageError, MissingExtra, SettingsMismatch):
                raise  # no later round would do better
            except RagstoneError as error:
                failures.tell(str(error))

    async def _one(self, source: str) -> None:
        from ragstone.errors import SettingsMismatch

        try:
            await self._bring_in(source)
        except SettingsMismatch:
            if not self._rebuild:
                raise
            with closing(self._asked.open(self._kb, as_built=True)) as engine:
                report = await engine.rebuild(self._asked.overrides, preset=self._asked.preset)
            self._telling.report("rebuilt", report)
            await self._bring_in(source)

    async def _bring_in(self, source: str) -> None:
        with closing(self._asked.open(self._kb, create=True, wait=FOR_EVER)) as engine:
            self._telling.report(source, await _stored(engine, source))


async def _stored(engine: Engine, source: str) -> AddReport:
    if "://" in source or source in engine.settings.acquire.sites:
        return await engine.crawl(source)
    return await engine.sync([source])
