"""The command that keeps a knowledge base up to date for as long as it runs: worker."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
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
    from ragstone.reports import AddReport

FOR_EVER = float("inf")


@with_settings
def worker(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE...", help="Files, folders, and sites: an address, or a name in the settings."),
    ],
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    every: Annotated[
        str, typer.Option(metavar="TIME", help="From the end of one round to the next: 30s, 15m, 1h, 2d.")
    ] = "1h",
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="Where the settings would store something else, rebuild; without it, refuse."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
) -> None:
    """Keep a knowledge base up to date while others serve it.

    Goes round the sources at once and whenever --every has passed: files are synced, sites are crawled. Whoever
    answers questions from the same knowledge base finds what is new with the next question. A source that fails is
    told, and tried again in the next round. Ends at Ctrl-C or SIGTERM; what was stored is kept.
    """
    from ragstone.engine import Engine

    pause = typed.seconds(every)
    Engine.refuse_unreadable([source for source in sources if source == ""])
    rounds = _Rounds(asked, kb, sources, rebuild=rebuild, as_json=as_json)
    try:
        asyncio.run(_until_stopped(rounds, pause))
    except asyncio.CancelledError:
        failures.tell("stopped; what was stored is kept")


async def _until_stopped(rounds: _Rounds, pause: float) -> None:
    """Go round and round. SIGTERM does what Ctrl-C does: what is under way ends where it does no harm."""
    me = asyncio.current_task()
    assert me is not None, "asyncio.run makes one"
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, me.cancel)
    while True:
        await rounds.go()
        await asyncio.sleep(pause)


class _Rounds:
    def __init__(self, asked: Asked, kb: Path, sources: list[str], *, rebuild: bool, as_json: bool) -> None:
        self._asked, self._kb, self._sources = asked, kb, sources
        self._rebuild, self._as_json = rebuild, as_json

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
            self._tell("rebuilt", report)
            await self._bring_in(source)

    async def _bring_in(self, source: str) -> None:
        with closing(self._asked.open(self._kb, create=True, wait=FOR_EVER)) as engine:
            self._tell(source, await _stored(engine, source))

    def _tell(self, what: str, report: AddReport) -> None:
        from ragstone.serve import render, screen

        now = datetime.now(UTC).isoformat(timespec="seconds")
        if self._as_json:
            print(json.dumps({"at": now, "what": what, **asdict(report)}))
        else:
            first, *rest = render.report(report, str(self._kb))
            screen.write([screen.line(f"{now} {screen.one_line(what)}: ", *first.parts), *rest])
        sys.stdout.flush()


async def _stored(engine: Engine, source: str) -> AddReport:
    if "://" in source or source in engine.settings.acquire.sites:
        return await engine.crawl(source)
    return await engine.sync([source])
