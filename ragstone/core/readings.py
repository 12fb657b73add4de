"""What a model says of two texts that it reads together."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from ragstone.core.frozen import frozen
from ragstone.core.records import Span

if TYPE_CHECKING:
    from ragstone.core.records import Vector


@frozen
class Judgement:
    """The verdict of a model that read a claim and its evidence.

    ``supported``, ``contradicted`` and ``unknown`` are probabilities that sum to 1. ``unsupported`` (tokens,) is the
    probability, for each token of the claim, that nothing in the evidence supports it; ``spans`` locate the tokens.
    """

    supported: float
    contradicted: float
    unknown: float
    unsupported: Vector
    spans: tuple[Span, ...]


@frozen
class Reading:
    """What a model that read a question together with a passage says of the passage.

    ``answers`` is the log odds that the passage answers the question. For each token that was read, ``evidence``,
    ``starts`` and ``ends`` (tokens,) are the log odds that it belongs to the evidence, and that a short answer starts
    or ends there. ``spans`` locate the tokens; a long passage may have more.
    """

    answers: float
    evidence: Vector
    starts: Vector
    ends: Vector
    spans: tuple[Span, ...]

    def of(self, within: Span) -> tuple[float, float]:
        """Return how likely a part of the passage is evidence, and how likely it holds a short answer.

        The first is the mean of ``evidence``, the second the sum of the largest ``starts`` and ``ends``. A part that
        was not read counts as the least likely token.
        """
        first = bisect_right(self.spans, within.start, key=lambda span: span.end)
        last = bisect_left(self.spans, within.end, key=lambda span: span.start)
        if first >= last:
            evidence, starts, ends = (one.min(initial=0.0) for one in (self.evidence, self.starts, self.ends))
            return float(evidence), float(starts + ends)
        evidence, starts, ends = (one[first:last] for one in (self.evidence, self.starts, self.ends))
        return float(evidence.mean()), float(starts.max() + ends.max())
