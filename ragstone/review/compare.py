"""Compare two reports on the same questions: which is better, by how much, and on which questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ragstone.core.errors import UsageError
from ragstone.core.frozen import frozen
from ragstone.review.report import EvalReport, QueryResult
from ragstone.review.significance import Difference, Interval, paired_difference, randomisation_p

SHOWN = 10
"""Gains, and losses, that are listed."""
_MAX_NAMED = 3
"""Questions that an error names."""


@frozen
class MeasureComparison:
    """One measure of both reports; ``difference`` is ``b`` minus ``a``. ``b`` wins a question by a better value."""

    measure: str
    a: Interval
    b: Interval
    difference: Difference
    wins: int
    losses: int
    ties: int


@frozen
class Change:
    """A question on which the reports differ."""

    id: str
    text: str
    a: float
    b: float
    first_a: int | None
    first_b: int | None


@frozen
class SettingDifference:
    """A setting that differs between the reports; empty if a report does not record it."""

    path: str
    a: str
    b: str


@frozen
class Comparison:
    """``b`` compared with ``a``. ``changed`` lists questions on which ``metric`` differs, largest gain first."""

    dataset: str
    a: str
    b: str
    questions: int
    test: str
    measures: tuple[MeasureComparison, ...]
    metric: str
    changed: tuple[Change, ...]
    settings: tuple[SettingDifference, ...]

    def gains(self, count: int = SHOWN) -> tuple[Change, ...]:
        """Return the largest gains, largest first."""
        return tuple(change for change in self.changed if change.b > change.a)[:count]

    def losses(self, count: int = SHOWN) -> tuple[Change, ...]:
        """Return the largest losses, largest first."""
        return tuple(change for change in reversed(self.changed) if change.b < change.a)[:count]


@frozen
class GateResult:
    """Whether a measure fell below a baseline; ``difference`` is the current value minus the baseline."""

    measure: str
    baseline: Interval
    now: Interval
    difference: Difference
    lost: bool


def compare(
    a: EvalReport, b: EvalReport, names: tuple[str, str], *, metric: str = "ndcg@10", randomisation: bool = False
) -> Comparison:
    """Compare two reports, question by question.

    Args:
        a: the baseline.
        b: the candidate.
        names: of the two.
        metric: the measure by which questions are listed.
        randomisation: compute p by Fisher's randomisation test instead of the bootstrap.

    Raises:
        UsageError: the reports are on different questions.
    """
    pairs = pair(a, b)
    return Comparison(
        dataset=b.dataset,
        a=names[0],
        b=names[1],
        questions=len(pairs),
        test="randomisation" if randomisation else "bootstrap",
        measures=tuple(
            _compared(name, a.measures[name], b.measures[name], pairs, randomisation)
            for name in b.measures
            if name in a.measures
        ),
        metric=metric,
        changed=_changed(pairs, metric),
        settings=_differing(a.settings, b.settings),
    )


def gate(
    baseline: EvalReport, now: EvalReport, measures: Sequence[str] = ("ndcg@10",), margin: float = 0.01
) -> tuple[GateResult, ...]:
    """Check whether any measure fell below the baseline.

    A measure fell if its mean dropped by more than ``margin`` and the whole interval of the difference is below 0. The
    joint confidence of all intervals is 95% (Bonferroni), so without a change at most one run in forty fails.

    Raises:
        UsageError: the questions differ, or none has an expected document.
    """
    pairs = pair(baseline, now)
    results: list[GateResult] = []
    for name in measures:
        then, today = [one.measures[name] for one, _ in pairs], [one.measures[name] for _, one in pairs]
        fell = paired_difference(today, then, confidence=1 - 0.05 / len(measures))
        results.append(
            GateResult(
                measure=name,
                baseline=baseline.measures[name],
                now=now.measures[name],
                difference=fell,
                lost=fell.high < 0 and fell.mean < -margin,
            )
        )
    return tuple(results)


def pair(a: EvalReport, b: EvalReport) -> list[tuple[QueryResult, QueryResult]]:
    """Pair the judged questions of both reports, in the order of ``b``.

    Raises:
        UsageError: the questions or expected documents differ, or no question is judged.
    """
    ours, theirs = ({one.id: one for one in report.per_query} for report in (a, b))
    gone, new = [id for id in ours if id not in theirs], [id for id in theirs if id not in ours]
    if gone or new:
        parts = [_some(gone, "only in the first"), _some(new, "only in the second")]
        raise UsageError(f"the reports are on different questions: {'; '.join(filter(None, parts))}")
    for what, differ in (
        ("has another wording", [id for id, one in ours.items() if one.text != theirs[id].text]),
        ("expects other documents", [id for id, one in ours.items() if set(one.expected) != set(theirs[id].expected)]),
    ):
        if differ:
            raise UsageError(f"the reports are on different questions: {_some(differ, what)}")
    pairs = [(ours[one.id], one) for one in b.per_query if one.measures]
    if not pairs:
        raise UsageError("there is nothing to compare: no question has an expected document")
    return pairs


def _some(ids: Sequence[str], what: str) -> str:
    more = f" and {len(ids) - _MAX_NAMED} more" if len(ids) > _MAX_NAMED else ""
    return f"{', '.join(repr(id) for id in ids[:_MAX_NAMED])}{more} {what}" if ids else ""


def _compared(
    name: str, a: Interval, b: Interval, pairs: Sequence[tuple[QueryResult, QueryResult]], randomisation: bool
) -> MeasureComparison:
    old, new = [one.measures[name] for one, _ in pairs], [one.measures[name] for _, one in pairs]
    difference = paired_difference(new, old)
    if randomisation:
        difference = replace(difference, p=randomisation_p(new, old))
    wins = sum(y > x for x, y in zip(old, new, strict=True))
    losses = sum(y < x for x, y in zip(old, new, strict=True))
    return MeasureComparison(
        measure=name, a=a, b=b, difference=difference, wins=wins, losses=losses, ties=len(pairs) - wins - losses
    )


def _changed(pairs: Sequence[tuple[QueryResult, QueryResult]], metric: str) -> tuple[Change, ...]:
    changes = [
        Change(id=new.id, text=new.text, a=x, b=y, first_a=old.first, first_b=new.first)
        for old, new in pairs
        if (x := old.measures[metric]) != (y := new.measures[metric])
    ]
    return tuple(sorted(changes, key=lambda change: change.a - change.b))


def _differing(a: Mapping[str, str], b: Mapping[str, str]) -> tuple[SettingDifference, ...]:
    paths = [path for path in {**a, **b} if path != "preset" and a.get(path, "") != b.get(path, "")]
    return tuple(SettingDifference(path=path, a=a.get(path, ""), b=b.get(path, "")) for path in paths)
