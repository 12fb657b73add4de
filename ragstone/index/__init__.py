"""Chunks -> vectors and terms, kept durably. What does the knowledge base hold, and how is it found?"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.errors import SettingsError
from ragstone.index.catalog import Catalog
from ragstone.index.home import Home
from ragstone.index.lock import indexing
from ragstone.index.records import Counts
from ragstone.index.store import Prepared, signature
from ragstone.protocols import Analyzer, Embedder, TokenEmbedder
from ragstone.sections import IndexSettings

if TYPE_CHECKING:
    from ragstone.index.bm25 import TermIndex
    from ragstone.index.embedded import EmbeddedVectors

__all__ = [
    "Catalog",
    "Counts",
    "Home",
    "Prepared",
    "build_analyzer",
    "build_embedder",
    "build_term_index",
    "build_token_embedder",
    "build_vector_index",
    "indexing",
    "signature",
]


def build_embedder(settings: IndexSettings) -> Embedder:
    """The embedder that ``index.embedder`` names.

    Raises:
        SettingsError: there is no such embedder.
        Damaged: the packaged weights are not the ones expected.
    """
    match settings.embedder:
        case "minilm":
            from ragstone.index.embed_local import MiniLM

            return MiniLM(threads=settings.threads)
        case name:
            return _load(name, "index.embedder", "minilm")()


def build_token_embedder(settings: IndexSettings) -> TokenEmbedder:
    """The embedder for token vectors where the one chosen gives none."""
    from ragstone.index.embed_local import MiniLM

    return MiniLM(threads=settings.threads)


def build_analyzer(settings: IndexSettings) -> Analyzer:
    """The analyzer that ``index.analyzer`` names."""
    match settings.analyzer:
        case "plain":
            from ragstone.index.analyze import Plain

            return Plain()
        case name:
            return _load(name, "index.analyzer", "plain")()


def build_vector_index(settings: IndexSettings, folder: Path, catalog: Catalog, embedder: Embedder) -> EmbeddedVectors:
    """The vector index of a version of a knowledge base, kept in ``folder``."""
    from ragstone.index.embedded import EmbeddedVectors

    return EmbeddedVectors(folder, catalog, dimensions=embedder.dimensions, exact_limit=settings.exact_limit)


def build_term_index(settings: IndexSettings, folder: Path, catalog: Catalog, analyzer: Analyzer) -> TermIndex:
    """The keyword index of a version of a knowledge base, kept in ``folder``."""
    from ragstone.index.bm25 import TermIndex

    return TermIndex(folder, catalog, analyzer, k1=settings.k1, b=settings.b)


def _load(name: str, setting: str, known: str) -> Any:
    """An outsider's component, given as ``package.module:Class``."""
    module, colon, attribute = name.partition(":")
    if not colon:
        raise SettingsError(f"{setting} is '{name}'; it can be {known}, or package.module:Class")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise SettingsError(f"{setting} is '{name}', which cannot be imported: {error}") from error
