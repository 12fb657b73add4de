"""The command for continuous work on a knowledge base: worker."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Coroutine
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.core.frozen import frozen
from ragstone.serve.cli import typed
from ragstone.serve.cli.options import DEFAULT_KB, Asked, Create, Kb, opened, with_chunk_settings

if TYPE_CHECKING:
    from ragstone.core.reports import AddReport
    from ragstone.engine.jobs.queue import Job

FOREVER = float("inf")


@with_chunk_settings
def worker(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SOURCE]...",
            help="Files, folders and sites (an address, or a name in the settings). Without one, run queued jobs.",
            show_default=False,
        ),
    ] = None,
    *,
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    create: Create = False,
    every: Annotated[
        str, typer.Option(metavar="TIME", help="Pause between two rounds over the sources: 30s, 15m, 1h, 2d.")
    ] = "1h",
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Rebuild if the settings require it. Without this option, refuse.")
    ] = False,
    until_empty: Annotated[bool, typer.Option("--until-empty", help="Stop when the queue is empty.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> None:
    """Keep a knowledge base up to date, or run queued jobs.

    With sources: syncs the files and crawls the sites at once, and then every --every. Reports a source that
    fails, and retries it in the next round.

    Without sources: runs the queued jobs of add --queue, sync --queue and a server. Any number of workers can run. If a
    worker is killed, another one takes over its job.

    Queries see new documents at once. Ctrl-C or SIGTERM stops the worker; stored documents are kept.
    """
    from ragstone.core.errors import UsageError
    from ragstone.serve.cli import screen

    pause = typed.seconds(every)
    if sources and "" in sources:
        raise UsageError("a source is empty; name a file or a folder, such as . for the current one")
    if sources and until_empty:
        raise UsageError("--until-empty is for queued jobs; omit the sources")
    if not sources and rebuild:
        raise UsageError("--rebuild is for sources; name one")
    log = _Log(kb=kb, as_json=as_json)
    try:
        if sources:
            rounds = _Rounds(asked=asked, kb=kb, sources=tuple(sources), log=log, rebuild=rebuild)
            asyncio.run(_until_terminated(rounds.run(pause)))
        else:
            asyncio.run(_until_terminated(_jobs(asked, kb, log, until_empty=until_empty, create=create)))
    except asyncio.CancelledError:
        screen.write_error("stopped; stored documents are kept")


async def _until_terminated(work: Coroutine[None, None, None]) -> None:
    """Handle SIGTERM like Ctrl-C: cancel the work at a safe point."""
    me = asyncio.current_task()
    assert me is not None, "asyncio.run makes one"
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, me.cancel)
    await work


async def _jobs(asked: Asked, kb: Path, log: _Log, *, until_empty: bool, create: bool) -> None:
    """Run jobs. The knowledge base and its embedder stay open between them."""
    from ragstone.engine.jobs.worker import Worker
    from ragstone.serve.cli.screen import write_error

    with opened(kb, asked, create=create, wait=FOREVER) as opened_kb:
        await Worker(opened_kb, log.job, write_error).run(until_empty=until_empty)


@frozen
class _Log:
    """Prints one line for each finished piece of work."""

    kb: Path
    as_json: bool

    def report(self, what: str, report: AddReport) -> None:
        from ragstone.core.printable import one_line
        from ragstone.serve.cli import screen
        from ragstone.serve.views import stored
        from ragstone.serve.views.blocks import line

        now = datetime.now(UTC).isoformat(timespec="seconds")
        if self.as_json:
            print(json.dumps({"at": now, "what": what, **asdict(report)}))
        else:
            first, *rest = stored.ingested(report, str(self.kb))
            screen.write([line(f"{now} {one_line(what)}: ", *first.parts), *rest])
        sys.stdout.flush()

    def job(self, job: Job) -> None:
        from ragstone.serve.cli.screen import write_error

        what = f"{job.kind} {job.id}"
        if job.report:
            self.report(what, job.report)
            return
        write_error(f"{what}: {job.error}; {'not retried again' if job.is_over else 'it will be retried'}")


@frozen
class _Rounds:
    """Rounds over sources. The knowledge base is opened for each source, and holds no memory between rounds."""

    asked: Asked
    kb: Path
    sources: tuple[str, ...]
    log: _Log
    rebuild: bool

    async def run(self, pause: float) -> None:
        from ragstone.core.errors import MissingExtra, RagstoneError, SettingsMismatch, UsageError
        from ragstone.serve.cli.screen import write_error

        while True:
            for source in self.sources:
                try:
                    await self._one(source)
                except (UsageError, MissingExtra, SettingsMismatch):
                    raise  # a later round would fail the same way
                except RagstoneError as error:
                    write_error(str(error))
            await asyncio.sleep(pause)

    async def _one(self, source: str) -> None:
        from ragstone.core.errors import SettingsMismatch

        try:
            await self._ingest(source)
        except SettingsMismatch:
            if not self.rebuild:
                raise
            with opened(self.kb, self.asked, as_built=True) as opened_kb:
                report = await opened_kb.versions.rebuild(self.asked.overrides, preset=self.asked.preset)
            self.log.report("rebuilt", report)
            await self._ingest(source)

    async def _ingest(self, source: str) -> None:
        with opened(self.kb, self.asked, create=True, wait=FOREVER) as opened_kb:
            self.log.report(source, await opened_kb.documents.follow(source))
