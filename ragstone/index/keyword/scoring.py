"""The BM25 formula, for constants other than the engine's own.

Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond"; the idf is Lucene's, which is
never negative.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.frozen import frozen
from ragstone.index.keyword.analyze import weight_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


@frozen
class Weighed:
    """A query term, its weight, and the number of chunks that have it."""

    term: str
    weight: float
    chunks: int


def bm25(
    terms: Sequence[str],
    texts: Sequence[Sequence[str]],
    frequency: Mapping[str, int],
    count: int,
    average: float,
    *,
    k1: float,
    b: float,
) -> NDArray[np.float64]:
    """Score each text by BM25 for the terms of a query.

    Args:
        terms: of the query, weighted by their kind; one that occurs twice counts twice.
        texts: the analysed texts.
        frequency: for each query term, the number of texts in the whole collection that have it.
        count: texts in the collection.
        average: their mean length in terms.
        k1: term saturation.
        b: length normalisation, 0 to 1.

    Returns:
        Scores, shape (texts,).
    """
    scores = np.zeros(len(texts))
    counters = [Counter(text) for text in texts]
    lengths = np.array([len(text) for text in texts], dtype=np.float64)
    norm = k1 * (1 - b + b * lengths / max(average, 1e-9))
    for term in terms:
        rarity = weight_of(term) * idf(frequency.get(term, 0), count)
        tf = np.array([counter[term] for counter in counters], dtype=np.float64)
        has = tf > 0  # without the term nothing is scored, and with k1 = 0 nothing could be divided by
        scores[has] += rarity * tf[has] * (k1 + 1) / (tf[has] + norm[has])
    return scores


def idf(frequency: int, count: int) -> float:
    """Return the inverse document frequency of a term, from the texts that have it and all texts."""
    return math.log1p((count - frequency + 0.5) / (frequency + 0.5))
