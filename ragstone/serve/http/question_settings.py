"""The settings that a question may bring: those of retrieval and answering that name no service, model or file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge, Le
from pydantic import BaseModel, Field, create_model

from ragstone.core.errors import SettingsError
from ragstone.serve.http.messages import Request
from ragstone.settings import Settings
from ragstone.settings.load import Tree, leaves, merge, nested, profile_of, validated

ALLOWED = ("query.", "rank.", "respond.")
"""Sections that concern a question."""
FORBIDDEN = (
    "query.web",
    "query.words",
    "query.entities",
    "query.synonyms",
    "respond.model",
    "respond.cheap",
    "respond.prompt",
    "respond.check",
    "respond.context_tokens",
    "respond.metadata_names",
    "rank.top_k_limit",
)
"""Settings in these sections that name services, models or files, cost money, or decide what is kept."""
MAXIMA = {
    "rank.top_k": 100,
    "rank.pool": 200,
    "query.fetch_k": 10_000,
    "query.prefilter": 10_000,
    "query.variations": 5,
    "respond.sentences": 20,
    "respond.memory_tokens": 4_000,
    "respond.excerpt_characters": 1_000_000,
    "query.rrf_k": 1_000_000,
    "query.leg_seconds": 600,
    "rank.budget_ms": 600_000,
    "rank.max_tokens": 1_000_000,
    "rank.boosts.full_length": 1_000_000,
}
"""Bounds on what one question may take of the machine, and on numbers that would overflow."""
MOST_COMPARED = 50
"""Passages that MaxSim may compare word by word for a question; each takes about 50 ms of a core."""
MOST_FETCHED = 20_000
"""Chunks that all wordings of a question may fetch together."""
MAX_BOOST = 100
"""How far a boost may move a score up or down."""
NARROWED: dict[str, Any] = {
    "rank.reranker": Literal["none", "maxsim"],  # the others load a model or cost money
    "respond.language": Annotated[str, Field(pattern=r"^([a-z]{2})?$")],
}
"""Settings for which a question may choose among fewer values."""


def _fields() -> Iterator[tuple[str, Any]]:
    for path, info, _ in leaves(Settings()):
        if path.startswith(ALLOWED) and not path.startswith(FORBIDDEN):
            kind: Any = NARROWED.get(path, info.annotation)
            for bound in () if path in NARROWED else info.metadata:
                kind = Annotated[kind, bound]
            if path in MAXIMA:
                kind = Annotated[kind, Le(MAXIMA[path])]
            elif path.startswith("rank.boosts."):
                kind = Annotated[kind, Ge(-MAX_BOOST), Le(MAX_BOOST)]
            yield path.replace(".", "_"), (kind | None, Field(default=None, alias=path, description=info.description))


if TYPE_CHECKING:
    QuestionSettings = BaseModel
else:
    QuestionSettings = create_model(
        "QuestionSettings",
        __base__=Request,
        __doc__="Settings of one question, by their paths. The server's settings apply to all others.",
        **dict(_fields()),
    )


def apply(settings: Settings, wanted: BaseModel | None, profile: str = "") -> Settings:
    """Return the settings with those of a question, which come before those of its profile.

    Raises:
        SettingsError: they contradict each other or are too much work, or there is no such profile.
    """
    if profile:
        settings = validated(merge(settings.model_dump(), profile_of(settings, profile) | {"profile": profile}))
    tree: Tree = {}
    for path, value in wanted.model_dump(by_alias=True, exclude_none=True).items() if wanted else ():
        tree = merge(tree, nested(path, value))
    changed = validated(merge(settings.model_dump(), tree)) if tree else settings
    _refuse_more_work(changed, settings)
    return changed


def _refuse_more_work(changed: Settings, own: Settings) -> None:
    """Refuse numbers that are allowed one by one and too much work together, unless the server's own are as large."""
    for what, work, most in (
        ("rank.pool with rank.reranker=maxsim", _compared, MOST_COMPARED),
        ("query.fetch_k times all wordings (query.variations and the question)", _fetched, MOST_FETCHED),
    ):
        if work(changed) > max(most, work(own)):
            raise SettingsError(f"{what} may be at most {max(most, work(own)):,} for one question")


def _compared(settings: Settings) -> int:
    return settings.rank.pool if settings.rank.reranker == "maxsim" else 0


def _fetched(settings: Settings) -> int:
    return settings.query.fetch_k * (settings.query.variations + 1)
