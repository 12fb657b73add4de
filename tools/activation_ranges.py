"""Measure the values that the inputs of the products in MiniLM's network take, for the network in int8.

    RAGSTONE_TEST_DATA=... PYTHONPATH=. python -m tools.activation_ranges [texts] [claims] [passages]     (needs onnx)

The texts are passages of the training data in several languages, and this project's own documents and code. Only the
ranges are kept: ``ranges.json`` for texts alone, and those of each model that reads two texts together.
"""

# pyright: basic, reportMissingImports=false
# onnx has no complete types, and it is installed only to run this.

from __future__ import annotations

import asyncio
import gzip
import json
import os
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from ragstone.core.request import Request
from ragstone.index.embed.local import MiniLM
from ragstone.index.embed.minilm import claim_model, passage_model
from ragstone.index.embed.minilm.int8 import shrunk, split
from ragstone.index.embed.minilm.pair_network import PairNetwork, PairWeights
from ragstone.index.embed.minilm.weights import FOLDER, LAYERS, Weights

ROOT = Path(__file__).parent.parent
SETS = ("squad1_train_part", "tydiqa_en", "squadshifts_wiki", "tatqa_text", "idk_mrc", "tydiqa_fi", "piaf", "drcd")
EACH, PIECE = 120, 1000
SITES = {"qkv": "last", "out": "attended", "up": "middle", "down": "gelu"}


class Watched:
    """A network that computes in float32 and remembers the largest and least value of each channel."""

    threads = 1

    def __init__(self, values: dict[str, np.ndarray]) -> None:
        graph = onnx.load(str(FOLDER / "graph.onnx"), load_external_data=False)
        self._names = {
            f"{layer}.{product}": ("x" if layer == 0 else f"{layer - 1}.last")
            if product == "qkv"
            else f"{layer}.{site}"
            for layer in range(LAYERS)
            for product, site in SITES.items()
        }
        graph.graph.output.extend(
            onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in self._names.values()
        )
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        tensors = [onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(one)) for one in values.values()]
        options.add_external_initializers(list(values), tensors)
        self._session = onnxruntime.InferenceSession(graph.SerializeToString(), options)
        self._high: dict[str, np.ndarray] = {}
        self._low: dict[str, np.ndarray] = {}

    def run(self, embedded: np.ndarray) -> np.ndarray:
        tokens, *inputs = map(np.asarray, self._session.run(None, {"embedded": embedded.astype(np.float32)}))
        for name, values in zip(self._names, inputs, strict=True):
            seen = values.reshape(-1, values.shape[-1])
            self._high[name] = np.maximum(self._high.get(name, 0.0), seen.max(axis=0))
            self._low[name] = np.minimum(self._low.get(name, 0.0), seen.min(axis=0))
        return tokens

    def ranges(self) -> dict[str, tuple[float, float, tuple[int, ...]]]:
        out = {}
        for name, high in self._high.items():
            low, copied = self._low[name], ()
            if name.endswith(("up", "down")):
                copied = split(np.maximum(high, -low))
                factors = shrunk(copied, len(high))
                high, low = high * factors, low * factors
            out[name] = (round(float(low.min()), 3), round(float(high.max()), 3), copied)
        return out


def passages(data: Path) -> Iterator[tuple[str, str]]:
    """Yield questions and passages; for our own files the first line stands for a question."""
    for name in SETS:
        if (path := data / "reader" / f"{name}.jsonl.gz").exists():
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                for row in map(json.loads, islice(lines, 0, 20 * EACH, 20)):
                    yield row["question"], row["passage"]
    for path in sorted([*ROOT.glob("docs/*.md"), *ROOT.glob("ragstone/core/*.py")]):
        text = path.read_text(encoding="utf-8")
        yield text.split("\n")[0], text[PIECE : 2 * PIECE]


def write(path: Path, watched: Watched) -> None:
    path.write_text(json.dumps(watched.ranges(), indent=0).replace("\n", "") + "\n", encoding="utf-8")


def main() -> None:
    given = list(passages(Path(os.environ["RAGSTONE_TEST_DATA"])))
    chosen = sys.argv[1:] or ["texts", claim_model.NAME, passage_model.NAME]
    if "texts" in chosen:
        texts = Watched(Weights().tensors())
        flat = [one for pair in given for one in pair]
        asyncio.run(MiniLM(watched=texts).embed(flat, role="passage", request=Request.by_owner()))
        write(FOLDER / "ranges.json", texts)
    for model in (claim_model, passage_model):
        if model.NAME in chosen:
            write(FOLDER / f"{model.NAME}_ranges.json", _read(model.NAME, model.SHA256, given))


def _read(name: str, sha256: str, given: Sequence[tuple[str, str]]) -> Watched:
    """Return the network of pairs after it has read all of them."""
    made: list[Watched] = []

    def watched(weights: PairWeights) -> Watched:
        made.append(Watched(weights.tensors()))
        return made[-1]

    network = PairNetwork(name, sha256, MiniLM(), watched=watched)
    for question, passage in given:
        network.run(network.embedder.encode([question]), network.embedder.encode([passage]))
    return made[0]


if __name__ == "__main__":
    main()
