"""What the embedded models share: texts to windows, windows to token vectors, token vectors to one for each text.

Pooling: Reimers and Gurevych 2019, "Sentence-BERT" (arXiv 1908.10084): the mean over all tokens, markers included.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ragstone.contracts import Span, TokenVectors

if TYPE_CHECKING:
    from ragstone.contracts import Vector
    from ragstone.protocols import Role


class Encoded(Protocol):
    """A text as a tokenizer cuts it."""

    @property
    def ids(self) -> list[int]: ...

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """The characters each token stands for."""
        ...


class Network(Protocol):
    """The layers of a model, on some engine."""

    def run(self, embedded: Vector, lengths: np.ndarray) -> Vector:
        """Token vectors (texts, tokens, dimensions) of what was looked up; ``lengths`` (texts,) are without padding."""
        ...


class Encoder(ABC):
    """A transformer that gives one vector for each token."""

    dimensions: int
    window: int
    """Tokens read at once, without markers; longer texts are read in windows of nearly equal length."""
    batch_tokens: int
    """Tokens computed at once, padding included; 1: each window by itself."""
    before: Mapping[Role, Sequence[int]]
    """Ids that stand before a window, by what the text is read as."""
    after: Sequence[int]
    """Ids that stand behind it."""

    @abstractmethod
    def _encode(self, texts: Sequence[str]) -> Sequence[Encoded]:
        """The tokens of each text, however long, without markers."""

    @abstractmethod
    def _look_up(self, ids: np.ndarray) -> Vector:
        """What the network reads for ids (windows, longest): words and places (windows, longest, dimensions)."""

    @abstractmethod
    def _network_for(self, windows: Sequence[Sequence[int]]) -> Network:
        """What computes these windows."""

    def _apart(self, vectors: Vector) -> Vector:
        """Token vectors (tokens, dimensions) as they can be compared with one another, L2-normalised."""
        return unit(vectors)

    def tokens(self, text: str) -> list[Span]:
        """The tokens of a text, however long, in order."""
        return [Span(start=start, end=end) for start, end in self._encode([text])[0].offsets]

    async def embed(self, texts: Sequence[str], *, role: Role) -> Vector:
        """Mean of the token vectors of each text, L2-normalised; a long text is read in windows."""
        return await asyncio.to_thread(self._embed, texts, role)

    async def embed_tokens(self, texts: Sequence[str], *, role: Role) -> list[TokenVectors]:
        """The vectors of the text's own tokens, L2-normalised, each read within its window."""
        return await asyncio.to_thread(self._embed_tokens, texts, role)

    def _embed(self, texts: Sequence[str], role: Role) -> Vector:
        owners, windows = self._windows(self._encode(texts), role)
        sums = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        network = self._network_for(windows)
        for batch in self._batches(windows):
            vectors, lengths = self._run(network, [windows[i] for i in batch])
            real = np.arange(vectors.shape[1]) < lengths[:, None]
            np.add.at(sums, [owners[i] for i in batch], np.einsum("btd,bt->bd", vectors, real))
        return unit(sums)

    def _embed_tokens(self, texts: Sequence[str], role: Role) -> list[TokenVectors]:
        encoded = self._encode(texts)
        owners, windows = self._windows(encoded, role)
        first, behind = len(self.before[role]), len(self.after)
        parts: list[list[Vector]] = [[] for _ in texts]
        found: dict[int, Vector] = {}
        network = self._network_for(windows)
        for batch in self._batches(windows):
            vectors, lengths = self._run(network, [windows[i] for i in batch])
            for i, rows, length in zip(batch, vectors, lengths, strict=True):
                found[i] = rows[first : length - behind]
        for i, owner in enumerate(owners):
            parts[owner].append(found[i])
        out = []
        for one, part in zip(encoded, parts, strict=True):
            vectors = self._apart(np.concatenate(part))
            out.append(TokenVectors(vectors=vectors, spans=tuple(Span(start=a, end=b) for a, b in one.offsets)))
        return out

    def _run(self, network: Network, windows: list[list[int]]) -> tuple[Vector, np.ndarray]:
        """Token vectors (windows, longest, dimensions), markers and padding included, and lengths (windows,)."""
        lengths = np.array([len(window) for window in windows], dtype=np.int32)
        ids = np.zeros((len(windows), int(lengths.max())), dtype=np.int64)
        for row, window in zip(ids, windows, strict=True):
            row[: len(window)] = window
        return network.run(self._look_up(ids), lengths), lengths

    def _windows(self, encoded: Sequence[Encoded], role: Role) -> tuple[list[int], list[list[int]]]:
        """Token ids cut into windows, markers included, and the text each window is of."""
        owners, windows = [], []
        for owner, one in enumerate(encoded):
            ids = one.ids
            count = max(1, -(-len(ids) // self.window))
            edges = [len(ids) * i // count for i in range(count + 1)]
            for start, end in pairwise(edges):
                owners.append(owner)
                windows.append([*self.before[role], *ids[start:end], *self.after])
        return owners, windows

    def _batches(self, windows: Sequence[Sequence[int]]) -> list[list[int]]:
        """Indices of the windows in batches of like length, so that next to nothing is spent on padding."""
        batches: list[list[int]] = []
        for i in sorted(range(len(windows)), key=lambda i: len(windows[i])):
            width = len(windows[i])  # it is the longest so far, and its batch is padded to it
            if not batches or (len(batches[-1]) + 1) * width > self.batch_tokens:
                batches.append([])
            batches[-1].append(i)
        return batches


def unit(vectors: Vector) -> Vector:
    """Rows of length one."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
