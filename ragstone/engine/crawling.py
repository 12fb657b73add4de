"""Follow a web site: store its pages batch by batch while others are fetched."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import aclosing, closing
from dataclasses import replace
from typing import TYPE_CHECKING

from ragstone import acquire
from ragstone.core.records import Document, Skipped
from ragstone.core.reports import AddReport
from ragstone.core.request import Request
from ragstone.engine.following import with_engine_notices
from ragstone.engine.ingest import Ingest, forget_skipped, refuse_other_versions
from ragstone.engine.opening import OpenVersions
from ragstone.engine.progress import OnProgress, Reporter, with_beats
from ragstone.engine.tracking import tracked

if TYPE_CHECKING:
    from ragstone.acquire.crawl.records import Batch


async def crawl_site(
    versions: OpenVersions, ingest: Ingest, what: str, on_progress: OnProgress | None, *, force: bool, alone: bool
) -> AddReport:
    """Follow a web site; see `Documents.crawl`."""
    from ragstone.acquire.crawl import crawl, find_site, page_at

    report, started = AddReport(), time.perf_counter()
    with (
        versions.current() as before,
        tracked(before.history.tracker(), "crawl", before.settings, (what,)) as done,
    ):
        refuse_other_versions(before)
        site = (page_at if alone else find_site)(what, before.settings.acquire)
        reporter = Reporter(on_progress, growing=True, folder=before.folder, doing="crawl")
        async with ingest.alone() as (version, settings):
            state = version.folder / "crawl" / f"{site.name}.db"
            with acquire.Pages(settings.acquire) as pages, closing(reporter):

                def read(body: bytes, kind: str, url: str) -> Iterator[Document | Skipped]:
                    reporter.reading(url)
                    return pages.read(body, kind, url)

                found = crawl(site, state, read, force=force, holds=version.catalog.contains)
                async with aclosing(found), aclosing(with_beats(found, reporter)) as batches:
                    async for batch in batches:
                        reporter.found(files=batch.visited, total=batch.visited + batch.waiting)
                        report = report.plus(await _store(versions, ingest, batch, reporter))
                        reporter.beat()
        report = replace(report, seconds=time.perf_counter() - started)
        return done(await with_engine_notices(version, report))


async def _store(versions: OpenVersions, ingest: Ingest, batch: Batch, reporter: Reporter) -> AddReport:
    part = await ingest.store([*batch.documents, *batch.skipped], Request.by_owner("ingest"), reporter)
    with versions.current() as version:
        gone = list(version.catalog.signatures(batch.gone))
        if gone:
            version.catalog.remove(gone)
        forget_skipped(version, batch.urls, part)
    return replace(part, removed=len(gone), unchanged=part.unchanged + batch.unchanged)
