"""The packaged networks that read two texts together: a claim and its evidence, or a question and a passage.

Words and the lowest layers are those of all-MiniLM-L6-v2 (`weights`); the layers above and the heads were trained for
this (``training/``), and come with Ragstone: int8, with a scale for each column. The heads are linear, so NumPy
computes them.

Pairs in one input: Devlin et al. 2019, "BERT" (arXiv 1810.04805).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.frozen import frozen
from ragstone.core.threads import side_by_side
from ragstone.index.embed.encoder import Encoded, Network, batches
from ragstone.index.embed.local import BATCH_TOKENS, CLS, SEP, MiniLM
from ragstone.index.embed.minilm.network import packaged_network
from ragstone.index.embed.minilm.weights import DIMENSIONS, FOLDER, Weights
from ragstone.index.embed.packaged import Tensors, verified_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.core.records import Vector

LONGEST = 448
"""Tokens of a pair that are read, markers included; the second text is cut to fit. Trained on pairs up to 320."""
LONGEST_FIRST = 96
"""Tokens of the first text that are read."""
_QKV = "qkv"


class PairWeights:
    """The weights of the network: those that were trained, and below them the embedder's."""

    def __init__(self, own: Tensors, below: Weights) -> None:
        self._own, self._below = own, below

    def quantized(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return a matrix in int8 (inputs, outputs) and the scale of each column (outputs,)."""
        if f"{name}_q" in self._own:
            return self._own.raw(f"{name}_q"), self._own.raw(f"{name}_scale").ravel()
        layer, product, _ = name.split(".")
        joined = f"{layer}.qkv.weight"
        if product not in _QKV or f"{joined}_q" not in self._own:
            return self._below.quantized(name)
        columns = slice(_QKV.index(product) * DIMENSIONS, (_QKV.index(product) + 1) * DIMENSIONS)
        rows, scales = self.quantized(joined)
        return np.ascontiguousarray(rows[:, columns]), scales[columns]

    def vectors(self) -> dict[str, np.ndarray]:
        """Return the biases and the weights of normalisations."""
        return {name: self._own.raw(name) if name in self._own else one for name, one in self._below.vectors().items()}

    def tensors(self) -> dict[str, np.ndarray]:
        """Return everything that the graph in float32 names."""
        values = self._below.tensors() | self.vectors()
        for name in values:
            if f"{name}_q" in self._own:
                rows, scales = self.quantized(name)
                values[name] = rows * scales
        return values


@frozen
class Together:
    """Two texts that were read together: their place in the call, and the vectors of their tokens (tokens, 384).

    The second text begins at ``second``; a mark stands first, between the texts, and last.
    """

    number: int
    second: int
    rows: Vector

    @property
    def pooled(self) -> Vector:
        """Return the vector of the first mark, the mean and the maximum of the first text, (1152,)."""
        first = self.rows[1 : self.second - 1] if self.second > 2 else self.rows[:1]  # an empty first text
        return np.concatenate([self.rows[0], first.mean(axis=0), first.max(axis=0)])


class PairNetwork:
    """Reads pairs of texts, and computes the heads that stand above them."""

    def __init__(
        self,
        name: str,
        sha256: str,
        embedder: MiniLM,
        *,
        threads: int = 0,
        watched: Callable[[PairWeights], Network] | None = None,
    ) -> None:
        """Load and verify the weights.

        Args:
            name: of the files of the weights, without what follows the dot.
            sha256: of the weights.
            embedder: whose words and tokens are used.
            threads: pairs to read side by side; 0 stands for one per core.
            watched: makes a network to use instead, which watches what is computed.

        Raises:
            Damaged: a file of weights is not the one expected.
        """
        self._name, self._threads, self._given = name, threads, watched
        self.embedder = embedder
        below = Weights()
        remedy = "pip install --force-reinstall ragstone"
        self.tensors = Tensors(verified_map(FOLDER / f"{name}.bin", sha256, remedy), FOLDER / f"{name}.json")
        self.weights = PairWeights(self.tensors, below)
        kinds = below.raw("type")
        self._second: Vector = kinds[1] - kinds[0]  # look_up adds that of a first text

    @cached_property
    def _network(self) -> Network:
        if self._given is not None:
            return self._given(self.weights)
        ranges = FOLDER / f"{self._name}_ranges.json"
        return packaged_network(self.weights, ranges=ranges, precision="auto", threads=self._threads)

    def run(self, firsts: Sequence[Encoded], seconds: Sequence[Encoded]) -> list[Together]:
        """Read each first text with the second text beside it; what exceeds `LONGEST` tokens is not read."""
        pairs: list[list[int]] = []
        begins: list[int] = []
        for first, second in zip(firsts, seconds, strict=True):
            ids = first.ids[:LONGEST_FIRST]
            pairs.append([CLS, *ids, SEP, *second.ids[: LONGEST - len(ids) - 3], SEP])
            begins.append(len(ids) + 2)
        out: list[Together] = []
        network, cut = self._network, batches(pairs, BATCH_TOKENS)

        def read(batch: list[int]) -> Vector:
            return network.run(self._look_up([pairs[i] for i in batch], [begins[i] for i in batch]))

        for batch, vectors in zip(cut, side_by_side(read, cut, network.threads), strict=True):
            out += [Together(number=i, second=begins[i], rows=rows) for i, rows in zip(batch, vectors, strict=True)]
        return out

    def head(self, name: str, vectors: Vector) -> NDArray[np.float32]:
        """Return what a linear head says of vectors, as log odds."""
        return vectors @ self.tensors.raw(f"{name}.weight") + self.tensors.raw(f"{name}.bias")

    def _look_up(self, pairs: Sequence[Sequence[int]], begins: Sequence[int]) -> Vector:
        is_second = np.arange(len(pairs[0])) >= np.array(begins)[:, None]
        return self.embedder.look_up(np.array(pairs)) + is_second[:, :, None] * self._second
