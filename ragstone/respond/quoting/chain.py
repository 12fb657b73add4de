"""How the quoted passages stand to the steps of the search: which led to which, and whether only one step is quoted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ragstone.core.records import Chunk, Evidence

ADDS = 0.15
"""Share of a question that a passage must add for an answer without it to rest on one step only. Most answers without
it are wrong if questions have several steps (19 of 24 of HotpotQA and MuSiQue, development parts) and right if they
have one (7 of 9 of CLAP NQ). With this limit 10 of the wrong ones are held back, and 4 of the right ones."""


class Chain:
    """The quoted passages, best first, among the steps that found the evidence."""

    def __init__(self, evidence: Evidence, quoted: Sequence[Chunk]) -> None:
        self._evidence, self._quoted = evidence, [chunk.id for chunk in quoted]
        self._steps = [step for step in evidence.steps if step.source]

    @cached_property
    def linked(self) -> list[Chunk]:
        """The passages that led to the best quoted one, directly or not, and those to which it led directly."""
        found, best = set[str](), self._quoted[0]
        before = {best}
        while before := {step.source for step in self._steps if step.target in before} - found:
            found |= before
        found |= {step.target for step in self._steps if step.source == best}
        return [hit.chunk for hit in self._evidence.hits if hit.chunk.id in found]

    @property
    def is_cut(self) -> bool:
        """Whether the best quoted passage only led on to others that add to it, and nothing of these is quoted."""
        led_to = {step.target for step in self._steps if step.source == self._quoted[0] and step.adds > ADDS}
        return bool(led_to) and not led_to.intersection(self._quoted)
