"""How a knowledge base is used, in words: opinions of answers, and what happened."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.serve.render import table
from ragstone.serve.screen import Line, line, one_line
from ragstone.usage.responses import Feedback
from ragstone.usage.statistics import Report

COUNTED = ("questions", "answered", "refused", "failed", "stopped", "degraded", "searches")


def feedback(said: Feedback) -> Iterator[Line]:
    """What was noted."""
    why = f", because: {one_line(said.reason)}" if said.reason else ""
    right = f"; right would have been {one_line(said.correction)}" if said.correction else ""
    yield line(f"noted: {said.vote}{why}{right}")


def statistics(report: Report, *, hourly: bool) -> Iterator[Line]:
    """What happened in all, and by the day or the hour."""
    total = report.total
    if not total.questions + total.searches:
        yield line("nothing was asked in that time")
        return
    periods = report.hourly if hourly else report.daily
    rows: list[tuple[str, ...]] = [("UTC", *COUNTED, "p50 ms", "p95 ms")]
    for one in (*periods, total):
        counts = (one.questions, one.answered, one.refused, one.failed, one.stopped, one.degraded, one.searches)
        took = one.times_ms.get("total")
        times = (f"{took.p50:,.1f}", f"{took.p95:,.1f}") if took else ("", "")
        rows.append((one.period.replace("T", " ") or "in all", *(f"{count:,}" for count in counts), *times))
    yield from table(rows)
    if total.confidence is not None:
        yield line(f"{total.confidence:.0%}", head=("confidence of answers, on average: ", "dim"))
    for name, counts in (("evidence found by", total.found_by), ("failures", total.failures)):
        if counts:
            told = ", ".join(f"{one_line(kind)} {count:,}" for kind, count in counts.items())
            yield line(told, head=(f"{name}: ", "dim"))
    for step, hits in total.cache_hits.items():
        asked = hits + total.cache_misses.get(step, 0)
        yield line(f"{hits:,} of {asked:,}", head=(f"{step} known from before: ", "dim"))
    stages = [("stage", "times", "mean ms", "p50 ms", "p95 ms")]
    stages += [
        (one_line(name), f"{it.count:,}", f"{it.mean:,.1f}", f"{it.p50:,.1f}", f"{it.p95:,.1f}")
        for name, it in total.times_ms.items()
    ]
    yield from table(stages)
