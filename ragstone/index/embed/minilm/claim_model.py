"""The packaged model that judges claims by evidence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.readings import Judgement
from ragstone.core.records import Span
from ragstone.core.request import Request
from ragstone.core.threads import computed
from ragstone.index.embed.minilm.pair_network import PairNetwork

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME = "claims"
SHA256 = "50aaf98aff1c18b67da5bc0fbc08181e7198603b17e7a1a1fb13be608a6eeff9"


class ClaimModel:
    """Judges claims by evidence. English; knows little of other languages."""

    def __init__(self, network: PairNetwork) -> None:
        self._network = network

    def familiarity(self, text: str) -> float:
        """Return the share of words that are single tokens: high if the model knows the language."""
        return self._network.embedder.familiarity(text)

    async def judge(
        self,
        claims: Sequence[str],
        evidence: Sequence[str],
        request: Request,
    ) -> list[Judgement]:
        """Judge each claim by the text of the evidence beside it."""
        return await computed(partial(self._judge, claims, evidence), can_wait=request.can_wait)

    def _judge(self, claims: Sequence[str], evidence: Sequence[str]) -> list[Judgement]:
        network, judgements = self._network, dict[int, Judgement]()
        firsts = network.embedder.encode(claims)
        for pair in network.run(firsts, network.embedder.encode(evidence)):
            logits = network.head("label", pair.pooled)
            shares = np.exp(logits - logits.max())
            supported, contradicted, unknown = (float(share) for share in shares / shares.sum())
            spans = tuple(Span(start=a, end=b) for a, b in firsts[pair.number].offsets[: pair.second - 2])
            judgements[pair.number] = Judgement(
                supported=supported,
                contradicted=contradicted,
                unknown=unknown,
                unsupported=_sigmoid(network.head("places", pair.rows[1 : pair.second - 1])[:, 0]),
                spans=spans,
            )
        return [judgements[number] for number in range(len(claims))]


def _sigmoid(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    return (1 / (1 + np.exp(-logits))).astype(np.float32)
