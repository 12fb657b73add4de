"""The state of a knowledge base: its content, its ingests, its faults and its use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ragstone.core.printable import one_line
from ragstone.core.records import Decoded, Skipped
from ragstone.core.reports import AddReport, Plan, Progress
from ragstone.engine.jobs.queue import JobCounts
from ragstone.serve.views.blocks import Block, Line, Row, count, line, moment, table
from ragstone.settings.load import Preset, written
from ragstone.settings.moving import Move

if TYPE_CHECKING:
    from ragstone.core.catalog import EngineStatus, Finding, Listing
    from ragstone.core.reading import Reading
    from ragstone.engine.backup import CopyReport
    from ragstone.engine.doctor import Health
    from ragstone.engine.erasure import Erasure
    from ragstone.engine.leaving import Destination
    from ragstone.engine.status import Status
    from ragstone.history.conversations import Session
    from ragstone.history.keys import Key
    from ragstone.history.responses import Feedback
    from ragstone.history.spending import Sum
    from ragstone.history.statistics import Report, Times
    from ragstone.history.users import User
    from ragstone.index.engines.postgres.schema import Applied, Looked
    from ragstone.serve.cli.in_force import InForce
    from ragstone.storage.cache import CacheStatus

SHOWN_SKIPPED = 20
"""Reasons for skipping that are shown."""
SHOWN_SOURCES = 3
"""Sources shown for each reason."""
SHOWN_IDS = 20
"""Documents shown for a finding of the doctor."""
COUNTED = ("questions", "answered", "closest", "refused", "failed", "stopped", "degraded", "searches")


# ---------------------------------------------------------------- documents


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


# ---------------------------------------------------------------- the knowledge base


def status(status: Status) -> Iterator[Line]:
    """Show the content of a knowledge base."""
    yield line((one_line(status.folder), "bold"))
    for one in status.running:
        if one.progress.waiting:
            yield line(
                (f"{one.doing} waits", "bold yellow"), f" in process {one.process}: {one.progress.waiting} is indexing"
            )
            continue
        doing = (f"{one.doing} is running", "bold green")
        yield line(doing, f" in process {one.process}: {progress_line(one.progress)}")
    rows = [
        ("documents", _documents_and_rows(status)),
        ("chunks", f"{status.chunks:,}"),
        ("megabytes", f"{status.megabytes:,.2f}"),
        ("preset", status.built_with.preset),
        *[(path, str(value)) for path, value in status.built_with.settings.items()],
    ]
    if status.catalog:
        rows.append(("catalog", f"{status.catalog}, with conversations, feedback, keys and jobs; all hosts share it"))
    if status.behind:
        rows.append(("behind", f"keyword search lacks {count(status.behind, 'change')}; the next use adds them"))
    rows += [(one.leg, _behind(one)) for one in status.engines]
    if status.jobs != JobCounts():
        rows.append(("jobs", _jobs(status.jobs)))
    rows += [("substituted", one) for one in status.substitutes]
    rows += [("note", one) for one in status.notices]
    for other in status.others:
        remedy = "revert restores it, --drop-previous removes it" if other.role == "previous" else "switch uses it"
        rows.append((f"{other.role} version", f"{other.megabytes:,.2f} MB; ragstone rebuild --{remedy}"))
    if status.costs is None:
        rows.append(("cost", "cannot be read; run: ragstone doctor"))
    elif status.costs.total.calls:
        rows += [("cost today", _cost(status.costs.today)), ("total cost", _cost(status.costs.total))]
    if any(one.hits + one.misses for one in status.cache):
        size = sum(one.megabytes for one in status.cache)
        rows.append(("cache", f"{size:,.2f} MB; details: ragstone history cache"))
    rows += [("shared cache", one.problem) for one in status.cache if one.problem]
    for name, value in rows:
        yield line(one_line(value), indent=2, head=(name.ljust(18), "dim"))
    yield from skipped(status.skipped, "--json lists all")


def _documents_and_rows(status: Status) -> str:
    """Return how many documents there are, and how many of them are rows of tables."""
    rows = f", of which {status.rows:,} are rows of {count(status.tables, 'table')}" if status.rows else ""
    return f"{status.documents:,}{rows}"


def documents(found: Listing, text: str) -> Iterator[Block]:
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


def health(health: Health) -> Iterator[Line]:
    """Show the findings of a check, each with its remedy."""
    held = f"{count(health.documents, 'document')}, {count(health.chunks, 'chunk')}"
    yield line((one_line(health.folder), "bold"), f": {held}")
    for finding in health.findings:
        yield line(one_line(f"{finding.part}: {finding.what}"), indent=2)
        for id in finding.documents[:SHOWN_IDS]:
            yield line(one_line(id), indent=4)
        if len(finding.documents) > SHOWN_IDS:
            yield line(f"and {len(finding.documents) - SHOWN_IDS:,} more; --json lists all", indent=4)
        yield line(_remedy(finding, "ragstone doctor --mend"), indent=4)
    if not health.findings:
        yield line("no problems found", indent=2)


def copied(copied: CopyReport) -> Iterator[Line]:
    """Show the content and the place of a copy."""
    files = f"; {count(copied.files, 'uploaded file')}" if copied.files else ""
    held = f"{count(copied.documents, 'document')}, {count(copied.chunks, 'chunk')}, checked{files}"
    yield line(one_line(f"{copied.source} -> {copied.folder}: {held}"))


def settings(current: InForce) -> Iterator[Block]:
    """Show every setting, and the writer of the answers."""
    rows: list[Row] = [
        (one.path, one_line(written(one.value)), one_line(one.origin), one.description) for one in current.settings
    ]
    yield table(("setting", "value", "from", "what it is"), rows)
    yield line(("answers are written by ", "dim"), one_line(current.writer))


def leaves(found: Sequence[Destination]) -> Iterator[Block]:
    """Show what would leave this machine."""
    if not found:
        yield line("nothing leaves this machine under these settings")
        return
    rows: list[Row] = [(one.kind, one_line(one.address), one.sent, one_line(one.setting)) for one in found]
    yield table(("service", "address", "is sent", "because of"), rows)


# ---------------------------------------------------------------- indexes outside the knowledge base


def engines_used(engines: Mapping[str, str], outside: Sequence[EngineStatus]) -> Iterator[Line]:
    """Show the engines that are now in use."""
    for leg, name in engines.items():
        yield line((leg, "bold"), f": {one_line(name)} from now on")
    yield from _engines(outside)


def engines_compared(outside: Sequence[EngineStatus], findings: Sequence[Finding]) -> Iterator[Line]:
    """Show the state of each engine, and the differences from the catalog."""
    yield from _engines(outside)
    for found in findings:
        yield line(one_line(f"{found.part}: {found.what}"))
        yield line(_remedy(found, "ragstone index verify --mend"), indent=2)
    if not outside:
        yield line("all indexes are embedded; check them with: ragstone doctor")
    elif any(one.behind for one in outside):
        yield line("the next change updates them; to do it now, run: ragstone index verify --mend")
    elif not findings:
        yield line("no problems found")


def presets(shown: Sequence[Preset], move: Move | None = None) -> Iterator[Block]:
    """Show each preset, what it is for, what it needs, and what replaces its parts in this installation.

    Args:
        shown: the presets.
        move: what becomes of the parts of another system, if there is only one preset.
    """
    for one in shown:
        yield line((one.name, "bold"))
        yield from (line(text, indent=2) for text in one.what.splitlines())
        yield from (line(("needs: ", "bold"), f"{part}: {needed}", indent=2) for part, needed in one.needs.items())
        yield from (line(("replaced here: ", "yellow"), part.told, indent=2) for part in one.replaced)
        yield line("")
    if move:
        yield table(("there", "here"), [(row.there, row.here) for row in move.rows])


def postgres_applied(done: Applied) -> Iterator[Line]:
    """Show whether the schema was made, or was there already."""
    yield line(f"{done.server}: {'made' if done.is_new else 'there is already'} the schema of version {done.version}")
    if done.former:
        yield line(f"took over {count(done.documents, 'document')}; the former tables are in the schema {done.former}")


def postgres_checked(server: str, looked: Sequence[Looked]) -> Iterator[Line]:
    """Show the result of each check."""
    yield line((server, "bold"))
    for one in looked:
        result = "note" if one.well is None else "ok" if one.well else "wrong"
        style = "yellow" if one.well is None else "green" if one.well else "red"
        yield line((result, style), f"  {one.what}: ", (one.detail, "dim"), indent=2)


# ---------------------------------------------------------------- history


def conversations(kept: Sequence[Session]) -> Iterator[Block]:
    """Show the stored conversations."""
    if not kept:
        yield line("there are no stored conversations; keep one with: ragstone ask --session NAME")
        return
    rows = [(one_line(one.name), str(one.turns), moment(one.last)) for one in kept]
    yield table(("name", "questions", "last (UTC)"), rows, numbers=(1,))


def keys(made: Sequence[Key]) -> Iterator[Block]:
    """Show the keys of the HTTP API with their rights."""
    if not made:
        yield line("there is no key; make one with: ragstone key make NAME")
        return
    rows = [
        (
            one.id,
            one_line(one.name),
            " ".join(one.scopes),
            _reads(one.groups),
            moment(one.made),
            "" if one.revoked is None else moment(one.revoked),
        )
        for one in made
    ]
    yield table(("id", "name", "may", "reads", "made (UTC)", "revoked"), rows)


def users(added: Sequence[User]) -> Iterator[Block]:
    """Show the people who sign in with a password, with their rights."""
    if not added:
        yield line("there are no users; add one with: ragstone user add NAME")
        return
    rows = [(one_line(one.name), " ".join(one.scopes), _reads(one.groups), moment(one.made)) for one in added]
    yield table(("name", "may", "reads", "added (UTC)"), rows)


def _reads(groups: tuple[str, ...] | None) -> str:
    return "everything" if groups is None else one_line(", ".join(groups)) or "public documents"


def caches(caches: Sequence[CacheStatus]) -> Iterator[Block]:
    """Show the entries and the hit rates of the caches."""
    if not caches:
        yield line("there is no cache: cache.enabled is false")
        return
    rows = [
        (
            one.level,
            one.kind,
            f"{one.entries:,}",
            f"{one.megabytes:,.2f}",
            f"{one.limit_mb:,.1f}",
            f"{one.hits:,}",
            f"{one.misses:,}",
        )
        for one in caches
    ]
    yield table(("level", "cache", "entries", "MB", "limit MB", "hits", "misses"), rows, numbers=range(2, 7))
    yield from (line(one_line(one.problem)) for one in caches if one.problem)


def feedback(given: Feedback) -> Iterator[Line]:
    """Show the recorded vote."""
    why = f", because: {one_line(given.reason)}" if given.reason else ""
    right = f"; expected: {one_line(given.correction)}" if given.correction else ""
    yield line(f"recorded: {given.vote}{why}{right}")


def statistics(report: Report, *, hourly: bool) -> Iterator[Block]:
    """Show the numbers of questions, their outcomes and their times."""
    total = report.total
    if not total.questions + total.searches:
        yield line("there were no questions in this period")
        return
    rows: list[Row] = []
    for period in (*(report.hourly if hourly else report.daily), total):
        counts = tuple(getattr(period, name) for name in COUNTED)
        took = period.times_ms.get("total")
        times = _times(took) if took else ("", "")
        rows.append((period.period.replace("T", " ") or "total", *(f"{number:,}" for number in counts), *times))
    yield table(("UTC", *COUNTED, "p50 ms", "p95 ms"), rows, numbers=range(1, len(COUNTED) + 3))
    if total.confidence is not None:
        yield line(f"{total.confidence:.0%}", head=("mean confidence of answers: ", "dim"))
    if report.moving:
        averages = ", ".join(f"{name} {average:,.4g}" for name, average in report.moving.items())
        yield line(averages, head=("moving averages: ", "dim"))
    for name, counts in (("evidence found by", total.found_by), ("failures", total.failures)):
        if counts:
            listed = ", ".join(f"{one_line(kind)} {number:,}" for kind, number in counts.items())
            yield line(listed, head=(f"{name}: ", "dim"))
    for step, hits in total.cache_hits.items():
        asked = hits + total.cache_misses.get(step, 0)
        yield line(f"{hits:,} of {asked:,}", head=(f"{step} from the cache: ", "dim"))
    stages = [(one_line(name), f"{it.count:,}", f"{it.mean:,.1f}", *_times(it)) for name, it in total.times_ms.items()]
    yield table(("stage", "times", "mean ms", "p50 ms", "p95 ms"), stages, numbers=range(1, 5))


def _times(it: Times) -> tuple[str, str]:
    return f"{it.p50:,.1f}", f"{it.p95:,.1f}"


def _behind(one: EngineStatus) -> str:
    return one.problem or f"{one.engine}: {_state_of(one)}"


def _state_of(one: EngineStatus) -> str:
    return one.problem or (f"{count(one.behind, 'change')} behind" if one.behind else "up to date")


def _engines(outside: Sequence[EngineStatus]) -> Iterator[Line]:
    for one in outside:
        yield line(one_line(f"{one.leg} in {one.engine}: {_state_of(one)}"), indent=2)


def _remedy(found: Finding, command: str) -> str:
    return "mended" if found.mended else one_line(found.remedy) or f"run: {command}"


def _jobs(jobs: JobCounts) -> str:
    counts = {"waiting": jobs.waiting, "running": jobs.running, "done": jobs.done, "failed": jobs.failed}
    listed = ", ".join(f"{number:,} {name}" for name, number in counts.items() if number)
    return jobs.problem or (f"{listed}; run them with: ragstone worker" if jobs.unfinished else listed)


def _cost(sum: Sum) -> str:
    """Return the cost and its purpose; calls without a known price are counted separately."""
    tokens = count(sum.prompt_tokens + sum.completion_tokens, "token")
    unpriced = f", {sum.unpriced:,} of them without a known price (services.prices)" if sum.unpriced else ""
    return f"{sum.cost:,.4f} for {count(sum.calls, 'model call')}, {tokens}{unpriced}"
