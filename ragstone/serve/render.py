"""What is shown of answers, hits and reports, as lines; where they go is `ragstone.serve.screen`'s to know."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ragstone.answers import Answer, Citation
from ragstone.config import written
from ragstone.contracts import Hit, Metadata, Skipped
from ragstone.jobs.queue import JobCounts
from ragstone.reports import AddReport, Plan
from ragstone.serve.screen import Line, Part, line, one_line, printable

if TYPE_CHECKING:
    from ragstone.cache import CacheStatus
    from ragstone.keeping.backup import Copied
    from ragstone.keeping.built import Status
    from ragstone.keeping.comparison import Comparison
    from ragstone.keeping.doctor import Health
    from ragstone.serve.in_force import InForce
    from ragstone.usage.journal import Session
    from ragstone.usage.keys import Key
    from ragstone.usage.spending import Sum

SHOWN_SKIPPED = 20
"""Reasons for skipping that are shown."""
SHOWN_IDS = 20
"""Documents that a finding of the doctor names."""
SHOWN_ALIKE = 3
"""Sources shown for each reason."""
EXCERPT = 280
"""Characters of a chunk that a search shows."""
SHOWN_CHANGED = 10
"""Questions with another answer that a comparison shows."""
LONGEST_FACT = 100
"""Characters of a fact shown below a source; a longer one is text, not a fact. ``search --json`` has all of them."""

_MARKER = re.compile(r"(\[(?:(?:Web )?Source )?\d+\]|\[\?\])")
_MARKUP = re.compile(r"[<‹]/?[A-Za-z!]")
_PLACE = {"path", "kind", "publication_id", "word_count", "language", "source"}
"""Facts that the place of a document already says, or that only filters need."""


def answer(answer: Answer, *, metadata: bool = True, explain: bool = False, rated: bool = False) -> Iterator[Line]:
    """An answer, what it rests on, and how sure it is; ``rated`` tells how to say what one thinks of it."""
    yield from _with_markers(answer)
    if not answer.abstained:
        yield line()
        yield from sources(answer, metadata=metadata)
        if not explain:
            yield line((_how_sure(answer), "dim"))
    if explain:
        yield from explanation(answer)
    if rated and answer.response_id:
        yield line((f"was it good? ragstone feedback {answer.response_id} up, or down", "dim"))


def _with_markers(answer: Answer) -> Iterator[Line]:
    """The text, line by line, with the markers of citations that there are; ``[?]`` stands where there is none."""
    markers = {str(citation.marker) for citation in answer.citations}

    def style(part: str) -> str:
        if part == "[?]":
            return "bold yellow"
        return "bold cyan" if part.strip("[]").rpartition(" ")[2] in markers and _MARKER.fullmatch(part) else ""

    # Further lines stand further in, so that none passes for a source below the answer.
    for number, row in enumerate(answer.answer.split("\n")):
        yield line(*[(part, style(part)) for part in _MARKER.split(_laid_out(row))], indent=2 * (number > 0))


def _laid_out(row: str) -> str:
    """A line with its blanks, for it may be code."""
    return "".join(" " if char.isspace() else char for char in printable(row)).rstrip()


def _how_sure(answer: Answer) -> str:
    told = f"confidence {answer.confidence:.2f}"
    if answer.model != "extractive":
        told += f"; written by {one_line(answer.model)}, {answer.support:.0%} of its sentences proved"
    return told


def notices(answer: Answer) -> Iterator[Line]:
    """What went wrong on the way, which did not prevent an answer."""
    if not answer.hits and not answer.notices:
        yield line(("note: ", "yellow"), "nothing was found; ragstone status says what the knowledge base holds")
    for notice in answer.notices:
        yield line(("note: ", "yellow"), one_line(notice))


def sources(answer: Answer, *, metadata: bool = True) -> Iterator[Line]:
    """Each citation with its place and its words; ``metadata`` adds the facts of its document, once."""
    facts = {hit.chunk.document_id: hit.chunk.metadata for hit in answer.hits}
    yield line(("Sources", "bold") if answer.citations else "nothing is cited")
    for citation in answer.citations:
        yield line(*_place(citation), indent=2, head=(f"[{citation.marker}] ", "bold cyan"))
        yield line((f"“{one_line(citation.quote)}”", "italic dim"), indent=6)
        if metadata and (known := _facts(facts.pop(citation.document_id, {}))):
            yield line((known, "dim"), indent=6)


def explanation(answer: Answer) -> Iterator[Line]:
    """The evidence with the history of each score, and how long each stage took."""
    yield line()
    yield line(("Evidence", "bold"), f" by {answer.retrieval_method}; confidence {answer.confidence:.2f}")
    yield from hits(answer.hits, explain=True, excerpt=False)
    if answer.policy:
        yield line((f"answered under version {answer.policy} of what was learned (ragstone policy show)", "dim"))
    spent = ", ".join(f"{stage} {milliseconds:.0f} ms" for stage, milliseconds in answer.timings_ms.items())
    yield line((f"time: {spent}", "dim"))


def hits(hits: Sequence[Hit], *, explain: bool = False, excerpt: bool = True) -> Iterator[Line]:
    """Chunks that were found, best first."""
    if not hits:
        yield line("nothing matches")
    for rank, hit in enumerate(hits, start=1):
        chunk = hit.chunk
        title = one_line(chunk.title) or chunk.document_id
        head = (f"{rank}. ", "bold cyan")
        yield line((one_line(title), "bold"), (f"  {hit.score:.4f}", "dim"), head=head)
        where = chunk.url or chunk.document_id
        yield line((f"{one_line(where)}, characters {chunk.start}-{chunk.end}", "dim"), indent=3)
        if excerpt:
            yield line(cut(chunk.text, EXCERPT), indent=3)
        if explain:
            yield from table([("stage", "score", "rank", "note"), *_steps(hit)], indent=3)


def _steps(hit: Hit) -> Iterator[tuple[str, ...]]:
    for step in hit.why:
        yield step.stage, f"{step.score:.4f}", str(step.rank), one_line(step.note)


def table(rows: Sequence[Sequence[str]], *, indent: int = 0) -> Iterator[Line]:
    """Rows in columns, the first row as a heading; the last column is as wide as it needs."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        *first, last = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        style = "dim" if number == 0 else ""
        yield line((last.rstrip(), style), indent=indent, head=("".join(f"{cell}  " for cell in first), style))


