"""Documents: the result of an ingest or its plan, lists of documents, and what was read or erased."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragstone.core.printable import one_line
from ragstone.core.records import Decoded, Skipped
from ragstone.core.reports import AddReport, Plan, Progress
from ragstone.serve.views.blocks import Block, Line, count, line, table

if TYPE_CHECKING:
    from ragstone.core.catalog import Listing
    from ragstone.core.reading import Reading
    from ragstone.engine.erasure import Erasure

SHOWN_SKIPPED = 20
"""Reasons for skipping that are shown."""
SHOWN_SOURCES = 3
"""Sources shown for each reason."""


def ingested(report: AddReport, kb: str) -> Iterator[Line]:
    """Show the result of an ingest and the skipped sources."""
    removed = f", {report.removed:,} removed" if report.removed else ""
    service = ""
    if report.embedding_calls:
        retried = f", {report.embedding_retries:,} retried" if report.embedding_retries else ""
        service = f" ({count(report.embedding_calls, 'request')}, {count(report.embedding_tokens, 'token')}{retried})"
    service += f", {report.cached:,} from the cache" if report.cached else ""
    yield line(
        (f"{report.added:,} added", "bold green" if report.added else ""),
        f", {report.updated:,} updated, {report.unchanged:,} unchanged{removed};"
        f" {count(report.chunks, 'chunk')}, {report.embedded:,} embedded{service}, in {report.seconds:.1f} s",
    )
    yield from skipped(report.skipped, f"ragstone status --kb {kb} --json lists all")
    yield from _decoded(report.decoded)
    for notice in report.notices:
        yield line(("note: ", "yellow"), notice)


def read(id: str, reading: Reading) -> Iterator[Line]:
    """Show how a document was read."""
    yield line(
        (one_line(id), "bold"), f": {one_line(reading.kind) or 'text'}, {count(reading.characters, 'character')}"
    )
    counts = {
        "page": reading.pages,
        "heading": reading.headings,
        "table": reading.tables,
        "code block": reading.code,
        "described picture": reading.pictures,
        "chunk": len(reading.chunks),
    }
    if listed := [count(number, name) for name, number in counts.items() if number]:
        yield line(", ".join(listed), indent=2)
    if reading.ocr:
        sure = "" if reading.ocr_confidence is None else f", at a confidence of {reading.ocr_confidence:.0%}"
        yield line(f"text in pictures read by {one_line(reading.ocr)}{sure}", indent=2)
    for page, confidence in reading.ocr_pages:
        yield line(f"page {page}: {confidence:.0%}", indent=4)
    took = "not measured" if reading.seconds is None else f"{reading.seconds:,.1f} s"
    yield line(f"time to read it: {took}", indent=2)
    yield line((one_line(reading.note) or "nothing was left out", "yellow" if reading.note else ""), indent=2)


def listed(found: Listing, text: str) -> Iterator[Block]:
    """Show a list of documents, and how many more there are."""
    if not found.documents:
        yield line(
            f"no document has '{one_line(text)}' in its id, title or address" if text else "there are no documents"
        )
        return
    rows = [(one_line(one.document_id), one_line(one.title), f"{one.characters:,}") for one in found.documents]
    yield table(("id", "title", "characters"), rows, numbers=(2,))
    if more := found.total - len(found.documents):
        yield line(f"and {count(more, 'more document')}; --limit lists more")


def erased(report: Erasure) -> Iterator[Line]:
    """Show what was erased, the proof, and what remains elsewhere."""
    for id in report.documents:
        yield line(f"erased {one_line(id)}")
    yield line(
        f"erased from {count(len(report.versions), 'version')} and {count(report.rows, 'record')} of conversations and"
        f" answers, in {report.seconds:.1f} s"
    )
    searched = f"{count(report.searched_files, 'file')}, {report.searched_bytes / 1e6:,.1f} MB, "
    searched += f"and {count(report.searched_rows, 'row')} of databases for {count(report.words, 'distinctive word')}"
    yield line(
        f"searched {searched}: ", (f"{count(len(report.found), 'trace')} left", "red" if report.found else "green")
    )
    for place in report.found:
        yield line(f"  left in {one_line(place)}")
    for source in report.remaining:
        yield line(("note: ", "yellow"), f"{one_line(source)} still exists; the next sync adds what it has")
    for place in report.unreachable:
        yield line(("note: ", "yellow"), f"not searched: {place}")


def progress_line(now: Progress, width: int | None = None) -> str:
    """Return one line about an ingest; a width shortens the name of the current source, which comes last."""
    parts = [f"{now.files:,} of {count(now.total, 'address' if now.growing else 'file')}"] if now.total else []
    parts += [count(now.pages, "page")] if now.pages else []
    parts += [count(now.documents, "document"), count(now.chunks, "chunk")]
    left = f", about {now.seconds_left:,.0f} s left" if now.seconds_left else ""
    text = f"{', '.join(parts)} stored ({now.rate:,.0f} chunks/s{left})"
    current = one_line(now.current)
    if width is not None and len(text) + len(current) + 2 > width:
        room = max(0, width - len(text) - 3)
        current = f"…{current[len(current) - room :]}" if room > 8 else ""
    return f"{text}: {current}" if current else text


def plan(plan: Plan) -> Iterator[Line]:
    """Show what a sync would do, one line per document."""
    for word, ids in (("add", plan.added), ("update", plan.updated), ("remove", plan.removed)):
        for id in ids:
            yield line((word, "bold"), f" {one_line(id)}")
    yield line(
        f"would add {len(plan.added):,}, update {len(plan.updated):,}, remove {len(plan.removed):,};"
        f" {plan.unchanged:,} unchanged"
    )
    yield from skipped(plan.skipped, "--json lists all")


def skipped(skipped: Sequence[Skipped], more: str) -> Iterator[Line]:
    """Show the skipped sources, by reason; ``more`` names the command that lists the rest."""
    if skipped:
        yield line((f"{len(skipped):,} skipped", "bold yellow"))
    by_reason: dict[str, list[str]] = {}
    for one in skipped:
        by_reason.setdefault(one.reason, []).append(one.source)
    shown, remedies = 0, set[str]()
    for reason, sources in list(by_reason.items())[:SHOWN_SKIPPED]:
        for source in sources[:SHOWN_SOURCES]:
            what, _, remedy = reason.partition("; ")
            yield line(f"{one_line(source)}: {one_line(what if remedy in remedies else reason)}", indent=2)
            remedies.add(remedy)
        if (rest := len(sources) - SHOWN_SOURCES) > 0:
            yield line((f"and {rest:,} more for the same reason", "dim"), indent=2)
        shown += len(sources)
    if shown < len(skipped):
        yield line((f"and {len(skipped) - shown:,} for other reasons", "dim"), indent=2)
    if len(skipped) > SHOWN_SOURCES and (len(by_reason) < len(skipped) or shown < len(skipped)):
        yield line((more, "dim"), indent=2)


def _decoded(decoded: Sequence[Decoded]) -> Iterator[Line]:
    """Show the files whose text may be wrong or lack parts."""
    if decoded:
        yield line((f"{count(len(decoded), 'file')} read, but the text may be wrong or incomplete", "bold yellow"))
    for one in decoded[:SHOWN_SKIPPED]:
        yield line(f"{one_line(one.source)}: {one.note}", indent=2)
    if (rest := len(decoded) - SHOWN_SKIPPED) > 0:
        yield line((f"and {rest:,} more; --json lists all", "dim"), indent=2)
