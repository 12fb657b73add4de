"""The settings, one section for each stage. Where they are read from is in `config`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

AUTO = "auto"
"""The value of ``index.embedder`` that stands for another, once the first documents are there."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ColumnSettings(_Section):
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


class MetadataSettings(_Section):
    """Facts that are found in the text of a document. What the source itself says under the same name stays."""

    enabled: bool = Field(default=True, description="add what the text tells: dates, companies, topics, language")
    publisher: str = Field(default="", description="publisher of the documents, kept as `source`")
    topics: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="topics and their words, beside the shipped ones or instead of them; an empty list drops a topic",
    )
    topic_mentions: int = Field(default=3, ge=1, description="mentions of a topic's words that make it a topic")


class CrawlSettings(_Section):
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


class AcquireSettings(_Section):
    columns: ColumnSettings = ColumnSettings()
    metadata: MetadataSettings = MetadataSettings()
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


class ChunkSettings(_Section):
    """Part of the fingerprint: a change needs a rebuild."""

    strategy: Literal["sliding_window", "sentence", "paragraph", "recursive", "structure"] = Field(
        default="recursive", description="how documents are cut; structure goes by headings, code and tables"
    )
    unit: Literal["characters", "tokens"] = Field(
        default="characters", description="what size and overlap count; tokens are the embedding model's"
    )
    size: int = Field(default=1200, ge=20, description="longest chunk")
    overlap: int = Field(default=150, ge=0, description="most that a chunk repeats of the one before")
    context: Literal["none", "title", "path"] = Field(
        default="path",
        description="what is embedded before a chunk's text: the document's title, or title and headings",
    )

    @model_validator(mode="after")
    def _fits(self) -> ChunkSettings:
        if self.overlap >= self.size:
            raise ValueError(f"overlap ({self.overlap}) must be smaller than size ({self.size})")
        if self.unit == "tokens" and self.strategy in ("sliding_window", "recursive"):
            raise ValueError(f"{self.strategy} counts characters; use sentence, paragraph or structure with tokens")
        return self


class IndexSettings(_Section):
    """``embedder`` and ``analyzer`` are part of the fingerprint: a change needs a rebuild."""

    embedder: str = Field(
        default="auto",
        description="minilm (English), e5-small (multilingual; extra `multilingual`), auto (one of these, by the"
        " language of the first documents), sentence-transformers:NAME (or a folder), or package.module:Class",
    )
    analyzer: str = Field(
        default="language",
        description="text to terms for keyword search: language (stems, beginnings, compounds), plain, or"
        " package.module:Class",
    )
    k1: float = Field(default=1.2, ge=0, description="BM25 term saturation")
    b: float = Field(default=0.75, ge=0, le=1, description="BM25 length normalisation")
    exact_limit: int = Field(default=10_000, ge=0, description="above this many chunks vectors are searched by codes")
    engine: Literal["auto", "onnxruntime", "openvino"] = Field(
        default="auto",
        description="runs minilm: onnxruntime, or openvino of the extra `fast`; auto: that where it is faster",
    )
    threads: int = Field(default=0, ge=0, description="threads of the embedder; 0: one for each core")


class QuerySettings(_Section):
    method: Literal["vector", "bm25", "hybrid"] = Field(default="hybrid", description="which legs search")
    fusion: Literal["standardised", "min_max", "reciprocal_rank", "strongest"] = Field(
        default="standardised", description="how the legs' scores become one"
    )
    vector_weight: Annotated[float, Field(ge=0, le=1)] | Literal["auto"] = Field(
        default="auto",
        description="weight of the vector leg, keyword search has the rest; auto: what was measured for the embedder",
    )
    rrf_k: int = Field(default=60, ge=1, description="constant of reciprocal rank fusion")
    adapt: bool = Field(
        default=True,
        description="trust vectors less where the embedder's vocabulary does not know the question's words",
    )
    fetch_k: int = Field(default=400, ge=1, description="chunks each leg returns")
    allocation: Literal["equal", "by_kind"] = Field(
        default="equal",
        description="by_kind: keyword search returns half as many for a sentence, vectors for keywords and file names",
    )
    spelling: bool = Field(
        default=True, description="put diacritics and typing errors of a question right, and search for both"
    )
    words: tuple[str, ...] = Field(
        default=(), description="names and terms whose spelling is right as it is given here, such as [POLA, iPhone]"
    )
    entities: dict[str, tuple[str, ...]] = Field(
        default={}, description="names to recognise in questions, by kind; `{card: [POLA kortel*]}`"
    )
    threshold: float = Field(
        default=-1.0, ge=-1, le=1, description="least cosine similarity of a vector match, before fusion"
    )
    keyword_threshold: float = Field(
        default=0.0, ge=0, le=1, description="least score of a keyword match, as a share of the best one's"
    )
    lowered_threshold: float = Field(
        default=1.0,
        ge=-1,
        le=1,
        description="tried where nothing reaches threshold, if it is lower; keyword_threshold goes down in proportion",
    )


