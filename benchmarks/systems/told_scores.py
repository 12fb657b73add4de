"""An embedder that does as a text says: ``similarity 0.89`` has that cosine with every question."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragstone.core.protocols import Role
from ragstone.core.records import Span
from ragstone.core.request import Request

_TOLD = re.compile(r"similarity (0\.\d+)")
_WORD = re.compile(r"\w+")


class ToldScores:
    """Named as ``index.embedder=benchmarks.systems.told_scores:ToldScores``."""

    dimensions = 2
    fingerprint = "told-scores-1"

    def familiarity(self, text: str) -> float:
        return 1.0 if text else 0.0

    def tokens(self, text: str) -> list[Span]:
        return [Span(start=one.start(), end=one.end()) for one in _WORD.finditer(text)]

    async def embed(self, texts: Sequence[str], *, role: Role, request: Request) -> NDArray[np.float32]:
        del request
        told = [_TOLD.search(text) if role == "passage" else None for text in texts]
        cosines = [1.0 if role == "query" else float(one[1]) if one else 0.0 for one in told]
        return np.array([(cosine, math.sqrt(1 - cosine * cosine)) for cosine in cosines], dtype=np.float32)
