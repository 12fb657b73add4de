"""Which settings a question may bring along: those of searching and answering that name no service, model or file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge, Le
from pydantic import BaseModel, Field, create_model

from ragstone.config import Tree, leaves, merge, validated
from ragstone.sections import Settings
from ragstone.serve.http.wire.base import Request

FREE = ("query.", "rank.", "respond.")
"""Sections of the question."""
KEPT = (
    "query.web",
    "query.words",
    "query.entities",
    "query.synonyms",
    "respond.model",
    "respond.cheap",
    "respond.prompt",
    "respond.check",
    "respond.context_tokens",
    "respond.memory_days",
)
"""Of these, what names services, models and files, costs money, decides what is kept, or is the house's to say."""
MOST = {
    "rank.top_k": 100,
    "rank.pool": 200,
    "query.fetch_k": 10_000,
    "query.prefilter": 10_000,
    "query.variations": 5,
    "respond.passages": 20,
    "respond.sentences": 20,
    "respond.memory_tokens": 4_000,
    "respond.excerpt_characters": 1_000_000,
    "query.rrf_k": 1_000_000,
    "query.leg_seconds": 600,
    "rank.budget_ms": 600_000,
    "rank.max_tokens": 1_000_000,
    "rank.boosts.short_characters": 1_000_000,
    "rank.boosts.full_length": 1_000_000,
}
"""No question may take more of the machine than this, or be reckoned with what no number can hold."""
FURTHEST = 100
"""A boost may move a score this far, up or down."""
KINDS: dict[str, Any] = {
    "rank.reranker": Literal["none", "maxsim"],  # others are models that would be loaded, or paid for
    "respond.language": Annotated[str, Field(pattern=r"^([a-z]{2})?$")],
}
"""Settings that a question may give fewer values."""


def _fields() -> Iterator[tuple[str, Any]]:
    for path, info, _ in leaves(Settings()):
        if path.startswith(FREE) and not path.startswith(KEPT):
            kind: Any = KINDS.get(path, info.annotation)
            for bound in () if path in KINDS else info.metadata:
                kind = Annotated[kind, bound]
            if path in MOST:
                kind = Annotated[kind, Le(MOST[path])]
            elif path.startswith("rank.boosts."):
                kind = Annotated[kind, Ge(-FURTHEST), Le(FURTHEST)]
            yield path.replace(".", "_"), (kind | None, Field(default=None, alias=path, description=info.description))


if TYPE_CHECKING:
    QuestionSettings = BaseModel
else:
    QuestionSettings = create_model(
        "QuestionSettings",
        __base__=Request,
        __doc__="Settings of one question, by their paths. What is not given is as the server has it.",
        **dict(_fields()),
    )


def changed(settings: Settings, wanted: BaseModel) -> Settings:
    """The settings with those of a question.

    Raises:
        SettingsError: they contradict each other.
    """
    tree: Tree = {}
    for path, value in wanted.model_dump(by_alias=True, exclude_none=True).items():
        branch: Tree = {path.rpartition(".")[2]: value}
        for part in reversed(path.split(".")[:-1]):
            branch = {part: branch}
        tree = merge(tree, branch)
    return validated(merge(settings.model_dump(), tree)) if tree else settings
