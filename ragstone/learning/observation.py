"""Observations: the figures of an answer that was voted on, kept in the log when the answer itself is gone.

An observation holds no text. Documents are hashes of their ids: a replay must tell them apart, not name them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, replace

from ragstone.core.answers import JudgeScores, sure
from ragstone.core.frozen import frozen
from ragstone.core.records import Considered
from ragstone.history.responses import Response
from ragstone.learning.policy import canonical_json

_BEST_MARK = 10.0
Scored = tuple[str, float | None, float | None]
"""A document and its scores in vector and keyword search; None if that search did not find it."""


@frozen
class ReplayCase:
    """The documents found for a question, with scores of each search scaled to 0 to 1, and which are relevant.

    ``vector_weight`` is the weight of vector search when the settings leave it to the question.
    """

    kind: str
    found: tuple[Considered, ...]
    relevant: Collection[str]
    vector_weight: float = 0.5

    @classmethod
    def of_question(
        cls, kind: str, considered: Sequence[Considered], relevant: Iterable[str], vector_weight: float
    ) -> ReplayCase:
        """Build from a search for a question whose relevant documents are known by their ids."""
        rows = [(one.document_id, one.vector, one.keyword) for one in considered]
        return replace(_replay_case(kind, rows, relevant), vector_weight=vector_weight)


@frozen
class Observation:
    """The figures of an answer. ``marks`` are the judge's for relevance, factuality and completeness, 0 to 10.

    ``answerability`` is None if it was not estimated, and ``rightness`` in logs that are older than it.
    """

    answerability: float | None = 0.5
    support: float = 1.0
    rightness: float | None = None
    marks: tuple[float, float, float] | None = None
    confidence: float = 0.0
    abstained: bool = False
    web: bool = False
    found: tuple[Scored, ...] = ()
    right: tuple[str, ...] = ()

    @classmethod
    def of(cls, response: Response, vote: int, correction: str) -> Observation:
        """Build from an answer that was voted on.

        Args:
            response: the answer.
            vote: 1 or -1. The sources of a liked answer are right.
            correction: id of the document that would have been right, or nothing.
        """
        answer = response.answer
        marks = answer["judge_scores"]
        liked = [one["document_id"] for one in answer["sources"] if one["type"] == "internal"]
        right = liked if vote > 0 else [correction] if correction else []
        return cls(
            answerability=answer["answerability"],
            support=answer["support"],
            rightness=answer["rightness"],
            marks=(marks["relevance"], marks["factuality"], marks["completeness"]) if marks else None,
            confidence=answer["confidence"],
            abstained=answer["abstained"] or answer["outcome"] == "reply",  # a reply has no estimate to learn from
            web=answer["web_search_triggered"],
            found=tuple((_hashed(one.document_id), one.vector, one.keyword) for one in response.considered),
            right=tuple(sorted({_hashed(one) for one in right})),
        )

    @property
    def sure(self) -> float:
        """The probability, without a judge, that the answer is right."""
        return sure(self.answerability, self.support, self.rightness)

    @property
    def scores(self) -> JudgeScores | None:
        """The marks as the judge gave them."""
        if self.marks is None:
            return None
        return JudgeScores(relevance=self.marks[0], factuality=self.marks[1], completeness=self.marks[2])

    @property
    def mark_shares(self) -> tuple[float, ...] | None:
        """The marks as shares of the best mark."""
        return tuple(mark / _BEST_MARK for mark in self.marks) if self.marks else None

    def replay_case(self, kind: str) -> ReplayCase | None:
        """Return the case for replays; None if no relevant document is known."""
        return _replay_case(kind, self.found, self.right) if self.right and self.found else None

    def to_json(self) -> str:
        """Return the observation as one canonical line."""
        values = asdict(self)
        if self.rightness is None:  # as older code wrote it
            del values["rightness"]
        return canonical_json(values)

    @classmethod
    def from_json(cls, text: str) -> Observation:
        """Return the observation that `to_json` wrote."""
        values = json.loads(text)
        marks = values["marks"]
        scored = tuple((document, vector, keyword) for document, vector, keyword in values["found"])
        return cls(
            **values
            | {
                "marks": (marks[0], marks[1], marks[2]) if marks else None,
                "found": scored,
                "right": tuple(values["right"]),
            }
        )


def _replay_case(kind: str, rows: Sequence[Scored], relevant: Iterable[str]) -> ReplayCase:
    by_vector, by_keyword = _scale([row[1] for row in rows]), _scale([row[2] for row in rows])
    scored = (
        Considered(document_id=document, vector=by_vector(vector), keyword=by_keyword(keyword))
        for document, vector, keyword in rows
    )
    return ReplayCase(kind=kind, found=tuple(scored), relevant=frozenset(relevant))


def _scale(scores: Sequence[float | None]) -> Callable[[float | None], float | None]:
    """Return the function that scales known scores to 0 to 1."""
    known = [score for score in scores if score is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)

    def scaled(score: float | None) -> float | None:
        return None if score is None else (score - low) / (high - low) if high > low else 1.0

    return scaled


def _hashed(document_id: str) -> str:
    return hashlib.blake2b(document_id.encode(errors="replace"), digest_size=6).hexdigest()
