"""What a vote was on, in figures: enough to learn from when the answer itself is forgotten, and no word of it.

Documents are hashes of their ids: a replay needs to know which is which, and not what it is called.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragstone.answers import JudgeScores
from ragstone.contracts import Considered
from ragstone.learning.candidates import Found, Logged
from ragstone.learning.eager import Rated
from ragstone.usage.responses import Response

_FULL = 10.0


def seen_of(rated: Response, vote: int, correction: str) -> dict[str, Any]:
    """The figures of an answer that was voted on.

    Args:
        rated: the answer as it is kept.
        vote: 1 or -1. What a liked answer cites is right; of one that is disliked, only what the vote names instead.
        correction: id of the document that would have been right, where somebody said so.
    """
    told = rated.answer
    marks = told["judge_scores"]
    right = [one["document_id"] for one in told["sources"] if one["type"] == "internal"] if vote > 0 else []
    return {
        "answerability": told["answerability"],
        "support": told["support"],
        "marks": [marks["relevance"], marks["factuality"], marks["completeness"]] if marks else None,
        "confidence": told["confidence"],
        "abstained": told["abstained"],
        "web": told["web_search_triggered"],
        "found": [[_named(one.document_id), one.vector, one.keyword] for one in rated.considered],
        "right": sorted({_named(one) for one in (right if vote > 0 else [correction] if correction else [])}),
    }


def rated_of(vote: int, seen: Mapping[str, Any]) -> Rated:
    """A vote with what is known of the answer, as small steps are taken by."""
    marks = seen["marks"]
    return Rated(
        vote=vote,
        web=seen["web"],
        answerability=seen["answerability"],
        marks=(marks[0], marks[1], marks[2]) if marks else None,
    )


def marks_of(seen: Mapping[str, Any]) -> tuple[float, float, float] | None:
    """A judge's marks for the answer, 0 to 1 each; nothing where there was no judge."""
    marks = seen["marks"]
    return (marks[0] / _FULL, marks[1] / _FULL, marks[2] / _FULL) if marks else None


def scores_of(seen: Mapping[str, Any]) -> JudgeScores | None:
    """The same as a judge gave them."""
    marks = seen["marks"]
    return JudgeScores(relevance=marks[0], factuality=marks[1], completeness=marks[2]) if marks else None


def logged_of(kind: str, seen: Mapping[str, Any]) -> Logged | None:
    """What was found for a question that was voted on; nothing where it is not known what is right."""
    if not seen["right"] or not seen["found"]:
        return None
    return _logged(kind, seen["found"], seen["right"])


def known_of(kind: str, considered: Sequence[Considered], right: Iterable[str], weight: float) -> Logged:
    """What was found for a question of which somebody wrote down the ids of the right documents.

    ``weight`` is the vectors' share of its fusion.
    """
    found = [(one.document_id, one.vector, one.keyword) for one in considered]
    return replace(_logged(kind, found, right), weight=weight)


def _logged(kind: str, rows: Sequence[Sequence[Any]], right: Iterable[str]) -> Logged:
    """Documents with their scores by vectors and keywords, each leg stretched to 0 to 1."""
    scales = [_scale([row[leg] for row in rows]) for leg in (1, 2)]
    found = tuple(
        Found(document_id=name, vector=scales[0](vector), keyword=scales[1](keyword)) for name, vector, keyword in rows
    )
    return Logged(kind=kind, found=found, right=frozenset(right))


def _scale(scores: list[float | None]) -> Callable[[float | None], float | None]:
    known = [score for score in scores if score is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)

    def scaled(score: float | None) -> float | None:
        return None if score is None else (score - low) / (high - low) if high > low else 1.0

    return scaled


def _named(document_id: str) -> str:
    return hashlib.blake2b(document_id.encode(errors="replace"), digest_size=6).hexdigest()
