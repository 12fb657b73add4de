"""Settings for retrieval: which chunks are found, and which of them become evidence."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator, model_validator

from ragstone.settings.services import Key, Section, ServiceAddress, ToolName


class WebSettings(Section):
    """Web search, for questions that the documents do not answer. Its results are never stored."""

    engine: Literal["none", "exa", "searxng"] = Field(
        default="none",
        description="Service that searches the web. With `none`, web search sends nothing.",
    )
    threshold: float = Field(
        default=0.7,
        ge=0,
        le=1,
        description="Search the web and ask tools if the probability that the documents answer is below this.",
    )
    results: int = Field(default=3, ge=1, le=20, description="Web pages to use as evidence.")
    characters: int = Field(default=10_000, ge=100, le=100_000, description="Characters to read from each web page.")


class ToolSettings(Section):
    """A tool of an MCP server. What it returns is evidence for one question, and never stored."""

    url: ServiceAddress = Field(
        default="", description="URL of the server's streamable HTTP, such as https://tickets.example.org/mcp."
    )
    tool: str = Field(default="", description="Name of the tool on the server. It should only read.")
    about: str = Field(
        default="", max_length=200, description="What it finds, in a few words, for a language model that plans."
    )
    argument: str = Field(
        default="", description="Argument that takes the words. By default, the only text that the tool requires."
    )
    arguments: dict[str, str | int | float | bool] = Field(
        default={}, description="Further arguments, sent as they are with every call."
    )
    results: int = Field(default=10, ge=1, le=50, description="Results to use as evidence.")
    characters: int = Field(default=10_000, ge=100, le=100_000, description="Characters to read from each result.")
    api_key: Key = Field(default=SecretStr(""), description="Key, sent as a bearer token.")
    groups: tuple[str, ...] = Field(default=(), description="Groups whose questions it may get; empty for everyone's.")
    words: Literal["question", "planned"] = Field(
        default="question",
        description="What it gets: the question as typed, or also words that a language model chose in research, which"
        " may be from passages.",
    )

    @property
    def sent(self) -> str:
        """What it gets, in words."""
        return "the question as typed" + (", or words that a language model chose" if self.words == "planned" else "")

    @model_validator(mode="after")
    def _check_named(self) -> ToolSettings:
        if not (self.url and self.tool):
            raise ValueError("a tool needs a url and the name of the tool on that server")
        return self


class QuerySettings(Section):
    """How candidates are found."""

    web: WebSettings = WebSettings()
    tools: dict[ToolName, ToolSettings] = Field(
        default={},
        description="Tools of MCP servers, by names of yours, that are asked if the documents may not answer, such as"
        " `{tickets: {url: https://..., tool: search_issues}}`.",
    )
    method: Literal["vector", "bm25", "hybrid"] = Field(
        default="hybrid", description="Search by vectors, by keywords (BM25), or by both."
    )
    fusion: Literal["standardised", "min_max", "reciprocal_rank", "strongest"] = Field(
        default="standardised", description="How hybrid search combines the scores of vectors and keywords."
    )
    vector_weight: Annotated[float, Field(ge=0, le=1)] | Literal["auto"] = Field(
        default="auto",
        description="Weight of vector search in fusion; keyword search gets the rest. `auto` uses the best measured"
        " weight of the embedder.",
    )
    rrf_k: int = Field(default=60, ge=1, description="Constant k of reciprocal rank fusion.")
    adapt: bool = Field(
        default=True,
        description="Reduce the weight of vectors if the embedder does not know the words of the question.",
    )
    fetch_k: int = Field(
        default=200,
        ge=1,
        description="Chunks that each search returns before fusion. With `rank.diversify=one_per_document`, it"
        " counts documents.",
    )
    prefilter: int = Field(
        default=0,
        ge=0,
        description="Restrict vector search to this number of the best chunks of keyword search. 0 sets no"
        " restriction.",
    )
    allocation: Literal["equal", "by_kind"] = Field(
        default="equal",
        description="With `by_kind`, keyword search returns half as many chunks for a sentence, and vector search half"
        " as many for keywords and file names.",
    )
    leg_seconds: float = Field(
        default=0.0,
        ge=0,
        description="Seconds that one index may take. The answer omits a slower index and says so. 0 sets no limit.",
    )
    spelling: bool = Field(
        default=True, description="Correct typing errors and missing diacritics, and search for both spellings."
    )
    words: tuple[str, ...] = Field(
        default=(), description="Names and terms with their correct spelling, such as `[POLA, iPhone]`."
    )
    entities: dict[str, tuple[str, ...]] = Field(
        default={}, description="Names to recognise in questions, by kind, such as `{card: [POLA kortel*]}`."
    )
    steps: bool = Field(
        default=True,
        description="Search again if the first search leaves part of a question open: for its parts, and for names"
        " in the passages found.",
    )
    planned_steps: int = Field(
        default=1,
        ge=0,
        le=5,
        description="How often the language model may plan further searches for a question that the passages leave"
        " open. 0 turns this off.",
    )
    variations: int = Field(default=0, ge=0, description="Rephrased versions of the question to search for as well.")
    synonyms: dict[str, tuple[str, ...]] = Field(
        default={}, description="Synonyms for variations, such as `{mask*: [face covering]}`."
    )
    threshold: float = Field(
        default=-1.0, ge=-1, le=1, description="Minimum cosine similarity of a vector match, before fusion."
    )
    keyword_threshold: float = Field(
        default=0.0, ge=0, le=1, description="Minimum score of a keyword match, as a share of the best score."
    )
    lowered_threshold: float = Field(
        default=1.0,
        ge=-1,
        le=1,
        description="Threshold to fall back to if nothing reaches `query.threshold`. The keyword threshold is lowered"
        " in proportion. It has no effect above `query.threshold`.",
    )


class BoostSettings(Section):
    """Changes to a score that do not depend on similarity. They suit cosine scores; 0 and 1 change nothing."""

    kind: float = Field(default=0.0, description="Added if the kind of the chunk matches the kind of the question.")
    code: float = Field(default=0.0, description="Added to code if the question asks for code.")
    keywords: float = Field(
        default=0.0, description="Added in proportion to the share of the question's keywords in the chunk."
    )
    difficulty: float = Field(default=0.0, description="Added if chunk and question have the same difficulty.")
    short: float = Field(default=0.0, description="Subtracted from chunks of fewer than 100 characters.")
    full_length: int = Field(
        default=0,
        ge=0,
        description="Characters of a full-length chunk. The score of a shorter one is reduced in proportion. 0 turns"
        " this off.",
    )
    title: float = Field(default=1.0, gt=0, description="Factor for chunks of documents that have a title.")


class RankSettings(Section):
    """How evidence is chosen from the candidates."""

    top_k: int = Field(default=5, ge=1, description="Chunks that an answer can use as evidence.")
    top_k_limit: int = Field(default=0, ge=0, description="Largest `rank.top_k`, also for one search. 0 sets no limit.")
    pool: int = Field(default=10, ge=1, description="Best candidates to rerank and diversify.")
    reranker: str = Field(
        default="none",
        pattern=r"^(none|maxsim|model|.+:.+)$",
        description="Reranker: `none`, `maxsim`, `model` (the model that answers), `cross-encoder:NAME`, or"
        " `package.module:Class`.",
    )
    budget_ms: int = Field(
        default=0,
        ge=0,
        description="Milliseconds that a search may take. Reranking is skipped if it would take longer. 0 sets no"
        " limit.",
    )
    boosts: BoostSettings = BoostSettings()
    diversify: Literal["none", "round_robin", "one_per_document", "mmr"] = Field(
        default="none", description="How the evidence is spread over documents."
    )
    mmr_lambda: float = Field(
        default=0.7, ge=0, le=1, description="Balance of MMR between relevance (1) and novelty (0)."
    )
    max_tokens: int = Field(default=0, ge=0, description="Tokens of all evidence together. 0 sets no limit.")
    join: bool = Field(default=False, description="Join chunks of the evidence that overlap or are adjacent.")

    @field_validator("reranker", mode="before")
    @classmethod
    def _add_kind(cls, name: object) -> object:
        """Add the kind to a name of the Hugging Face hub."""
        is_of_hub = isinstance(name, str) and "/" in name and ":" not in name
        return f"cross-encoder:{name}" if is_of_hub else name

    @model_validator(mode="after")
    def _check_limit(self) -> RankSettings:
        if self.exceeds_limit(self.top_k):
            raise ValueError(f"top_k is {self.top_k}, but rank.top_k_limit allows at most {self.top_k_limit}")
        return self

    def exceeds_limit(self, k: int) -> bool:
        """Return whether this is more evidence than a search may ask for."""
        return 0 < self.top_k_limit < k
