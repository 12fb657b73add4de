"""Conversations, votes, statistics, keys, users and caches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragstone.core.printable import one_line
from ragstone.serve.views.blocks import Block, Line, Row, line, moment, table

if TYPE_CHECKING:
    from ragstone.history.conversations import Session
    from ragstone.history.keys import Key
    from ragstone.history.responses import Feedback
    from ragstone.history.statistics import Report, Times
    from ragstone.history.users import User
    from ragstone.storage.cache import CacheStatus

COUNTED = ("questions", "answered", "closest", "refused", "failed", "stopped", "degraded", "searches")


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
