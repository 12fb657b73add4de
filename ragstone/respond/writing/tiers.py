"""Ask a cheaper model first, and a more expensive one only if the first answer is not good enough."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from ragstone.core.answers import Draft, SentenceClosed, TextWritten, Turn
from ragstone.core.errors import ModelError
from ragstone.core.protocols import Answerer
from ragstone.core.records import Evidence
from ragstone.core.request import Request

Dissatisfied = Callable[[Evidence, Draft, Request], Awaitable[str]]
"""Returns why an answer is not good enough, or an empty text."""


class TieredAnswerer:
    """Two answerers as one. The draft of the cheaper one is checked as a whole before any of it is shown."""

    def __init__(self, cheap: Answerer, strong: Answerer, dissatisfied: Dissatisfied) -> None:
        self._cheap, self._strong, self._dissatisfied = cheap, strong, dissatisfied

    async def answerability(self, evidence: Evidence, request: Request) -> float:
        """Return the probability, 0 to 1, that an answer from this evidence is right."""
        return await self._strong.answerability(evidence, request)

    async def stream(
        self, evidence: Evidence, request: Request, before: Sequence[Turn] = ()
    ) -> AsyncGenerator[TextWritten | SentenceClosed | Draft]:
        """Yield the first answer if it is good enough, else the second; if the second fails, the first."""
        parts, draft, why = await self._first(evidence, request, before)
        if draft is not None and not why:
            for part in parts:
                yield part
            return
        async with aclosing(self._strong.stream(evidence, request, before)) as others:
            async for part in others:
                if not isinstance(part, Draft):
                    yield part
                elif part.degraded and draft is not None and not draft.degraded:
                    notice = f"{why}; the second model failed: {'; '.join(part.notices)}"
                    yield replace(draft, notices=(*draft.notices, notice), degraded=True)
                else:
                    yield replace(part, notices=(*part.notices, f"A second model was asked: {why}"))

    async def _first(
        self, evidence: Evidence, request: Request, before: Sequence[Turn]
    ) -> tuple[list[TextWritten | SentenceClosed | Draft], Draft | None, str]:
        """Return the parts of the cheaper answer, its draft if there is one, and why it is not good enough."""
        parts: list[TextWritten | SentenceClosed | Draft] = []
        try:
            async with aclosing(self._cheap.stream(evidence, request, before)) as stream:
                parts = [part async for part in stream]
        except ModelError as error:
            return [], None, str(error)
        draft = parts[-1]
        assert isinstance(draft, Draft), "an answerer ends with its draft"
        return parts, draft, await self._dissatisfied(evidence, draft, request)


def unproved(draft: Draft, *, least: float, abstain_below: float) -> str:
    """Return why a draft is not good enough, as far as that is known without a judge; empty if it is.

    Args:
        draft: of the cheaper model.
        least: share of its sentences that citations must support.
        abstain_below: answerability below which an abstention is right.
    """
    if draft.degraded:
        return "; ".join(draft.notices) or "the first model failed"
    if draft.abstained:
        likely = (draft.answerability or 0.0) >= abstain_below
        return "the first model found no answer in documents that likely contain one" if likely else ""
    if draft.support < least:
        return f"only {draft.support:.0%} of the first model's sentences are supported"
    return ""
