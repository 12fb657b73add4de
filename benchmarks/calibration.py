"""How far the probability that an answer is right, and the risk promised with it, can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import FITTED, SMALL, UNSEEN, Case, Way, cases
from benchmarks.common import Options, Result, Table
from benchmarks.judge import auc
from benchmarks.logistic import fit, probabilities
from benchmarks.question_sets import is_there
from ragstone.index import build_embedder
from ragstone.respond.quoting.answerability import NEVER, estimate_for, inputs, is_read, threshold_for
from ragstone.settings.load import load

BINS = 10
RISKS = (0.15, 0.2, 0.3)
QUICK = 8
QUICK_SETS = ("clapnq", "xquad en")
RIDGE = 10.0
SIZE = 300
"""The size of a set with weight 1; other sets have the square root of their share of it."""
COLUMNS = ("set", "cases", "right", "stated", "calibration error", "AUC", "Brier score", "of a constant")


async def measure(options: Options) -> Result:
    """Measure the shipped coefficients, and on each set those that were fitted to the others.

    The figures are those of passages that the trained reader reads, if it stands next to the embedder.
    """
    assert options.data is not None
    embedder = options.embedders[0]
    fingerprint = build_embedder(load([f"index.embedder={embedder}"]).settings.index).fingerprint
    every = QUICK if options.quick else 1

    async def read(names: Sequence[str]) -> dict[str, Mapping[Way, list[Case]]]:
        assert options.data is not None
        there = [name for name in names if is_there(options.data, name)]
        return {name: await cases(options.data, options.keep, name, embedder, every=every) for name in there}

    sets, unseen = await read(QUICK_SETS if options.quick else FITTED), await read(() if options.quick else UNSEEN)
    ways: list[Way] = ["compared", "read"] if is_read(fingerprint) else ["compared"]
    tables: list[Table] = []
    figures: dict[str, object] = {}
    for way in ways:
        more, figures = _measured(fingerprint, way, _of(sets, way), _of(unseen, way))
        tables += more
    return Result(tables=tables, figures=figures)


def _of(sets: Mapping[str, Mapping[Way, list[Case]]], way: Way) -> dict[str, list[Case]]:
    """Return the cases of one way to read, without sets that have none."""
    return {name: some[way] for name, some in sets.items() if some[way]}


def _measured(
    fingerprint: str, way: Way, sets: Mapping[str, Sequence[Case]], unseen: Mapping[str, Sequence[Case]]
) -> tuple[list[Table], dict[str, object]]:
    estimate = estimate_for(fingerprint)
    shipped = {name: np.array([estimate(one.features) for one in some]) for name, some in sets.items()}
    right = {name: np.array([one.right for one in some], dtype=float) for name, some in sets.items()}
    usual = usual_similarity([one for some in sets.values() for one in some])
    apart = left_out(sets, usual) if len(sets) > len(QUICK_SETS) else {}
    for name, some in unseen.items():
        apart[name] = np.array([estimate(one.features) for one in some])
        right[name] = np.array([one.right for one in some], dtype=float)
    judged = [name for name in apart if len(right[name]) >= SMALL]
    errors = [calibration_error(apart[name], right[name]) for name in judged]
    mean = float(np.mean(errors)) if errors else None
    how = "read by the trained reader" if way == "read" else "words compared"
    tables = [
        Table(
            title=f"the probability that an answer is right, on sets it was not fitted to; {how}",
            columns=COLUMNS,
            rows=[[name, *_row(p, right[name])] for name, p in apart.items()],
        ),
        Table(
            title=f"as shipped, fitted to all of these sets; {how}",
            columns=COLUMNS,
            rows=[[name, *_row(p, right[name])] for name, p in shipped.items()],
        ),
        Table(
            title=f"respond.risk, on sets it was not fitted to; {how}",
            columns=["risk accepted", "threshold", "answered", "wrong, of those answered"],
            rows=[_risk(share, apart or shipped, right, threshold_for(fingerprint, share)) for share in RISKS],
        ),
    ]
    figures: dict[str, object] = {
        "confidence_error_left_out": None if mean is None else round(mean, 4),
        "worst_set": round(max(errors), 4) if errors else None,
        "cases": sum(map(len, right.values())),
    }
    return (tables if apart else tables[1:]), figures


def table(some: Sequence[Case], usual: float) -> NDArray[np.float64]:
    """Return the features as the coefficients see them, shape (cases, coefficients without bias)."""
    return np.array([inputs(one.features, usual) for one in some])


def usual_similarity(some: Sequence[Case]) -> float:
    """Return the mean similarity of sentences that are not the most similar."""
    return round(float(np.mean([one.features.others for one in some])), 2)


def fitted(sets: Mapping[str, Sequence[Case]], names: Sequence[str], usual: float) -> NDArray[np.float64]:
    """Return bias and coefficients, rounded as shipped."""
    some = [one for name in names for one in sets[name]]
    weights = np.concatenate([np.full(len(sets[name]), np.sqrt(SIZE / len(sets[name]))) for name in names])
    return fit(table(some, usual), np.array([one.right for one in some], dtype=float), weights, RIDGE).round(2)


def left_out(sets: Mapping[str, Sequence[Case]], usual: float) -> dict[str, NDArray[np.float64]]:
    """Return the probabilities of each set by coefficients fitted to the other sets."""
    return {
        name: probabilities(fitted(sets, [other for other in sets if other != name], usual), table(some, usual))
        for name, some in sets.items()
    }


def calibration_error(probability: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    """Return how far the mean probability is from the share that is right, over ten bins of equal size.

    Args:
        probability: of each case, shape (cases,).
        right: 1 if it is right, else 0, shape (cases,).
    """
    bins = np.array_split(np.argsort(probability, kind="stable"), BINS)
    gaps = [abs(probability[b].mean() - right[b].mean()) * len(b) for b in bins if len(b)]
    return float(sum(gaps) / max(len(right), 1))


def _row(p: NDArray[np.float64], right: NDArray[np.float64]) -> list[str]:
    rate = right.mean()
    shares = (
        rate,
        p.mean(),
        calibration_error(p, right),
        auc(p.tolist(), [bool(one) for one in right]) or float("nan"),
        ((p - right) ** 2).mean(),
        rate * (1 - rate),
    )
    return [str(len(right)), *(f"{share:.3f}" for share in shares)]


def _risk(
    share: float,
    probability: Mapping[str, NDArray[np.float64]],
    right: Mapping[str, NDArray[np.float64]],
    threshold: float,
) -> list[str]:
    p = np.concatenate(list(probability.values()))
    wrong = np.concatenate([right[name] for name in probability]) == 0
    answered = p >= threshold
    if threshold == NEVER or not answered.any():
        return [f"{share:.0%}", "-", f"0 of {len(p)}", "cannot be promised, so nothing is answered"]
    count, of = int((wrong & answered).sum()), int(answered.sum())
    low, high = wilson(count, of)
    return [f"{share:.0%}", f"{threshold:.2f}", f"{of} of {len(p)}", f"{count / of:.3f} [{low:.3f} {high:.3f}]"]


def wilson(part: int, whole: int) -> tuple[float, float]:
    """Return the 95% interval of a share (Wilson 1927)."""
    z, share = 1.96, part / whole
    middle = (share + z * z / (2 * whole)) / (1 + z * z / whole)
    half = z / (1 + z * z / whole) * float(np.sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole)))
    return middle - half, middle + half
