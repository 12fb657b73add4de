"""Candidates -> evidence. Which of the chunks that were found deserve a place?"""

from __future__ import annotations

from pathlib import Path

from ragstone.errors import SettingsError
from ragstone.protocols import ChatModel, Reranker, TokenEmbedder, TokenMatcher, Weigher
from ragstone.rank.boost import boost
from ragstone.rank.fit import join_neighbours, within_budget
from ragstone.rank.select import mmr, one_per_document, round_robin, unit_scaled
from ragstone.sections import RankSettings

__all__ = [
    "boost",
    "build_matcher",
    "build_reranker",
    "join_neighbours",
    "mmr",
    "one_per_document",
    "round_robin",
    "unit_scaled",
    "within_budget",
]


def build_matcher(embedder: TokenEmbedder, weigh: Weigher) -> TokenMatcher:
    """Late interaction over the embedder's token vectors."""
    from ragstone.rank.maxsim import LateInteraction

    return LateInteraction(embedder, weigh)


def build_reranker(settings: RankSettings, matcher: TokenMatcher, model: ChatModel | None = None) -> Reranker | None:
    """The reranker that ``rank.reranker`` names; None for none.

    Args:
        settings: name it.
        matcher: for late interaction.
        model: the language model that answers, where there is one.

    Raises:
        SettingsError: it needs a model, and there is none; or it cannot be loaded.
    """
    match settings.reranker:
        case "none":
            return None
        case "maxsim":
            from ragstone.rank.maxsim import MaxSimReranker

            return MaxSimReranker(matcher)
        case "model":
            if model is None:
                raise SettingsError("rank.reranker=model needs a language model; name one in respond.model.name")
            from ragstone.rank.by_model import ModelReranker

            return ModelReranker(model)
        case _:  # settings let nothing else pass
            from ragstone.rank import cross_encoder

            name = settings.reranker.removeprefix("cross-encoder:")
            if graph := cross_encoder.exported(Path(name)):
                from ragstone.rank import cross_encoder_onnx

                return cross_encoder_onnx.load(Path(name), graph)
            return cross_encoder.load(name)
