"""Comparisons and the gate: on reports made by hand, and by chance."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core.errors import SourceError, UsageError
from ragstone.review.compare import compare, gate
from ragstone.review.evaluate import MEASURES, summarise
from ragstone.review.report import EvalReport, QueryResult, read_report
from ragstone.review.significance import Interval, holm, paired_difference, randomisation_p

NAMES = ("old", "new")


def report(values: Sequence[float], **settings: str) -> EvalReport:
    results = [
        QueryResult(
            id=f"q{n}",
            text=f"Question {n}?",
            measures=dict.fromkeys(MEASURES, value),
            answerable=True,
            expected=(f"d{n}",),
            found=(f"d{n}",),
            first=1,
        )
        for n, value in enumerate(values)
    ]
    return replace(summarise("set", results), settings=settings)


def test_counts_wins_losses_and_changes() -> None:
    old = report([0.0, 0.5, 1.0, 1.0, 0.5], **{"rank.top_k": "5", "query.method": "bm25"})
    new = report([1.0, 0.6, 0.2, 1.0, 0.4], **{"rank.top_k": "5", "query.method": "hybrid"})
    found = compare(old, new, NAMES)
    first = found.measures[0]
    assert (first.wins, first.losses, first.ties) == (2, 2, 1)
    assert first.difference.mean == pytest.approx(0.04)
    assert [change.id for change in found.gains()] == ["q0", "q1"]
    assert [change.id for change in found.losses(1)] == ["q2"]
    assert [(one.path, one.a, one.b) for one in found.settings] == [("query.method", "bm25", "hybrid")]


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=15))
def test_swapping_reports_swaps_wins_and_losses(pairs: list[tuple[float, float]]) -> None:
    a, b = report([x for x, _ in pairs]), report([y for _, y in pairs])
    one, other = compare(a, b, NAMES), compare(b, a, NAMES)
    assert [(m.wins, m.losses, m.ties) for m in one.measures] == [(m.losses, m.wins, m.ties) for m in other.measures]
    assert one.measures[0].wins + one.measures[0].losses + one.measures[0].ties == len(pairs)
    assert {change.id for change in one.gains(99)} == {change.id for change in other.losses(99)}
    assert len(one.gains(99)) + len(one.losses(99)) == len(one.changed)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda r: replace(r, per_query=r.per_query[:-1]), "'q2' only in the first"),
        (lambda r: replace(r, per_query=(*r.per_query, replace(r.per_query[0], id="x"))), "'x' only in the second"),
        (lambda r: replace(r, per_query=(replace(r.per_query[0], text="Other?"), *r.per_query[1:])), "wording"),
        (lambda r: replace(r, per_query=(replace(r.per_query[0], expected=("x",)), *r.per_query[1:])), "documents"),
    ],
)
def test_refuses_different_questions(change, problem: str) -> None:
    old = report([1.0, 0.5, 0.0])
    for function in (lambda new: compare(old, new, NAMES), lambda new: gate(old, new)):
        with pytest.raises(UsageError, match=f"different questions: .*{problem}"):
            function(change(old))


def test_refuses_reports_without_judgements() -> None:
    nothing = summarise("set", [QueryResult(id="q", measures={}, answerable=False)])
    with pytest.raises(UsageError, match="nothing to compare"):
        gate(nothing, nothing)


def bare(values: Sequence[float]) -> EvalReport:
    """As much of a report as the gate needs: intervals of single reports take long to simulate."""
    interval = Interval(mean=float(np.mean(values)), low=0, high=1)
    whole = report([0.0])
    results = [replace(whole.per_query[0], id=f"q{n}", measures={"ndcg@10": value}) for n, value in enumerate(values)]
    return replace(whole, per_query=tuple(results), measures={"ndcg@10": interval})


def test_gate_catches_losses_and_tolerates_chance() -> None:
    """A hundred simulated changes: a fifth of the questions trade their values by chance, or a sixth gets worse."""
    random = np.random.default_rng(7)
    caught = alarms = 0
    for _ in range(100):
        before = random.choice([0.0, 0.3, 0.5, 1.0], p=[0.2, 0.2, 0.2, 0.4], size=120)
        changed = np.flatnonzero(random.random(120) < 0.2)
        after = before.copy()
        after[changed] = random.choice([0.0, 0.3, 0.5, 1.0], p=[0.2, 0.2, 0.2, 0.4], size=len(changed))
        worse = np.where(random.random(120) < 1 / 6, before * 0.3, before)
        alarms += gate(bare(before), bare(after))[0].lost
        caught += gate(bare(before), bare(worse))[0].lost
    assert alarms <= 7, "one in forty is expected"
    assert caught >= 95


def test_loss_within_the_margin_passes() -> None:
    before = report([1.0] * 200)
    after = report([0.99] * 200)
    assert not gate(before, after, margin=0.02)[0].lost
    assert gate(before, after, margin=0.001)[0].lost
    assert [one.measure for one in gate(before, after, ["mrr@10", "p@5"])] == ["mrr@10", "p@5"]
    assert not gate(after, before)[0].lost, "a gain is no loss"


def test_report_round_trips_through_json(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    whole = report([1.0, 0.5], **{"query.method": "bm25"})
    path.write_text(whole.to_json())
    assert read_report(path) == whole
    for text, problem in (("{}", "not a report"), ("[", "not a report"), ('{"dataset": 3}', "dataset")):
        path.write_text(text)
        with pytest.raises(SourceError, match=problem):
            read_report(path)
    with pytest.raises(SourceError, match="cannot be read"):
        read_report(tmp_path / "none.json")
    assert json.loads(whole.to_json())["per_query"][0]["first"] == 1


# ---------------------------------------------------------------- significance


def test_randomisation_agrees_with_bootstrap() -> None:
    random = np.random.default_rng(4)
    differences = random.normal(0.03, 0.3, size=400)
    zeros = np.zeros(400)
    bootstrap = paired_difference(differences, zeros).p
    assert randomisation_p(differences.tolist(), zeros.tolist()) == pytest.approx(bootstrap, abs=0.02)
    assert randomisation_p([0.5, 1.0], [0.5, 1.0]) == 1
    with pytest.raises(ValueError, match="paired values"):
        randomisation_p([1.0], [])


def test_randomisation_is_exact_for_few_signs() -> None:
    """Five differences of the same sign: of 32 ways, two are as far out."""
    assert randomisation_p([0.1, 0.2, 0.3, 0.4, 0.5], [0.0] * 5) == pytest.approx(2 / 32, abs=0.01)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_keeps_order_and_never_lowers(ps: list[float]) -> None:
    corrected = holm(ps)
    assert all(own <= after <= 1 for own, after in zip(ps, corrected, strict=True))
    assert [corrected[n] for n in sorted(range(len(ps)), key=lambda n: ps[n])] == sorted(corrected)
