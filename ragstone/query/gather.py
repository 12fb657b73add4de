"""Runs the legs of a search side by side; one that fails leaves the others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence

from ragstone.contracts import Match
from ragstone.errors import RetrievalError


async def gather(
    legs: Mapping[str, Awaitable[Sequence[Match]]],
) -> tuple[dict[str, Sequence[Match]], tuple[str, ...]]:
    """Run every leg concurrently.

    Returns:
        The matches of the legs that answered, and a sentence for each that did not.

    Raises:
        RetrievalError: none answered.
    """
    results = await asyncio.gather(*legs.values(), return_exceptions=True)
    found: dict[str, Sequence[Match]] = {}
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
