"""Commands that change what is stored: add, sync, crawl, remove."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.serve import failures, typed
from ragstone.serve.options import DEFAULT_KB, Asked, Json, Kb, Wait, open_kb, with_settings

if TYPE_CHECKING:
    from ragstone.jobs.queue import Job


Queue = Annotated[bool, typer.Option("--queue", help="Only write down what is to be done; ragstone worker does it.")]


@with_settings
def add(
    sources: Annotated[list[str], typer.Argument(metavar="SOURCE...", help="Files, or folders of files.")],
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print 'added ID' for each document once it is safely stored.")
    ] = False,
    queue: Queue = False,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Read files and folders and store their documents.

    What is stored already and unchanged is left alone. Anything that cannot be read is reported and stops nothing.
    """
    from ragstone.engine import Engine
    from ragstone.serve import render, screen

    Engine.refuse_unreadable(sources)
    if queue:
        with closing(asked.open(kb, create=True, wait=wait)) as engine:
            _tell_queued(engine.queue_add(sources), as_json=as_json)
        return
    progress = screen.progress(verbose=verbose, ids_to=sys.stderr if as_json else None)
    with closing(asked.open(kb, create=True, wait=wait)) as engine, progress as told:
        report = asyncio.run(engine.add(sources, told))
    if as_json:
        screen.write_json(asdict(report))
    else:
        screen.write(render.report(report, str(kb)))
    if report.skipped and not report.added + report.updated + report.unchanged:
        raise typer.Exit(1)


@with_settings
def sync(
    sources: Annotated[list[str], typer.Argument(metavar="SOURCE...", help="Files, or folders of files.")],
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and do nothing.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Go on: look again whenever --every has passed.")] = False,
    every: Annotated[float, typer.Option(metavar="SECONDS", min=0.1, help="How often --watch looks.")] = 2.0,
    queue: Queue = False,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Make what is stored match the sources.

    Adds what is new, updates what changed, removes what is gone. Files that are as they were are not
    read again. What cannot be read this time stays as it was stored.
    """
    from ragstone.engine import Engine
    from ragstone.errors import Locked, SourceError, UsageError
    from ragstone.serve import render, screen

    Engine.refuse_unreadable(sources)
    if queue and (watch or dry_run):
        raise UsageError("--queue leaves the work to others; it goes with neither --watch nor --dry-run")
    if queue:
        with closing(asked.open(kb, create=True, wait=wait)) as engine:
            _tell_queued(engine.queue_sync(sources), as_json=as_json)
        return
    with closing(asked.open(kb, create=not dry_run, wait=wait)) as engine:
        if dry_run:
            plan = asyncio.run(engine.plan(sources))
            screen.write_json(asdict(plan)) if as_json else screen.write(render.plan(plan))
            return
        first, trouble = True, ""
        while watch or first:
            try:
                with screen.progress() as told:
                    report = asyncio.run(engine.sync(sources, told))
                if first or report.added + report.updated + report.removed:
                    screen.write_json(asdict(report)) if as_json else screen.write(render.report(report, str(kb)))
                trouble = ""
            except (SourceError, Locked) as error:
                # Whoever watches waits: a file may be missing for a moment while it is written anew.
                if first:
                    raise
                if str(error) != trouble:
                    trouble = str(error)
                    failures.tell(trouble)
            first = False
            if watch:
                sys.stdout.flush()
                time.sleep(every)


@with_settings
def crawl(
    site: Annotated[str, typer.Argument(metavar="SITE", help="Name of a site in the settings, or its address.")],
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    force: Annotated[bool, typer.Option("--force", help="Fetch pages that have not changed, too.")] = False,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Store the pages of a web site, and later what changed.

    Stays under the path of the start address, obeys robots.txt, and keeps a pace.
    """
    from ragstone.serve import render, screen

    with closing(asked.open(kb, create=True, wait=wait)) as engine, screen.crawling() as told:
        report = asyncio.run(engine.crawl(site, told, force=force))
    if as_json:
        screen.write_json(asdict(report))
    else:
        screen.write(render.report(report, str(kb)))


def remove(
    document_ids: Annotated[list[str], typer.Argument(metavar="DOCUMENT_ID...", show_default=False)],
    kb: Kb = DEFAULT_KB,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Take documents out, all or none."""
    from ragstone.serve import screen

    with closing(open_kb(kb, wait)) as engine:
        removed = engine.remove([typed.text(id) for id in document_ids])
    if as_json:
        screen.write_json({"removed": removed})
    else:
        screen.write([screen.line(f"removed {screen.one_line(id)}") for id in removed])


def _tell_queued(jobs: Sequence[Job], *, as_json: bool) -> None:
    from ragstone.serve import screen

    files = sum(len(job.work.files) for job in jobs)
    if as_json:
        screen.write_json({"jobs": [job.id for job in jobs], "files": files})
    elif not jobs:
        screen.write([screen.line("all of it waits in the queue already; ragstone worker does it")])
    else:
        screen.write([screen.line(f"{len(jobs):,} jobs for {files:,} files wait; ragstone worker does them")])
