"""Settings: command line > environment > ``.env`` > YAML preset > defaults.

One sub-model per stage; each stage receives only its own. An unknown key is an error at every
level. In the environment a setting is ``RAGSTONE_`` and its path with two underscores between the
parts: ``RAGSTONE_CHUNK__SIZE=600``. The names people already use elsewhere work too (`ALIASES`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import yaml
from dotenv import dotenv_values
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from ragstone.errors import SettingsError

Tree = dict[str, Any]
"""Settings as YAML has them: sections of sections of values."""

PREFIX = "RAGSTONE_"
OUTSIDE = {"RAGSTONE_TEST_DATA"}
"""Names with our prefix that are no settings."""
ALIASES = {
    "CHUNK_SIZE": "chunk.size",
    "CHUNK_OVERLAP": "chunk.overlap",
    "EMBEDDING_MODEL": "index.embedder",
    "TOP_K": "rank.top_k",
    "RERANK_TOP_K": "query.fetch_k",
}
"""Names of the environment that other systems use, and the settings they stand for."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ColumnSettings(_Section):
    """Which columns of a CSV or fields of a JSONL are what. Names are matched without case."""

    id: str = Field("id", description="column that identifies a row; the row's number where it is absent")
    title: tuple[str, ...] = Field(("title",), description="columns joined into the title")
    text: tuple[str, ...] = Field(("text",), description="columns joined into the text, a blank line between")
    url: str = Field("url", description="column with the address to cite")


class AcquireSettings(_Section):
    columns: ColumnSettings = ColumnSettings()
    max_file_mb: float = Field(100.0, gt=0, description="a larger file is skipped and reported")
    max_line_mb: float = Field(8.0, gt=0, description="a file with a longer line is skipped and reported")


class ChunkSettings(_Section):
    """Part of the fingerprint: a change needs a rebuild."""

    strategy: Literal["sliding_window", "sentence", "paragraph", "recursive"] = Field(
        "recursive", description="how documents are cut"
    )
    size: int = Field(1200, ge=20, description="longest chunk, in characters")
    overlap: int = Field(150, ge=0, description="characters of the chunk before that a chunk begins with, at most")

    @model_validator(mode="after")
    def _overlap_fits(self) -> ChunkSettings:
        if self.overlap >= self.size:
            raise ValueError(f"overlap ({self.overlap}) must be smaller than size ({self.size})")
        return self


class IndexSettings(_Section):
    """``embedder`` and ``analyzer`` are part of the fingerprint: a change needs a rebuild."""

    embedder: str = Field("minilm", description="minilm (embedded), or package.module:Class")
    analyzer: str = Field("plain", description="text to terms for keyword search: plain, or package.module:Class")
    k1: float = Field(1.2, ge=0, description="BM25 term saturation")
    b: float = Field(0.75, ge=0, le=1, description="BM25 length normalisation")
    exact_limit: int = Field(50_000, ge=0, description="above this many chunks vector search is approximate")
    threads: int = Field(0, ge=0, description="threads of the embedder; 0: one for each core")


class QuerySettings(_Section):
    method: Literal["vector", "bm25", "hybrid"] = Field("hybrid", description="which legs search")
    fusion: Literal["standardised", "min_max", "reciprocal_rank"] = Field(
        "standardised", description="how the legs' scores become one"
    )
    vector_weight: float = Field(0.5, ge=0, le=1, description="weight of the vector leg; keyword search has the rest")
    rrf_k: int = Field(60, ge=1, description="constant of reciprocal rank fusion")
    adapt: bool = Field(
        True, description="trust vectors less where the embedder's vocabulary does not know the question's words"
    )
    fetch_k: int = Field(100, ge=1, description="chunks each leg returns")
    threshold: float = Field(-1.0, ge=-1, le=1, description="least cosine similarity of a vector match, before fusion")


class RankSettings(_Section):
    top_k: int = Field(5, ge=1, description="chunks an answer may rest on")
    pool: int = Field(10, ge=1, description="best candidates that reranking and diversification choose from")
    reranker: Literal["none", "maxsim"] = Field("none", description="second look at the best candidates")
    diversify: Literal["none", "round_robin", "mmr"] = Field("none", description="how the final chunks are spread")
    mmr_lambda: float = Field(0.7, ge=0, le=1, description="MMR: 1 is relevance alone, 0 is novelty alone")


class RespondSettings(_Section):
    sentences: int = Field(3, ge=1, description="most sentences an extractive answer quotes")
    abstain_below: float = Field(
        0.5, ge=0, le=1, description="abstain where the evidence answers with less than this probability"
    )
    metadata: bool = Field(True, description="show a source's metadata beside the answer")