def conversations(kept: Sequence[Session]) -> Iterator[Line]:
    """The conversations that are kept, each with its name, its length and its last day."""
    if not kept:
        yield line("no conversation is kept; ragstone ask --session NAME keeps one")
        return
    days = [datetime.fromtimestamp(one.last, UTC).strftime("%Y-%m-%d %H:%M") for one in kept]
    rows = [(one_line(one.name), str(one.turns), day) for one, day in zip(kept, days, strict=True)]
    yield from table([("name", "questions", "last (UTC)"), *rows])


def keys(made: Sequence[Key]) -> Iterator[Line]:
    """The keys of the HTTP API, each with what it may do and read, and since when."""
    if not made:
        yield line("no key has been made; ragstone key make NAME makes one")
        return
    rows = [
        (
            one.id,
            one_line(one.name),
            " ".join(one.scopes),
            "everything" if one.groups is None else one_line(", ".join(one.groups)) or "what is for everyone",
            datetime.fromtimestamp(one.made, UTC).strftime("%Y-%m-%d %H:%M"),
            "" if one.revoked is None else datetime.fromtimestamp(one.revoked, UTC).strftime("%Y-%m-%d %H:%M"),
        )
        for one in made
    ]
    yield from table([("id", "name", "may", "reads", "made (UTC)", "revoked"), *rows])


def report(report: AddReport, kb: str) -> Iterator[Line]:
    """What an ingest did, and what it left out."""
    yield line(
        (f"{report.added:,} added", "bold green" if report.added else ""),
        f", {report.updated:,} updated, {report.unchanged:,} unchanged"
        f"{f', {report.removed:,} removed' if report.removed else ''};"
        f" {report.chunks:,} chunks, {report.embedded:,} embedded{_service(report)}, in {report.seconds:.1f} s",
    )
    yield from skipped(report.skipped, f"all of them: ragstone status --kb {kb} --json")
    for notice in report.notices:
        yield line(("note: ", "yellow"), notice)


def _service(report: AddReport) -> str:
    """What an embedding service was asked for."""
    if not report.embedding_calls:
        return ""
    again = f", {report.embedding_retries:,} failed and tried again" if report.embedding_retries else ""
    return f" ({report.embedding_calls:,} requests, {report.embedding_tokens:,} tokens{again})"


def plan(plan: Plan) -> Iterator[Line]:
    """What a sync would do, a line for each document."""
    for word, ids in (("add", plan.added), ("update", plan.updated), ("remove", plan.removed)):
        for id in ids:
            yield line((word, "bold"), f" {one_line(id)}")
    yield line(
        f"would add {len(plan.added):,}, update {len(plan.updated):,}, remove {len(plan.removed):,};"
        f" {plan.unchanged:,} unchanged"
    )
    yield from skipped(plan.skipped, "all of them: --json")


