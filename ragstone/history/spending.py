"""The cost of the language models of a knowledge base: every call, by day, in all processes and across restarts."""

from __future__ import annotations

from collections.abc import Callable

from ragstone.core.frozen import frozen
from ragstone.core.request import BILLION
from ragstone.history.journal import row_crc
from ragstone.history.store import DAY, JournalStore, day_of
from ragstone.services.cost import Call

DETAILED_DAYS = 30
"""Days to store each call; after that, only the sum of each day stays."""
_INSERT = (
    "INSERT INTO calls (day, job, purpose, model, prompt, completion, cost, open, crc)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SUMS = "count(*), count(*) - count(cost), coalesce(sum(prompt), 0), coalesce(sum(completion), 0)"


@frozen
class Sum:
    """A sum of calls. ``cost`` is the money for those with a known price; ``unpriced`` counts the others."""

    calls: int = 0
    unpriced: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0


@frozen
class DayCost:
    """The calls of one day to one model for one purpose."""

    day: str
    purpose: str
    model: str
    sum: Sum


@frozen
class Costs:
    """The cost of this day of UTC, and the total."""

    today: Sum = Sum()
    total: Sum = Sum()


class Spending:
    """The `Ledger` of a knowledge base.

    Until a call ends, its record has its maximum cost. If the process is killed, that record stays: the money
    may have been spent.
    """

    def __init__(self, journal: JournalStore, clock: Callable[[], float] | None = None) -> None:
        """Take the journal, and a clock of seconds since 1970 other than that of the journal."""
        self._journal, self._clock = journal, clock or journal.clock

    def reserve(self, call: Call, limit: int) -> tuple[int | None, int]:
        """See `ragstone.services.cost.Ledger`; two processes cannot both take the rest of a budget.

        Raises:
            KnowledgeBaseError: it could not be written.
        """
        today = day_of(self._clock())
        with self._journal.writing() as db:
            ((before,),) = db.execute("SELECT coalesce(sum(cost), 0) FROM calls WHERE day = ?", [today])
            if before + (call.cost or 0) > limit:
                return None, before
            row = _row(today, call, 1)
            ((number,),) = db.execute(f"{_INSERT} RETURNING call", [*row, row_crc(*row)])
            return number, before

    def settle(self, number: int | None, call: Call | None) -> None:
        """See `ragstone.services.cost.Ledger`.

        Raises:
            KnowledgeBaseError: it could not be written; an entry is unchanged.
        """
        now = self._clock()
        today, old = day_of(now), day_of(now - DETAILED_DAYS * DAY)
        with self._journal.writing() as db:
            if number is not None:
                found = db.execute("SELECT day FROM calls WHERE call = ?", [number]).fetchone()
                today = found[0] if found else today  # a call counts for the day on which it began
                db.execute("DELETE FROM calls WHERE call = ?", [number])
            if call:
                row = _row(today, call, 0)
                db.execute(_INSERT, [*row, row_crc(*row)])
            if db.execute("SELECT 1 FROM calls WHERE day < ? LIMIT 1", [old]).fetchone():
                db.execute(
                    f"INSERT INTO days SELECT day, purpose, model, {_SUMS}, coalesce(sum(cost), 0) FROM calls"  # noqa: S608
                    " WHERE day < ? GROUP BY day, purpose, model ON CONFLICT (day, purpose, model) DO UPDATE SET"
                    " calls = days.calls + excluded.calls, unpriced = days.unpriced + excluded.unpriced,"
                    " prompt = days.prompt + excluded.prompt, completion = days.completion + excluded.completion,"
                    " cost = days.cost + excluded.cost",
                    [old],
                )
                db.execute("DELETE FROM calls WHERE day < ?", [old])

    def costs(self) -> Costs:
        """Return the cost of today and the total.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        return Costs(today=_together(self.days(day_of(self._clock()))), total=_together(self.days()))

    def days(self, day: str = "") -> list[DayCost]:
        """Return the cost by day, purpose and model, the latest day first; or of one day, such as ``2026-01-31``.

        Raises:
            KnowledgeBaseError: the journal cannot be read.
        """
        sql = f"""
            SELECT day, purpose, model, sum(calls), sum(unpriced), sum(prompt), sum(completion), sum(cost) FROM (
                SELECT * FROM days
                UNION ALL SELECT day, purpose, model, {_SUMS}, coalesce(sum(cost), 0) FROM calls
                GROUP BY day, purpose, model
            ) AS parts
            WHERE ?1 = '' OR day = ?1 GROUP BY day, purpose, model ORDER BY day DESC, purpose, model
        """  # noqa: S608
        with self._journal.reading() as db:
            rows = db.execute(sql, [day]).fetchall() if db else []
        return [DayCost(day=day, purpose=purpose, model=model, sum=_sum(*sums)) for day, purpose, model, *sums in rows]


def _row(day: str, call: Call, open: int) -> tuple[object, ...]:
    columns = (call.job, call.purpose, call.model, call.prompt_tokens, call.completion_tokens, call.cost)
    return (day, *columns, open)


def _sum(calls: int, unpriced: int, prompt: int, completion: int, cost: int) -> Sum:
    return Sum(calls=calls, unpriced=unpriced, prompt_tokens=prompt, completion_tokens=completion, cost=cost / BILLION)


def _together(parts: list[DayCost]) -> Sum:
    sums = [part.sum for part in parts]
    return Sum(
        calls=sum(one.calls for one in sums),
        unpriced=sum(one.unpriced for one in sums),
        prompt_tokens=sum(one.prompt_tokens for one in sums),
        completion_tokens=sum(one.completion_tokens for one in sums),
        cost=round(sum(one.cost for one in sums), 9),
    )