class Settings(BaseSettings):
    """Everything that can be set."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True, env_file_encoding="utf-8"
    )

    preset: str = Field("default", description="YAML file of settings: a shipped name, or a path")
    acquire: AcquireSettings = AcquireSettings()
    chunk: ChunkSettings = ChunkSettings()
    index: IndexSettings = IndexSettings()
    query: QuerySettings = QuerySettings()
    rank: RankSettings = RankSettings()
    respond: RespondSettings = RespondSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        # `load` gathers the sources itself, to know which of them said what.
        return (init_settings,)


class Loaded:
    """Settings, and what of them was asked for explicitly (command line, environment, ``.env``)."""

    __slots__ = ("explicit", "settings")

    def __init__(self, settings: Settings, explicit: Tree) -> None:
        self.settings = settings
        self.explicit = explicit


def load(
    overrides: Sequence[str] = (), *, preset: str | None = None, remembered: Tree | None = None, folder: Path | None = None
) -> Loaded:
    """Settings from every source, in order of precedence.

    Args:
        overrides: ``path=value`` pairs of the command line, the value in YAML.
        preset: as given on the command line.
        remembered: what the knowledge base was built with; stands above the preset.
        folder: where ``.env`` is looked for; the current folder if not given.

    Raises:
        SettingsError: an unknown key, a malformed value, an unknown preset.
    """
    _refuse_unknown_environment()
    dotenv = (folder or Path()) / ".env"
    layers: list[Tree] = [
        _aliases(dotenv_values(dotenv) if dotenv.is_file() else {}),
        DotEnvSettingsSource(Settings, env_file=dotenv)(),
        _aliases(os.environ),
        EnvSettingsSource(Settings)(),
        parse_overrides(overrides),
    ]
    explicit: Tree = {}
    for layer in layers:
        explicit = merge(explicit, layer)
    if preset is not None:
        explicit["preset"] = preset
    chosen = explicit.get("preset") or (remembered or {}).get("preset") or "default"
    tree = merge(merge(read_preset(str(chosen)), remembered or {}), explicit)
    return Loaded(_validated(tree), explicit)


def merge(under: Tree, over: Tree) -> Tree:
    """Two trees of settings as one; where both have a leaf, ``over`` wins."""
    out = dict(under)
    for key, value in over.items():
        below = out.get(key)
        out[key] = merge(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return out


def parse_overrides(pairs: Sequence[str]) -> Tree:
    """``["chunk.size=600"]`` as ``{"chunk": {"size": 600}}``."""
    tree: Tree = {}
    for pair in pairs:
        path, equals, text = pair.partition("=")
        if not equals or not path.strip():
            raise SettingsError(f"'{pair}' is not a setting; write it as path=value, such as chunk.size=600")
        try:
            tree = merge(tree, _nested(path.strip(), yaml.safe_load(text)))
        except yaml.YAMLError as error:
            raise SettingsError(f"the value of '{path}' is not YAML: {text}") from error
    return tree


def preset_names() -> list[str]:
    """Names of the presets that come with Ragstone."""
    return sorted(file.name.removesuffix(".yaml") for file in files("ragstone.presets").iterdir() if file.name.endswith(".yaml"))


def read_preset(name: str) -> Tree:
    """The settings a preset makes; ``default`` makes none."""
    if name == "default":
        return {}
    shipped = files("ragstone.presets") / f"{name}.yaml"
    path = shipped if "/" not in name and shipped.is_file() else Path(name)
    if not path.is_file():
        raise SettingsError(f"no preset '{name}'; there are default, {', '.join(preset_names())}, or give the path of a YAML file")
    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"preset {name} is not YAML: {error}") from error
    if not isinstance(tree, dict):
        raise SettingsError(f"preset {name} must be a mapping of sections, such as 'chunk: {{size: 600}}'")
    return tree


def leaves(model: BaseModel, path: str = "") -> Iterator[tuple[str, FieldInfo, Any]]:
    """Every setting under a model: its dotted path, its field and its value."""
    for name, info in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from leaves(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", info, value


def _nested(path: str, value: Any) -> Tree:
    for part in reversed(path.split(".")):
        value = {part: value}
    return value


def _aliases(environment: Mapping[str, str | None]) -> Tree:
    tree: Tree = {}
    for name, path in ALIASES.items():
        if environment.get(name):
            tree = merge(tree, _nested(path, environment[name]))
    return tree


def _refuse_unknown_environment() -> None:
    for name in os.environ:
        section = name.removeprefix(PREFIX).split("__")[0].lower()
        if name.startswith(PREFIX) and section not in Settings.model_fields and name not in OUTSIDE:
            raise SettingsError(f"the environment has {name}, but there is no setting '{section}'; see: ragstone settings")


def _validated(tree: Tree) -> Settings:
    try:
        return Settings(**tree)
    except ValidationError as error:
        lines = []
        for problem in error.errors():
            path = ".".join(str(part) for part in problem["loc"])
            said = f"no setting '{path}'" if problem["type"] == "extra_forbidden" else f"{path}: {problem['msg'].removeprefix('Value error, ')}"
            lines.append(f"{said}{_did_you_mean(path) if problem['type'] == 'extra_forbidden' else ''}")
        raise SettingsError("; ".join(lines) + "; all settings: ragstone settings") from error


def _did_you_mean(path: str) -> str:
    near = get_close_matches(path, [known for known, _, _ in leaves(Settings())], n=1)
    return f" (did you mean {near[0]}?)" if near else ""
