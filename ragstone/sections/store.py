"""How documents are cut, embedded and indexed, and what is kept of questions."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from ragstone.services import Section


class ChunkSettings(Section):
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


class IndexSettings(Section):
    """``embedder`` and ``analyzer`` are part of the fingerprint: a change needs a rebuild."""

    embedder: str = Field(
        default="auto",
        description="minilm (English), e5-small (multilingual; extra `multilingual`), auto (one of these, by the"
        " language of the first documents), sentence-transformers:NAME (or a folder), openai:NAME, azure:DEPLOYMENT,"
        " or package.module:Class",
    )
    dimensions: int = Field(
        default=0, ge=0, description="of the vectors of a service that gives several; 0: the model's own"
    )
    analyzer: str = Field(
        default="language",
        description="text to terms for keyword search: language (stems, beginnings, compounds), plain, or"
        " package.module:Class",
    )
    k1: float = Field(default=1.2, ge=0, description="BM25 term saturation")
    b: float = Field(default=0.75, ge=0, le=1, description="BM25 length normalisation")
    catalog: Literal["embedded", "postgres"] = Field(
        default="embedded",
        description="where documents are kept: in the folder, or in PostgreSQL, for several hosts; it is remembered",
    )
    vectors: Literal[
        "embedded", "faiss:Flat", "faiss:HNSW", "faiss:IVF", "faiss:PQ", "chroma", "qdrant", "postgres"
    ] = Field(
        default="embedded",
        description="engine that holds the vectors; any of them follows the catalog, so a change needs no rebuild",
    )
    keywords: Literal["embedded", "qdrant", "postgres"] = Field(
        default="embedded", description="engine that keyword search asks; the words themselves are always kept here"
    )
    exact_limit: int = Field(default=10_000, ge=0, description="above this many chunks vectors are searched by codes")
    engine: Literal["auto", "onnxruntime", "openvino"] = Field(
        default="auto",
        description="runs minilm: onnxruntime, or openvino of the extra `fast`; auto: that where it is faster",
    )
    threads: int = Field(default=0, ge=0, description="threads of the embedder; 0: one for each core")

    @field_validator("embedder")
    @classmethod
    def _kind(cls, name: str) -> str:
        """OpenAI's models may be named without their vendor."""
        return f"openai:{name}" if name.startswith("text-embedding-") else name


class CacheSettings(Section):
    """What is kept of earlier questions, in ``cache.db`` of the knowledge base. Answers are the same without."""

    enabled: bool = Field(default=True, description="keep what questions cost to work out")
    embeddings_mb: int = Field(default=16, ge=0, description="vectors of questions; 0: none are kept")
    tokens_mb: int = Field(default=256, ge=0, description="token vectors of questions and of passages they were put to")
    searches_mb: int = Field(default=16, ge=0, description="what searches found")
    answers_mb: int = Field(default=16, ge=0, description="answers")
    questions: bool = Field(
        default=True, description="remember the latest questions, to compare a rebuild on them before it is switched to"
    )
