"""What becomes of the commands, files, variables and settings of other systems, by preset."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, cast

from pydantic import TypeAdapter

from ragstone.core.frozen import frozen
from ragstone.settings.yaml_text import read_yaml


@frozen
class Row:
    """What a system has, and what does the same here, both in Markdown."""

    there: str
    here: str


@frozen
class Move:
    """The system that a preset stands for, and what becomes of its parts."""

    title: str
    rows: tuple[Row, ...]


def moves() -> dict[str, Move]:
    """Return the move to each built-in preset, by its name."""
    text = files("ragstone.settings").joinpath("moving.yaml").read_text(encoding="utf-8")
    return TypeAdapter(dict[str, Move]).validate_python(read_yaml(text))


_FOREIGN = {
    r"embedd.*(model|name)": "index.embedder",
    r"embedd.*batch.*": "index.batch_size",
    r"chunk.*(overlap).*": "chunk.overlap",
    r"chunk.*(strategy|method|splitter)": "chunk.strategy",
    r"chunk.*(size|tokens|length|characters)": "chunk.size",
    r"(vector|database|chroma|store|index).*(type|provider|backend|engine)": "index.vectors",
    r"(retriev|search|select|filter|rank).*(threshold|min_similarity|min_score)": "query.threshold",
    r"(retriev|search|select|context|rank).*(tokens|budget)": "rank.max_tokens",
    r"(retriev|search|select|context|rank).*(top_k|max_chunks|n_results|limit|[._]k)": "rank.top_k",
    r"(rank|boost|score|scoring|weight).*(intent|kind|type).*": "rank.boosts.kind",
    r"(rank|boost|score|scoring|weight).*code.*": "rank.boosts.code",
    r"(rank|boost|score|scoring|weight).*keyword.*": "rank.boosts.keywords",
    r"(rank|boost|score|scoring|weight).*difficulty.*": "rank.boosts.difficulty",
    r"(llm|generat|chat|model|openai|response).*temperature": "respond.model.temperature",
    r"(llm|generat|chat|model|openai|response).*max.*tokens": "respond.model.max_tokens",
    r"(llm|generat|chat|openai|response).*(model|name)": "respond.model.name",
    r"(crawl|scrap|site|doc).*(url|start|target).*": "acquire.sites",
    r"(crawl|scrap).*(delay|rate).*": "acquire.crawl.delay_seconds",
}
"""Names of settings in configuration files of other systems, with dots between levels, and ours. The first match
counts."""


def translated(tree: Mapping[str, Any]) -> str:
    """Return which settings of another system's file have a place here; empty if none has."""
    pairs = {
        path: next((ours for theirs, ours in _FOREIGN.items() if re.fullmatch(theirs, path.lower())), "")
        for path in _paths(tree)
    }
    if not any(pairs.values()):
        return ""
    found = ", ".join(f"{ours} for {theirs}" for theirs, ours in pairs.items() if ours)
    others = ", ".join(theirs for theirs, ours in pairs.items() if not ours)
    return f"{found}; nothing corresponds to {others}" if others else found


def _paths(tree: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _paths(cast(dict[str, Any], value), f"{above}{name}.")
        else:
            yield f"{above}{name}"
