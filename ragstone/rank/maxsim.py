"""Late interaction: each word of the question looks for its best counterpart in a text.

Khattab and Zaharia 2020, "ColBERT" (arXiv 2004.12832), with the token vectors of the embedder itself, which was
not trained for it, and each word of the question weighted by its inverse document frequency.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ragstone.contracts import Hit, Span, Step, TokenMatches, TokenVectors
from ragstone.protocols import Pace, TokenEmbedder, TokenMatcher, Weigher, unhurried

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.contracts import Vector

_WORD = re.compile(r"\w+")
KEPT, MOST_KEPT = 16, 64
"""Passages whose vectors stay in memory, half a megabyte each; up to the second number where so many are compared."""
TURN = 2
"""Texts compared before the time is looked at: one takes some 50 ms where its token vectors are not kept."""


class LateInteraction:
    """Compares a question with texts by the vectors of their tokens."""

    def __init__(self, embedder: TokenEmbedder, weigh: Weigher) -> None:
        self._embedder, self._weigh = embedder, weigh
        self._latest: dict[str, TokenVectors] = {}

    async def match(self, question: str, texts: Sequence[str]) -> list[TokenMatches]:
        (asked,) = await self._embedder.embed_tokens([question], role="query")
        weights = self._token_weights(question, asked.spans)
        return [
            TokenMatches(
                weights=weights, similarity=asked.vectors @ text.vectors.T, spans=text.spans, asked=asked.spans
            )
            for text in await self._passages(texts)
        ]

    async def _passages(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The vectors of texts; the latest stay at hand, for all sentences of an answer are put to the same ones."""
        known = {text: self._latest.pop(text) for text in dict.fromkeys(texts) if text in self._latest}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known |= zip(new, await self._embedder.embed_tokens(new, role="passage"), strict=True)
        # Fewer than are compared at once would be embedded anew for each sentence of an answer.
        kept = max(KEPT, min(len(known), MOST_KEPT))
        self._latest = dict(list((self._latest | known).items())[-kept:])
        return [known[text] for text in texts]

    def _token_weights(self, question: str, spans: Sequence[Span]) -> Vector:
        """A weight for each token of the question, its word's; they sum to 1."""
        words = [match.span() for match in _WORD.finditer(question)]
        worth = self._weigh([question[start:end] for start, end in words])
        starts = np.array([start for start, _ in words], dtype=np.int64)
        weights = np.zeros(len(spans), dtype=np.float32)
        for i, word in enumerate(np.searchsorted(starts, [span.start for span in spans], side="right") - 1):
            if word >= 0 and spans[i].start < words[word][1]:
                weights[i] = worth[word]
        total = weights.sum()
        return weights / total if total > 0 else np.full_like(weights, 1 / max(len(weights), 1))


class MaxSimReranker:
    """Adds MaxSim to the score a hit came with, both standardised over the hits."""

    def __init__(self, matcher: TokenMatcher) -> None:
        self._matcher = matcher

    async def rerank(self, question: str, hits: Sequence[Hit], pace: Pace = unhurried) -> list[Hit]:
        """The same hits, best first.

        Raises:
            OutOfTime: by ``pace``.
        """
        similarity = np.array(await self._similarity(question, hits, pace))
        total = _standard(np.array([hit.score for hit in hits])) + _standard(similarity)
        ranked = []
        for rank, i in enumerate(np.argsort(-total, kind="stable"), start=1):
            step = Step(stage="maxsim", score=float(similarity[i]), rank=rank, note="standardised, added to fusion")
            ranked.append(replace(hits[i], score=float(total[i]), why=(*hits[i].why, step)))
        return ranked

    async def _similarity(self, question: str, hits: Sequence[Hit], pace: Pace) -> list[float]:
        found: list[float] = []
        turn = len(hits) if pace is unhurried else TURN
        while len(found) < len(hits):
            pace(len(found), len(hits))
            texts = [hit.chunk.headed for hit in hits[len(found) : len(found) + turn]]
            found += [match.score() for match in await self._matcher.match(question, texts)]
        return found


def _standard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = values.std() if len(values) else 0.0
    return (values - values.mean()) / spread if spread > 1e-12 else np.zeros_like(values)
