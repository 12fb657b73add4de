"""Run the legs of a search concurrently, limit what each may return, and filter by score."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Mapping
from typing import TypeVar

import numpy as np

from ragstone.core.errors import RetrievalError
from ragstone.core.question import Question
from ragstone.core.records import Matches

Leg = TypeVar("Leg")

CONTEXT = "context"
"""Names the legs that search for the question together with what was said before it."""


async def gather(
    legs: Mapping[str, Awaitable[Matches]],
) -> tuple[dict[str, Matches], tuple[str, ...]]:
    """Run every leg concurrently. A leg that fails does not affect the others.

    Returns:
        The matches of the legs that succeeded, and a message for each leg that failed.

    Raises:
        RetrievalError: all legs failed.
    """
    results = await asyncio.gather(*legs.values(), return_exceptions=True)
    matches: dict[str, Matches] = {}
    missing: list[str] = []
    for name, result in zip(legs, results, strict=True):
        if isinstance(result, Exception):
            missing.append(f"{name} search failed: {result}")
        elif isinstance(result, BaseException):
            raise result
        else:
            matches[name] = result
    if not matches:
        raise RetrievalError("; ".join(missing))
    return matches, tuple(missing)


def allocate(question: Question, k: int, rule: str) -> dict[str, int]:
    """Return how many chunks each leg is asked for.

    The rule ``by_kind`` gives the leg that suits the question ``k`` and the other half as many, at least one. Keyword
    search suits a few words, file names and error codes; vectors suit sentences.
    """
    half = max(1, k // 2) if rule == "by_kind" else k
    return {"vector": half if question.keyword_like else k, "bm25": k if question.keyword_like else half}


def above(found: Mapping[str, Matches], cosine: float, share: float) -> dict[str, Matches]:
    """Keep matches above the thresholds: a cosine for vectors, a share of the best score for keyword search."""
    return {
        name: matches.reaching(cosine if leg_of(name) == "vector" else share * float(matches.scores[0]))
        if len(matches)
        else matches
        for name, matches in found.items()
    }


def by_document(
    legs: Mapping[str, Matches], order: Iterable[int], documents: Mapping[int, str], room: Mapping[str, int]
) -> dict[str, Matches]:
    """Return the best documents of each leg instead of chunks, each with the score of its best chunk there.

    In all legs a document stands under the row of the same chunk, the first of its chunks in ``order``.

    Args:
        legs: the chunks of each leg.
        order: the rows of all legs after fusion, best first.
        documents: the document of each row; rows that are not here are left out.
        room: how many documents each leg may return.
    """
    shown: dict[str, int] = {}
    for row in order:
        if row in documents:
            shown.setdefault(documents[row], row)
    best: dict[str, Matches] = {}
    for name, matches in legs.items():
        scores: dict[str, float] = {}
        for row, score in zip(matches.rows.tolist(), matches.scores.tolist(), strict=True):
            if row in documents:
                scores.setdefault(documents[row], score)
        kept = list(scores.items())[: room[name]]
        best[name] = Matches(
            rows=np.array([shown[document] for document, _ in kept], dtype=np.int64),
            scores=np.array([score for _, score in kept], dtype=np.float64),
        )
    return best


def further_legs(name: str, legs: Mapping[str, Leg]) -> dict[str, Leg]:
    """Return the legs under their names for something searched beside the question: ``vector 1``, ``bm25 context``."""
    return {f"{leg} {name}": run for leg, run in legs.items()}


def leg_of(name: str) -> str:
    """Return the leg of the question itself, given the name of a further leg."""
    return name.partition(" ")[0]
