"""Knowledge bases to measure on. The engine is opened, and its parts are reached, in this module only."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from benchmarks.common import Options, progress
from ragstone.core.protocols import Analyzer, Embedder, Role, TokenMatcher
from ragstone.core.records import Span
from ragstone.core.request import Request
from ragstone.engine.experiments import add_corpus, dataset_folder
from ragstone.engine.following import follow
from ragstone.engine.knowledge_base import KnowledgeBase
from ragstone.engine.search import Search
from ragstone.index import build_embedder
from ragstone.index.follow.protocol import SyncedKeywordIndex, SyncedVectorIndex
from ragstone.index.keyword.reader_words import Words
from ragstone.index.keyword.terms import Terms
from ragstone.question import read
from ragstone.respond.quoting.extractive import ExtractiveAnswerer
from ragstone.review.dataset import Dataset
from ragstone.settings import IndexSettings
from ragstone.settings.load import load as load_settings
from ragstone.settings.services import ServiceSettings

if TYPE_CHECKING:
    from ragstone.core.records import Vector

NO_CACHE = ("cache.enabled=false",)
"""Overrides that keep every measurement from skipping work."""


def opened(
    folder: Path,
    settings: Sequence[str] = (),
    *,
    preset: str | None = None,
    embedder: Embedder | None = None,
) -> closing[KnowledgeBase]:
    """Open a knowledge base, made if it is not there, until the ``with`` block ends."""
    if embedder is None:
        return closing(KnowledgeBase.open(folder, settings, preset=preset, create=True))
    given = embedder

    def build(index: IndexSettings, services: ServiceSettings) -> Embedder:
        del index, services
        return given

    return closing(KnowledgeBase.open(folder, settings, preset=preset, create=True, build_embedder=build))


@asynccontextmanager
async def filled(
    options: Options, dataset: Dataset, settings: Sequence[str], embedder: Embedder | None = None
) -> AsyncGenerator[KnowledgeBase]:
    """Open a knowledge base of a data set's documents, kept under ``options.keep`` for the next run."""
    chosen = load_settings(settings).settings
    model = embedder or build_embedder(chosen.index)
    with opened(dataset_folder(options.keep, dataset.name, chosen, model), settings, embedder=model) as engine:
        await add_corpus(engine, dataset, lambda message: progress(f"{dataset.name}: {message}"))
        yield engine


def with_settings(engine: KnowledgeBase, settings: Sequence[str], *, preset: str | None = None) -> KnowledgeBase:
    """Return an engine on the same knowledge base with other settings for questions."""
    return engine.under(lambda _: load_settings(settings, preset=preset).settings)


def understood(engine: KnowledgeBase, question: str) -> str:
    """Return a question as the search reads it, with its spelling restored."""
    with engine.current() as version:
        return Search(version).worded(read(question), Request.by_owner()).wording.text


class KnownVectors:
    """An embedder without a model: it knows the vectors of some texts and derives others from a hash of the text."""

    fingerprint, dimensions = "given", 384
    known: ClassVar[dict[str, Vector]] = {}

    def familiarity(self, text: str) -> float:
        return float(bool(text))

    def tokens(self, text: str) -> list[Span]:
        return [Span(start=0, end=len(text))]

    async def embed(self, texts: Sequence[str], *, role: Role, request: Request) -> Vector:
        del role, request
        return np.array([self.known[text] if text in self.known else self._hashed(text) for text in texts])

    def _hashed(self, text: str) -> Vector:
        seed = int.from_bytes(text.encode()[:64].ljust(8, b"\0"), "little")
        vector = np.random.default_rng(seed).standard_normal(self.dimensions, dtype=np.float32)
        return vector / np.float32(np.linalg.norm(vector))


WITHOUT_MODEL = ("index.embedder=benchmarks.bases:KnownVectors",)


class Parts:
    """The parts of a knowledge base that benchmarks time alone; they stay open as long as it does."""

    def __init__(self, kb: KnowledgeBase) -> None:
        with kb.current() as version:
            self.version = version
        self.catalog = self.version.catalog
        self.settings = self.version.settings

    @property
    def embedder(self) -> Embedder:
        return self.version.models.embedder()

    @property
    def analyzer(self) -> Analyzer:
        return self.version.indexes.analyzer()

    @property
    def terms(self) -> Terms:
        return self.version.indexes.terms()

    @property
    def words(self) -> Words:
        return self.version.indexes.words()

    @property
    def keywords(self) -> SyncedKeywordIndex:
        return self.version.indexes.keywords()

    @property
    def vectors(self) -> SyncedVectorIndex:
        return self.version.indexes.vectors()

    @property
    def matcher(self) -> TokenMatcher:
        return self.version.models.matcher()

    @property
    def answerer(self) -> ExtractiveAnswerer:
        answerer = self.version.models.answerer()
        assert isinstance(answerer, ExtractiveAnswerer)
        return answerer

    def index(self) -> None:
        """Bring the indexes up to the catalog."""
        follow(self.version)
