"""Write what was trained as Ragstone's package data: claims.bin or passages.bin, and the table of its tensors.

    python -m training.export FOLDER/last.npz claims|passages [ragstone/index/embed/minilm]

Matrices become int8 with a scale for each column, the rest stays float32. Prints the SHA-256 that goes into
``claim_model`` or ``passage_model`` there. ``python -m tools.activation_ranges`` then measures the ranges for int8.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TARGET = Path(__file__).parent.parent / "ragstone" / "index" / "embed" / "minilm"


def quantised(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return a matrix (in, out) as int8 and the scale of each column, (1, out)."""
    largest: NDArray[np.float32] = np.abs(matrix).max(axis=0, keepdims=True)
    scale = np.maximum(largest, 1e-12).astype(np.float32) / np.float32(127)
    return np.round(matrix / scale).astype(np.int8), scale.astype(np.float32)


def tensors(saved: Path) -> dict[str, np.ndarray]:
    """Return the tensors to ship, by the names of the graph."""
    out: dict[str, np.ndarray] = {}
    with np.load(saved, allow_pickle=False) as arrays:
        for key in arrays.files:
            if not key.startswith("value/"):
                continue
            name, value = key.removeprefix("value/").removeprefix("layers."), arrays[key].astype(np.float32)
            if value.ndim == 1:
                out[name] = value
            elif name.split(".")[0].isdigit():
                out[f"{name}_q"], out[f"{name}_scale"] = quantised(value.T)
            else:  # the heads, which are small
                out[name] = np.ascontiguousarray(value.T)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("saved", type=Path)
    parser.add_argument("name", choices=("claims", "passages"))
    parser.add_argument("target", type=Path, nargs="?", default=TARGET)
    given = parser.parse_args()
    table: dict[str, list[object]] = {}
    blob = bytearray()
    for name, value in sorted(tensors(given.saved).items(), key=lambda item: -item[1].itemsize):  # aligned
        table[name] = ["i1" if value.dtype == np.int8 else "f4", list(value.shape), len(blob)]
        blob += np.ascontiguousarray(value).tobytes()
    (given.target / f"{given.name}.bin").write_bytes(blob)
    (given.target / f"{given.name}.json").write_text(json.dumps(table, separators=(",", ":")) + "\n")
    print(f"{len(blob) / 1e6:.1f} MB", hashlib.sha256(blob).hexdigest())


if __name__ == "__main__":
    main()