def skipped(skipped: Sequence[Skipped], more: str) -> Iterator[Line]:
    """What gave no document and why; of many the first, then how many more, and where they are."""
    if skipped:
        yield line((f"{len(skipped):,} skipped", "bold yellow"))
    by_reason: dict[str, list[str]] = {}
    for one in skipped:
        by_reason.setdefault(one.reason, []).append(one.source)
    shown, told = 0, set[str]()
    for reason, sources in list(by_reason.items())[:SHOWN_SKIPPED]:
        for source in sources[:SHOWN_ALIKE]:
            what, _, remedy = reason.partition("; ")
            yield line(f"{one_line(source)}: {one_line(what if remedy in told else reason)}", indent=2)
            told.add(remedy)
        if (alike := len(sources) - SHOWN_ALIKE) > 0:
            yield line((f"and {alike:,} more for the same reason", "dim"), indent=2)
        shown += len(sources)
    if shown < len(skipped):
        yield line((f"and {len(skipped) - shown:,} for other reasons", "dim"), indent=2)
    if len(skipped) > SHOWN_ALIKE and (len(by_reason) < len(skipped) or shown < len(skipped)):
        yield line((more, "dim"), indent=2)


def status(status: Status) -> Iterator[Line]:
    """What a knowledge base holds."""
    yield line((one_line(status.folder), "bold"))
    rows = [
        ("documents", f"{status.documents:,}"),
        ("chunks", f"{status.chunks:,}"),
        ("megabytes", f"{status.megabytes:,.2f}"),
        ("preset", status.built_with.preset),
        *[(path, str(value)) for path, value in status.built_with.settings.items()],
    ]
    if status.catalog:
        rows.append(("catalog", f"{status.catalog}; conversations, feedback, keys and jobs are this host's own"))
    if status.behind:
        rows.append(
            ("behind", f"keyword search does not know the last {status.behind:,} changes; the next use adds them")
        )
    for one in status.engines:
        behind = f"{one.behind:,} changes behind" if one.behind else "up to date"
        rows.append((one.leg, one.problem or f"{one.engine}: {behind}"))
    if status.jobs != JobCounts():
        rows.append(("jobs", _jobs(status.jobs)))
    rows += [("substituted", told) for told in status.substitutes]
    for other in status.others:
        remedy = "revert goes back to it, --drop-previous removes it" if other.role == "previous" else "switch takes it"
        rows.append((f"{other.role} version", f"{other.megabytes:,.2f} MB; ragstone rebuild --{remedy}"))
    if status.costs is None:
        rows.append(("cost", "cannot be read; ragstone doctor tells why"))
    elif status.costs.total.calls:
        rows += [("cost today", _cost(status.costs.today)), ("cost in all", _cost(status.costs.total))]
    if any(one.hits + one.misses for one in status.cache):
        rows.append(("cache", f"{sum(one.megabytes for one in status.cache):,.2f} MB; ragstone cache tells more"))
    rows += [("shared cache", one.problem) for one in status.cache if one.problem]
    for name, value in rows:
        yield line(one_line(value), indent=2, head=(name.ljust(18), "dim"))
    yield from skipped(status.skipped, "all of them: --json")


def _jobs(jobs: JobCounts) -> str:
    counts = {"waiting": jobs.waiting, "under way": jobs.running, "done": jobs.done, "failed": jobs.failed}
    told = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    return jobs.problem or (f"{told}; ragstone worker does them" if jobs.unfinished else told)


def _cost(sum: Sum) -> str:
    """Money, and what it was for; calls of which no price is known are told apart."""
    tokens = sum.prompt_tokens + sum.completion_tokens
    unpriced = f", {sum.unpriced:,} of them without a known price (services.prices)" if sum.unpriced else ""
    return f"{sum.cost:,.4f} for {sum.calls:,} model calls, {tokens:,} tokens{unpriced}"


def caches(caches: Sequence[CacheStatus]) -> Iterator[Line]:
    """What is kept of earlier questions, and how often that helped."""
    if not caches:
        yield line("nothing is kept: cache.enabled is false")
        return
    rows = [("kept", "entries", "MB", "of MB", "found", "not found")]
    for one in caches:
        sizes = (f"{one.entries:,}", f"{one.megabytes:,.2f}", f"{one.limit_mb:,.1f}")
        rows.append((one.kind, *sizes, f"{one.hits:,}", f"{one.misses:,}"))
    yield from table(rows)
    yield from (line(one_line(one.problem)) for one in caches if one.problem)


