"""PNG images from pixels, without a library for pictures."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Colours: TypeAlias = NDArray[np.uint8]
    """Red, green and blue of each pixel, shape (height, width, 3)."""

MOST_PIXELS = 8_000_000
"""Pixels of a page that is drawn; a page of A4 that is 2,000 pixels wide has 5.7 million."""


def png(colours: Colours) -> bytes:
    """Return an image of these pixels; a grey one if they have no colour."""
    grey = bool((colours[:, :, 0] == colours[:, :, 1]).all() and (colours[:, :, 1] == colours[:, :, 2]).all())
    rows = colours[:, :, :1] if grey else colours
    height, width, channels = rows.shape
    # Each row is stored as its difference to the one above (filter 2), which makes white paper cost nothing.
    above = np.vstack([np.zeros((1, *rows.shape[1:]), np.uint8), rows[:-1]])
    lines = np.empty((height, 1 + width * channels), np.uint8)
    lines[:, 0] = 2
    lines[:, 1:] = (rows - above).reshape(height, width * channels)
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if grey else 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 6)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
