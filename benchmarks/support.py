"""How many false sentences are found out, and how many true ones are doubted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common import Options, Result, Table, told
from benchmarks.planted import KINDS, Claim, claims
from ragstone import chunk
from ragstone.config import load as load_settings
from ragstone.engine import Engine
from ragstone.experiment import add_corpus, kept_at
from ragstone.index import build_embedder
from ragstone.respond.agreement import Agreement
from ragstone.respond.support import THRESHOLD, SupportChecker, probability
from ragstone.review.dataset import load

SETS = {"clapnq": 1, "xquad/dev/en": 4, "xquad/dev/de": 4}
"""Of each set every so manieth question."""
PASSAGES = 5
WAYS = {False: "in other words", True: "as written"}
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
    """The claims of a set whose question finds the right document, against what it finds.

    A changed sentence that stands in the evidence word for word is left out: there it is true.
    """
    dataset, out = load(data / name), list[Checked]()
    settings = load_settings([f"index.embedder={embedder}"]).settings
    model = build_embedder(settings.index)
    step = SETS[name] * (QUICK if quick else 1)
    number = {query.id: place for place, query in enumerate(dataset.queries[::step])}
    chosen = (f"index.embedder={embedder}", "cache.enabled=false")
    place = kept_at(keep, dataset.name, settings, model)
    with closing(Engine.open(place, chosen, create=True, build_embedder=lambda *_: model)) as engine:
        await add_corpus(engine, dataset)
        checker = SupportChecker(matcher=engine._matcher, sentences=chunk.sentences, weigh=engine._terms.weigh)
        found = {}
        for claim in (one for one in claims(dataset) if one.query.id in number):
            query = claim.query
            if query.id not in found:
                found = {query.id: await engine.search(query.text, PASSAGES)}
            hits = found[query.id]
            right = dataset.qrels.get(query.id, {})
            texts = [" ".join(hit.chunk.text.split()) for hit in hits]
            said = claim.kind and any(" ".join(claim.text.split()) in text for text in texts)
            if said or not any(hit.chunk.document_id in right for hit in hits):
                continue
            compared = await checker.compare(claim.text, hits, claim.before)
            agreement = None if compared is None else compared.agreement
            out.append(Checked(claim=claim, agreement=agreement, fitted=number[query.id] % 2 == 0))
    told(f"support: {len(out)} sentences of {name} checked with {embedder}")
    return out


async def measure(options: Options) -> Result:
    """What is found out on the halves that nothing was fitted to."""
    assert options.data is not None, "asked for only with data sets"
    rows, figures = list[list[str]](), {}
    for name in [one for one in SETS if (options.data / one).is_dir()]:
        embedder = options.embedders[0]
        of_set = await checked(options.data, options.keep, name, embedder, quick=options.quick)
        unseen = [one for one in of_set if not one.fitted]
        for kind in ("", *KINDS):
            for quoted, way in WAYS.items():
                some = [one for one in unseen if one.claim.kind == kind and one.claim.quoted == quoted]
                if some:
                    rows.append([name, kind or "none: true", way, *_told(some)])
        false, true = [one for one in unseen if one.claim.kind], [one for one in unseen if not one.claim.kind]
        rows += [[name, "all changes", "both", *_told(false)], [name, "none: true", "both", *_told(true)]]
        figures[name] = {"false_flagged": _share(false), "true_flagged": _share(true), "sentences": len(unseen)}
    table = Table(
        title="support detection: sentences put to the evidence of their question, true ones and changed ones",
        columns=["set", "what was changed", "wording", "sentences", "flagged as not proved"],
        rows=rows,
    )
    return Result(tables=[table], figures=figures)


def _told(some: Sequence[Checked]) -> tuple[str, str]:
    return str(len(some)), f"{_share(some):.3f}"


def _share(some: Iterable[Checked]) -> float:
    flagged = [one.flagged for one in some]
    return round(sum(flagged) / max(len(flagged), 1), 4)
