"""What an engine is made of, each part built when it is first needed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone import chunk, index, query, rank, respond
from ragstone.acquire.facts import language
from ragstone.answers import Draft
from ragstone.cache import Cache, key
from ragstone.contracts import Evidence
from ragstone.errors import EngineError, KnowledgeBaseError
from ragstone.index.terms.readable import Words
from ragstone.jobs.book import JobBook
from ragstone.jobs.queue import JobCounts, JobQueue
from ragstone.keeping.built import BuiltWith
from ragstone.models.metered import Metered, MeteredEmbedder
from ragstone.monitor import Clock
from ragstone.policies.learner import Learner
from ragstone.protocols import (
    Analyzer,
    Answerer,
    ChatModel,
    Embedder,
    Judge,
    Reranker,
    TokenEmbedder,
    TokenMatcher,
    WebSearch,
)
from ragstone.remembered import KnownTokens, QuestionEmbedder, Remembered, limits
from ragstone.respond.tiers import TieredAnswerer, unproved
from ragstone.review.confidence import overall
from ragstone.review.heuristic import HeuristicJudge
from ragstone.review.judge import build_judge, marks
from ragstone.sections import IndexSettings, Settings
from ragstone.services import ModelSettings, ServiceSettings
from ragstone.substitutes import Substitute
from ragstone.usage.journal import Conversations
from ragstone.usage.responses import Responses
from ragstone.usage.spending import Spending
from ragstone.usage.statistics import Statistics

BuildEmbedder = Callable[[IndexSettings, ServiceSettings], Embedder]
"""What gives the embedder that the settings name."""

if TYPE_CHECKING:
    from ragstone.index.terms.bm25 import TermIndex


_JOURNAL = ("_journal", "_jobs", "_conversations", "_responses", "_spending", "_statistics", "_learner")
_LASTING = ("_built", "_cache", *_JOURNAL, "_terms", "_keywords", "_words", "_analyzer")
"""Parts that are the same whatever embedder is settled on."""
_OF_MODELS = ("index", "cache", "respond", "services")
"""Sections of the settings that choose what reads evidence, and what is kept of that."""
HEAVY = (
    "_terms",
    "_keywords",
    "_words",
    "_vectors",
    "_documents",
    "_embedder",
    "_question_embedder",
    "_token_embedder",
    "_matcher",
    "_reranker",
    "_model",
    "_judge",
    "_answerer",
)
"""Parts that hold memory, and mapped files."""


class Parts:
    """The parts of one version of a knowledge base, as its settings choose them.

    Parts may borrow from others of the same version, and get their embedder from a given place, so that a model and
    an index in memory serve many settings of the question.
    """

    settings: Settings
    substitutes: tuple[Substitute, ...] = ()
    """What takes the place of engines and services of the preset that cannot be had here."""
    _asked_for: tuple[Sequence[str], str | None] = ((), None)
    """Settings and preset that whoever opened it named."""
    _policy = 0
    """The version of a policy that these settings are under; 0: they are as they are."""

    def __init__(
        self,
        version: Path,
        catalog: index.AnyCatalog,
        settings: Settings,
        *,
        build_embedder: BuildEmbedder = index.build_embedder,
        lender: Parts | None = None,
    ) -> None:
        self.settings = settings
        self._version, self._catalog = version, catalog
        self._build_embedder, self._lender = build_embedder, lender
        self._clock: Clock = time.perf_counter
        self._bringing_up = threading.Lock()

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
        if self._lender and loads_alike(self.settings.index, self._lender.settings.index):
            return self._lender._embedder
        return self._embedder_of(self.settings)

    def _embedder_of(self, settings: Settings) -> Embedder:
        """The embedder that settings name, counted where it is a service's."""
        embedder = self._build_embedder(settings.index, settings.services)
        name = settings.index.embedder
        if not name.startswith(index.SERVICES):
            return embedder
        return MeteredEmbedder(embedder, name, settings.services, self._spending)

    @cached_property
    def _cache(self) -> Cache:
        own, shared = self.settings.cache, self.settings.services.redis
        if self._lender and (own, shared) == (self._lender.settings.cache, self._lender.settings.services.redis):
            return self._lender._cache
        path = self._version.parent / "cache.db"
        if own.enabled and shared.url.get_secret_value():
            from ragstone.cache_redis import SharedCache

            return SharedCache(path, limits(own), shared)
        return Cache(path, limits(own))

    @cached_property
    def _journal(self) -> index.Journal:
        return self._lender._journal if self._lender else index.Journal(self._version.parent)

    @cached_property
    def _conversations(self) -> Conversations:
        limits = self.settings.respond
        return Conversations(self._journal, tokens=limits.memory_tokens, days=limits.memory_days)

    @cached_property
    def _responses(self) -> Responses:
        return Responses(self._journal, days=self.settings.review.responses_days)

    @cached_property
    def _learner(self) -> Learner:
        if self._lender:
            return self._lender._learner
        return Learner(self._journal, self.settings, overrides=self._asked_for[0], clock=time.time)

    @cached_property
    def _statistics(self) -> Statistics:
        own = self.settings.review
        if self._lender and own.statistics_days:
            return self._lender._statistics
        return Statistics(self._journal, days=own.statistics_days, every=own.statistics_seconds)

    @cached_property
    def _spending(self) -> Spending:
        return Spending(self._journal)

    @cached_property
    def _jobs(self) -> JobQueue:
        own = self.settings.jobs
        if own.queue == "postgres":
            from ragstone.jobs.postgres import PostgresJobs

            return PostgresJobs(self.settings.services.postgres, own.name, own.tries)
        return JobBook(self._journal, tries=own.tries)

    def _count_jobs(self) -> JobCounts:
        try:
            return self._jobs.counts()
        except (EngineError, KnowledgeBaseError) as error:
            return JobCounts(problem=str(error))

    @cached_property
    def _remembered(self) -> Remembered:
        # The embedder is named by what the knowledge base was built with, so that it need not be loaded for what is
        # known: a search that could not use that embedder would not have been kept.
        built = repr(sorted(self._built.to_json().items()))
        basis = key(built, self._analyzer.fingerprint).hex()
        told = {"version": self._version, "basis": basis, "policy": self._policy}
        return Remembered(self._cache, self._catalog, self.settings, **told)

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
    def _words(self) -> Words:
        return Words(self._terms, self._catalog)

    @cached_property
    def _keywords(self) -> index.FollowingKeywords:
        own = self.settings
        if self._lender and _alike(own, self._lender.settings, ("keywords", "k1", "b"), ("qdrant", "postgres")):
            return self._lender._keywords
        return index.build_keyword_index(
            own.index, own.services, self._version, self._catalog, self._terms, self._analyzer
        )

    @cached_property
    def _vectors(self) -> index.FollowingVectors:
        own, services = self.settings, ("chroma", "qdrant", "postgres")
        if self._lender and _alike(own, self._lender.settings, ("vectors", "exact_limit"), services):
            return self._lender._vectors
        return index.build_vector_index(own.index, own.services, self._version, self._catalog, self._embedder)

    def _outside(self) -> list[index.Outside]:
        """The indexes that are in engines of others; none before anything was added."""
        if not self._settle():
            return []
        own = self.settings.index
        legs = [self._vectors] if own.vectors != "embedded" else []
        return [leg for leg in (*legs, self._keywords, self._documents) if isinstance(leg, index.Outside)]

    @cached_property
    def _documents(self) -> index.Outside | None:
        return index.build_documents(self.settings.services, self._version, self._catalog)

    @cached_property
    def _token_embedder(self) -> TokenEmbedder:
        embedder = self._embedder
        if not isinstance(embedder, TokenEmbedder):  # one of an outsider's, without token vectors
            embedder = index.build_token_embedder(self.settings.index)
        return KnownTokens(embedder, self._cache)

    @cached_property
    def _matcher(self) -> TokenMatcher:
        if self._lender and self._may_borrow("index", "cache"):
            return self._lender._matcher
        return rank.build_matcher(self._token_embedder, self._words.weigh)

    @cached_property
    def _reranker(self) -> Reranker | None:
        if self.settings.rank.reranker == "none":  # then the model need not be loaded
            return None
        lender = self._lender
        if lender and self.settings.rank.reranker == lender.settings.rank.reranker and self._may_borrow(*_OF_MODELS):
            return lender._reranker
        model = self._model if self.settings.rank.reranker == "model" else None
        return rank.build_reranker(self.settings.rank, self._matcher, model)

    @cached_property
    def _model(self) -> ChatModel | None:
        if self._lender and self._may_borrow("respond", "services"):
            return self._lender._model
        return self._metered(self.settings.respond.model)

    @cached_property
    def _judge(self) -> Judge | None:
        own = self.settings.review
        if own.judge == "off":
            return None
        named = own.judge_model.name
        model = self._metered(own.judge_model) if named else self._model
        stand_in = HeuristicJudge(
            terms=self._analyzer,
            weigh=self._words.weigh,
            sentences=chunk.sentences,
            answerability=lambda evidence: self._answerer.answerability(evidence),
        )
        return build_judge(own, model, stand_in)

    @cached_property
    def _web(self) -> WebSearch | None:
        return query.build_web_search(self.settings.query.web, self.settings.services)

    @cached_property
    def _answerer(self) -> Answerer:
        own = self.settings.respond
        if self._lender and not own.cheap and self._may_borrow(*_OF_MODELS):
            return self._lender._answerer
        if not own.cheap or self._model is None:
            return self._answerer_with(self._model)
        cheap = self._metered(own.model.model_copy(update={"name": own.cheap}))
        return TieredAnswerer(self._answerer_with(cheap), self._answerer_with(self._model), self._dissatisfied)

    async def _dissatisfied(self, evidence: Evidence, draft: Draft) -> str:
        """Why the cheaper model's answer does not satisfy, by its proof and by the judge, where there is one."""
        own = self.settings
        why = unproved(draft, least=own.respond.cheap_support, abstain_below=own.respond.abstain_below)
        if why or draft.abstained or self._judge is None:
            return why
        scores, _ = await marks(self._judge, evidence.question, evidence, draft.text)
        if scores is None or overall(scores, own.review.marks) >= own.respond.cheap_marks:
            return ""
        return f"{scores.judge} gives the first model's answer {overall(scores, own.review.marks):.0%}"

    def _answerer_with(self, model: ChatModel | None) -> Answerer:
        return respond.build_answerer(
            self.settings.respond,
            matcher=self._matcher,
            sentences=chunk.sentences,
            familiarity=self._embedder.familiarity,
            weigh=self._words.weigh,
            model=model,
            known=lambda words: self._words.known(words, ""),
            embedder=self._token_embedder.fingerprint,
        )

    def _may_borrow(self, *sections: str) -> bool:
        """Whether a part that depends on these sections of the settings would be the lender's."""
        lender = self._lender
        return lender is not None and all(getattr(self.settings, s) == getattr(lender.settings, s) for s in sections)

    def _metered(self, named: ModelSettings) -> ChatModel | None:
        """A language model whose calls are counted, and stopped where a budget ends."""
        services = self.settings.services
        model = respond.build_chat_model(named, services)
        return None if model is None else Metered(model, services, self._spending, longest=named.max_tokens)


def _alike(one: Settings, other: Settings, own: Sequence[str], services: Sequence[str]) -> bool:
    """Whether two settings name the same index, on the same engine."""
    return all(getattr(one.index, name) == getattr(other.index, name) for name in own) and all(
        getattr(one.services, name) == getattr(other.services, name) for name in services
    )


def loads_alike(one: IndexSettings, other: IndexSettings) -> bool:
    """Whether one embedder serves both."""
    loaded = ("embedder", "dimensions", "engine", "threads")
    return all(getattr(one, name) == getattr(other, name) for name in loaded)
