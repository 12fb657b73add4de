"""A reranker of your own: rank.reranker=own.reranker:SharedWords."""

from collections.abc import Sequence
from dataclasses import replace

from ragstone.core.protocols import Pace, no_deadline
from ragstone.core.records import Hit
from ragstone.core.request import Request


class SharedWords:
    """Scores a hit by the share of the question's words that it has."""

    async def rerank(self, question: str, hits: Sequence[Hit], request: Request, pace: Pace = no_deadline) -> list[Hit]:
        words = {*question.lower().split()}
        scored = [replace(hit, score=len(words & {*hit.chunk.text.lower().split()}) / len(words)) for hit in hits]
        return sorted(scored, key=lambda hit: -hit.score)