def health(health: Health) -> Iterator[Line]:
    """What a look at everything found; each finding with what to do about it."""
    yield line((one_line(health.folder), "bold"), f": {health.documents:,} documents, {health.chunks:,} chunks")
    for found in health.findings:
        yield line(one_line(f"{found.part}: {found.what}"), indent=2)
        for id in found.documents[:SHOWN_IDS]:
            yield line(one_line(id), indent=4)
        if len(found.documents) > SHOWN_IDS:
            yield line(f"and {len(found.documents) - SHOWN_IDS:,} more; all of them: --json", indent=4)
        yield line("mended" if found.mended else one_line(found.remedy) or "run: ragstone doctor --mend", indent=4)
    if not health.findings:
        yield line("all is well", indent=2)


def copied(copied: Copied) -> Iterator[Line]:
    """What was copied where."""
    files = f"; {copied.files:,} uploaded files" if copied.files else ""
    what = f"{copied.documents:,} documents, {copied.chunks:,} chunks, checked{files}"
    yield line(one_line(f"{copied.source} -> {copied.folder}: {what}"))


def settings(found: InForce) -> Iterator[Line]:
    """One setting a line, and who writes answers under them."""
    rows = [("setting", "value", "from", "what it is")]
    rows += [(one.path, one_line(written(one.value)), one_line(one.origin), one.description) for one in found.settings]
    yield from table(rows)
    yield line(("answers are written by ", "dim"), one_line(found.writer))


def comparison(comparison: Comparison) -> Iterator[Line]:
    """Old and new side by side, then the questions whose answers changed most."""
    old, new = comparison.before, comparison.after
    rows = [
        ("", "old", "new", ""),
        ("chunks", f"{old.chunks:,}", f"{new.chunks:,}", ""),
        ("megabytes", f"{old.megabytes:,.2f}", f"{new.megabytes:,.2f}", ""),
    ]
    if asked := comparison.asked or comparison.judged:
        rows.append(("seconds a question", f"{old.seconds:.3f}", f"{new.seconds:.3f}", ""))
    for name, it in comparison.differences.items():
        note = f"{it.mean:+.4f} ({it.low:+.4f} to {it.high:+.4f}, p {it.p:.3f}, {comparison.judged:,} questions)"
        rows.append((name, f"{old.measures[name]:.4f}", f"{new.measures[name]:.4f}", note))
    yield from table(rows, indent=2)
    if not asked:
        yield line("there are no questions to compare on; --compare DATASET names some", indent=2)
        return
    yield line(f"{comparison.overlap:.0%} of the old version's five best chunks touch one of the new one's", indent=2)
    changed = sorted((one for one in comparison.asked if one.changed), key=lambda one: one.overlap)
    if comparison.asked:
        yield line(f"{len(changed):,} of {len(comparison.asked):,} questions are answered in other words", indent=2)
    if changed:
        shown = [
            (f"{one.overlap:.0%}", f"{one.before:.2f}", f"{one.after:.2f}", cut(one.question, LONGEST_FACT))
            for one in changed[:SHOWN_CHANGED]
        ]
        yield from table([("same", "confidence old", "new", "question"), *shown], indent=2)


def _place(citation: Citation) -> Iterator[Part]:
    if title := one_line(citation.title):
        yield title, "bold"
        yield " — ", "dim"
    place = one_line(citation.url or citation.document_id)
    found = "".join(
        [f", p. {one_line(citation.page)}"] * bool(citation.page)
        + [f", {one_line(citation.section)}"] * bool(citation.section and citation.section != citation.title)
    )
    yield f"{place}{found}, characters {citation.start}-{citation.end}", "" if not title else "dim"


def _facts(metadata: Metadata) -> str:
    """What is known of a document beside its text: no second text of it, and no markup. Long lists are cut."""
    told = {
        key: cut(", ".join(map(str, value)), LONGEST_FACT) if isinstance(value, tuple) else str(value).strip()
        for key, value in metadata.items()
        if key not in _PLACE
    }
    return " · ".join(
        f"{one_line(key)}: {one_line(value)}"
        for key, value in told.items()
        if len(value) <= LONGEST_FACT + len(" …") and "\n" not in value and not _MARKUP.search(value)
    )


def cut(text: str, length: int) -> str:
    """A text on one line, and no longer than so many characters."""
    text = one_line(text)
    return text if len(text) <= length else text[:length].rstrip() + " …"
