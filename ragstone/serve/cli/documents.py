"""Commands for documents: add, sync, crawl, remove, forget, list, show."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.core.access import OWNER, Reader
from ragstone.serve.cli import typed
from ragstone.serve.cli.options import DEFAULT_KB, As, Asked, Json, Kb, Wait, opened, with_chunk_settings

if TYPE_CHECKING:
    from ragstone.engine.jobs.queue import Job


Sources = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SOURCE...]",
        help="Files, folders, addresses such as s3://bucket/docs, or names. Default: acquire.sources.",
        show_default=False,
    ),
]
Queue = Annotated[bool, typer.Option("--queue", help="Put the work into the queue; ragstone worker does it.")]


@with_chunk_settings
def add(
    asked: Asked,
    sources: Sources = None,
    kb: Kb = DEFAULT_KB,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print 'added ID' for each document once it is durable.")
    ] = False,
    queue: Queue = False,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Add files and folders to the knowledge base.

    Skips unchanged documents. Reports files that it cannot read, and continues.
    """
    from ragstone.serve.cli import screen
    from ragstone.serve.views import stored

    sources = _readable(sources, asked, kb)
    if queue:
        with opened(kb, asked, create=True, wait=wait) as opened_kb:
            _show_queued(opened_kb.documents.queue_add(sources), as_json=as_json)
        return
    progress = screen.progress(verbose=verbose, ids_to=sys.stderr if as_json else None)
    with opened(kb, asked, create=True, wait=wait) as opened_kb, progress as on_progress:
        report = asyncio.run(opened_kb.documents.add(sources, on_progress))
    screen.show(asdict(report), stored.ingested(report, str(kb)), as_json=as_json)
    if report.skipped and not report.added + report.updated + report.unchanged:
        raise typer.Exit(1)


