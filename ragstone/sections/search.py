"""How a question is searched for, and which chunks deserve a place."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ragstone.services import Section


class WebSettings(Section):
    """Search of the web, where the stored documents do not answer. What it finds is never stored."""

    engine: Literal["none", "exa", "searxng"] = Field(
        default="none", description="which service searches; none: nothing of a question leaves the machine"
    )
    threshold: float = Field(
        default=0.7, ge=0, le=1, description="search where the documents answer with less than this probability"
    )
    results: int = Field(default=3, ge=1, le=20, description="pages that are taken")
    characters: int = Field(default=10_000, ge=100, le=100_000, description="characters of each page that are taken")


class QuerySettings(Section):
    web: WebSettings = WebSettings()
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
    prefilter: int = Field(
        default=0,
        ge=0,
        description="vectors are compared only with so many of the best chunks of keyword search, exactly; 0: with all",
    )
    allocation: Literal["equal", "by_kind"] = Field(
        default="equal",
        description="by_kind: keyword search returns half as many for a sentence, vectors for keywords and file names",
    )
    leg_seconds: float = Field(
        default=0.0,
        ge=0,
        description="seconds that an index may take to be searched; one that takes longer is left out, and the answer"
        " says so; 0: as long as its engine may",
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
    variations: int = Field(
        default=0, ge=0, description="other wordings of a question that are searched for beside it, at most; 0: none"
    )
    synonyms: dict[str, tuple[str, ...]] = Field(
        default={}, description="what words are also called, for variations; `{mask*: [face covering]}`"
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


class BoostSettings(Section):
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


class RankSettings(Section):
    top_k: int = Field(default=5, ge=1, description="chunks an answer may rest on")
    pool: int = Field(default=10, ge=1, description="best candidates that reranking and diversification choose from")
    reranker: str = Field(
        default="none",
        pattern=r"^(none|maxsim|model|cross-encoder:.+)$",
        description="second look at the best candidates: none, maxsim, model (of respond.model), or cross-encoder:NAME",
    )
    budget_ms: int = Field(
        default=0,
        ge=0,
        description="milliseconds a search may take; reranking that would take longer is skipped, and said; 0: none",
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
