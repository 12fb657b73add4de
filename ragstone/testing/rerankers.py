"""Checks of rerankers: the same hits come back, best first, and the same question gives the same order."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence

from ragstone.core.protocols import Reranker
from ragstone.core.records import Chunk, Hit
from ragstone.core.request import Request
from ragstone.testing.expect import expect

QUESTION = "Which colour has the pump?"
TEXTS = ("The pump is blue.", "Income tax is due in May.", "", "Pumps " * 400, "Die Pumpe ist blau.", "A pump is blue.")


def hits() -> list[Hit]:
    """Return hits as a search finds them: some alike, one empty, one long."""
    return [
        Hit(
            chunk=Chunk(
                id=f"c{i}", document_id=f"d{i}", index=0, total=1, start=0, end=len(text), text=text, title=f"Title {i}"
            ),
            score=1 - i / 10,
        )
        for i, text in enumerate(TEXTS)
    ]


def rerank(reranker: Reranker, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits in their new order."""
    return asyncio.run(reranker.rerank(QUESTION, hits, Request.by_owner()))


def returns_the_same_hits(reranker: Reranker) -> None:
    """Check that no hit is lost, added or changed but in its score and history."""
    given = hits()
    ranked = rerank(reranker, given)
    ids = sorted(hit.chunk.id for hit in ranked)
    expect(ids == sorted(hit.chunk.id for hit in given), "the hits that come back are those that were given", ids)
    chunks = {hit.chunk.id: hit.chunk for hit in given}
    expect(all(hit.chunk == chunks[hit.chunk.id] for hit in ranked), "chunks come back unchanged")


def best_come_first(reranker: Reranker) -> None:
    """Check that scores are finite and descend."""
    scores = [hit.score for hit in rerank(reranker, hits())]
    expect(all(map(math.isfinite, scores)), "scores are finite", scores)
    expect(scores == sorted(scores, reverse=True), "hits are ordered by their scores, best first", scores)


def order_is_repeatable(reranker: Reranker) -> None:
    """Check that the same call gives the same order and scores."""
    first, second = ([(hit.chunk.id, hit.score) for hit in rerank(reranker, hits())] for _ in range(2))
    expect(first == second, "the same question gives the same order", (first, second))


def few_hits_are_served(reranker: Reranker) -> None:
    """Check that none and one are served too."""
    expect(rerank(reranker, []) == [], "no hits give no hits")
    single = hits()[:1]
    expect([hit.chunk.id for hit in rerank(reranker, single)] == ["c0"], "one hit gives that hit")


RERANKER_CHECKS: tuple[Callable[[Reranker], None], ...] = (
    returns_the_same_hits,
    best_come_first,
    order_is_repeatable,
    few_hits_are_served,
)


def check_reranker(reranker: Reranker) -> None:
    """Run all checks of rerankers.

    Raises:
        Failed: at the first that does not hold.
    """
    for check in RERANKER_CHECKS:
        check(reranker)
