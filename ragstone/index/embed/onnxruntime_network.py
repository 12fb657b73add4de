"""The network of an embedded model on ONNX Runtime, which is always installed.

The graphs of fused operators (`tools/encoder_graphs.py` wrote them) have no weights; they get them at load.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime

from ragstone.core.processors import processors

if TYPE_CHECKING:
    from ragstone.core.records import Vector

ort: Any = onnxruntime  # which has no types


class OnnxRuntimeNetwork:
    """Turns summed embeddings into token vectors; any number of threads may run it at once."""

    def __init__(self, graph: Path, weights: Mapping[str, np.ndarray], threads: int) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1  # two texts on a core each are read faster than one text on two cores
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL  # the graph is fused already
        tensors = [ort.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(value)) for value in weights.values()]
        options.add_external_initializers(list(weights), tensors)
        self.threads = threads or processors()
        self._session = ort.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])

    def run(self, embedded: Vector) -> Vector:
        """Return token vectors (texts, tokens, 384) of embeddings in that shape; no token is padding."""
        (tokens,) = self._session.run(None, {"embedded": embedded})
        return np.asarray(tokens)
