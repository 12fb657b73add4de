"""The settings, with one section for each stage. `load` reads them from their sources."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from ragstone.settings.acquire import (
    AccessSettings,
    AcquireSettings,
    ColumnSettings,
    ConnectionSettings,
    CrawlSettings,
    MetadataSettings,
    RemoteSettings,
    SiteSettings,
)
from ragstone.settings.answer import ConfidenceWeights, MarkWeights, RespondSettings, ReviewSettings
from ragstone.settings.learning import LearningSettings
from ragstone.settings.search import BoostSettings, QuerySettings, RankSettings, WebSettings
from ragstone.settings.serve import JobSettings, LimitSettings, ServeSettings, TlsSettings, UploadSettings
from ragstone.settings.services import Section, ServiceSettings
from ragstone.settings.store import CacheSettings, ChunkSettings, IndexSettings

__all__ = [
    "AUTO",
    "AccessSettings",
    "AcquireSettings",
    "BoostSettings",
    "CacheSettings",
    "ChunkSettings",
    "ColumnSettings",
    "ConnectionSettings",
    "ConfidenceWeights",
    "CrawlSettings",
    "IndexSettings",
    "JobSettings",
    "LearningSettings",
    "LimitSettings",
    "MarkWeights",
    "MetadataSettings",
    "QuerySettings",
    "RankSettings",
    "RemoteSettings",
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
"""The value of ``index.embedder`` that the language of the first documents resolves to a model."""


class Settings(Section):
    """All settings.

    >>> Settings().rank.top_k
    5
    """

    preset: str = Field(default="default", description="Preset: a built-in name, or the path of a YAML file.")
    profile: str = Field(default="", description="Profile: the name of one of `profiles`, whose settings apply.")
    profiles: dict[str, dict[str, Any]] = Field(
        default={},
        description="Named settings for `--profile NAME`, such as `{quick: {rank: {top_k: 3}}}`. A preset can define"
        " its own.",
    )
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
