"""How far the probability of an answer can be trusted, and the risk that is promised with it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.cases import POOLED, SOURCES, Case, cases
from benchmarks.common import Options, Result, Table
from ragstone.config import load
from ragstone.index import build_embedder
from ragstone.respond.answerability import estimate_for
from ragstone.respond.risk import NEVER, threshold_for

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
    """Cases with the probabilities given to them; arrays are (cases,)."""

    probability: np.ndarray
    answerable: np.ndarray
    wrong: np.ndarray

    def __len__(self) -> int:
        return len(self.probability)


async def measure(options: Options) -> Result:
    """On the halves to which no coefficient was fitted; risk on the quarter to which no threshold was either."""
    assert options.data is not None, "asked for only with data sets"
    embedder = options.embedders[0]
    settings = load([f"index.embedder={embedder}"]).settings
    fingerprint, below = build_embedder(settings.index).fingerprint, settings.respond.abstain_below
    found: list[Case] = []
    for name in (one for one in POOLED if (options.data / SOURCES[one].documents).is_dir()):
        found += await cases(options.data, options.keep, name, embedder, every=QUICK - 1 if options.quick else 1)
    unseen = [one for one in found if one.part != "fit"]
    parts = {name: [one for one in unseen if one.source == name] for name in POOLED}
    judged = {name: _judged(some, fingerprint) for name, some in parts.items() if some} | {
        "all": _judged(unseen, fingerprint)
    }
    low, high = _interval(judged["all"])
    trust = Table(
        title=f"the probability of an answer, on questions it was not fitted to; all: calibration error"
        f" {calibration_error(judged['all']):.3f} [{low:.3f} {high:.3f}]",
        columns=COLUMNS,
        rows=[[name, *_row(one, below)] for name, one in judged.items()],
    )
    apart = _judged([one for one in unseen if one.part == "test" and SOURCES[one.source].judged], fingerprint)
    risks = Table(
        title="respond.risk, on judged questions to which neither probability nor threshold was fitted",
        columns=["risk accepted", "threshold", "answered", "wrong, of those answered"],
        rows=[_risk(share, apart, threshold_for(fingerprint, share)) for share in RISKS],
    )
    figures = {
        "calibration_error": round(calibration_error(judged["all"]), 4),
        "calibration_error_high": round(high, 4),
        "brier": round(_brier(judged["all"]), 4),
        "cases": len(unseen),
    }
    return Result(tables=[trust, risks], figures=figures, plot=_plot(judged))


def _judged(some: Sequence[Case], fingerprint: str) -> Judged:
    estimate = estimate_for(fingerprint)
    return Judged(
        probability=np.array([estimate(one.features) for one in some]),
        answerable=np.array([one.answerable for one in some], dtype=float),
        wrong=np.array([one.wrong for one in some], dtype=bool),
    )


def calibration_error(one: Judged) -> float:
    """How far the mean probability is from the share answerable, over ten bins of equal size."""
    bins = np.array_split(np.argsort(one.probability, kind="stable"), BINS)
    gaps = [abs(one.probability[b].mean() - one.answerable[b].mean()) * len(b) for b in bins if len(b)]
    return float(sum(gaps) / max(len(one), 1))


def _interval(one: Judged) -> tuple[float, float]:
    """95% of bootstrap resamples of the cases. Resampling adds noise to every bin, so it rather overstates."""
    chance, values = np.random.default_rng(1), []
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
    """The 95% interval of a share (Wilson 1927)."""
    z, share = 1.96, part / whole
    middle = (share + z * z / (2 * whole)) / (1 + z * z / whole)
    half = z / (1 + z * z / whole) * float(np.sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole)))
    return middle - half, middle + half


def _plot(judged: dict[str, Judged]) -> str:
    """Share answerable by the probability given, in bins of equal size."""
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "ragstone"
    figure, axes = plt.subplots(figsize=(5, 4.5))
    axes.plot([0, 1], [0, 1], color="grey", linestyle=":", label="as it should be")
    for name in ("clapnq", "all"):
        one = judged.get(name)
        if one is not None:
            bins = [b for b in np.array_split(np.argsort(one.probability, kind="stable"), BINS) if len(b)]
            points = [(one.probability[b].mean(), one.answerable[b].mean()) for b in bins]
            axes.plot(*zip(*points, strict=True), marker="o", label=f"{name} ({len(one)} cases)")
    axes.set(xlabel="probability given", ylabel="share that was answerable")
    axes.legend()
    axes.grid(alpha=0.3)
    out = io.StringIO()
    figure.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    return out.getvalue()
