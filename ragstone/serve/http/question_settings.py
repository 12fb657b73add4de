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

MAX_BOOST = 100
"""How far a boost may move a score up or down."""
ALLOWED: dict[str, float | None] = {
    "query.method": None,
    "query.fusion": None,
    "query.vector_weight": None,
    "query.rrf_k": 1_000_000,
    "query.adapt": None,
    "query.fetch_k": 10_000,
    "query.prefilter": 10_000,
    "query.allocation": None,
    "query.leg_seconds": 600,
    "query.spelling": None,
    "query.steps": None,
    "query.planned_steps": None,
    "query.variations": 5,
    "query.threshold": None,
    "query.keyword_threshold": None,
    "query.lowered_threshold": None,
    "rank.top_k": 100,
    "rank.pool": 200,
    "rank.reranker": None,
    "rank.budget_ms": 600_000,
    "rank.boosts.kind": MAX_BOOST,
    "rank.boosts.code": MAX_BOOST,
    "rank.boosts.keywords": MAX_BOOST,
    "rank.boosts.difficulty": MAX_BOOST,
    "rank.boosts.short": MAX_BOOST,
    "rank.boosts.full_length": 1_000_000,
    "rank.boosts.title": MAX_BOOST,
    "rank.diversify": None,
    "rank.mmr_lambda": None,
    "rank.max_tokens": 1_000_000,
    "rank.join": None,
    "respond.language": None,
    "respond.overview_calls": 100,
    "respond.memory_tokens": 4_000,
    "respond.excerpt_characters": 1_000_000,
    "respond.unsupported": None,
    "respond.passages": None,
    "respond.ask_from": None,
    "respond.risk": None,
    "respond.sentences": 20,
    "respond.abstain_below": None,
    "respond.closest_from": None,
    "respond.metadata": None,
    "respond.summary": None,
}
"""The settings that a question may bring, each with the largest value of a question; None leaves the setting's own.

All others are refused: they name services, models or files, cost money, or decide what is kept. The bounds limit what
one question takes of the machine, and keep numbers from overflowing.
"""
MOST_COMPARED = 50
"""Passages that MaxSim may compare word by word for a question; each takes about 50 ms of a core."""
MOST_FETCHED = 20_000
"""Chunks that all wordings of a question may fetch together."""
NARROWED: dict[str, Any] = {
    "rank.reranker": Literal["none", "maxsim"],  # the others load a model or cost money
    "respond.language": Annotated[str, Field(pattern=r"^([a-z]{2})?$")],
}
"""Settings for which a question may choose among fewer values."""


def _fields() -> Iterator[tuple[str, Any]]:
    for path, info, _ in leaves(Settings()):
        if path not in ALLOWED:
            continue
        kind: Any = NARROWED.get(path, info.annotation)
        for bound in () if path in NARROWED else info.metadata:
            kind = Annotated[kind, bound]
        if (largest := ALLOWED[path]) is not None:
            kind = Annotated[kind, Le(largest)]
        if path.startswith("rank.boosts.") and largest == MAX_BOOST:
            kind = Annotated[kind, Ge(-MAX_BOOST)]
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
