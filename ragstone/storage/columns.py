"""Arrays in one file: written once, then mapped, never changed.

The manifest of the index describes the file with a `Described`, which has its checksums.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.core.frozen import frozen
from ragstone.storage.disk import new_file
from ragstone.storage.files import checksum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]

CHECKED_AT_ONCE = 64 << 20
"""Bytes. When a larger file is opened, only its first array is checked."""
_ALIGNED = 64


@frozen
class Column:
    """An array that may be larger than memory: its type, its shape, and its content in pieces."""

    dtype: str
    shape: tuple[int, ...]
    pieces: Iterable[NDArray[Any]] = ()

    @property
    def size(self) -> int:
        return prod(self.shape) * np.dtype(self.dtype).itemsize


@frozen
class Described:
    """A file: its name, type and shape of each array, and the CRC-32 of the first array and of the file."""

    name: str
    columns: Mapping[str, Column]
    first: int
    whole: int

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Described:
        """Return what `to_json` wrote; raise ``KeyError``, ``TypeError`` or ``ValueError`` for anything else."""
        columns = {
            str(name): Column(dtype=str(dtype), shape=tuple(map(int, shape)))
            for name, (dtype, shape) in value["columns"].items()
        }
        return cls(name=str(value["name"]), columns=columns, first=int(value["first"]), whole=int(value["whole"]))

    def to_json(self) -> dict[str, Any]:
        columns = {name: [column.dtype, list(column.shape)] for name, column in self.columns.items()}
        return {"name": self.name, "columns": columns, "first": self.first, "whole": self.whole}


def write_columns(path: Path, columns: Mapping[str, Column]) -> Described:
    """Write arrays to a new file; its content is durable, its name once the folder is synced."""
    first = whole = 0
    with new_file(path) as file:
        for number, column in enumerate(columns.values()):
            written = 0
            for piece in column.pieces:
                if piece.size:
                    data = np.ascontiguousarray(piece, dtype=column.dtype).reshape(-1).view(np.uint8).data
                    file.write(data)
                    whole, written = zlib.crc32(data, whole), written + len(data)
            if written != column.size:
                raise ValueError(f"{path} was given {written} bytes where {column.size} were announced")
            first = first if number else whole
            padding = bytes(-written % _ALIGNED)
            file.write(padding)
            whole = zlib.crc32(padding, whole)
    return Described(name=path.name, columns=columns, first=first, whole=whole)


def map_columns(folder: Path, described: Described) -> Arrays:
    """Return the arrays of a file, mapped.

    Raises:
        ValueError: the file is damaged.
        OSError: it is missing.
    """
    path = folder / described.name
    sizes = [column.size + -column.size % _ALIGNED for column in described.columns.values()]
    if path.stat().st_size != sum(sizes) or not sum(sizes):
        raise ValueError(f"{path} does not have the size it was written with")
    if sum(sizes) <= CHECKED_AT_ONCE:
        verify(folder, described)
    content = np.memmap(path, dtype=np.uint8, mode="r").view(np.ndarray)
    arrays: dict[str, NDArray[Any]] = {}
    start = 0
    for (name, column), size in zip(described.columns.items(), sizes, strict=True):
        arrays[name] = content[start : start + column.size].view(column.dtype).reshape(column.shape)
        start += size
    if zlib.crc32(content[: next(iter(described.columns.values())).size].data) != described.first:
        raise ValueError(f"{path} is not what was written")
    return arrays


def verify(folder: Path, described: Described) -> None:
    """Compare a file with its checksum.

    Raises:
        ValueError: it is damaged.
        OSError: it cannot be read.
    """
    if checksum(folder / described.name) != described.whole:
        raise ValueError(f"{folder / described.name} is not what was written")
