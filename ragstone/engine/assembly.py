"""Build the parts of a version that its settings choose; nothing is loaded before its first use."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ragstone import index
from ragstone.engine.built import BuiltWith, refuse_other_store
from ragstone.engine.caching import ResultCache, limits
from ragstone.engine.components import Components
from ragstone.engine.lazy import Lazy
from ragstone.engine.location import refuse_external
from ragstone.engine.parts.history import build_history
from ragstone.engine.parts.indexes import build_indexes
from ragstone.engine.parts.models import build_embedder, build_models
from ragstone.engine.parts.source import Source
from ragstone.settings import Settings
from ragstone.settings.substitutes import Substitute
from ragstone.storage.cache import Cache, FileCache
from ragstone.storage.cache_key import key

if TYPE_CHECKING:
    from pathlib import Path

    from ragstone.catalog.protocol import Catalog


def under(version: Components, settings: Settings, *, policy: int = 0) -> Components:
    """Return the same version under other settings of the question; loaded parts are shared.

    Raises:
        SettingsMismatch: these settings would store something else.
    """
    settings = version.built.settled(settings)
    refuse_external(settings, version.location)
    refuse_other_store(settings, version.built, version.folder)
    return assemble(version.source, settings, version.built, substitutes=version.substitutes, policy=policy)


def quoting(settings: Settings) -> Settings:
    """Return settings under which no language model, no web search and no tool is called."""
    respond, rank, query = settings.respond, settings.rank, settings.query
    extractive = type(respond.model)()
    return settings.model_copy(
        update={
            "respond": respond.model_copy(update={"model": extractive, "cheap": "", "check": "match"}),
            "review": settings.review.model_copy(update={"judge": "off"}),
            "rank": rank.model_copy(update={"reranker": "none" if rank.reranker == "model" else rank.reranker}),
            "query": query.model_copy(update={"web": type(query.web)(), "tools": {}}),
        }
    )


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
    history = build_history(source, settings)
    cache = _cache(source, settings)
    embedder = build_embedder(source, settings, built, history, cache)
    indexes = build_indexes(source, settings, embedder)
    models = build_models(source, settings, built, history, cache, indexes, embedder)

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
