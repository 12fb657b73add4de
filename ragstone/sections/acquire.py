"""What is read, and how."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from ragstone.access import groups_in
from ragstone.services import Section


class ColumnSettings(Section):
    """Which columns of a CSV or fields of a JSONL are what. Names are matched without case.

    All columns that are not named here become metadata, typed as they are written.
    """

    id: str = Field(default="id", description="column that identifies a row; the row's number where it is absent")
    title: tuple[str, ...] = Field(default=("title",), description="columns joined into the title")
    text: tuple[str, ...] = Field(
        default=("text",),
        description="columns joined into the text, a blank line between; one written with ? at its end may be missing",
    )
    url: str = Field(default="url", description="column with the address to cite")
    dates: tuple[str, ...] = Field(
        default=(), description="columns with times, day before month or ISO 8601; kept as ISO 8601"
    )
    lists: tuple[str, ...] = Field(default=(), description="columns with lists, as in ['a', 'b'] or a; b")
    tidy: bool = Field(default=False, description="take markup and runs of blanks out of title and text")


class MetadataSettings(Section):
    """Facts that are found in the text of a document. What the source itself says under the same name stays."""

    enabled: bool = Field(default=True, description="add what the text tells: dates, companies, topics, language")
    publisher: str = Field(default="", description="publisher of the documents, kept as `source`")
    company_topics: bool = Field(
        default=False, description="find the topics of company news: 5G, Security, Partnership, Product, Sustainability"
    )
    topics: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="topics and their words, beside those or instead of them; an empty list drops a topic",
    )
    topic_mentions: int = Field(default=3, ge=1, description="mentions of a topic's words that make it a topic")


class AccessSettings(Section):
    """Which groups may read a document. What the document says itself stands first, then folders, then default.

    One of which nothing is said is for everyone. ``*`` is the group of everyone, so that an exception can be named.
    Rules that were used once stay in force in a knowledge base until others are given.
    """

    column: str = Field(
        default="readers", description="column or metadata key that names a document's groups; empty cells: nobody"
    )
    folders: tuple[str, ...] = Field(
        default=(), description="groups by path, the first that fits: `[hr = hr;board, public/*.md = *]`"
    )
    default: tuple[str, ...] = Field(default=(), description="groups of documents that nothing else is said of")

    @field_validator("folders")
    @classmethod
    def _are_rules(cls, rules: tuple[str, ...]) -> tuple[str, ...]:
        for rule in rules:
            pattern, _, groups = rule.rpartition("=")
            if not pattern.strip() or not groups_in(groups):
                raise ValueError(f"'{rule}' is no rule; write it as FOLDER = GROUP;GROUP")
        return rules

    @field_validator("default")
    @classmethod
    def _are_groups(cls, groups: tuple[str, ...]) -> tuple[str, ...]:
        if not all(map(str.strip, groups)):
            raise ValueError("the name of a group is blank")
        return groups_in(groups)


class CrawlSettings(Section):
    """How web sites are fetched. A site named in ``acquire.sites`` may set any of these for itself."""

    user_agent: str = Field(
        default="Ragstone (+https://pypi.org/project/ragstone/)",
        min_length=1,
        pattern=r"^[\x20-\x7e]+$",
        description="how the crawler names itself; put a way to reach you into it",
    )
    delay_seconds: float = Field(default=0.5, ge=0, description="least time between two requests to a host")
    concurrency: int = Field(default=2, ge=1, le=16, description="requests under way at once")
    max_pages: int = Field(default=5000, ge=1, description="addresses visited in one crawl, at most")
    max_depth: int = Field(default=20, ge=0, description="links followed from the start to a page, at most")
    max_page_mb: float = Field(default=10.0, gt=0, description="a larger page is skipped and reported")
    page_seconds: float = Field(default=60.0, gt=0, description="a page that takes longer is given up")
    retries: int = Field(default=3, ge=0, description="new attempts after a failure that may pass")
    max_wait_seconds: float = Field(default=60.0, ge=0, description="longest wait that a site may ask for")
    max_redirects: int = Field(default=5, ge=0, description="redirects followed from one address")
    query: Literal["keep", "drop"] = Field(default="keep", description="what becomes of ?name=value in addresses")
    max_queries: int = Field(default=20, ge=1, description="addresses that differ only behind the ?, at most")
    kinds: tuple[Literal["html", "markdown", "rst", "text", "pdf"], ...] = Field(
        default=("html", "markdown", "rst", "text", "pdf"), description="kinds of pages that are read"
    )
    exclude: tuple[str, ...] = Field(
        default=("*/_sources/*",), description="patterns of paths that are left out; * stands for any characters"
    )
    robots: bool = Field(default=True, description="obey robots.txt, and pages that ask not to be indexed")
    sitemap: bool = Field(default=True, description="look for pages in the site's sitemaps too")
    allow_private: bool = Field(default=False, description="fetch from loopback and private networks too")
    proxy: str = Field(default="", description="address of an HTTP proxy; those of the environment are ignored")


class SiteSettings(CrawlSettings):
    """A site by name; what it does not set for itself, ``acquire.crawl`` decides."""

    start: str = Field(description="address the crawl begins at; it stays under its path")


SiteName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]*$")]


class AcquireSettings(Section):
    columns: ColumnSettings = ColumnSettings()
    metadata: MetadataSettings = MetadataSettings()
    access: AccessSettings = AccessSettings()
    crawl: CrawlSettings = CrawlSettings()
    sites: dict[SiteName, SiteSettings] = Field(
        default={}, description="web sites by name, for `ragstone crawl NAME`; `{cuda_q: {start: https://...}}`"
    )
    max_file_mb: float = Field(default=100.0, gt=0, description="a larger file is skipped and reported")
    max_line_mb: float = Field(default=8.0, gt=0, description="a file with a longer line is skipped and reported")
    parse_seconds: float = Field(default=30.0, gt=0, description="a file that takes longer to parse is skipped")
    parse_mb: int = Field(default=500, ge=150, description="memory that parsing a file may take")
    archive_depth: int = Field(default=2, ge=0, description="archives inside archives that are opened; 0: none at all")
    archive_files: int = Field(default=10_000, ge=1, description="files taken from an archive; the rest is reported")
    archive_ratio: float = Field(
        default=200.0, ge=1, description="an archive may expand to so many times its size; beyond that it is a bomb"
    )
