"""How far the probability of an answer, and the risk promised with it, can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import POOLED, SOURCES, Case, cases
from benchmarks.common import Options, Result, Table
from ragstone.index import build_embedder
from ragstone.respond.answerability import NEVER, estimate_for, threshold_for
from ragstone.settings.load import load

BINS = 10
RESAMPLES = 1000
RISKS = (0.05, 0.1, 0.2)
QUICK = 8
COLUMNS = (
    "set",
    "cases",
    "refusals that were right",
    "unanswerable refused",
    "answerable answered",
    "calibration error",
    "Brier score",
    "of a constant",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Cases with their probabilities; arrays have the shape (cases,)."""

    probability: NDArray[np.float64]
    answerable: NDArray[np.float64]
    wrong: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.probability)


async def measure(options: Options) -> Result:
    """Measure on cases that no coefficient was fitted to, and the risk on those that no threshold was either."""
    assert options.data is not None
    embedder = options.embedders[0]
    settings = load([f"index.embedder={embedder}"]).settings
    fingerprint, below = build_embedder(settings.index).fingerprint, settings.respond.abstain_below
    found: list[Case] = []
    for name in POOLED:
        if options.folder(SOURCES[name].documents):
            found += await cases(options.data, options.keep, name, embedder, every=QUICK - 1 if options.quick else 1)
    unseen = [one for one in found if one.part != "fit"]
    by_source = {name: [one for one in unseen if one.source == name] for name in POOLED}
    judged = {name: _judged(some, fingerprint) for name, some in by_source.items() if some}
    judged["all"] = _judged(unseen, fingerprint)
    error, (low, high) = calibration_error(judged["all"]), _interval(judged["all"])
    trust = Table(
        title="the probability of an answer, on questions it was not fitted to; all: calibration error"
        f" {error:.3f} [{low:.3f} {high:.3f}]",
        columns=COLUMNS,
        rows=[[name, *_row(one, below)] for name, one in judged.items()],
    )
    apart = _judged([one for one in unseen if one.part == "test" and SOURCES[one.source].judged], fingerprint)
    risks = Table(
        title="respond.risk, on judged questions to which neither probability nor threshold was fitted",
        columns=["risk accepted", "threshold", "answered", "wrong, of those answered"],
        rows=[_risk(share, apart, threshold_for(fingerprint, share)) for share in RISKS],
    )
    figures = {"calibration_error": error, "calibration_error_high": high, "brier": _brier(judged["all"])}
    rounded = {name: round(value, 4) for name, value in figures.items()}
    return Result(tables=[trust, risks], figures={**rounded, "cases": len(unseen)})


def _judged(some: Sequence[Case], fingerprint: str) -> Judged:
    estimate = estimate_for(fingerprint)
    return Judged(
        probability=np.array([estimate(one.features, SOURCES[one.source].language) for one in some]),
        answerable=np.array([one.answerable for one in some], dtype=float),
        wrong=np.array([one.wrong for one in some], dtype=bool),
    )


def calibration_error(one: Judged) -> float:
    """Return how far the mean probability is from the answerable share, over ten bins of equal size."""
    bins = np.array_split(np.argsort(one.probability, kind="stable"), BINS)
    gaps = [abs(one.probability[b].mean() - one.answerable[b].mean()) * len(b) for b in bins if len(b)]
    return float(sum(gaps) / max(len(one), 1))


def _interval(one: Judged) -> tuple[float, float]:
    """Return the 95% interval over resamples of the cases. Resampling adds noise to each bin, so it overstates."""
    chance = np.random.default_rng(1)
    values: list[float] = []
    for _ in range(RESAMPLES):
        drawn = chance.integers(0, len(one), len(one))
        part = Judged(probability=one.probability[drawn], answerable=one.answerable[drawn], wrong=one.wrong[drawn])
        values.append(calibration_error(part))
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def _brier(one: Judged) -> float:
    return float(((one.probability - one.answerable) ** 2).mean())


def _row(one: Judged, below: float) -> list[str]:
    refused, unanswerable, rate = one.probability < below, one.answerable == 0, one.answerable.mean()
    shares = (
        (unanswerable & refused).sum() / max(refused.sum(), 1),
        (unanswerable & refused).sum() / max(unanswerable.sum(), 1),
        (~unanswerable & ~refused).sum() / max((~unanswerable).sum(), 1),
    )
    return [
        str(len(one)),
        *(f"{share:.3f}" for share in shares),
        *(f"{value:.3f}" for value in (calibration_error(one), _brier(one), rate * (1 - rate))),
    ]


def _risk(share: float, one: Judged, threshold: float) -> list[str]:
    answered = one.probability >= threshold
    if threshold == NEVER or not answered.any():
        return [f"{share:.0%}", "-", f"0 of {len(one)}", "cannot be promised, so nothing is answered"]
    wrong, count = int((one.wrong & answered).sum()), int(answered.sum())
    low, high = wilson(wrong, count)
    return [
        f"{share:.0%}",
        f"{threshold:.2f}",
        f"{count} of {len(one)}",
        f"{wrong / count:.3f} [{low:.3f} {high:.3f}]",
    ]


def wilson(part: int, whole: int) -> tuple[float, float]:
    """Return the 95% interval of a share (Wilson 1927)."""
    z, share = 1.96, part / whole
    middle = (share + z * z / (2 * whole)) / (1 + z * z / whole)
    half = z / (1 + z * z / whole) * float(np.sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole)))
    return middle - half, middle + half
