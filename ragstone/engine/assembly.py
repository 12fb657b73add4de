"""Build the parts of a version that its settings choose; nothing is loaded before its first use."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ragstone import chunk, index, query, rank, respond
from ragstone.acquire.metadata import language
from ragstone.core.answers import Draft
from ragstone.core.errors import SettingsError
from ragstone.core.protocols import (
    Answerer,
    ChatModel,
    Embedder,
    Judge,
    Reranker,
    TokenEmbedder,
)
from ragstone.core.records import Evidence
from ragstone.core.request import Request
from ragstone.engine.built import BuiltWith, refuse_other_store, unavailable_embedder
from ragstone.engine.cached_models import CachedEmbedder, CachedModel, CachedService, CachedTokenEmbedder
from ragstone.engine.caching import ResultCache, limits
from ragstone.engine.components import Components, HistoryParts, IndexParts, ModelParts, Source
from ragstone.engine.jobs.queue import JobQueue
from ragstone.engine.lazy import Lazy
from ragstone.engine.leaving import model_address, served_at
from ragstone.engine.location import open_journal, refuse_external
from ragstone.engine.tracking import Tracker
from ragstone.history.conversations import Conversations
from ragstone.history.responses import Responses
from ragstone.history.shares import Shares
from ragstone.history.spending import Spending
from ragstone.history.statistics import Statistics
from ragstone.index.keyword.reader_words import Words
from ragstone.index.themes import StoredThemes
from ragstone.learning.learner import Learner
from ragstone.respond.writing.overview import build_overview_writer
from ragstone.respond.writing.tiers import TieredAnswerer, unproved
from ragstone.review.confidence import overall
from ragstone.review.heuristic import HeuristicJudge
from ragstone.review.judge import build_judge, marks
from ragstone.services.metered import Metered, MeteredEmbedder
from ragstone.settings import Settings
from ragstone.settings.services import ModelSettings
from ragstone.settings.substitutes import Substitute
from ragstone.storage.cache import Cache, FileCache
from ragstone.storage.cache_key import key

if TYPE_CHECKING:
    from pathlib import Path

    from ragstone.catalog.protocol import Catalog

LEAST_SUPPORT = 0.8
"""Share of the sentences of a cheaper model's answer that the documents must support."""
LEAST_MARKS = 0.7
"""Overall score from which a judge accepts a cheaper model's answer."""
SAVE_SECONDS = 300.0
"""Seconds between two writes of the statistics."""
SHARED_SAVE_SECONDS = 5.0
"""The same if several processes serve: each reports what the others have written."""


def under(version: Components, settings: Settings, *, policy: int = 0) -> Components:
    """Return the same version under other settings of the question; loaded parts are shared.

    Raises:
        SettingsMismatch: these settings would store something else.
    """
    settings = version.built.settled(settings)
    refuse_external(settings, version.location)
    refuse_other_store(settings, version.built, version.folder)
    return assemble(version.source, settings, version.built, substitutes=version.substitutes, policy=policy)


def assemble_other(version: Components, path: Path, catalog: Catalog, settings: Settings) -> Components:
    """Return the parts of another version, which shares models and journal with the one in use."""
    source = Source(
        location=version.location,
        path=path,
        catalog=catalog,
        build_embedder=version.source.build_embedder,
        overrides=version.source.overrides,
        shared=version.source.shared,
    )
    return assemble(source, settings, BuiltWith(**catalog.built_with()))


def assemble(
    source: Source,
    settings: Settings,
    built: BuiltWith,
    *,
    substitutes: tuple[Substitute, ...] = (),
    policy: int = 0,
) -> Components:
    """Return the parts that these settings choose; nothing is loaded yet.

    Args:
        source: the version.
        settings: of the question; they match what the version was built with.
        built: what the version was built with.
        substitutes: the replacements of engines and services of the preset.
        policy: the version of the learned policy that the settings follow.
    """
    history = _history(source, settings)
    cache = _cache(source, settings)
    indexes, embedder = _indexes(source, settings, built, history, cache)
    models = _models(source, settings, built, history, cache, indexes, embedder)

    def results() -> ResultCache:
        # The build record names the embedder, so that a cached result needs no loaded embedder.
        basis = key(repr(sorted(built.to_json().items())), indexes.analyzer().fingerprint).hex()
        return ResultCache(cache(), source.catalog, settings, version=source.path, basis=basis, policy=policy)

    return Components(
        source=source,
        settings=settings,
        built=built,
        substitutes=substitutes,
        policy=policy,
        clock=time.perf_counter,
        cache=cache,
        results=Lazy(results),
        history=history,
        indexes=indexes,
        models=models,
    )


