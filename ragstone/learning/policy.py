"""Policies: immutable versions of the learned choices, and the settings that result from each.

A policy holds choices for each kind of question. Version 0 makes no choice, so every setting stays as configured. Each
later version names its parent and the evidence for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, fields
from typing import Any

from ragstone.core.errors import UsageError
from ragstone.core.frozen import frozen
from ragstone.settings import Settings

MAX_KINDS = 4
"""Kinds of question that may have choices of their own; all other questions share the choices of `OTHER_KINDS`."""
OTHER_KINDS = ""
DEFAULT_RERANKER = "maxsim"
"""Used when a policy reranks and the settings name no reranker: it needs no model of its own."""
_LEARNABLE_SETTINGS = (
    "query.web.threshold",
    "query.vector_weight",
    "rank.top_k",
    "rank.reranker",
    "review.marks",
    "review.confidence",
)


@frozen
class Bound:
    """The smallest and largest value of a number, and the step by which a new version moves it."""

    low: float
    high: float
    step: float

    def clamped(self, value: float) -> float:
        """Return the allowed value nearest to ``value``."""
        return min(max(value, self.low), self.high)


@frozen
class Choices:
    """Choices for one kind of question. None leaves a choice to the settings.

    Args:
        web_threshold: the web is searched when the answerability is below this.
        relevance: weight of the judge's mark for relevance; only the proportion of the three weights matters.
        factuality: weight of the mark for factuality.
        completeness: weight of the mark for completeness.
        retrieval_share: weight of the answerability in the confidence; the marks have the rest.
        slope: slope of the calibration of the confidence.
        shift: shift of the calibration.
        vector_weight: weight of vector search in the fusion; keyword search has the rest.
        top_k: how many chunks are read.
        rerank: whether the best candidates are reranked.
    """

    web_threshold: float | None = None
    relevance: float | None = None
    factuality: float | None = None
    completeness: float | None = None
    retrieval_share: float | None = None
    slope: float | None = None
    shift: float | None = None
    vector_weight: float | None = None
    top_k: int | None = None
    rerank: bool | None = None

    def given(self) -> dict[str, Any]:
        """Return the choices that are made, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def with_defaults(self, base: Choices) -> Choices:
        """Return these choices, completed from ``base``."""
        return Choices(**{**asdict(base), **self.given()})


NAMES = tuple(one.name for one in fields(Choices))
BOUNDS: Mapping[str, Bound] = {
    "web_threshold": Bound(low=0.3, high=0.9, step=0.1),
    "relevance": Bound(low=0.1, high=0.8, step=0.1),
    "factuality": Bound(low=0.1, high=0.8, step=0.1),
    "completeness": Bound(low=0.1, high=0.8, step=0.1),
    "retrieval_share": Bound(low=0.1, high=0.9, step=0.1),
    "slope": Bound(low=0.2, high=5.0, step=1.0),
    "shift": Bound(low=-3.0, high=3.0, step=1.0),
    "vector_weight": Bound(low=0.0, high=1.0, step=0.2),
    "top_k": Bound(low=1, high=20, step=3),
}


@frozen
class Policy:
    """One version: choices by kind of question. ``at`` is in seconds since 1970."""

    version: int
    parent: int | None = None
    at: float = 0.0
    by_kind: Mapping[str, Choices] = field(default_factory=dict[str, Choices])
    evidence: Mapping[str, str | float | int] = field(default_factory=dict[str, str | float | int])
    bounds: Mapping[str, Bound] = field(default_factory=lambda: dict(BOUNDS))

    def __post_init__(self) -> None:
        if len([kind for kind in self.by_kind if kind != OTHER_KINDS]) > MAX_KINDS:
            raise UsageError(f"a policy can have choices for at most {MAX_KINDS} kinds of question")
        for kind, choices in self.by_kind.items():
            for name, bound in self.bounds.items():
                value = getattr(choices, name)
                if value is not None and not bound.low <= value <= bound.high:
                    place = f"policy {self.version}, kind '{kind}'"
                    raise UsageError(f"{place}: {name} must be {bound.low} to {bound.high}, not {value}")

    def choices(self, kind: str = OTHER_KINDS) -> Choices:
        """Return the choices for a kind of question."""
        return self.by_kind.get(kind, self.by_kind.get(OTHER_KINDS, Choices()))

    def to_json(self) -> str:
        """Return the policy as one canonical line."""
        return canonical_json(asdict(self) | {"by_kind": {kind: one.given() for kind, one in self.by_kind.items()}})

    @classmethod
    def from_json(cls, text: str) -> Policy:
        """Return the policy that `to_json` wrote.

        Raises:
            UsageError: the text is not a policy.
        """
        try:
            values = json.loads(text)
            return cls(
                version=values["version"],
                parent=values["parent"],
                at=values["at"],
                by_kind={kind: Choices(**choices) for kind, choices in values["by_kind"].items()},
                evidence=values["evidence"],
                bounds={name: Bound(**bound) for name, bound in values["bounds"].items()},
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"this is not a policy: {error}") from error


