"""Usage by hour and day: questions, failures, times, caches, and which search leg found the evidence.

Everything is counted in memory, which costs a question nothing, and added to the journal every few minutes and at the
end. The counts of several processes add up there.
"""

from __future__ import annotations

import json
import threading
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from ragstone.core.answers import Answer
from ragstone.core.errors import KnowledgeBaseError
from ragstone.core.frozen import frozen
from ragstone.core.records import Hit
from ragstone.history.store import DAY, JournalStore

BOUNDS = tuple(round(1.25**power, 3) for power in range(-10, 54))
"""Upper ends of the buckets of times, in milliseconds, each a quarter longer, from 0.1 ms to 2.3 minutes."""
LEGS = ("vector", "bm25", "web", "tool")
OUTSIDE = ("web", "tool")
FOUND = ("both", "only vector", "only bm25")
"""How a stored piece of evidence was found."""
CACHED = ("search", "answer")

Outcome = Literal["answered", "closest", "refused", "failed", "stopped"]
OLD = 0.9
"""Weight of the earlier values in a moving average."""
_NEWEST = "newest"
"""Stands for the hour of moving averages. It is later than every hour, so that no limit of days deletes it."""
_OUTCOMES: Mapping[str, Outcome] = {
    "answer": "answered",
    "closest": "closest",
    "refusal": "refused",
    "reply": "answered",
    "clarification": "refused",
}
Entry = tuple[str, str, str]
"""Hour, kind and name of a count."""


@frozen
class Times:
    """Durations in milliseconds; the percentiles are exact to about a tenth."""

    count: int
    mean: float
    p50: float
    p95: float


@frozen
class Period:
    """The usage in an hour, such as ``2026-01-31T07``, a day, such as ``2026-01-31``, or in total; in UTC.

    ``questions`` were ``answered``, showed the ``closest`` passages, which may answer, were ``refused`` because no
    passage was close, ``failed``, or were ``stopped`` by the user; ``degraded`` ones lacked a part. ``searches`` had no
    answer.
    ``failures`` are by kind of error, ``found_by`` counts pieces of evidence by the search leg that found them, and
    those that only ``vector`` or only ``bm25`` found, or ``both``.
    """

    period: str
    questions: int = 0
    answered: int = 0
    closest: int = 0
    refused: int = 0
    failed: int = 0
    stopped: int = 0
    degraded: int = 0
    searches: int = 0
    confidence: float | None = None
    failures: Mapping[str, int] = field(default_factory=dict[str, int])
    times_ms: Mapping[str, Times] = field(default_factory=dict[str, Times])
    cache_hits: Mapping[str, int] = field(default_factory=dict[str, int])
    cache_misses: Mapping[str, int] = field(default_factory=dict[str, int])
    found_by: Mapping[str, int] = field(default_factory=dict[str, int])


@frozen
class Report:
    """The usage since a time: in total, by day and by hour, the latest first, without empty periods.

    ``moving`` are the moving averages, `OLD` of the earlier value and the rest of the new one at each answer: of the
    ``milliseconds``, the ``confidence``, and the pieces of evidence by what found them.
    """

    total: Period
    moving: Mapping[str, float] = field(default_factory=dict[str, float])
    daily: tuple[Period, ...] = ()
    hourly: tuple[Period, ...] = ()


@dataclass(slots=True)
class Tally:
    """A count, and for measured values the sum and the number in each bucket of `BOUNDS`."""

    count: int = 0
    total: float = 0.0
    buckets: list[int] = field(default_factory=list)

    def measure(self, value: float) -> None:
        self.buckets = self.buckets or [0] * (len(BOUNDS) + 1)
        self.buckets[bisect_left(BOUNDS, value)] += 1
        self.count += 1
        self.total += value

    def add(self, count: int, total: float, buckets: Sequence[int]) -> None:
        self.count += count
        self.total += total
        if buckets:
            self.buckets = [a + b for a, b in zip(self.buckets or [0] * len(buckets), buckets, strict=True)]

    def times(self) -> Times:
        mean = self.total / self.count if self.count else 0.0
        halfway, late = self._percentile(0.5), self._percentile(0.95)
        return Times(count=self.count, mean=round(mean, 2), p50=round(halfway, 2), p95=round(late, 2))

    def _percentile(self, share: float) -> float:
        """Estimate a percentile, interpolated between the two nearest values."""
        if self.count < 2:
            return self.total
        rank, between = divmod(share * (self.count - 1), 1)
        lower, upper = self._value(int(rank)), self._value(min(int(rank) + 1, self.count - 1))
        return lower + between * (upper - lower)

    def _value(self, rank: int) -> float:
        """Estimate the value of a rank from 0, assuming that the values of a bucket are spread evenly."""
        below = 0
        for place, count in enumerate(self.buckets):
            if below + count > rank:
                low = BOUNDS[place - 1] if place else 0.0
                high = BOUNDS[min(place, len(BOUNDS) - 1)]
                return low + (high - low) * (rank - below + 0.5) / count
            below += count
        return 0.0