def _cache(source: Source, settings: Settings) -> Lazy[Cache]:
    own, server, paid = settings.cache, settings.services.redis, settings.index.embedder.startswith(index.SERVICES)

    def build() -> Cache:
        local = FileCache(source.location.folder / "cache.db", limits(own, service=paid))
        if own.enabled and server.url.get_secret_value():
            from ragstone.storage.cache_redis import SharedCache

            return SharedCache(local, server)
        return local

    return source.shared.part("cache", (own, server, paid), build)


def _history(source: Source, settings: Settings) -> HistoryParts:
    shared, own = source.shared, settings.review
    memory = (settings.respond.memory_tokens, own.responses_days)
    journal = shared.part("journal", (), lambda: open_journal(source.location))

    def jobs() -> JobQueue:
        queue = settings.jobs
        if queue.queue == "postgres":
            from ragstone.engine.jobs.postgres import PostgresJobs

            services = settings.services
            return PostgresJobs(services.postgres, queue.name, queue.tries, seconds=services.engine_seconds)
        from ragstone.engine.jobs.journal import JournalJobs

        return JournalJobs(journal(), tries=queue.tries)

    return HistoryParts(
        journal=journal,
        jobs=shared.part("jobs", (settings.jobs, settings.services.postgres, settings.services.engine_seconds), jobs),
        conversations=shared.part(
            "conversations", memory, lambda: Conversations(journal(), tokens=memory[0], days=memory[1])
        ),
        responses=shared.part("responses", own.responses_days, lambda: Responses(journal(), days=own.responses_days)),
        shares=shared.part("shares", (), lambda: Shares(journal())),
        spending=shared.part("spending", (), lambda: Spending(journal())),
        statistics=shared.part(
            "statistics",
            own.statistics_days,
            lambda: Statistics(
                journal(),
                days=own.statistics_days,
                every=SAVE_SECONDS if settings.serve.workers == 1 else SHARED_SAVE_SECONDS,
            ),
        ),
        # The learner uses the settings that the knowledge base was opened with, not those of a question.
        learner=shared.part(
            "learner", (), lambda: Learner(journal(), settings, overrides=source.overrides, clock=time.time)
        ),
        tracker=shared.part(
            "tracker",
            own.mlflow,
            lambda: Tracker(own.mlflow, str(source.location.folder.resolve())) if own.mlflow else None,
        ),
    )


def _indexes(
    source: Source, settings: Settings, built: BuiltWith, history: HistoryParts, cache: Lazy[Cache]
) -> tuple[IndexParts, Lazy[Embedder]]:
    pool, own, services = source.own, settings.index, settings.services
    is_served = source.location.is_shared and own.keywords == "postgres"  # then a host needs no index of its own
    path, catalog, shelf = source.path, source.catalog, source.location.shelf
    embedder = source.shared.part(
        "embedder",
        (own.embedder, own.dimensions, own.threads, own.batch_size, services, settings.cache),
        lambda: _build_embedder(source, settings, built, history, cache),
    )
    analyzer = pool.part("analyzer", own.analyzer, lambda: index.build_analyzer(own))
    terms = pool.part(
        "terms",
        (own.analyzer, own.k1, own.b, is_served, *((services.postgres, services.engine_seconds) if is_served else ())),
        lambda: (
            index.build_served_terms(own, services, path, catalog, analyzer(), language.detect, shelf)
            if is_served
            else index.build_term_index(own, path / "terms", catalog, analyzer(), language.detect)
        ),
    )
    engines = (services.chroma, services.qdrant, services.postgres, services.engine_seconds)
    return IndexParts(
        analyzer=analyzer,
        terms=terms,
        words=pool.part("words", (own.analyzer, own.k1, own.b, is_served), lambda: Words(terms(), catalog)),
        keywords=pool.part(
            "keywords",
            (own.analyzer, own.keywords, own.k1, own.b, *engines),
            lambda: index.build_keyword_index(own, services, path, catalog, terms(), analyzer(), shelf),
        ),
        vectors=pool.part(
            "vectors",
            (own.embedder, own.dimensions, own.vectors, own.exact_limit, *engines),
            lambda: index.build_vector_index(own, services, path, catalog, embedder(), shelf),
        ),
        mirror=pool.part("mirror", engines, lambda: index.build_documents(services, path, catalog, shelf)),
        themes=pool.part("themes", (), lambda: StoredThemes(path / "themes", catalog)),
    ), embedder


def _build_embedder(
    source: Source, settings: Settings, built: BuiltWith, history: HistoryParts, cache: Lazy[Cache]
) -> Embedder:
    """Return the embedder that the settings name; calls of a service are metered and cached."""
    name = settings.index.embedder
    try:
        embedder = source.build_embedder(settings.index, settings.services)
    except SettingsError as refusal:
        if name == built.settings["index.embedder"] and settings.services.missing(name):
            raise unavailable_embedder(refusal, name, source.location.folder) from refusal
        raise
    if not name.startswith(index.SERVICES):
        return embedder
    metered = MeteredEmbedder(embedder, name, settings.services, history.spending(), served_at(name, settings.services))
    return CachedService(metered, cache(), batch=settings.index.batch_size)


