"""Settings for chunking, indexing and caching."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from ragstone.settings.services import Section


class ChunkSettings(Section):
    """How documents are split. A change requires a rebuild."""

    strategy: Literal["sliding_window", "sentence", "paragraph", "recursive", "structure"] = Field(
        default="recursive",
        description="How documents are split. `recursive` splits by length, and a FAQ at its questions; `structure` at"
        " every heading and keeps code and tables apart.",
    )
    unit: Literal["characters", "tokens"] = Field(
        default="characters", description="Unit of `chunk.size` and `chunk.overlap`. Tokens are tokens of the embedder."
    )
    size: int = Field(default=1200, ge=20, description="Maximum length of a chunk.")
    overlap: int = Field(
        default=150, ge=0, description="Maximum length of the end of the previous chunk that a chunk repeats."
    )
    context: Literal["none", "title", "path"] = Field(
        default="path",
        description="Text that is embedded with each chunk: the title of the document, or its title and headings.",
    )

    @model_validator(mode="after")
    def _check_lengths(self) -> ChunkSettings:
        if self.overlap >= self.size:
            raise ValueError(f"overlap ({self.overlap}) must be smaller than size ({self.size})")
        if self.unit == "tokens" and self.strategy in ("sliding_window", "recursive"):
            raise ValueError(f"{self.strategy} counts characters; use sentence, paragraph or structure with tokens")
        return self


PACKAGED = {
    "all-MiniLM-L6-v2": "minilm",
    "sentence-transformers/all-MiniLM-L6-v2": "minilm",
    "intfloat/multilingual-e5-small": "e5-small",
}
"""Names of the Hugging Face hub for models that are part of Ragstone."""


class IndexSettings(Section):
    """How chunks are indexed. A change of ``embedder``, ``dimensions`` or ``analyzer`` requires a rebuild."""

    embedder: str = Field(
        default="auto",
        description="Embedding model: `minilm` (English), `e5-small` (multilingual), `auto` (one of these two, by the"
        " languages of a sample of the first documents), `sentence-transformers:NAME`, `openai:NAME`,"
        " `azure:DEPLOYMENT`, or `package.module:Class`.",
    )
    dimensions: int = Field(
        default=0,
        ge=0,
        description="Dimensions of the vectors, for services that offer several. 0 uses the default of the model.",
    )
    batch_size: int = Field(default=256, ge=1, le=2048, description="Texts in one request to an embedding service.")
    analyzer: str = Field(
        default="language",
        description="Analyzer of keyword search: `language` (stems, prefixes, compounds and pairs of words), `plain`,"
        " or `package.module:Class`.",
    )
    k1: float = Field(default=1.2, ge=0, description="Term saturation k1 of BM25.")
    b: float = Field(default=0.75, ge=0, le=1, description="Length normalisation b of BM25.")
    catalog: Literal["embedded", "postgres"] = Field(
        default="embedded",
        description="Store of the documents: the folder of the knowledge base, or PostgreSQL for several hosts."
        " It cannot be changed later.",
    )
    vectors: str = Field(
        default="embedded",
        description="Engine of vector search: `embedded`, `faiss:KIND`, `chroma`, `qdrant`, `postgres`, or"
        " `package.module:function`. It can be changed without a rebuild.",
    )
    keywords: Literal["embedded", "qdrant", "postgres"] = Field(
        default="embedded", description="Engine of keyword search. It can be changed without a rebuild."
    )
    exact_limit: int = Field(
        default=10_000,
        ge=0,
        description="Number of chunks up to which vector search is exact. Above that, it is approximate.",
    )
    threads: int = Field(default=0, ge=0, description="Threads of a local embedder. 0 uses one per core.")

    @field_validator("embedder")
    @classmethod
    def _add_vendor(cls, name: str) -> str:
        """Add the vendor to the name of an OpenAI model, and the library to a name of the Hugging Face hub."""
        if name.startswith("text-embedding-"):
            return f"openai:{name}"
        if name in PACKAGED:
            return PACKAGED[name]
        return f"sentence-transformers:{name}" if "/" in name and ":" not in name else name


class CacheSettings(Section):
    """The cache of a knowledge base, ``cache.db``. It never changes an answer."""

    enabled: bool = Field(default=True, description="Cache embeddings, search results and answers.")
    megabytes: int = Field(default=300, ge=1, description="Maximum size of the cache in megabytes.")
    entries: int = Field(
        default=0,
        ge=0,
        description="Maximum number of searches, and of answers, to keep. The least recently used ones make room."
        " With 0, only `cache.megabytes` limits them.",
    )
    seconds: float = Field(
        default=0.0, ge=0, description="Seconds after which a cached search or answer expires. 0 sets no limit."
    )
    questions: bool = Field(
        default=True, description="Keep the latest questions, to compare a rebuild with the current version."
    )
