"""An embedder of your own: index.embedder=own.embedder:Letters."""

from collections.abc import Sequence
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from ragstone.core.protocols import Role
from ragstone.core.request import Request


class Letters:
    """Embeds a text as how often it has each letter."""

    fingerprint, dimensions = "letters-1", 27

    async def embed(self, texts: Sequence[str], *, role: Role, request: Request) -> NDArray[np.float32]:
        counts = [[1, *(text.lower().count(letter) for letter in ascii_lowercase)] for text in texts]
        vectors = np.array(counts, dtype=np.float32).reshape(-1, self.dimensions)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors
