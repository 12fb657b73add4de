"""The network of the packaged weights on ONNX Runtime, in int8 or float32."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from ragstone.index.embed.minilm import int8
from ragstone.index.embed.minilm.weights import FOLDER

if TYPE_CHECKING:
    from ragstone.index.embed.encoder import Network

Precision = Literal["auto", "int8", "float32"]
"""``auto`` is int8 if the processor has the instructions for it, else float32."""


class NetworkWeights(Protocol):
    """The weights of a network, in both precisions."""

    def vectors(self) -> dict[str, np.ndarray]:
        """Return the biases and the weights of normalisations."""
        ...

    def quantized(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return a matrix in int8 (inputs, outputs) and the scale of each column (outputs,)."""
        ...

    def tensors(self) -> dict[str, np.ndarray]:
        """Return everything that the graph in float32 names."""
        ...


def packaged_network(weights: NetworkWeights, *, ranges: Path, precision: Precision, threads: int) -> Network:
    """Load the network.

    Args:
        weights: of the network.
        ranges: the file with the ranges of its inputs, for int8.
        precision: in which it computes.
        threads: windows to read side by side; 0 stands for one per core.
    """
    from ragstone.index.embed.onnxruntime_network import OnnxRuntimeNetwork

    if precision == "int8" or (precision == "auto" and int8.is_fast()):
        values = int8.tensors(weights.vectors(), weights.quantized, int8.ranges(ranges))
        return OnnxRuntimeNetwork(int8.GRAPH, values, threads)
    return OnnxRuntimeNetwork(FOLDER / "graph.onnx", weights.tensors(), threads)
