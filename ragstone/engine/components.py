"""The parts of one version of a knowledge base, as one frozen record.

Cheap parts are values; expensive ones are `Lazy` and are called: ``version.models.answerer()``. Parts that several
settings of the question have in common are shared through two pools: one lives as long as the knowledge base is open,
one as long as the version is.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.catalog.location import Location
from ragstone.catalog.protocol import Catalog
from ragstone.core.access import Reader
from ragstone.core.protocols import (
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
from ragstone.core.request import Deadline, Meter, Payer, Request
from ragstone.core.timing import Clock
from ragstone.engine.built import BuiltWith
from ragstone.engine.caching import ResultCache
from ragstone.engine.jobs.queue import JobQueue
from ragstone.engine.lazy import Lazy, Pool
from ragstone.engine.tracking import Tracker
from ragstone.history.conversations import Conversations
from ragstone.history.responses import Responses
from ragstone.history.shares import Shares
from ragstone.history.spending import Spending
from ragstone.history.statistics import Statistics
from ragstone.history.store import JournalStore
from ragstone.index.follow.protocol import ExternalIndex, SyncedKeywordIndex, SyncedVectorIndex
from ragstone.index.keyword.reader_words import Words
from ragstone.index.themes import StoredThemes
from ragstone.learning.learner import Learner
from ragstone.respond.writing.overview import OverviewWriter
from ragstone.settings import IndexSettings, Settings
from ragstone.settings.services import ServiceSettings
from ragstone.settings.substitutes import Substitute
from ragstone.storage.cache import Cache

if TYPE_CHECKING:
    from ragstone.index.keyword.terms import Terms

BuildEmbedder = Callable[[IndexSettings, ServiceSettings], Embedder]
"""Returns the embedder that the settings name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The inputs of a version that do not depend on the settings of a question.

    ``overrides`` are the settings of the caller that opened it. ``shared`` is the pool of the knowledge base, ``own``
    the pool of the version.
    """

    location: Location
    path: Path
    catalog: Catalog
    build_embedder: BuildEmbedder
    overrides: Sequence[str] = ()
    shared: Pool = field(default_factory=Pool)
    own: Pool = field(default_factory=Pool)
    catching_up: threading.Lock = field(default_factory=threading.Lock)
    """VersionLease while a question fills an engine that is behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryParts:
    """The records of people's use; they belong to the knowledge base, not to a version.

    ``tracker`` is None if no setting names a tracking store.
    """

    journal: Lazy[JournalStore]
    jobs: Lazy[JobQueue]
    conversations: Lazy[Conversations]
    responses: Lazy[Responses]
    shares: Lazy[Shares]
    spending: Lazy[Spending]
    statistics: Lazy[Statistics]
    learner: Lazy[Learner]
    tracker: Lazy[Tracker | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexParts:
    """The indexes. ``mirror`` keeps a copy of the documents for other programs, if the settings request it."""

    analyzer: Lazy[Analyzer]
    terms: Lazy[Terms]
    words: Lazy[Words]
    keywords: Lazy[SyncedKeywordIndex]
    vectors: Lazy[SyncedVectorIndex]
    mirror: Lazy[ExternalIndex | None]
    themes: Lazy[StoredThemes]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelParts:
    """The readers and writers.

    ``chat``, ``overviews``, ``judge``, ``web`` and ``reranker`` are None if the settings name none.
    """

    embedder: Lazy[Embedder]
    question_embedder: Lazy[Embedder]
    token_embedder: Lazy[TokenEmbedder]
    matcher: Lazy[TokenMatcher]
    chat: Lazy[ChatModel | None]
    answerer: Lazy[Answerer]
    overviews: Lazy[OverviewWriter | None]
    judge: Lazy[Judge | None]
    reranker: Lazy[Reranker | None]
    web: Lazy[WebSearch | None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Components:
    """One version of a knowledge base under one set of settings.

    ``policy`` is the version of the learned policy that the settings follow; 0 leaves them unchanged.
    """

    source: Source
    settings: Settings
    built: BuiltWith
    substitutes: tuple[Substitute, ...]
    policy: int
    clock: Clock
    cache: Lazy[Cache]
    results: Lazy[ResultCache]
    history: HistoryParts
    indexes: IndexParts
    models: ModelParts

    @property
    def catalog(self) -> Catalog:
        """The documents, chunks and vectors of this version."""
        return self.source.catalog

    @property
    def location(self) -> Location:
        """The folder of the knowledge base."""
        return self.source.location

    @property
    def folder(self) -> Path:
        """The location of the knowledge base."""
        return self.source.location.folder

    @property
    def has_embedder(self) -> bool:
        """Whether the embedder is chosen; before the first documents ``index.embedder=auto`` leaves it open."""
        return bool(self.built.embedder)

    def external_indexes(self) -> list[ExternalIndex]:
        """Return the indexes in external engines; none before the first documents are added."""
        if not self.has_embedder:
            return []
        legs = [self.indexes.vectors()] if self.settings.index.vectors != "embedded" else []
        return [
            leg for leg in (*legs, self.indexes.keywords(), self.indexes.mirror()) if isinstance(leg, ExternalIndex)
        ]

    def count_tokens(self, text: str) -> int:
        """Count tokens as the language model does, or as the embedder does if there is no model."""
        chat = self.models.chat()
        return chat.count(text) if chat else len(self.models.embedder().tokens(text))

    def request(
        self, reader: Reader, payer: Payer | None = None, *, response_id: str = "", keep: bool = True
    ) -> Request:
        """Return the request of a new question; see `KnowledgeBase.stream`."""
        return Request(
            reader=reader,
            deadline=Deadline.after(self.settings.services.deadline_seconds),
            meter=Meter(id=response_id or uuid.uuid4().hex, purpose="question", payer=payer),
            is_kept=keep,
            unrestricted=reader.groups is not None and not self.catalog.has_access_groups(),
        )
