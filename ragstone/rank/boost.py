"""Boost scores by facts of question and chunk other than similarity: kind, code, keywords, length, title.

Every weight is a setting. By default bonuses are 0 and factors are 1, because such rules help only on the documents
they were made for. The history of each hit records what changed its score.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragstone.core.question import Question
from ragstone.core.records import Chunk, Hit
from ragstone.rank.history import Rated, ranked
from ragstone.settings import BoostSettings

_WORD = re.compile(r"\w+")
_SHORT = 100
"""Characters below which a chunk is short."""


def boost(hits: Sequence[Hit], question: Question, settings: BoostSettings) -> list[Hit]:
    """Return the hits with boosted scores, best first: bonuses are added, then factors applied.

    A fact that a chunk does not have adds nothing.
    """
    moved: list[Rated] = []
    for hit in hits:
        added = {name: value for name, value in _added(hit.chunk, question, settings).items() if value}
        factors = {name: value for name, value in _factors(hit.chunk, settings).items() if value != 1}
        score = hit.score + sum(added.values())
        for factor in factors.values():
            score *= factor
        notes = [f"{value:+.3g} {name}" for name, value in added.items()]
        notes += [f"x{value:.3g} {name}" for name, value in factors.items()]
        moved.append((hit, score, ", ".join(notes) or "nothing"))
    return ranked("boost", moved)


def _added(chunk: Chunk, question: Question, settings: BoostSettings) -> dict[str, float]:
    facts = chunk.facts
    return {
        "kind": settings.kind * (facts.get("chunk_kind") == question.kind),
        "code": settings.code * (question.wants_code and facts.get("is_code") is True),
        "keywords": settings.keywords * _share(question.keywords, chunk) if settings.keywords else 0.0,
        "difficulty": settings.difficulty * (facts.get("difficulty") == question.difficulty),
        "short": -settings.short * (len(chunk.text) < _SHORT),
    }


def _factors(chunk: Chunk, settings: BoostSettings) -> dict[str, float]:
    full = settings.full_length
    return {
        "length": min(1.0, len(chunk.text) / full) if full else 1.0,
        "title": settings.title if chunk.title else 1.0,
    }


def _share(keywords: Sequence[str], chunk: Chunk) -> float:
    """Return the share of the question's keywords that the chunk contains as a word or as part of an identifier."""
    if not keywords:
        return 0.0
    text = chunk.headed.lower()
    words = set(_WORD.findall(text))
    return sum(word in words or (not word.isalpha() and word in text) for word in keywords) / len(keywords)
