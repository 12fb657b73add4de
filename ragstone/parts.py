"""What an engine is made of, each part built when it is first needed."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone import chunk, index, rank, respond
from ragstone.built import BuiltWith
from ragstone.protocols import Analyzer, Answerer, Embedder, Reranker, TokenEmbedder, TokenMatcher
from ragstone.sections import Settings

if TYPE_CHECKING:
    from ragstone.index.bm25 import TermIndex
    from ragstone.index.embedded import EmbeddedVectors


class Parts:
    """The parts of one version of a knowledge base, as its settings choose them."""

    def __init__(self, version: Path, catalog: index.Catalog, settings: Settings) -> None:
        self.settings = settings
        self._version, self._catalog = version, catalog

    @cached_property
    def _built(self) -> BuiltWith:
        return BuiltWith(**self._catalog.built_with())

    @cached_property
    def _embedder(self) -> Embedder:
        return index.build_embedder(self.settings.index)

    @cached_property
    def _analyzer(self) -> Analyzer:
        return index.build_analyzer(self.settings.index)

    @cached_property
    def _terms(self) -> TermIndex:
        return index.build_term_index(self.settings.index, self._version / "terms", self._catalog, self._analyzer)

    @cached_property
    def _vectors(self) -> EmbeddedVectors:
        return index.build_vector_index(self.settings.index, self._version / "vectors", self._catalog, self._embedder)

    @cached_property
    def _matcher(self) -> TokenMatcher:
        embedder = self._embedder
        if not isinstance(embedder, TokenEmbedder):  # one of an outsider's, without token vectors
            embedder = index.build_token_embedder(self.settings.index)
        return rank.build_matcher(embedder, self._terms.weigh)

    @cached_property
    def _reranker(self) -> Reranker | None:
        return rank.build_reranker(self.settings.rank, self._matcher)

    @cached_property
    def _answerer(self) -> Answerer:
        return respond.build_answerer(
            self.settings.respond,
            matcher=self._matcher,
            sentences=chunk.sentences,
            familiarity=self._embedder.familiarity,
        )
