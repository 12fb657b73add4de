"""Put claims to the evidence of their question, as the proof of an answer does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bases import Parts, filled
from benchmarks.common import Options, progress
from benchmarks.proof.planted import Claim
from ragstone import chunk
from ragstone.core.access import OWNER
from ragstone.core.records import Document, Hit, Span
from ragstone.core.request import Request
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.index import build_claim_model
from ragstone.respond.proof.checker import ProofChecker
from ragstone.respond.proof.records import Proof
from ragstone.respond.proof.said import NOTHING
from ragstone.review.dataset import Dataset
from ragstone.settings import ChunkSettings

PASSAGES = 5
SHARE_MARKED = 0.5
"""Share of the letters of an invented clause that must be marked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A claim, its proof, and its proof without the trained model."""

    claim: Claim
    proof: Proof
    by_words: Proof

    @property
    def flagged(self) -> bool:
        """Whether the proof marks it as wrong."""
        return self.proof.flagged

    @property
    def flagged_by_words(self) -> bool:
        """The same without the model."""
        return self.by_words.flagged

    @property
    def is_marked(self) -> bool:
        """Whether it is flagged, and most of the letters that nothing supports are marked."""
        if not self.flagged:
            return False
        found = [_place(self.claim.text, words) for words in self.proof.unsupported]
        places = [_place(self.claim.text, words) for words in self.claim.unsupported]
        marked = sum(_shared(place, span) for place in places for span in found)
        return marked >= SHARE_MARKED * sum(place.end - place.start for place in places)


async def searched(data: Path, keep: Path, dataset: Dataset, claims: Sequence[Claim], embedder: str) -> list[Checked]:
    """Check claims against what a search for their question finds.

    Claims are left out if the right document is not found, or if a changed sentence is in the evidence word for word,
    where it is true.
    """
    out: list[Checked] = []
    async with filled(Options(keep=keep, data=data), dataset, _chosen(embedder)) as engine:
        proof = _Proof(engine)
        found: dict[str, Sequence[Hit]] = {}
        for claim in claims:
            query = claim.query
            if query.id not in found:
                found = {query.id: await engine.search(query.text, PASSAGES, reader=OWNER)}
            hits = found[query.id]
            right = dataset.qrels.get(query.id, {})
            texts = [" ".join(hit.chunk.text.split()) for hit in hits]
            quoted = claim.kind and any(" ".join(claim.text.split()) in text for text in texts)
            if not quoted and any(hit.chunk.document_id in right for hit in hits):
                out.append(await proof.checked(claim, hits))
    progress(f"proof: {len(out)} sentences of {dataset.name} checked with {embedder}")
    return out


async def given(keep: Path, claims: Sequence[tuple[Claim, Document]], embedder: str) -> list[Checked]:
    """Check claims against the passage that each was written about; words are weighed by all of the passages."""
    passages = {passage.id: passage for _, passage in claims}
    dataset = Dataset(name="claims", queries=(), qrels={}, documents=lambda: iter(passages.values()))
    async with filled(Options(keep=keep), dataset, _chosen(embedder)) as engine:
        proof, out = _Proof(engine), list[Checked]()
        for claim, passage in claims:
            pieces = chunk.split(passage, ChunkSettings(), proof.tokens)
            out.append(await proof.checked(claim, [Hit(chunk=piece, score=1.0) for piece in pieces]))
    progress(f"proof: {len(out)} claims checked with {embedder}")
    return out


class _Proof:
    """The proof, with what it knows of a knowledge base."""

    def __init__(self, engine: KnowledgeBase) -> None:
        parts = Parts(engine)
        self.tokens = parts.embedder.tokens
        weigh = parts.words.weigh
        self._checker = ProofChecker(sentences=chunk.sentences, weigh=weigh, entailment=build_claim_model())
        self._by_words = ProofChecker(sentences=chunk.sentences, weigh=weigh)

    async def checked(self, claim: Claim, hits: Sequence[Hit]) -> Checked:
        request = Request.by_owner()
        proof, by_words = [
            await checker.check(claim.text, hits, request, NOTHING.and_then(claim.before))
            for checker in (self._checker, self._by_words)
        ]
        return Checked(claim=claim, proof=proof, by_words=by_words)


def _chosen(embedder: str) -> tuple[str, ...]:
    return (f"index.embedder={embedder}", "cache.megabytes=2400")  # passages are compared again and again


def _place(text: str, words: str) -> Span:
    start = text.index(words)
    return Span(start=start, end=start + len(words))


def _shared(one: Span, other: Span) -> int:
    return max(0, min(one.end, other.end) - max(one.start, other.start))
