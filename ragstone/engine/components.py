"""The parts of one version of a knowledge base, as one frozen record.

Cheap parts are values; expensive ones are `Lazy` and are called: ``version.models.answerer()``. Parts that several
settings of the question have in common are shared through two pools: one lives as long as the knowledge base is open,
one as long as the version is.
"""

from __future__ import annotations

import uuid
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.catalog.location import Location
from ragstone.catalog.protocol import Catalog
from ragstone.core.access import Reader
from ragstone.core.frozen import frozen
from ragstone.core.request import Deadline, Meter, Payer, Request
from ragstone.core.timing import Clock
from ragstone.engine.built import BuiltWith
from ragstone.engine.caching import ResultCache
from ragstone.engine.lazy import Lazy
from ragstone.engine.parts.history import HistoryParts
from ragstone.engine.parts.indexes import IndexParts
from ragstone.engine.parts.models import ModelParts
from ragstone.engine.parts.source import Source
from ragstone.index.follow.protocol import ExternalIndex
from ragstone.settings import Settings
from ragstone.settings.substitutes import Substitute
from ragstone.storage.cache import Cache

if TYPE_CHECKING:
    from ragstone.core.records import Vector


@frozen(eq=False)
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
        """The home of the knowledge base: its folder, and the server that has its catalog, if one does."""
        return self.source.location

    @property
    def folder(self) -> Path:
        """The folder of the knowledge base."""
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

    async def vector_of(self, text: str, request: Request) -> Vector:
        """Return the vector of a question, or of words to search for."""
        (vector,) = await self.models.question_embedder().embed([text], role="query", request=request)
        return vector

    def request(
        self,
        reader: Reader,
        payer: Payer | None = None,
        *,
        response_id: str = "",
        keep: bool = True,
        language: str = "",
    ) -> Request:
        """Return the request of a new question; see `KnowledgeBase.stream`."""
        return Request(
            reader=reader,
            deadline=Deadline.after(self.settings.services.deadline_seconds),
            meter=Meter(id=response_id or uuid.uuid4().hex, purpose="question", payer=payer),
            is_kept=keep,
            language=language,
            restricts=partial(self.catalog.restricts, reader.names),
        )
