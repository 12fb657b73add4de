"""The state of a knowledge base: its content, its faults, its settings and its engines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ragstone.core.printable import one_line
from ragstone.engine.jobs.queue import JobCounts
from ragstone.serve.views.blocks import Block, Line, Row, count, line, table
from ragstone.serve.views.stored import progress_line, skipped
from ragstone.settings.load import Preset, written
from ragstone.settings.moving import Move

if TYPE_CHECKING:
    from ragstone.core.catalog import EngineStatus, Finding
    from ragstone.engine.backup import CopyReport
    from ragstone.engine.doctor import Health
    from ragstone.engine.leaving import Destination
    from ragstone.engine.status import Status
    from ragstone.history.spending import Sum
    from ragstone.index.engines.postgres.schema import Applied, Looked
    from ragstone.serve.cli.in_force import InForce

SHOWN_IDS = 20
"""Documents shown for a finding of the doctor."""


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