def _models(
    source: Source,
    settings: Settings,
    built: BuiltWith,
    history: HistoryParts,
    cache: Lazy[Cache],
    indexes: IndexParts,
    embedder: Lazy[Embedder],
) -> ModelParts:
    pool, own = source.own, settings.respond
    reads = (settings.index, settings.cache, own, settings.services, built.embedder)
    words = indexes.words

    def token_embedder() -> TokenEmbedder:
        made = embedder()
        if not isinstance(made, TokenEmbedder):  # a third-party embedder may give no token vectors
            made = index.build_token_embedder(settings.index)
        return CachedTokenEmbedder(made, cache())

    tokens = pool.part("token embedder", reads, token_embedder)
    matcher = pool.part("matcher", reads, lambda: rank.build_matcher(tokens(), words().weigh))
    chat = source.shared.part(
        "chat model",
        (own.model, settings.services, settings.cache),
        lambda: _metered(own.model, settings, history, cache),
    )

    threads = settings.index.threads
    claims = source.shared.part("claim model", threads, lambda: index.build_claim_model(threads))
    passages = source.shared.part("passage model", threads, lambda: index.build_passage_model(threads))

    def answerer_with(model: ChatModel | None) -> Answerer:
        return respond.build_answerer(
            own,
            matcher=matcher(),
            sentences=chunk.sentences,
            weigh=words().weigh,
            model=model,
            known=lambda asked, request: words().known(asked, "", request),
            embedder=tokens().fingerprint,
            entailment=claims,
            reader=passages,
        )

    def answerer() -> Answerer:
        if not own.cheap or chat() is None:
            return answerer_with(chat())
        cheap = _metered(own.model.model_copy(update={"name": own.cheap}), settings, history, cache)
        return TieredAnswerer(answerer_with(cheap), answerer_with(chat()), dissatisfied)

    async def dissatisfied(evidence: Evidence, draft: Draft, request: Request) -> str:
        """Return why the cheap model's answer is not good enough, by its proof and the judge; empty if it is."""
        why = unproved(draft, least=LEAST_SUPPORT, abstain_below=own.abstain_below)
        if why or draft.abstained or (marker := judge()) is None:
            return why
        scores, _ = await marks(marker, evidence.as_typed, evidence, draft.text, request)
        if scores is None or overall(scores, settings.review.marks) >= LEAST_MARKS:
            return ""
        return f"{scores.judge} gives the first model's answer {overall(scores, settings.review.marks):.0%}"

    def build_the_judge() -> Judge | None:
        review = settings.review
        if review.judge == "off":
            return None
        model = chat()
        if review.judge_model:
            model = _metered(own.model.model_copy(update={"name": review.judge_model}), settings, history, cache)
        stand_in = HeuristicJudge(
            terms=indexes.analyzer(),
            weigh=words().weigh,
            sentences=chunk.sentences,
            answerability=lambda evidence, request: answering().answerability(evidence, request),
        )
        return build_judge(review, model, stand_in)

    def question_embedder() -> Embedder:
        made = embedder()
        return made if isinstance(made, CachedService) else CachedEmbedder(made, cache())

    answering = pool.part("answerer", (*reads, settings.review if own.cheap else None), answerer)
    judge = pool.part("judge", (*reads, settings.review), build_the_judge)

    def reranker() -> Reranker | None:
        if settings.rank.reranker == "none":  # then no model need be loaded
            return None
        return rank.build_reranker(settings.rank, matcher(), chat() if settings.rank.reranker == "model" else None)

    return ModelParts(
        embedder=embedder,
        question_embedder=Lazy(question_embedder),
        token_embedder=tokens,
        matcher=matcher,
        chat=chat,
        answerer=answering,
        overviews=pool.part(
            "overviews", reads, lambda: build_overview_writer(own, chat(), answerer_with(chat())) if chat() else None
        ),
        judge=judge,
        reranker=pool.part("reranker", (*reads, settings.rank.reranker), reranker),
        web=pool.part(
            "web",
            (settings.query.web, settings.services),
            lambda: query.build_web_search(settings.query.web, settings.services),
        ),
    )


def _metered(named: ModelSettings, settings: Settings, history: HistoryParts, cache: Lazy[Cache]) -> ChatModel | None:
    """Return the language model of this name; its calls are metered, limited by the budget, and cached."""
    model, services = respond.build_chat_model(named, settings.services), settings.services
    if model is None:
        return None
    address = model_address(named, services)
    metered = Metered(model, services, history.spending(), longest=named.max_tokens, address=address)
    return CachedModel(metered, cache(), (named, services.endpoint(model.name.partition(":")[0])))
