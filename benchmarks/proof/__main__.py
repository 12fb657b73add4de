"""The command: measures the proof on changed sentences, on claims written by hand, and the model on public sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.common import Options, Result, Table, main
from benchmarks.proof import entailment
from benchmarks.proof.checked import Checked, given, searched
from benchmarks.proof.planted import KINDS, claims, is_fitted
from benchmarks.proof.written import CLAUSE, sets, written
from ragstone.review.dataset import load

SETS = {"clapnq": 1, "xquad/dev/en": 4, "xquad/dev/de": 4}
"""The sets of changed sentences, with n where every nth question is used."""
QUICK = 8
WORDING = {False: "in other words", True: "as written"}


async def planted(options: Options, name: str, embedder: str, *, fitted: bool) -> list[Checked]:
    """Check true and changed sentences of a set: those that coefficients are fitted to, or the others."""
    assert options.data is not None
    dataset = load(options.data / name)
    step = SETS[name] * (QUICK if options.quick else 1)
    number = {query.id: place for place, query in enumerate(dataset.queries[::step])}
    some = [one for one in claims(dataset) if one.query.id in number and is_fitted(number[one.query.id]) == fitted]
    return await searched(options.data, options.keep, dataset, some, embedder)


async def by_hand(options: Options, embedder: str) -> list[Checked]:
    """Check the claims written by hand, those about the data sets that are there."""
    claims = [
        one
        for name in filter(options.folder, sets())
        if options.data is not None
        for one in written(name, load(options.data / name))
    ]
    return await given(options.keep, claims[:: QUICK if options.quick else 1], embedder)


async def measure(options: Options) -> Result:
    """Return the shares that are flagged, on sentences that nothing was fitted to."""
    embedder = options.embedders[0]
    rows: list[list[str]] = []
    figures: dict[str, object] = {}
    for name in filter(options.folder, SETS):
        some = await planted(options, name, embedder, fitted=False)
        for kind in ("", *KINDS):
            for quoted, wording in WORDING.items():
                part = [one for one in some if one.claim.kind == kind and one.claim.quoted == quoted]
                rows += _row(name, kind or "none: true", wording, part)
        rows += _row(name, "all changes", "both", _false(some)) + _row(name, "none: true", "both", _true(some))
        figures[name] = {"false_flagged": _share(_false(some)), "true_flagged": _share(_true(some))}
    if own := await by_hand(options, embedder):
        for kind in sorted({one.claim.kind for one in own}):
            rows += _row("by hand", kind or "none: true", "in other words", [o for o in own if o.claim.kind == kind])
        rows += _row("by hand", "all changes", "in other words", _false(own))
        clauses = [one for one in own if one.claim.kind == CLAUSE]
        figures |= {
            "false_flagged": _share(_false(own)),
            "paraphrases_flagged": _share(_true(own)),
            "clauses_seen": round(sum(one.is_marked for one in clauses) / max(len(clauses), 1), 4),
            "claims": len(own),
        }
    table = Table(
        title="proof of sentences against the evidence that is found for them, true sentences and changed ones",
        columns=["set", "what was changed", "wording", "sentences", "flagged", "flagged by words alone"],
        rows=rows,
    )
    alone = await entailment.measure(options)
    return Result(tables=[table, *alone.tables], figures=figures | {"entailment": alone.figures})


def _false(some: Sequence[Checked]) -> list[Checked]:
    return [one for one in some if one.claim.kind]


def _true(some: Sequence[Checked]) -> list[Checked]:
    return [one for one in some if not one.claim.kind]


def _row(name: str, kind: str, wording: str, some: Sequence[Checked]) -> list[list[str]]:
    if not some:
        return []
    by_words = sum(one.flagged_by_words for one in some) / len(some)
    return [[name, kind, wording, str(len(some)), f"{_share(some):.3f}", f"{by_words:.3f}"]]


def _share(some: Iterable[Checked]) -> float:
    flagged = [one.flagged for one in some]
    return round(sum(flagged) / max(len(flagged), 1), 4)


if __name__ == "__main__":
    main({"proof": measure}, "proof")
