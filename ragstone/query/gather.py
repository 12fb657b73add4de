"""Runs the legs of a search side by side; one that fails leaves the others. How much each may bring, and how good."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from typing import TypeVar

from ragstone.contracts import Matches, QueryAnalysis
from ragstone.errors import RetrievalError

Leg = TypeVar("Leg")


async def gather(
    legs: Mapping[str, Awaitable[Matches]],
) -> tuple[dict[str, Matches], tuple[str, ...]]:
    """Run every leg concurrently.

    Returns:
        The matches of the legs that answered, and a sentence for each that did not.

    Raises:
        RetrievalError: none answered.
    """
    results = await asyncio.gather(*legs.values(), return_exceptions=True)
    found: dict[str, Matches] = {}
    missing: list[str] = []
    for name, result in zip(legs, results, strict=True):
        if isinstance(result, Exception):
            missing.append(f"{name} search failed: {result}")
        elif isinstance(result, BaseException):
            raise result
        else:
            found[name] = result
    if not found:
        raise RetrievalError("; ".join(missing))
    return found, tuple(missing)


def allocate(question: QueryAnalysis, k: int, rule: str) -> dict[str, int]:
    """How many chunks each leg is asked for.

    By kind, the leg that suits the question gets all ``k`` and the other half of them, one at least: keyword search
    for a few words, names of files and the like, vectors for sentences.
    """
    half = max(1, k // 2) if rule == "by_kind" else k
    return {"vector": half if question.keyword_like else k, "bm25": k if question.keyword_like else half}


def above(found: Mapping[str, Matches], cosine: float, share: float) -> dict[str, Matches]:
    """What reaches the thresholds: a cosine for vectors, a share of the best score for keyword search."""
    return {
        name: matches.reaching(cosine if leg_of(name) == "vector" else share * float(matches.scores[0]))
        if len(matches)
        else matches
        for name, matches in found.items()
    }


def beside(number: int, legs: Mapping[str, Leg]) -> dict[str, Leg]:
    """The same legs under the names they have for a variation of the question: ``vector 1``, ``bm25 1``."""
    return {f"{name} {number}": leg for name, leg in legs.items()}


def leg_of(name: str) -> str:
    """The leg that looks for the question itself, of one that looks for a variation."""
    return name.partition(" ")[0]
