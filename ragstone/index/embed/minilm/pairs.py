"""The packaged model that reads two texts together: a claim and its evidence, or a question and a passage.

Words and the lowest layers are those of all-MiniLM-L6-v2 (`weights`); the layers above and the heads were trained for
this (``training/``), and come with Ragstone as ``pairs.bin``: int8, with a scale for each column. The heads are linear,
so NumPy computes them.

Pairs in one input: Devlin et al. 2019, "BERT" (arXiv 1810.04805).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.readings import Judgement, Reading
from ragstone.core.records import Span
from ragstone.core.request import Request
from ragstone.index.embed.encoder import Encoded, Network, batches
from ragstone.index.embed.local import BATCH_TOKENS, CLS, SEP, MiniLM
from ragstone.index.embed.minilm.network import Precision, packaged_network
from ragstone.index.embed.minilm.weights import DIMENSIONS, FOLDER, Weights
from ragstone.index.embed.packaged import Tensors, verified_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.core.records import Vector

SHA256 = "50aaf98aff1c18b67da5bc0fbc08181e7198603b17e7a1a1fb13be608a6eeff9"
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


class PairModel:
    """Judges claims by evidence, and reads passages for a question. English; knows little of other languages."""

    def __init__(
        self,
        embedder: MiniLM,
        *,
        threads: int = 0,
        precision: Precision = "auto",
        watched: Callable[[PairWeights], Network] | None = None,
    ) -> None:
        """Load and verify the weights.

        Args:
            embedder: whose words and tokens are used.
            threads: threads of one call; 0 stands for one per core.
            precision: of the network.
            watched: makes a network to use instead, which watches what is computed.

        Raises:
            Damaged: a file of weights is not the one expected.
        """
        self._embedder, self._threads, self._given = embedder, threads, watched
        self._precision: Precision = precision
        below = Weights()
        remedy = "pip install --force-reinstall ragstone"
        self._own = Tensors(verified_map(FOLDER / "pairs.bin", SHA256, remedy), FOLDER / "pairs.json")
        self._weights = PairWeights(self._own, below)
        kinds = below.raw("type")
        self._second: Vector = kinds[1] - kinds[0]  # look_up adds that of a first text

    @cached_property
    def _network(self) -> Network:
        if self._given is not None:
            return self._given(self._weights)
        ranges = FOLDER / "pairs_ranges.json"
        return packaged_network(self._weights, ranges=ranges, precision=self._precision, threads=self._threads)

    def familiarity(self, text: str) -> float:
        """Return the share of words that are single tokens: high if the model knows the language."""
        return self._embedder.familiarity(text)

    async def judge(
        self,
        claims: Sequence[str],
        evidence: Sequence[str],
        request: Request,  # noqa: ARG002
    ) -> list[Judgement]:
        """Judge each claim by the text of the evidence beside it."""
        return await asyncio.to_thread(self._judge, claims, evidence)

    def _judge(self, claims: Sequence[str], evidence: Sequence[str]) -> list[Judgement]:
        found: dict[int, Judgement] = {}
        firsts = self._embedder.encode(claims)
        for number, second, rows in self._run(firsts, self._embedder.encode(evidence)):
            logits = self._head("label", _pooled(rows, second))
            shares = np.exp(logits - logits.max())
            supported, contradicted, unknown = (float(share) for share in shares / shares.sum())
            spans = tuple(Span(start=a, end=b) for a, b in firsts[number].offsets[: second - 2])
            found[number] = Judgement(
                supported=supported,
                contradicted=contradicted,
                unknown=unknown,
                unsupported=_sigmoid(self._head("places", rows[1 : second - 1])[:, 0]),
                spans=spans,
            )
        return [found[number] for number in range(len(claims))]

    async def read(
        self,
        question: str,
        passages: Sequence[str],
        request: Request,  # noqa: ARG002
    ) -> list[Reading]:
        """Read the question together with each passage; what exceeds `LONGEST` tokens is not read."""
        return await asyncio.to_thread(self._read, question, passages)

    def _read(self, question: str, passages: Sequence[str]) -> list[Reading]:
        found: dict[int, Reading] = {}
        seconds = self._embedder.encode(passages)
        for number, second, rows in self._run(self._embedder.encode([question]) * len(passages), seconds):
            _, evidence, starts, ends = self._head("places", rows[second:-1]).T
            found[number] = Reading(
                answers=float(self._head("answers", _pooled(rows, second))[0]),
                evidence=evidence,
                starts=starts,
                ends=ends,
                spans=tuple(Span(start=a, end=b) for a, b in seconds[number].offsets[: len(evidence)]),
            )
        return [found[number] for number in range(len(passages))]

    def _run(self, firsts: Sequence[Encoded], seconds: Sequence[Encoded]) -> list[tuple[int, int, Vector]]:
        """Return for each pair its number, where its second text begins, and its token vectors (tokens, 384)."""
        pairs: list[list[int]] = []
        begins: list[int] = []
        for first, second in zip(firsts, seconds, strict=True):
            one = first.ids[:LONGEST_FIRST]
            pairs.append([CLS, *one, SEP, *second.ids[: LONGEST - len(one) - 3], SEP])
            begins.append(len(one) + 2)
        out: list[tuple[int, int, Vector]] = []
        for batch in batches(pairs, BATCH_TOKENS):
            lengths = np.array([len(pairs[i]) for i in batch], dtype=np.int32)
            vectors = self._network.run(self._look_up([pairs[i] for i in batch], [begins[i] for i in batch]), lengths)
            out += [(i, begins[i], rows[:length]) for i, rows, length in zip(batch, vectors, lengths, strict=True)]
        return out

    def _look_up(self, pairs: Sequence[Sequence[int]], begins: Sequence[int]) -> Vector:
        ids = np.zeros((len(pairs), max(map(len, pairs))), dtype=np.int64)
        for row, pair in zip(ids, pairs, strict=True):
            row[: len(pair)] = pair
        is_second = np.arange(ids.shape[1]) >= np.array(begins)[:, None]
        return self._embedder.look_up(ids) + is_second[:, :, None] * self._second

    def _head(self, name: str, vectors: Vector) -> NDArray[np.float32]:
        return vectors @ self._own.raw(f"{name}.weight") + self._own.raw(f"{name}.bias")


def _pooled(rows: Vector, second: int) -> Vector:
    """Return the vector of the mark at the beginning, the mean and the maximum of the first text, (1152,)."""
    first = rows[1 : second - 1] if second > 2 else rows[:1]  # an empty first text
    return np.concatenate([rows[0], first.mean(axis=0), first.max(axis=0)])


def _sigmoid(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    return (1 / (1 + np.exp(-logits))).astype(np.float32)
