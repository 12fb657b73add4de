"""What a policy means for settings: what it chooses takes the place of what they say, for one kind of question."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.learning.policy import Choices
from ragstone.sections import Settings

LEARNED = (
    "query.web.threshold",
    "query.vector_weight",
    "rank.top_k",
    "rank.reranker",
    "review.marks",
    "review.confidence",
)
"""Settings that a policy may change."""
USUAL_RERANKER = "maxsim"
"""Takes the second look where a policy wants one and the settings name none: it needs no model of its own."""


def as_set(settings: Settings) -> Choices:
    """What the settings themselves choose, as a policy would say it; what they leave to the moment stays open."""
    marks, sure, weight = settings.review.marks, settings.review.confidence, settings.query.vector_weight
    total = marks.relevance + marks.factuality + marks.completeness
    return Choices(
        web_threshold=settings.query.web.threshold,
        relevance=marks.relevance / total,
        factuality=marks.factuality / total,
        completeness=marks.completeness / total,
        retrieval_share=sure.retrieval / (sure.retrieval + sure.answer),
        slope=sure.slope,
        shift=sure.shift,
        vector_weight=None if weight == "auto" else weight,
        top_k=settings.rank.top_k,
        rerank=settings.rank.reranker != "none",
    )


def under(settings: Settings, chosen: Choices) -> Settings:
    """The settings with what a policy chose."""
    if chosen == Choices():
        return settings
    now = as_set(settings)
    full = chosen.over(now)
    query, rank, review = settings.query, settings.rank, settings.review
    if chosen.web_threshold is not None:
        query = query.model_copy(update={"web": query.web.model_copy(update={"threshold": chosen.web_threshold})})
    if chosen.vector_weight is not None:
        query = query.model_copy(update={"vector_weight": chosen.vector_weight})
    if chosen.top_k is not None:
        rank = rank.model_copy(update={"top_k": chosen.top_k, "pool": max(rank.pool, chosen.top_k)})
    if chosen.rerank is not None and chosen.rerank != now.rerank:
        rank = rank.model_copy(update={"reranker": USUAL_RERANKER if chosen.rerank else "none"})
    if {chosen.relevance, chosen.factuality, chosen.completeness} != {None}:
        marks = {"relevance": full.relevance, "factuality": full.factuality, "completeness": full.completeness}
        review = review.model_copy(update={"marks": review.marks.model_copy(update=marks)})
    if (share := chosen.retrieval_share) is not None:
        sure = review.confidence.model_copy(update={"retrieval": share, "answer": 1 - share})
        review = review.model_copy(update={"confidence": sure})
    if {chosen.slope, chosen.shift} != {None}:
        sure = review.confidence.model_copy(update={"slope": full.slope, "shift": full.shift})
        review = review.model_copy(update={"confidence": sure})
    return settings.model_copy(update={"query": query, "rank": rank, "review": review})


def overruled(overrides: Sequence[str]) -> tuple[str, ...]:
    """Of the settings that a command names those that a policy would change."""
    named = (override.partition("=")[0].strip() for override in overrides)
    return tuple(path for path in named if any(path == one or path.startswith(f"{one}.") for one in LEARNED))
