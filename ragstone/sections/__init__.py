"""The settings, one section for each stage. Where they are read from is in `config`."""

from __future__ import annotations

from pydantic import Field

from ragstone.sections.acquire import (
    AccessSettings,
    AcquireSettings,
    ColumnSettings,
    CrawlSettings,
    MetadataSettings,
    SiteSettings,
)
from ragstone.sections.answer import ConfidenceWeights, JudgeModelSettings, MarkWeights, RespondSettings, ReviewSettings
from ragstone.sections.jobs import JobSettings
from ragstone.sections.learning import LearningSettings
from ragstone.sections.search import BoostSettings, QuerySettings, RankSettings, WebSettings
from ragstone.sections.serve import LimitSettings, ServeSettings, TlsSettings, UploadSettings
from ragstone.sections.store import CacheSettings, ChunkSettings, IndexSettings
from ragstone.services import Section, ServiceSettings

__all__ = [
    "AUTO",
    "AccessSettings",
    "AcquireSettings",
    "BoostSettings",
    "CacheSettings",
    "ChunkSettings",
    "ColumnSettings",
    "ConfidenceWeights",
    "CrawlSettings",
    "IndexSettings",
    "JobSettings",
    "JudgeModelSettings",
    "LearningSettings",
    "LimitSettings",
    "MarkWeights",
    "MetadataSettings",
    "QuerySettings",
    "RankSettings",
    "RespondSettings",
    "ReviewSettings",
    "ServeSettings",
    "Settings",
    "SiteSettings",
    "TlsSettings",
    "UploadSettings",
    "WebSettings",
]

AUTO = "auto"
"""The value of ``index.embedder`` that stands for another, once the first documents are there."""


class Settings(Section):
    """Everything that can be set."""

    preset: str = Field(default="default", description="YAML file of settings: a shipped name, or a path")
    acquire: AcquireSettings = AcquireSettings()
    chunk: ChunkSettings = ChunkSettings()
    index: IndexSettings = IndexSettings()
    query: QuerySettings = QuerySettings()
    rank: RankSettings = RankSettings()
    respond: RespondSettings = RespondSettings()
    review: ReviewSettings = ReviewSettings()
    learning: LearningSettings = LearningSettings()
    services: ServiceSettings = ServiceSettings()
    cache: CacheSettings = CacheSettings()
    serve: ServeSettings = ServeSettings()
    jobs: JobSettings = JobSettings()
