"""The packaged model that reads passages for a question."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ragstone.core.readings import Reading
from ragstone.core.records import Span
from ragstone.core.request import Request
from ragstone.core.threads import computed
from ragstone.index.embed.minilm.pair_network import PairNetwork

NAME = "passages"
SHA256 = "76a98fbef0b7a5bda2b187115a6976d2b1e36415a9c45c9ffc8ab1d5abd303c9"


class PassageModel:
    """Reads passages for a question. English; knows little of other languages."""

    def __init__(self, network: PairNetwork) -> None:
        self._network = network

    def familiarity(self, text: str) -> float:
        """Return the share of words that are single tokens: high if the model knows the language."""
        return self._network.embedder.familiarity(text)

    async def read(
        self,
        question: str,
        passages: Sequence[str],
        request: Request,
    ) -> list[Reading]:
        """Read the question together with each passage; the end of a long one is not read."""
        return await computed(partial(self._read, question, passages), can_wait=request.can_wait)

    def _read(self, question: str, passages: Sequence[str]) -> list[Reading]:
        network, readings = self._network, dict[int, Reading]()
        seconds = network.embedder.encode(passages)
        for pair in network.run(network.embedder.encode([question]) * len(passages), seconds):
            _, evidence, starts, ends = network.head("places", pair.rows[pair.second : -1]).T
            readings[pair.number] = Reading(
                answers=float(network.head("answers", pair.pooled)[0]),
                evidence=evidence,
                starts=starts,
                ends=ends,
                spans=tuple(Span(start=a, end=b) for a, b in seconds[pair.number].offsets[: len(evidence)]),
            )
        return [readings[number] for number in range(len(passages))]
