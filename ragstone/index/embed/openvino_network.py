"""The network of the embedded model on OpenVINO, in bfloat16: the ``fast`` extra.

Twice the speed of float32 where the processor multiplies bfloat16 itself (see `local.has_bfloat16`). Its vectors
agree with those of float32 to a cosine of .9999, so a knowledge base may be filled by one engine and asked by the
other.

The package openvino requires openvino-telemetry, which can tell its makers of model conversions. None is converted
here; all the same that package is kept from being loaded, and OpenVINO then falls back on its own empty stub.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.index.embed.minilm.weights import DIMENSIONS, HEADS, LAYERS, Weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.core.records import Vector

_MASKED = -1e4
"""Added to the attention paid to padding: far below any real score, and within bfloat16."""


@contextmanager
def _without_telemetry() -> Generator[None]:
    name = "openvino_telemetry"
    before = sys.modules.get(name)
    sys.modules[name] = None  # pyright: ignore[reportArgumentType]  # importing it is an ImportError
    try:
        yield
    finally:
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before


with _without_telemetry():
    import openvino as ov
    from openvino import opset13

op: Any = opset13  # whose types are not complete


class OpenVinoNetwork:
    """Summed embeddings to token vectors."""

    def __init__(self, weights: Weights, threads: int, *, bfloat16: bool) -> None:
        options = {
            "INFERENCE_NUM_THREADS": threads or os.cpu_count() or 1,
            "NUM_STREAMS": 1,
            "INFERENCE_PRECISION_HINT": "bf16" if bfloat16 else "f32",
        }
        self._request = ov.Core().compile_model(_network(weights), "CPU", options).create_infer_request()
        self._turn = threading.Lock()

    def run(self, embedded: Vector, lengths: NDArray[np.int32]) -> Vector:
        """Token vectors (texts, tokens, 384) of embeddings of that shape; ``lengths`` (texts,) are without padding."""
        real = np.arange(int(embedded.shape[1])) < lengths.reshape(-1, 1)
        mask = np.where(real, np.float32(0), np.float32(_MASKED))[:, None, None, :]
        with self._turn:  # a request serves one caller at a time, and keeps its output until the next
            return np.array(self._request.infer([embedded, mask], share_inputs=True, share_outputs=True)[0])


def _network(weights: Weights) -> ov.Model:
    embedded = op.parameter([-1, -1, DIMENSIONS], np.float32)
    mask = op.parameter([-1, 1, 1, -1], np.float32)
    heads = op.constant(np.array([0, 0, HEADS, DIMENSIONS // HEADS]))
    flat = op.constant(np.array([0, 0, DIMENSIONS]))
    swap = op.constant(np.array([0, 2, 1, 3]))

    def constant(name: str) -> ov.Node:
        return op.constant(np.ascontiguousarray(weights.matrix(name)))

    def linear(x: ov.Node, name: str) -> ov.Node:
        return op.add(op.matmul(x, constant(f"{name}.weight"), False, False), constant(f"{name}.bias"))

    def norm(x: ov.Node, name: str) -> ov.Node:
        even = op.mvn(x, op.constant(np.array([-1])), True, 1e-12, "inside_sqrt")
        return op.add(op.multiply(even, constant(f"{name}.weight")), constant(f"{name}.bias"))

    x = norm(embedded, "norm")
    for layer in range(LAYERS):
        parts = [op.transpose(op.reshape(linear(x, f"{layer}.{part}"), heads, True), swap) for part in "qkv"]
        attended = op.transpose(op.scaled_dot_product_attention(*parts, mask), swap)
        y = norm(op.add(linear(op.reshape(attended, flat, True), f"{layer}.out"), x), f"{layer}.norm1")
        inner = op.gelu(linear(y, f"{layer}.up"), "erf")
        x = norm(op.add(linear(inner, f"{layer}.down"), y), f"{layer}.norm2")
    return ov.Model([x], [embedded, mask], "all-MiniLM-L6-v2")  # pyright: ignore[reportGeneralTypeIssues]
