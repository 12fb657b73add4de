"""What an engine is made of, each part built when it is first needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone import chunk, index, rank, respond
from ragstone.acquire import language
from ragstone.built import BuiltWith
from ragstone.cache import Cache, key
from ragstone.protocols import Analyzer, Answerer, Embedder, Reranker, TokenEmbedder, TokenMatcher
from ragstone.remembered import KnownTokens, QuestionEmbedder, Remembered, limits
from ragstone.sections import IndexSettings, Settings

BuildEmbedder = Callable[[IndexSettings], Embedder]
"""What gives the embedder that the settings name."""

if TYPE_CHECKING:
    from ragstone.index.bm25 import TermIndex
    from ragstone.index.embedded import EmbeddedVectors


_LASTING = ("_built", "_cache", "_terms", "_analyzer")
"""Parts that are the same whatever embedder is settled on."""


class Parts:
    """The parts of one version of a knowledge base, as its settings choose them.

    Parts may borrow from others of the same version, and get their embedder from a given place, so that a model and
    an index in memory serve many settings of the question.
    """

    settings: Settings

    def __init__(
        self,
        version: Path,
        catalog: index.Catalog,
        settings: Settings,
        *,
        build_embedder: BuildEmbedder = index.build_embedder,
        lender: Parts | None = None,
    ) -> None:
        self.settings = settings
        self._version, self._catalog = version, catalog
        self._build_embedder, self._lender = build_embedder, lender

    def _settle(self) -> bool:
        """Whether it is settled which embedder was meant; what was made before another process did that is let go."""
        if not self._built.embedder:
            del self._built
            if self._built.embedder:
                for name, part in vars(Parts).items():
                    if isinstance(part, cached_property) and name not in _LASTING:
                        self.__dict__.pop(name, None)
                self.settings = self._built.settled(self.settings)
        return bool(self._built.embedder)

    @cached_property
    def _built(self) -> BuiltWith:
        return BuiltWith(**self._catalog.built_with())

    @cached_property
    def _embedder(self) -> Embedder:
        if self._lender and _loads_alike(self.settings.index, self._lender.settings.index):
            return self._lender._embedder
        return self._build_embedder(self.settings.index)

    @cached_property
    def _cache(self) -> Cache:
        if self._lender and self._lender.settings.cache == self.settings.cache:
            return self._lender._cache
        return Cache(self._version.parent / "cache.db", limits(self.settings.cache))

    @cached_property
    def _remembered(self) -> Remembered:
        # The embedder is named by what the knowledge base was built with, so that it need not be loaded for what is
        # known: a search that could not use that embedder would not have been kept.
        built = repr(sorted(self._built.to_json().items()))
        basis = key(built, self._analyzer.fingerprint).hex()
        return Remembered(self._cache, self._catalog, self.settings, version=self._version, basis=basis)

    @cached_property
    def _question_embedder(self) -> Embedder:
        return QuestionEmbedder(self._embedder, self._cache)

    @cached_property
    def _analyzer(self) -> Analyzer:
        return index.build_analyzer(self.settings.index)

    @cached_property
    def _terms(self) -> TermIndex:
        own = self.settings.index
        if self._lender and (own.k1, own.b) == (self._lender.settings.index.k1, self._lender.settings.index.b):
            return self._lender._terms
        return index.build_term_index(
            self.settings.index, self._version / "terms", self._catalog, self._analyzer, language.detect
        )

    @cached_property
    def _vectors(self) -> EmbeddedVectors:
        if self._lender and self._lender.settings.index.exact_limit == self.settings.index.exact_limit:
            return self._lender._vectors
        return index.build_vector_index(self.settings.index, self._version / "vectors", self._catalog, self._embedder)

    @cached_property
    def _matcher(self) -> TokenMatcher:
        embedder = self._embedder
        if not isinstance(embedder, TokenEmbedder):  # one of an outsider's, without token vectors
            embedder = index.build_token_embedder(self.settings.index)
        return rank.build_matcher(KnownTokens(embedder, self._cache), self._terms.weigh)

    @cached_property
    def _reranker(self) -> Reranker | None:
        if self.settings.rank.reranker == "none":  # then the model need not be loaded
            return None
        return rank.build_reranker(self.settings.rank, self._matcher)

    @cached_property
    def _answerer(self) -> Answerer:
        return respond.build_answerer(
            self.settings.respond,
            matcher=self._matcher,
            sentences=chunk.sentences,
            familiarity=self._embedder.familiarity,
        )


def _loads_alike(one: IndexSettings, other: IndexSettings) -> bool:
    return (one.embedder, one.engine, one.threads) == (other.embedder, other.engine, other.threads)
