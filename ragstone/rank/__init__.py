"""Candidates -> evidence. Which of the chunks that were found deserve a place?"""

from __future__ import annotations

from ragstone.protocols import Reranker, TokenEmbedder, TokenMatcher, Weigher
from ragstone.rank.select import mmr, one_per_document, round_robin
from ragstone.sections import RankSettings

__all__ = ["build_matcher", "build_reranker", "mmr", "one_per_document", "round_robin"]


def build_matcher(embedder: TokenEmbedder, weigh: Weigher) -> TokenMatcher:
    """Late interaction over the embedder's token vectors."""
    from ragstone.rank.maxsim import LateInteraction

    return LateInteraction(embedder, weigh)


def build_reranker(settings: RankSettings, matcher: TokenMatcher) -> Reranker | None:
    """The reranker that ``rank.reranker`` names; None for none."""
    match settings.reranker:
        case "none":
            return None
        case "maxsim":
            from ragstone.rank.maxsim import MaxSimReranker

            return MaxSimReranker(matcher)