class BoostSettings(_Section):
    """How much a score moves by what is known beside likeness. What is added suits cosines; 0 and 1 change nothing."""

    kind: float = Field(default=0.0, description="added where the chunk's kind is what the question is after")
    code: float = Field(default=0.0, description="added to code where the question asks for code")
    keywords: float = Field(default=0.0, description="added in proportion to the question's keywords in the chunk")
    difficulty: float = Field(default=0.0, description="added where question and chunk are equally difficult")
    short: float = Field(default=0.0, description="taken from very short chunks")
    short_characters: int = Field(default=100, ge=0, description="a chunk below is very short")
    full_length: int = Field(
        default=0, ge=0, description="a chunk of fewer characters loses in proportion; 0: none does"
    )
    title: float = Field(default=1.0, gt=0, description="factor for chunks of documents with a title")


class RankSettings(_Section):
    top_k: int = Field(default=5, ge=1, description="chunks an answer may rest on")
    pool: int = Field(default=10, ge=1, description="best candidates that reranking and diversification choose from")
    reranker: str = Field(
        default="none",
        pattern=r"^(none|maxsim|cross-encoder:.+)$",
        description="second look at the best candidates: none, maxsim, or cross-encoder:NAME (or a folder)",
    )
    boosts: BoostSettings = BoostSettings()
    diversify: Literal["none", "round_robin", "one_per_document", "mmr"] = Field(
        default="none", description="how the final chunks are spread"
    )
    mmr_lambda: float = Field(default=0.7, ge=0, le=1, description="MMR: 1 is relevance alone, 0 is novelty alone")
    max_tokens: int = Field(
        default=0, ge=0, description="tokens the final chunks may have together; 0: as many as they have"
    )
    join: bool = Field(default=False, description="make one of chosen chunks that overlap or touch")


class RespondSettings(_Section):
    passages: int = Field(default=3, ge=1, description="best chunks an extractive answer reads sentence by sentence")
    sentences: int = Field(default=3, ge=1, description="most sentences an extractive answer quotes")
    abstain_below: float = Field(
        default=0.5, ge=0, le=1, description="abstain where the evidence answers with less than this probability"
    )
    metadata: bool = Field(default=True, description="show a source's metadata beside the answer")


class CacheSettings(_Section):
    """What is kept of earlier questions, in ``cache.db`` of the knowledge base. Answers are the same without."""

    enabled: bool = Field(default=True, description="keep what questions cost to work out")
    embeddings_mb: int = Field(default=16, ge=0, description="vectors of questions; 0: none are kept")
    tokens_mb: int = Field(default=256, ge=0, description="token vectors of questions and of passages they were put to")
    searches_mb: int = Field(default=16, ge=0, description="what searches found")
    answers_mb: int = Field(default=16, ge=0, description="answers")
    questions: bool = Field(
        default=True, description="remember the latest questions, to compare a rebuild on them before it is switched to"
    )


class ReviewSettings(_Section):
    mlflow: str = Field(
        default="", description="MLflow store that measurements are recorded in: a folder or address; empty: none"
    )


class Settings(_Section):
    """Everything that can be set."""

    preset: str = Field(default="default", description="YAML file of settings: a shipped name, or a path")
    acquire: AcquireSettings = AcquireSettings()
    chunk: ChunkSettings = ChunkSettings()
    index: IndexSettings = IndexSettings()
    query: QuerySettings = QuerySettings()
    rank: RankSettings = RankSettings()
    respond: RespondSettings = RespondSettings()
    review: ReviewSettings = ReviewSettings()
    cache: CacheSettings = CacheSettings()
