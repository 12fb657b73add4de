"""A cheaper model first, and the dearer one only where that does not satisfy."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from ragstone.answers import Draft, SentenceClosed, TextWritten, Turn
from ragstone.contracts import Evidence
from ragstone.errors import ModelError
from ragstone.protocols import Answerer

Dissatisfied = Callable[[Evidence, Draft], Awaitable[str]]
"""Why an answer does not satisfy; empty where it does."""


class TieredAnswerer:
    """Two answerers as one. What the cheaper one writes is looked at whole before any of it is shown."""

    def __init__(self, cheap: Answerer, dear: Answerer, dissatisfied: Dissatisfied) -> None:
        """Take the two, and what an answer of the first must satisfy."""
        self._cheap, self._dear, self._dissatisfied = cheap, dear, dissatisfied

    async def answerability(self, evidence: Evidence) -> float:
        """The probability, 0 to 1, that the evidence answers its question."""
        return await self._dear.answerability(evidence)

    async def stream(
        self, evidence: Evidence, before: Sequence[Turn] = ()
    ) -> AsyncGenerator[TextWritten | SentenceClosed | Draft]:
        """The first answer, if it satisfies; otherwise the second as it is made, and if that fails the first."""
        parts, draft, why = await self._first(evidence, before)
        if draft is not None and not why:
            for part in parts:
                yield part
            return
        async with aclosing(self._dear.stream(evidence, before)) as others:
            async for part in others:
                if not isinstance(part, Draft):
                    yield part
                elif part.degraded and draft is not None and not draft.degraded:
                    told = f"{why}; and the second model failed: {'; '.join(part.notices)}"
                    yield replace(draft, notices=(*draft.notices, told), degraded=True)
                else:
                    yield replace(part, notices=(*part.notices, f"a second model was asked: {why}"))

    async def _first(
        self, evidence: Evidence, before: Sequence[Turn]
    ) -> tuple[list[TextWritten | SentenceClosed | Draft], Draft | None, str]:
        """What the cheaper one made, its draft if there is one, and why it does not satisfy."""
        parts: list[TextWritten | SentenceClosed | Draft] = []
        try:
            async with aclosing(self._cheap.stream(evidence, before)) as made:
                parts = [part async for part in made]
        except ModelError as error:
            return [], None, str(error)
        draft = parts[-1]
        assert isinstance(draft, Draft), "an answerer ends with its draft"
        return parts, draft, await self._dissatisfied(evidence, draft)


def unproved(draft: Draft, *, least: float, abstain_below: float) -> str:
    """Why a draft does not satisfy by what is known of it without a judge; empty where it does.

    Args:
        draft: of the cheaper model.
        least: share of its sentences that citations must prove.
        abstain_below: evidence less likely to answer lets everyone abstain.
    """
    if draft.degraded:
        return "; ".join(draft.notices) or "the first model failed"
    if draft.abstained:
        likely = draft.answerability >= abstain_below
        return "the first model found no answer in documents that likely have one" if likely else ""
    if draft.support < least:
        return f"only {draft.support:.0%} of the first model's sentences are proved"
    return ""
