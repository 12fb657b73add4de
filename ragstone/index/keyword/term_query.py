"""Queries to tantivy, and their results as rows and scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import tantivy

from ragstone.core.ascending import contained
from ragstone.core.catalog import NO_MATCHES
from ragstone.core.records import Matches
from ragstone.index.keyword.analyze import START, STEM, weight_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.index.keyword.statistics import Statistics

COMMON, ALIKE = 0.03, 0.02
"""A word that more than this share of the chunks have is read once with its stem and its beginning, if the numbers of
their chunks differ by no more than the other share. Of the best 20 chunks of a question .9995 stay the same."""

BLOCK = 16
"""Neighbouring rows that a query can name together; most filters allow whole documents."""
NAMED = 3
"""How many times longer naming a row or a block to the engine takes than reading a hit."""

LARGE, EVERYWHERE = 20_000, 0.3
"""Among at least so many chunks, terms that more than this share of them have are not searched for: they take most of
the time and decide little. Left out in ten small sets too, they change nDCG@10 by -.005 to +.012, .002 on average."""


def searched(statistics: Statistics, terms: Sequence[str]) -> Sequence[str]:
    """Return the terms that are searched for: all in a small set of chunks, or if only common ones find anything."""
    if statistics.chunks < LARGE:
        return terms
    most = EVERYWHERE * statistics.chunks
    rare = [term for term in terms if statistics.having(term) <= most]
    return rare if any(map(statistics.having, rare)) else terms


def any_of(statistics: Statistics, schema: tantivy.Schema, terms: Sequence[str]) -> tantivy.Query:
    """Return a query for any of the terms, by their weights.

    A repeated term counts twice, and terms that no chunk has are left out.
    """
    should = list[tuple[tantivy.Occur, tantivy.Query]]()
    for term, weight in _weights(statistics, terms).items():
        query = tantivy.Query.term_query(schema, "terms", term, "freq")
        should.append((tantivy.Occur.Should, query if weight == 1 else tantivy.Query.boost_query(query, weight)))
    return tantivy.Query.boolean_query(should)


def _weights(statistics: Statistics, terms: Sequence[str]) -> dict[str, float]:
    """Return the terms that a chunk has, and their weights; a common word with one form is one term, not three.

    The stem and the beginning of "what" are in the same chunks, equally often, and reading a list of half of all
    chunks is what takes long.
    """
    counted = Counter(searched(statistics, terms))
    weights = {
        term: weight
        for term, count in counted.items()
        if (weight := count * weight_of(term) * statistics.correction(term))
    }
    for term in counted:
        if term.startswith((STEM, START)) and (word := term[1:]) in weights and term in weights:
            chunks = statistics.having(word)
            if chunks > COMMON * statistics.chunks and abs(statistics.having(term) - chunks) <= ALIKE * chunks:
                weights[word] += weights.pop(term)
    return weights


def filtered(
    searcher: tantivy.Searcher,
    schema: tantivy.Schema,
    query: tantivy.Query,
    k: int,
    allowed: NDArray[np.int64] | None,
) -> Matches:
    """Return the best ``k`` of the allowed rows. Scores do not depend on the filter, so reading on is exact."""
    most = max(searcher.num_docs, 1)
    k = min(k, most)  # tantivy makes room for as many as it is asked for
    if allowed is None:
        return best_first(*hits(searcher, query, k))
    if not len(allowed):
        return NO_MATCHES
    # The engine searches everything, the blocks that have allowed rows, or these rows alone.
    blocks = allowed // BLOCK
    blocks = blocks[np.append(True, blocks[1:] > blocks[:-1])]
    ways = (("", NO_MATCHES.rows, most), ("block", blocks, BLOCK * len(blocks)), ("row", allowed, len(allowed)))

    def depth(among: int) -> int:
        """Return how many of the best of so many rows probably contain enough allowed ones."""
        return k if among <= len(allowed) else min(among, k * among // len(allowed) * 5 // 4 + 100, most)

    field, named, among = min(ways, key=lambda way: NAMED * len(way[1]) + depth(way[2]))
    if field:
        within = tantivy.Query.const_score_query(tantivy.Query.term_set_query(schema, field, named.tolist()), 0.0)
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, query), (tantivy.Occur.Must, within)])
    count = depth(among)
    while True:
        rows, scores = hits(searcher, query, count)
        kept = contained(rows, allowed)
        if np.count_nonzero(kept) >= k or len(rows) < count or count == most:
            return best_first(rows[kept], scores[kept]).first(k)
        count = min(count * 4, most)


def hits(searcher: tantivy.Searcher, query: tantivy.Query, k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return rows and scores of the best; equal scores are in any order."""
    hits = searcher.search(query, k, count=False).hits
    if not hits:
        return NO_MATCHES.rows, np.empty(0, dtype=np.float32)
    scores = [score for score, _ in hits]  # several times faster than zip for thousands
    rows = searcher.fast_field_values("row", [address for _, address in hits])
    if None in rows:  # of a damaged file
        rows = [row or 0 for row in rows]
    return np.array(rows, dtype=np.int64), np.array(scores, dtype=np.float32)


def best_first(rows: NDArray[np.int64], scores: NDArray[np.floating]) -> Matches:
    order = np.lexsort((rows, -scores))
    return Matches(rows=rows[order], scores=scores[order])
