"""What a check of a sentence returns, and the protocol of those who check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ragstone.core.answers import FLAGGED, State
from ragstone.core.frozen import frozen
from ragstone.core.records import Hit
from ragstone.core.request import Request
from ragstone.respond.proof.said import NOTHING, Said
from ragstone.respond.quote import Quote


@frozen
class Proof:
    """The state of a sentence, how strongly the evidence supports it (0 to 1), and the quotes to show with it.

    A contradicted or missing sentence has a ``reason`` in a reader's words, and ``unsupported``, the parts of the
    sentence that are wrong or stand nowhere, where they are known.
    """

    state: State
    support: float
    quotes: tuple[Quote, ...] = ()
    reason: str = ""
    unsupported: tuple[str, ...] = ()

    @property
    def supported(self) -> bool:
        """Whether the evidence supports the sentence."""
        return self.state == "supported"

    @property
    def flagged(self) -> bool:
        """Whether the evidence denies or lacks the sentence."""
        return self.state in FLAGGED


UNCHECKED = Proof(state="unchecked", support=0.0)


class Checker(Protocol):
    """Checks sentences against evidence."""

    def read_ahead(self, hits: Sequence[Hit]) -> object:
        """Return what is read of the evidence; while the caller holds it, nothing of this is read a second time."""
        ...

    async def check(
        self, sentence: str, hits: Sequence[Hit], request: Request, before: Said = NOTHING, named: int = 0
    ) -> Proof:
        """Return the proof of a sentence.

        Args:
            sentence: without citation markers.
            hits: the evidence; the first ``named`` are the passages that the writer cites for the sentence.
            request: who asks.
            before: what the question and the preceding sentences of the answer have said.
            named: how many hits the writer cites.
        """
        ...
