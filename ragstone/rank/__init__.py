"""Rank: candidates to evidence, the chunks that the answer may use."""

from __future__ import annotations

from pathlib import Path

from ragstone.core.errors import SettingsError
from ragstone.core.import_path import load, require
from ragstone.core.protocols import ChatModel, Reranker, TokenEmbedder, TokenMatcher, Weigher
from ragstone.rank.boost import boost
from ragstone.rank.select import join_neighbours, mmr, one_per_document, round_robin, unit_scaled, weak, within_budget
from ragstone.settings import RankSettings

__all__ = [
    "boost",
    "build_matcher",
    "build_reranker",
    "join_neighbours",
    "mmr",
    "one_per_document",
    "round_robin",
    "unit_scaled",
    "weak",
    "within_budget",
]

_SETTING, _CROSS_ENCODER = "rank.reranker", "cross-encoder:"


def build_matcher(embedder: TokenEmbedder, weigh: Weigher) -> TokenMatcher:
    """Build a matcher that compares token vectors of the embedder (late interaction)."""
    from ragstone.rank.maxsim import LateInteraction

    return LateInteraction(embedder, weigh)


def build_reranker(settings: RankSettings, matcher: TokenMatcher, model: ChatModel | None = None) -> Reranker | None:
    """Build the reranker that ``rank.reranker`` names; None for ``none``.

    Args:
        settings: of this stage.
        matcher: for late interaction.
        model: the language model, if there is one.

    Raises:
        SettingsError: it needs a model and there is none, or it cannot be loaded.
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
        case named if named.startswith(_CROSS_ENCODER):
            from ragstone.rank import cross_encoder

            name = named.removeprefix(_CROSS_ENCODER)
            if graph := cross_encoder.exported(Path(name)):
                from ragstone.rank import cross_encoder_onnx

                return cross_encoder_onnx.load(Path(name), graph)
            return cross_encoder.load(name)
        case name:
            reranker = load(name, _SETTING, "none, maxsim, model, cross-encoder:NAME, or package.module:Class")()
            require(reranker, name, _SETTING, ("rerank",))
            return reranker
