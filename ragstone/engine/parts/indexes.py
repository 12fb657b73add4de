"""The indexes of a version, embedded or in external engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone import index
from ragstone.acquire.metadata import language
from ragstone.core.frozen import frozen
from ragstone.core.protocols import Analyzer, Embedder
from ragstone.engine.lazy import Lazy
from ragstone.engine.parts.source import Source
from ragstone.index.follow.protocol import ExternalIndex, SyncedKeywordIndex, SyncedVectorIndex
from ragstone.index.keyword.reader_words import Words
from ragstone.index.themes import StoredThemes
from ragstone.settings import Settings

if TYPE_CHECKING:
    from ragstone.index.keyword.terms import Terms


@frozen
class IndexParts:
    """The indexes. ``mirror`` keeps a copy of the documents for other programs, if the settings request it."""

    analyzer: Lazy[Analyzer]
    terms: Lazy[Terms]
    words: Lazy[Words]
    keywords: Lazy[SyncedKeywordIndex]
    vectors: Lazy[SyncedVectorIndex]
    mirror: Lazy[ExternalIndex | None]
    themes: Lazy[StoredThemes]


def build_indexes(source: Source, settings: Settings, embedder: Lazy[Embedder]) -> IndexParts:
    """Return the indexes of a version."""
    pool, own, services = source.own, settings.index, settings.services
    is_served = source.location.is_shared and own.keywords == "postgres"  # then a host needs no index of its own
    path, catalog, shelf = source.path, source.catalog, source.location.shelf
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
    )
