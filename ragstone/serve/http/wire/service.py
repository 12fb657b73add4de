"""What is told of the server itself, and of who asks."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ragstone.serve.http.wire.base import Response
from ragstone.usage.keys import Scope


class Health(Response):
    """The server is alive."""

    status: Literal["alive"]
    version: str


class Readiness(Response):
    """Whether questions can be answered."""

    status: Literal["ready", "starting"]


class Me(Response):
    """Who asks."""

    name: str
    scopes: list[Scope]
    groups: list[str] | None = Field(description="groups whose documents may be read; null: everything")
    open: bool = Field(description="no key is needed, for none has been made")


class Setting(Response):
    """A setting in force; secrets are asterisks."""

    path: str
    value: str
    description: str


class SettingList(Response):
    """Every setting as questions have it."""

    settings: list[Setting]


class Times(Response):
    """How long something took, in milliseconds; the percentiles are right to about a tenth."""

    count: int
    mean: float
    p50: float
    p95: float


class Period(Response):
    """What happened in an hour (2026-01-31T07), on a day (2026-01-31), or in all; UTC."""

    period: str
    questions: int
    answered: int
    refused: int = Field(description="the documents did not tell")
    failed: int
    stopped: int = Field(description="by who asked")
    degraded: int = Field(description="had to do without a part")
    searches: int = Field(description="without an answer")
    confidence: float | None = Field(description="mean of the answers; refusals do not count")
    failures: dict[str, int] = Field(description="by kind of error")
    times_ms: dict[str, Times] = Field(description="by stage")
    cache_hits: dict[str, int]
    cache_misses: dict[str, int]
    found_by: dict[str, int] = Field(description="pieces of evidence by the search that found them")


class Stats(Response):
    """What happened, in all processes that serve this knowledge base; the last period first."""

    total: Period
    daily: list[Period]
    hourly: list[Period]
    documents: int = Field(description="stored now")
    chunks: int = Field(description="stored now")
