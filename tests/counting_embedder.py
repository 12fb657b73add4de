"""The embedder of the tests, with a note of every text any instance was given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from hash_embedder import HashEmbedder
from numpy.typing import NDArray

from ragstone.core.protocols import Role
from ragstone.core.request import Request

GIVEN: Counter[tuple[Role, str]] = Counter()
"""How often each text was embedded."""
MADE: list[str] = []
"""An entry for each instance."""


class CountingEmbedder(HashEmbedder):
    def __init__(self) -> None:
        super().__init__()
        MADE.append(self.fingerprint)

    async def embed(self, texts: Sequence[str], *, role: Role, request: Request) -> NDArray[np.float32]:
        GIVEN.update((role, text) for text in texts)
        return await super().embed(texts, role=role, request=request)
