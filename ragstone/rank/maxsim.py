"""Late interaction: match each word of the question with its best counterpart in a text.

The method is that of ColBERT (Khattab and Zaharia 2020, arXiv 2004.12832), with two differences: the token vectors come
from the embedder, which was not trained for it, and each word of the question is weighted by its inverse document
frequency.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.protocols import Pace, TokenEmbedder, TokenMatcher, Weigher, no_deadline
from ragstone.core.records import Hit, Span, TokenMatches, TokenVectors
from ragstone.core.request import Request
from ragstone.rank.history import with_steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.core.records import Vector

_WORD = re.compile(r"\w+")
MIN_CACHED, MAX_CACHED = 16, 64
"""Passages whose vectors are cached, half a megabyte each; more than the first number only if compared at once."""
ONE_THREAD = 1 << 18
"""Multiplications that OpenBLAS does in one thread. For more it wakes one thread per core, and these wait for further
work without sleeping: an answer would take half as much CPU time again."""
BATCH = 2
"""Texts compared between two checks of the time; one takes about 50 ms if its vectors are not cached."""


class LateInteraction:
    """Compares a question with texts by their token vectors."""

    def __init__(self, embedder: TokenEmbedder, weigh: Weigher) -> None:
        self._embedder, self._weigh = embedder, weigh
        self._latest: dict[str, TokenVectors] = {}

    async def match(self, question: str, texts: Sequence[str], request: Request) -> list[TokenMatches]:
        (asked,) = await self._embedder.embed_tokens([question], role="query", request=request)
        weights = self._token_weights(question, asked.spans, request)
        return [
            TokenMatches(
                weights=weights, similarity=_cosines(asked.vectors, text.vectors), spans=text.spans, asked=asked.spans
            )
            for text in await self._passages(texts, request)
        ]

    async def _passages(self, texts: Sequence[str], request: Request) -> list[TokenVectors]:
        """Return the vectors of texts. The latest are cached, because all sentences of an answer use the same texts."""
        vectors = {text: self._latest.pop(text) for text in dict.fromkeys(texts) if text in self._latest}
        new = [text for text in dict.fromkeys(texts) if text not in vectors]
        if new:
            vectors |= zip(new, await self._embedder.embed_tokens(new, role="passage", request=request), strict=True)
        # With fewer cached than compared at once, each sentence of an answer would embed them again.
        size = max(MIN_CACHED, min(len(vectors), MAX_CACHED))
        self._latest = dict(list((self._latest | vectors).items())[-size:])
        return [vectors[text] for text in texts]

    def _token_weights(self, question: str, spans: Sequence[Span], request: Request) -> Vector:
        """Return the weight of each token of the question, taken from its word; the weights sum to 1."""
        words = [match.span() for match in _WORD.finditer(question)]
        weight_of = self._weigh([question[start:end] for start, end in words], request)
        starts = np.array([start for start, _ in words], dtype=np.int64)
        weights = np.zeros(len(spans), dtype=np.float32)
        for i, word in enumerate(np.searchsorted(starts, [span.start for span in spans], side="right") - 1):
            if word >= 0 and spans[i].start < words[word][1]:
                weights[i] = weight_of[word]
        total = weights.sum()
        return weights / total if total > 0 else np.full_like(weights, 1 / max(len(weights), 1))


def _cosines(asked: Vector, text: Vector) -> Vector:
    """Return the cosines of normalised vectors (n, dimensions) and (m, dimensions), shape (n, m)."""
    count = max(1, asked.size * len(text) // ONE_THREAD)
    return np.concatenate([asked @ part.T for part in np.array_split(text, count)], axis=1)


class MaxSimReranker:
    """Adds the MaxSim score to the score of a hit, both standardised over the hits."""

    def __init__(self, matcher: TokenMatcher) -> None:
        self._matcher = matcher

    async def rerank(self, question: str, hits: Sequence[Hit], request: Request, pace: Pace = no_deadline) -> list[Hit]:
        """Return the hits, best first.

        Raises:
            OutOfTime: raised by ``pace``.
        """
        similarity = np.array(await self._similarity(question, hits, request, pace))
        total = _standard(np.array([hit.score for hit in hits])) + _standard(similarity)
        order: list[int] = np.argsort(-total, kind="stable").tolist()
        best_first = ((replace(hits[i], score=float(total[i])), float(similarity[i])) for i in order)
        return with_steps("maxsim", ((hit, score, "standardised, added to fusion") for hit, score in best_first))

    async def _similarity(self, question: str, hits: Sequence[Hit], request: Request, pace: Pace) -> list[float]:
        scores: list[float] = []
        batch = len(hits) if pace is no_deadline else BATCH
        while len(scores) < len(hits):
            pace(len(scores), len(hits))
            texts = [hit.chunk.headed for hit in hits[len(scores) : len(scores) + batch]]
            scores += [match.score() for match in await self._matcher.match(question, texts, request)]
        return scores


def _standard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = values.std() if len(values) else 0.0
    return (values - values.mean()) / spread if spread > 1e-12 else np.zeros_like(values)