@frozen
class ChoiceDifference:
    """A choice that two policies make differently. None means that a policy leaves it to the settings."""

    kind: str
    name: str
    a: float | bool | None
    b: float | bool | None


def diff(a: Policy, b: Policy) -> tuple[ChoiceDifference, ...]:
    """Return the choices that differ between two policies, by kind and name."""
    kinds = sorted({*a.by_kind, *b.by_kind, OTHER_KINDS})
    pairs = [
        (kind, name, getattr(a.choices(kind), name), getattr(b.choices(kind), name)) for kind in kinds for name in NAMES
    ]
    return tuple(ChoiceDifference(kind=kind, name=name, a=x, b=y) for kind, name, x, y in pairs if x != y)


def canonical_json(value: Any) -> str:
    """Return JSON with one spelling for each value: sorted keys, no spaces, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def choices_of(settings: Settings) -> Choices:
    """Return the choices that the settings make; None where the settings decide for each question."""
    marks, confidence, weight = settings.review.marks, settings.review.confidence, settings.query.vector_weight
    total = marks.relevance + marks.factuality + marks.completeness
    return Choices(
        web_threshold=settings.query.web.threshold,
        relevance=marks.relevance / total,
        factuality=marks.factuality / total,
        completeness=marks.completeness / total,
        retrieval_share=confidence.retrieval / (confidence.retrieval + confidence.answer),
        slope=confidence.slope,
        shift=confidence.shift,
        vector_weight=None if weight == "auto" else weight,
        top_k=settings.rank.top_k,
        rerank=settings.rank.reranker != "none",
    )


def under(settings: Settings, choices: Choices) -> Settings:
    """Return the settings with the choices applied; the same object if there are none."""
    given = choices.given()
    if not given:
        return settings
    base = choices_of(settings)
    full = asdict(choices.with_defaults(base))
    query, rank, review = settings.query, settings.rank, settings.review
    if choices.web_threshold is not None:
        query = query.model_copy(update={"web": query.web.model_copy(update={"threshold": choices.web_threshold})})
    if choices.vector_weight is not None:
        query = query.model_copy(update={"vector_weight": choices.vector_weight})
    if choices.top_k is not None:
        rank = rank.model_copy(update={"top_k": choices.top_k, "pool": max(rank.pool, choices.top_k)})
    if choices.rerank is not None and choices.rerank != base.rerank:
        rank = rank.model_copy(update={"reranker": DEFAULT_RERANKER if choices.rerank else "none"})
    marks = ("relevance", "factuality", "completeness")
    if given.keys() & {*marks}:
        review = review.model_copy(
            update={"marks": review.marks.model_copy(update={name: full[name] for name in marks})}
        )
    confidence: dict[str, float] = {}
    if (share := choices.retrieval_share) is not None:
        confidence |= {"retrieval": share, "answer": 1 - share}
    if given.keys() & {"slope", "shift"}:
        confidence |= {"slope": full["slope"], "shift": full["shift"]}
    if confidence:
        review = review.model_copy(update={"confidence": review.confidence.model_copy(update=confidence)})
    return settings.model_copy(update={"query": query, "rank": rank, "review": review})


def overridden(overrides: Sequence[str]) -> tuple[str, ...]:
    """Return the settings among the overrides of a command that a policy would change."""
    named = (override.partition("=")[0].strip() for override in overrides)
    return tuple(
        path for path in named if any(path == one or path.startswith(f"{one}.") for one in _LEARNABLE_SETTINGS)
    )