_MOVING = "SELECT name, total FROM hours WHERE kind = 'moving'"
_PUT = """
    INSERT INTO hours VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (hour, kind, name) DO UPDATE
    SET count = excluded.count, total = excluded.total, buckets = excluded.buckets
"""


class Statistics:
    """The counts of one process, on their way into the journal that all processes share."""

    def __init__(
        self, journal: JournalStore, *, days: float, every: float = 300.0, clock: Callable[[], float] = time.time
    ) -> None:
        """Take the journal and the limits.

        Args:
            journal: the store of the counts.
            days: to store them; 0 counts nothing.
            every: seconds between two saves.
            clock: seconds since 1970; by default those of this host, because counting must not wait for a server.
        """
        self._journal, self._days, self._every, self._clock = journal, days, every, clock
        self._lock, self._saving = threading.Lock(), threading.Lock()
        self._counted: dict[Entry, Tally] = defaultdict(Tally)
        self._values: list[tuple[str, float]] = []
        self._timer: threading.Timer | None = None

    # ------------------------------------------------------------ counting

    def note_answer(self, answer: Answer, *, degraded: bool, cached: bool) -> None:
        """Count an answer or a refusal; ``cached`` says whether results are cached at all."""
        found = _found_by(answer.hits)
        counts = [("questions", _OUTCOMES[answer.outcome]), *found]
        values = [(name, float(found.count(("found by", name)))) for name in FOUND]
        values.append(("milliseconds", answer.timings_ms.get("total", 0.0)))
        values += [("confidence", answer.confidence)] if answer.outcome == "answer" else []
        if degraded:
            counts.append(("degraded", "answers"))
        if cached:
            counts += [("hits" if step in answer.usage.cached else "misses", step) for step in CACHED]
        self._note(counts, answer.timings_ms, answer.confidence if answer.outcome == "answer" else None, values)

    def note_failure(self, error: BaseException) -> None:
        """Count a question that failed."""
        self._note([("questions", "failed"), ("failures", type(error).__name__)])

    def note_stopped(self) -> None:
        """Count a question whose user did not wait for the end."""
        self._note([("questions", "stopped")])

    def note_search(self, hits: Sequence[Hit], milliseconds: float) -> None:
        """Count a search without an answer."""
        self._note([("searches", "done"), *_found_by(hits)], {"search only": milliseconds})

    def _note(
        self,
        counts: Iterable[tuple[str, str]],
        times: Mapping[str, float] | None = None,
        confidence: float | None = None,
        values: Iterable[tuple[str, float]] = (),
    ) -> None:
        if not self._days:
            return
        hour = _hour(self._clock())
        with self._lock:
            self._values += values
            for kind, name in counts:
                self._counted[hour, kind, name].count += 1
            for stage, milliseconds in (times or {}).items():
                self._counted[hour, "times", stage].measure(milliseconds)
            if confidence is not None:
                self._counted[hour, "confidence", "answers"].add(1, confidence, ())
            if self._timer is None:
                self._timer = threading.Timer(self._every, self._save_quietly)
                self._timer.daemon = True
                self._timer.start()

    # ------------------------------------------------------------ saving

    def close(self) -> None:
        """Save the counts, if possible."""
        self._save_quietly()

    def save(self) -> None:
        """Add the counts to the journal, and delete expired ones.

        Raises:
            KnowledgeBaseError: it could not be written; the counts are kept.
        """
        with self._lock:
            counted, self._counted = self._counted, defaultdict[Entry, Tally](Tally)
            values, self._values = self._values, []
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        if not counted:
            return
        try:
            self._add(counted, values)
        except BaseException:
            with self._lock:
                self._values = [*values, *self._values]
                for entry, tally in counted.items():
                    self._counted[entry].add(tally.count, tally.total, tally.buckets)
            raise

    def _save_quietly(self) -> None:
        with suppress(KnowledgeBaseError), self._saving:  # the next save adds them
            self.save()

    def _add(self, counted: Mapping[Entry, Tally], values: Sequence[tuple[str, float]]) -> None:
        with self._journal.writing() as db:
            for name, average in _moved(dict(db.execute(_MOVING).fetchall()), values).items():
                db.execute(_PUT, [_NEWEST, "moving", name, 0, average, "[]"])
            for entry, tally in counted.items():
                row = db.execute(
                    "SELECT count, total, buckets FROM hours WHERE hour = ? AND kind = ? AND name = ?", entry
                ).fetchone()
                together = Tally(count=tally.count, total=tally.total, buckets=tally.buckets)
                if row is not None:
                    together.add(row[0], row[1], json.loads(row[2]))
                db.execute(_PUT, [*entry, together.count, together.total, json.dumps(together.buckets)])
            db.execute("DELETE FROM hours WHERE hour < ?", [_hour(self._clock() - self._days * DAY)])

    # ------------------------------------------------------------ reporting

    def report(self, days: float) -> Report:
        """Return the usage of the last days in all processes, including counts of this one that are not saved yet.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        since = _hour(self._clock() - days * DAY)
        sql = "SELECT hour, kind, name, count, total, buckets FROM hours WHERE hour BETWEEN ? AND ? ORDER BY hour DESC"
        with self._journal.reading() as db:
            saved = db.execute(sql, [since, _hour(self._clock() + DAY)]).fetchall() if db else []
            moving = dict(db.execute(_MOVING).fetchall()) if db else {}
        with self._lock:
            moving = _moved(moving, self._values)
            here = [(*entry, one.count, one.total, list(one.buckets)) for entry, one in self._counted.items()]
        total: dict[tuple[str, str], Tally] = defaultdict(Tally)
        daily: dict[str, dict[tuple[str, str], Tally]] = defaultdict(lambda: defaultdict(Tally))
        hourly: dict[str, dict[tuple[str, str], Tally]] = defaultdict(lambda: defaultdict(Tally))
        for hour, kind, name, count, sum_, buckets in [*saved, *(one for one in here if one[0] >= since)]:
            counts = json.loads(buckets) if isinstance(buckets, str) else buckets
            for one in (total, daily[hour[:10]], hourly[hour]):
                one[kind, name].add(count, sum_, counts)
        return Report(
            total=_period("", total),
            moving={name: round(average, 4) for name, average in moving.items()},
            daily=tuple(_period(day, daily[day]) for day in sorted(daily, reverse=True)),
            hourly=tuple(_period(hour, hourly[hour]) for hour in sorted(hourly, reverse=True)),
        )


def _hour(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H")


def _found_by(hits: Sequence[Hit]) -> list[tuple[str, str]]:
    found: list[str] = []
    for hit in hits:
        legs = [leg for leg in LEGS if any(step.stage.startswith(leg) for step in hit.why)]
        stored = [leg for leg in legs if leg not in OUTSIDE]
        found += [*legs, *(["both"] if len(stored) == 2 else [f"only {leg}" for leg in stored])]
    return [("found by", name) for name in found]


def _moved(averages: Mapping[str, float], values: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return moving averages after more values; the first value of a name is its average."""
    moved = dict(averages)
    for name, value in values:
        moved[name] = OLD * moved.get(name, value) + (1 - OLD) * value
    return moved


def _period(name: str, tallies: Mapping[tuple[str, str], Tally]) -> Period:
    def counts(kind: str) -> dict[str, int]:
        return {name: tally.count for (of, name), tally in sorted(tallies.items()) if of == kind}

    questions, sure = counts("questions"), tallies.get(("confidence", "answers"), Tally())
    return Period(
        period=name,
        questions=sum(questions.values()),
        answered=questions.get("answered", 0),
        closest=questions.get("closest", 0),
        refused=questions.get("refused", 0),
        failed=questions.get("failed", 0),
        stopped=questions.get("stopped", 0),
        degraded=sum(counts("degraded").values()),
        searches=sum(counts("searches").values()),
        confidence=round(sure.total / sure.count, 4) if sure.count else None,
        failures=counts("failures"),
        times_ms={stage: tally.times() for (kind, stage), tally in sorted(tallies.items()) if kind == "times"},
        cache_hits=counts("hits"),
        cache_misses=counts("misses"),
        found_by=counts("found by"),
    )
