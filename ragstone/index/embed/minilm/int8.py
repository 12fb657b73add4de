"""The network in int8, twice as fast where the processor multiplies bytes.

The packaged matrices are int8 already. Here the inputs of each product are rounded to a byte as well, with a scale that
was measured once (``ranges.json``, by ``tools/activation_ranges.py``), so that a vector does not depend on the texts
beside it. A few channels of the feed-forward layers have values far above all others; they are split into copies, of
which each holds a part, so that the scale of the rest stays fine (outlier channel splitting: Zhao et al. 2019, arXiv
1901.09504). Text vectors agree with those in float32 to a cosine of .998.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from ragstone.core.frozen import frozen
from ragstone.index.embed.minilm.weights import DIMENSIONS, FOLDER, LAYERS

GRAPH = FOLDER / "int8.onnx"
INNER = 4 * DIMENSIONS
WIDTHS = {"qkv": DIMENSIONS, "out": DIMENSIONS, "up": DIMENSIONS, "down": INNER}
"""Channels of the input of each product."""
SPLIT = 8
"""Copies added to the inputs of the products ``up`` and ``down``."""
LEVELS = 255

Quantized = Callable[[str], tuple[np.ndarray, np.ndarray]]
"""Returns a matrix by its name, int8 (inputs, outputs), and the scale of each column (outputs,)."""


@frozen
class Range:
    """The values that an input takes once its outlier channels are split; ``copied`` names a channel once per copy."""

    low: float
    high: float
    copied: tuple[int, ...] = ()


def ranges(path: Path) -> dict[str, Range]:
    """Read the ranges of all inputs, by the name of the product, such as ``0.up``."""
    return {
        name: Range(low=low, high=high, copied=tuple(copied))
        for name, (low, high, copied) in json.loads(path.read_text(encoding="utf-8")).items()
    }


def tensors(
    vectors: Mapping[str, np.ndarray], quantized: Quantized, ranges: Mapping[str, Range]
) -> dict[str, np.ndarray]:
    """Return everything that the graph names.

    Args:
        vectors: biases and the weights of normalisations, by name.
        quantized: the matrices.
        ranges: the range of each input.
    """
    values = dict(vectors)
    for layer in range(LAYERS):
        for product, width in WIDTHS.items():
            name = f"{layer}.{product}"
            bounds = ranges[name]
            scale = (bounds.high - bounds.low) / LEVELS
            values[f"{name}.input.scale"] = np.array([scale], dtype=np.float32)
            values[f"{name}.input.zero"] = np.array([round(-bounds.low / scale)], dtype=np.uint8)
            if bounds.copied:
                values[f"{name}.input.shrink"] = shrunk(bounds.copied, width)
                values[f"{name}.input.copied"] = np.array(bounds.copied, dtype=np.int64)
            for matrix in (f"{layer}.{head}" for head in "qkv") if product == "qkv" else (name,):
                rows, scales = quantized(f"{matrix}.weight")
                if bounds.copied:
                    rows = np.concatenate([rows, rows[list(bounds.copied)]])
                values[f"{matrix}.weight"] = rows
                values[f"{matrix}.scale"] = scales
    return values


def shrunk(copied: tuple[int, ...], width: int) -> np.ndarray:
    """Return the factor of each channel: one divided by how often it is there, float32 (width,)."""
    factors = np.ones(width, dtype=np.float32)
    for channel, copies in Counter(copied).items():
        factors[channel] = 1 / (1 + copies)
    return factors


def split(largest: np.ndarray, copies: int = SPLIT) -> tuple[int, ...]:
    """Return the channels to copy, one after the other where the values are largest.

    Args:
        largest: the largest absolute value of each channel, (channels,).
        copies: how many.
    """
    counts = np.ones(len(largest))
    chosen: list[int] = []
    for _ in range(copies):
        channel = int((largest / counts).argmax())
        counts[channel] += 1
        chosen.append(channel)
    return tuple(sorted(chosen))


def is_fast(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Return whether the processor multiplies bytes with exact sums; False if the system does not say.

    Older ones may overflow in between, and gain little.
    """
    try:
        words = set(cpuinfo.read_text(encoding="utf-8").split())
    except OSError:
        return False
    return bool({"avx512_vnni", "avx_vnni", "amx_int8"} & words)