@with_chunk_settings
def sync(
    asked: Asked,
    sources: Sources = None,
    kb: Kb = DEFAULT_KB,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Keep running, and sync again every --every seconds.")] = False,
    every: Annotated[float, typer.Option(metavar="SECONDS", min=0.1, help="Interval of --watch.")] = 2.0,
    queue: Queue = False,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Make the knowledge base match the sources.

    Adds new documents, updates changed ones and removes documents that are gone. Skips unchanged files. If it cannot
    read a file, it keeps the stored document.
    """
    from ragstone.core.errors import Locked, SourceError, UsageError
    from ragstone.serve.cli import screen
    from ragstone.serve.views import stored

    sources = _readable(sources, asked, kb)
    if queue and (watch or dry_run):
        raise UsageError("--queue cannot be combined with --watch or --dry-run")
    if queue:
        with opened(kb, asked, create=True, wait=wait) as opened_kb:
            _show_queued(opened_kb.documents.queue_sync(sources), as_json=as_json)
        return
    with opened(kb, asked, create=not dry_run, wait=wait) as opened_kb:
        if dry_run:
            plan = asyncio.run(opened_kb.documents.plan(sources))
            screen.show(asdict(plan), stored.plan(plan), as_json=as_json)
            return
        first, trouble = True, ""
        while watch or first:
            try:
                with screen.progress() as on_progress:
                    report = asyncio.run(opened_kb.documents.sync(sources, on_progress))
                if first or report.added + report.updated + report.removed:
                    screen.show(asdict(report), stored.ingested(report, str(kb)), as_json=as_json)
                trouble = ""
            except (SourceError, Locked) as error:
                # A file may be missing for a moment while another program writes it.
                if first:
                    raise
                if str(error) != trouble:
                    trouble = str(error)
                    screen.write_error(trouble)
            first = False
            if watch:
                sys.stdout.flush()
                time.sleep(every)


@with_chunk_settings
def crawl(
    site: Annotated[str, typer.Argument(metavar="SITE", help="The name of a site in the settings, or an address.")],
    asked: Asked,
    kb: Kb = DEFAULT_KB,
    force: Annotated[bool, typer.Option("--force", help="Also fetch unchanged pages.")] = False,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Add the pages of a web site; later, fetch what changed.

    Stays below the path of the start address, obeys robots.txt and limits its rate.
    """
    from ragstone.serve.cli import screen
    from ragstone.serve.views import stored

    with opened(kb, asked, create=True, wait=wait) as opened_kb, screen.progress() as on_progress:
        report = asyncio.run(opened_kb.documents.crawl(site, on_progress, force=force))
    screen.show(asdict(report), stored.ingested(report, str(kb)), as_json=as_json)


def remove(
    document_ids: Annotated[list[str], typer.Argument(metavar="DOCUMENT_ID...", show_default=False)],
    kb: Kb = DEFAULT_KB,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Remove documents: all of them, or none if one does not exist."""
    from ragstone.core.printable import one_line
    from ragstone.serve.cli import screen
    from ragstone.serve.views.blocks import line

    with opened(kb, wait=wait) as opened_kb:
        removed = opened_kb.documents.remove([typed.text(id) for id in document_ids], reader=OWNER)
    screen.show({"removed": removed}, [line(f"removed {one_line(id)}") for id in removed], as_json=as_json)


def forget(
    documents: Annotated[
        list[str],
        typer.Argument(
            metavar="DOCUMENT...", help="Whole ids, files, or ids of documents removed before.", show_default=False
        ),
    ],
    words: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also erase the words of this text, such as that of a removed document."),
    ] = None,
    kb: Kb = DEFAULT_KB,
    wait: Wait = 0.0,
    as_json: Json = False,
) -> None:
    """Erase documents with every trace that they left, and prove it.

    Removes them from all versions, indexes, caches, queues and uploads. Answers that quote them stay as answers whose
    source was erased. Then searches all files for their words; exits with 1 if it finds any.
    """
    from ragstone.serve.cli import screen
    from ragstone.serve.views import stored

    text = typed.file(words) if words else ""
    with opened(kb, wait=wait) as opened_kb:
        report = opened_kb.documents.forget([typed.text(one) for one in documents], reader=OWNER, words=text)
    screen.show(asdict(report), stored.erased(report), as_json=as_json)
    if report.found:
        raise typer.Exit(1)


def list_documents(
    text: Annotated[
        str, typer.Argument(metavar="[TEXT]", help="Only documents with this text in their id, title or address.")
    ] = "",
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Documents to list.")] = 100,
    groups: As = None,
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """List the documents of the knowledge base."""
    from ragstone.serve import as_json as json
    from ragstone.serve.cli import screen
    from ragstone.serve.views import stored

    with opened(kb) as opened_kb:
        found = opened_kb.documents.list(q=typed.text(text) if text else "", limit=limit, reader=Reader.of(groups))
    screen.show(json.listing(found), stored.listed(found, text), as_json=as_json)


def show(
    document_id: Annotated[
        str,
        typer.Argument(
            metavar="DOCUMENT_ID", help="An id, or the end of one; ragstone list shows the ids.", show_default=False
        ),
    ],
    span: Annotated[str | None, typer.Option(metavar="START:END", help="Print only these characters.")] = None,
    parse: Annotated[bool, typer.Option("--parse", help="Print how it was read, and what was left out.")] = False,
    groups: As = None,
    kb: Kb = DEFAULT_KB,
    as_json: Json = False,
) -> None:
    """Print a document, or the part that an answer cites."""
    from ragstone.core.printable import printable
    from ragstone.serve import as_json as json
    from ragstone.serve.cli import screen
    from ragstone.serve.views import stored

    with opened(kb) as opened_kb:
        document = opened_kb.documents.get(typed.text(document_id), reader=Reader.of(groups))
        reading = opened_kb.documents.reading(document.id, reader=Reader.of(groups)) if parse else None
    part = typed.span(span, len(document.text))
    if reading:
        screen.show({"document_id": document.id, **asdict(reading)}, stored.read(document.id, reading), as_json=as_json)
    elif as_json:
        screen.write_json(json.document(document, part))
    else:
        print(printable(part.of(document.text)))


def _readable(sources: list[str] | None, asked: Asked, kb: Path) -> list[str]:
    """Return the named sources, or else those of the settings.

    Raises:
        UsageError: there are none.
        SourceError: one cannot be read.
        MissingExtra: one needs a package that is not installed.
    """
    from ragstone.core.errors import UsageError
    from ragstone.engine.sources import refuse_unreadable

    settings = asked.acquire(kb)
    named = sources or list(settings.sources)
    if not named:
        raise UsageError("name a file or a folder, or set acquire.sources")
    refuse_unreadable(named, settings)
    return named


def _show_queued(jobs: Sequence[Job], *, as_json: bool) -> None:
    from ragstone.serve.cli import screen
    from ragstone.serve.views.blocks import count, line

    files = sum(len(job.work.files) for job in jobs)
    queued = f"queued {count(len(jobs), 'job')} for {count(files, 'file')}; run them with: ragstone worker"
    shown = queued if jobs else "all these jobs are already queued; run them with: ragstone worker"
    screen.show({"jobs": [job.id for job in jobs], "files": files}, [line(shown)], as_json=as_json)
