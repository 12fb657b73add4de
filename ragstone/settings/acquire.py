"""Settings for reading sources: files, tables, archives and web sites."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from ragstone.core.access import groups_in
from ragstone.settings.services import Section


class ColumnSettings(Section):
    """The columns of a CSV file, or the fields of a JSONL file, that have a meaning. Case does not matter.

    Every column that is not named here becomes metadata.
    """

    id: str = Field(default="id", description="Column that identifies a row. The row number is used if it is missing.")
    title: tuple[str, ...] = Field(default=("title",), description="Columns that are joined into the title.")
    text: tuple[str, ...] = Field(
        default=("text",),
        description="Columns that are joined into the text, separated by a blank line. A name that ends in `?` is"
        " optional.",
    )
    url: str = Field(default="url", description="Column with the URL that citations link to.")
    dates: tuple[str, ...] = Field(
        default=(),
        description="Columns with dates, either day first or ISO 8601. They are stored as ISO 8601.",
    )
    lists: tuple[str, ...] = Field(default=(), description="Columns with lists, written as `['a', 'b']` or as `a; b`.")
    tidy: bool = Field(default=False, description="Remove markup and extra white space from titles and texts.")


class MetadataSettings(Section):
    """Facts that are extracted from the text of a document. Metadata of the source takes precedence."""

    enabled: bool = Field(
        default=True, description="Extract dates, companies, topics and the language of each document into metadata."
    )
    publisher: str = Field(default="", description="Publisher of the documents, stored as the metadata key `source`.")
    company_topics: bool = Field(
        default=False,
        description="Recognise the topics of company news: 5G, Security, Partnership, Product, Sustainability.",
    )
    topics: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="Topics and the words that indicate them, in addition to the built-in ones. An empty list removes"
        " a built-in topic.",
    )


class AccessSettings(Section):
    """The groups that may read a document: those that its own list and the rule of its folder both name.

    The default counts if neither names a group. Everyone may read a document for which no rule exists. The group ``*``
    contains everyone. A knowledge base keeps its rules until new ones are given.
    """

    column: str = Field(
        default="readers",
        description="Column or metadata key that lists the groups of a document. An empty cell hides it from everyone.",
    )
    folders: tuple[str, ...] = Field(
        default=(),
        description="Groups by path, such as `[hr = hr;board, public/*.md = *]`. The first match counts.",
    )
    default: tuple[str, ...] = Field(default=(), description="Groups of documents that no other rule covers.")

    @field_validator("folders")
    @classmethod
    def _check_rules(cls, rules: tuple[str, ...]) -> tuple[str, ...]:
        for rule in rules:
            pattern, _, groups = rule.rpartition("=")
            if not pattern.strip() or not groups_in(groups):
                raise ValueError(f"'{rule}' is not a rule; write it as FOLDER = GROUP;GROUP")
        return rules

    @field_validator("default")
    @classmethod
    def _check_groups(cls, groups: tuple[str, ...]) -> tuple[str, ...]:
        if not all(map(str.strip, groups)):
            raise ValueError("the name of a group is blank")
        return groups_in(groups)


class CrawlSettings(Section):
    """How web sites are fetched. Each site under ``acquire.sites`` can override these settings."""

    user_agent: str = Field(
        default="Ragstone (+https://pypi.org/project/ragstone/)",
        min_length=1,
        pattern=r"^[\x20-\x7e]+$",
        description="User agent of the crawler. Include a way to contact you.",
    )
    delay_seconds: float = Field(default=0.5, ge=0, description="Seconds between two requests to the same host.")
    max_pages: int = Field(default=5000, ge=1, description="Maximum number of pages of one crawl.")
    max_depth: int = Field(default=20, ge=0, description="Maximum number of links between the start page and a page.")
    page_seconds: float = Field(default=60.0, gt=0, description="Seconds that one attempt to fetch a page may take.")
    retries: int = Field(default=3, ge=0, description="Retries of a request after a temporary failure.")
    query: Literal["keep", "drop"] = Field(
        default="keep", description="Keep or drop the query string (`?name=value`) of a URL."
    )
    exclude: tuple[str, ...] = Field(
        default=("*/_sources/*",), description="Patterns of URL paths to skip. `*` matches any characters."
    )
    robots: bool = Field(default=True, description="Obey robots.txt and the `noindex` directives of pages.")
    sitemap: bool = Field(default=True, description="Also look for pages in the sitemaps of the site.")
    allow_private: bool = Field(default=False, description="Also fetch from loopback and private networks.")
    proxy: str = Field(default="", description="URL of an HTTP proxy. Proxies of the environment are ignored.")


class SiteSettings(CrawlSettings):
    """A named site. ``acquire.crawl`` provides whatever the site does not set."""

    start: str = Field(description="URL where the crawl begins. The crawl stays below its path.")


class RemoteSettings(Section):
    """How sources that are neither files nor web sites are reached."""

    allow_private: bool = Field(
        default=False,
        description="Also read from servers on loopback and private networks. For databases this is always allowed.",
    )
    timeout_seconds: float = Field(
        default=60.0, gt=0, description="Seconds that a server may take to send the next part of a response."
    )
    retries: int = Field(default=4, ge=0, description="Retries of a request after a temporary failure.")


class ConnectionSettings(Section):
    """A source with a name. Its password or token comes from an environment variable, never from the settings."""

    address: str = Field(
        min_length=1,
        description="Address of the source, such as `s3://bucket/docs`, or `package.module:Class` for your own source.",
    )
    groups: tuple[str, ...] = Field(
        default=(),
        description="Groups that may read the documents at most. The source and the documents can name fewer groups.",
    )
    secret: str = Field(
        default="",
        pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$",
        description="Environment variable with the password or token. Each kind of source has a default.",
    )
    query: str = Field(default="", description="SQL query whose rows are documents, for an `sql://` address.")
    columns: ColumnSettings = ColumnSettings()

    @field_validator("groups")
    @classmethod
    def _check_groups(cls, groups: tuple[str, ...]) -> tuple[str, ...]:
        return groups_in(groups)


class CaptionSettings(Section):
    """Descriptions of pictures by a vision model, which is sent every picture of the documents."""

    model: str = Field(
        default="",
        description="Vision model that describes pictures in documents and in questions, such as `openai:NAME` or"
        " `ollama:NAME`. If it is empty, no picture is described or sent.",
    )


Suffix = Annotated[str, StringConstraints(pattern=r"^\.[a-z0-9_-]+$")]
FunctionName = Annotated[str, StringConstraints(pattern=r"^\w+(\.\w+)*:\w+$")]
SiteName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]*$")]


class AcquireSettings(Section):
    """How sources are read."""

    sources: tuple[str, ...] = Field(
        default=(),
        description="Default sources of `add` and `sync`: files, folders, and names or addresses of other sources.",
    )
    columns: ColumnSettings = ColumnSettings()
    metadata: MetadataSettings = MetadataSettings()
    access: AccessSettings = AccessSettings()
    crawl: CrawlSettings = CrawlSettings()
    sites: dict[SiteName, SiteSettings] = Field(
        default={},
        description="Web sites by name for `ragstone crawl NAME`, such as `{cuda_q: {start: https://...}}`.",
    )
    connections: dict[SiteName, ConnectionSettings] = Field(
        default={},
        description="Sources by name for `ragstone sync NAME`, such as `{wiki: {address: s3://wiki/pages, groups:"
        " [staff]}}`.",
    )
    remote: RemoteSettings = RemoteSettings()
    readers: dict[Suffix, FunctionName] = Field(
        default={},
        description="Your own readers by suffix, such as `{.vcf: package.module:parse}`; see docs/extend.md.",
    )
    ocr: Literal["auto", "off", "rapidocr", "tesseract"] = Field(
        default="auto",
        description="OCR engine for scans and pictures. `auto` uses the models of RapidOCR (the extra `ocr`) if they"
        " are installed, or else the program Tesseract.",
    )
    ocr_languages: tuple[str, ...] = Field(
        default=(),
        description="ISO 639-1 codes of the languages of scans, such as `[de, en]`. If the list is empty, Ragstone"
        " detects the language of each page from its words.",
    )
    ocr_pages: int = Field(
        default=200,
        ge=1,
        description="Maximum number of pages and pictures of a file that OCR reads. The rest is skipped.",
    )
    ocr_seconds: float = Field(
        default=120.0, gt=0, description="Seconds that OCR of a page may take. A slower page is skipped."
    )
    ocr_mb: int = Field(
        default=1500, ge=600, description="Megabytes of memory that OCR may use, in addition to `parse_mb`."
    )
    captions: CaptionSettings = CaptionSettings()
    encoding: str = Field(
        default="",
        description="Encoding of text files that are not Unicode, such as `gb18030`. Empty: it is found by the text.",
    )
    max_file_mb: float = Field(
        default=100.0, gt=0, description="Maximum size of a file in megabytes. A larger file is skipped."
    )
    parse_seconds: float = Field(
        default=30.0, gt=0, description="Seconds that parsing a file may take. A slower file is skipped."
    )
    parse_mb: int = Field(default=500, ge=150, description="Megabytes of memory that parsing a file may use.")
