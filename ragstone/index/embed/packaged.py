"""Weights that come as a Python package: verified, and read in place."""

from __future__ import annotations

import hashlib
import json
import math
import mmap
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ragstone.core.errors import Damaged


class Tensors:
    """The tensors of a file, through a JSON table of name, type, shape and offset."""

    def __init__(self, blob: mmap.mmap, table: Path) -> None:
        self._blob = blob
        self._table: dict[str, list[Any]] = json.loads(table.read_text())

    def __contains__(self, name: str) -> bool:
        return name in self._table

    def raw(self, name: str) -> np.ndarray:
        """Return a tensor as it is stored, without a copy."""
        kind: str
        shape: list[int]
        kind, shape, offset = self._table[name]
        return np.frombuffer(self._blob, kind, math.prod(shape), offset).reshape(shape)


@cache
def verified_map(path: Path, sha256: str, remedy: str) -> mmap.mmap:
    """Map a large file into memory and verify it, once for all models that have their weights in it.

    Raises:
        Damaged: it is not the file expected; ``remedy`` is the command that helps.
    """
    try:
        with path.open("rb") as file:
            blob = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        raise Damaged(f"{path.name} of the embedded model cannot be read: {error}; {remedy}") from error
    verify(path.name, blob, sha256, remedy)
    return blob


def verify(name: str, blob: bytes | mmap.mmap, sha256: str, remedy: str) -> None:
    """Refuse a file of a model that is not the one expected."""
    if hashlib.sha256(blob).hexdigest() != sha256:
        raise Damaged(f"{name} of the embedded model is not the file it should be (SHA-256 differs); {remedy}")
