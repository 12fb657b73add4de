"""How many false sentences the proof of an answer finds, and how many true ones it doubts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bases import Parts, filled
from benchmarks.common import Options, Result, Table, progress
from benchmarks.planted import KINDS, Claim, claims
from ragstone import chunk
from ragstone.core.access import OWNER
from ragstone.core.records import Hit
from ragstone.core.request import Request
from ragstone.respond.agreement import Agreement
from ragstone.respond.support import THRESHOLD, SupportChecker, probability
from ragstone.review.dataset import load

SETS = {"clapnq": 1, "xquad/dev/en": 4, "xquad/dev/de": 4}
"""The sets, with n where every nth question is used."""
PASSAGES = 5
WORDING = {False: "in other words", True: "as written"}
QUICK = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A claim, how far the evidence of its question agrees with it, and whether the checker was fitted to it."""

    claim: Claim
    agreement: Agreement | None
    fitted: bool

    @property
    def flagged(self) -> bool:
        return self.agreement is None or probability(self.agreement) < THRESHOLD


async def checked(data: Path, keep: Path, name: str, embedder: str, *, quick: bool = False) -> list[Checked]:
    """Check the claims of a set against the evidence that is found for their questions.

    Claims are left out if the right document is not found, or if a changed sentence is in the evidence word for word,
    where it is true.
    """
    dataset = load(data / name)
    out: list[Checked] = []
    step = SETS[name] * (QUICK if quick else 1)
    number = {query.id: place for place, query in enumerate(dataset.queries[::step])}
    chosen = (f"index.embedder={embedder}", "cache.enabled=false")
    async with filled(Options(keep=keep, data=data), dataset, chosen) as engine:
        parts = Parts(engine)
        checker = SupportChecker(matcher=parts.matcher, sentences=chunk.sentences, weigh=parts.words.weigh)
        found: dict[str, list[Hit]] = {}
        for claim in (one for one in claims(dataset) if one.query.id in number):
            query = claim.query
            if query.id not in found:
                found = {query.id: await engine.search(query.text, PASSAGES, reader=OWNER)}
            hits = found[query.id]
            right = dataset.qrels.get(query.id, {})
            texts = [" ".join(hit.chunk.text.split()) for hit in hits]
            quoted = claim.kind and any(" ".join(claim.text.split()) in text for text in texts)
            if quoted or not any(hit.chunk.document_id in right for hit in hits):
                continue
            aligned = await checker.align(claim.text, hits, Request.by_owner(), claim.before)
            agreement = None if aligned is None else aligned.agreement
            out.append(Checked(claim=claim, agreement=agreement, fitted=number[query.id] % 2 == 0))
    progress(f"support: {len(out)} sentences of {name} checked with {embedder}")
    return out


async def measure(options: Options) -> Result:
    """Return the shares that are flagged, on the halves that nothing was fitted to."""
    assert options.data is not None
    rows: list[list[str]] = []
    figures: dict[str, dict[str, float]] = {}
    for name in filter(options.folder, SETS):
        of_set = await checked(options.data, options.keep, name, options.embedders[0], quick=options.quick)
        unseen = [one for one in of_set if not one.fitted]
        for kind in ("", *KINDS):
            for quoted, wording in WORDING.items():
                some = [one for one in unseen if one.claim.kind == kind and one.claim.quoted == quoted]
                if some:
                    rows.append([name, kind or "none: true", wording, *_counted(some)])
        false, true = [one for one in unseen if one.claim.kind], [one for one in unseen if not one.claim.kind]
        rows += [[name, "all changes", "both", *_counted(false)], [name, "none: true", "both", *_counted(true)]]
        figures[name] = {"false_flagged": _share(false), "true_flagged": _share(true), "sentences": len(unseen)}
    table = Table(
        title="proof of sentences against the evidence of their question, true sentences and changed ones",
        columns=["set", "what was changed", "wording", "sentences", "flagged as not proved"],
        rows=rows,
    )
    return Result(tables=[table], figures=figures)


def _counted(some: Sequence[Checked]) -> tuple[str, str]:
    return str(len(some)), f"{_share(some):.3f}"


def _share(some: Iterable[Checked]) -> float:
    flagged = [one.flagged for one in some]
    return round(sum(flagged) / max(len(flagged), 1), 4)
