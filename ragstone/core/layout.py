"""Positions of a document's words on its pages, to draw a citation on the original."""

from __future__ import annotations

import struct
import sys
import zlib
from array import array
from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import isnan

from ragstone.core.errors import UsageError
from ragstone.core.frozen import frozen

_FORM = 1
"""The first byte of what `packed` returns."""
_COUNT = struct.Struct("<I")
_WHOLE = 0xFFFF
"""Fractions are kept as shares of this: a hundredth of a point on a page of letter size."""
_SURE = 0xFF


@frozen
class Placed:
    """A line on a page, or a part of one: the box of the characters ``start`` to ``end`` of the document's text.

    ``page`` counts from 0. ``left``, ``top``, ``right`` and ``bottom`` are fractions of the width and height of the
    page as it is shown, counted from its upper left corner. ``confidence`` is the probability, 0 to 1, that the words
    are right: 1 for text in the file, less for words that OCR read.
    """

    start: int
    end: int
    page: int
    left: float
    top: float
    right: float
    bottom: float
    confidence: float = 1.0


@frozen
class Box:
    """A part of a page, as fractions of its width and height from its upper left corner."""

    left: float
    top: float
    right: float
    bottom: float


def boxes(placed: Sequence[Placed], start: int, end: int) -> dict[int, tuple[Box, ...]]:
    """Return the boxes of characters ``start`` to ``end`` of a document, by page, in the order of the text.

    If a line is partly within the span, its box is cut in proportion. A vertical line is kept whole.
    """
    by_page: dict[int, list[Box]] = {}
    for line in placed:
        first, last = max(start, line.start), min(end, line.end)
        if first < last:
            by_page.setdefault(line.page, []).append(_clipped(line, first, last))
    return {page: tuple(own) for page, own in sorted(by_page.items())}


def _clipped(line: Placed, first: int, last: int) -> Box:
    left, right = line.left, line.right
    if right - left > line.bottom - line.top or line.end - line.start < 2:
        step = (right - left) / (line.end - line.start)
        left, right = left + step * (first - line.start), right - step * (line.end - last)
    return Box(left=left, top=line.top, right=max(left, right), bottom=line.bottom)


# ---------------------------------------------------------------- as bytes


def packed(placed: Sequence[Placed]) -> bytes:
    """Return boxes as few bytes, in the order of the text: a form, and the compressed `columns`."""
    return bytes([_FORM]) + zlib.compress(columns(placed))


def columns(placed: Sequence[Placed]) -> bytes:
    """Return boxes as numbers, column by column: equal boxes, to a hundredth of a point, give equal bytes.

    Raises:
        UsageError: a box is outside its page, or its span is invalid.
    """
    for one in placed:
        sides = one.left + one.top + one.right + one.bottom + one.confidence
        if not 0 <= one.start <= one.end or one.page < 0 or isnan(sides):
            raise UsageError(f"{one} is impossible: spans and pages count up from 0, and sides are numbers")
    ordered = sorted(placed, key=lambda one: (one.start, one.end))
    starts = [one.start for one in ordered]
    numbers = array("I", [after - before for before, after in pairwise([0, *starts])])
    numbers.extend(one.end - one.start for one in ordered)
    numbers.extend(one.page for one in ordered)
    edges = array("H")
    for name in ("left", "top", "right", "bottom"):
        edges.extend(_share(getattr(one, name), _WHOLE) for one in ordered)
    sure = bytes(_share(one.confidence, _SURE) for one in ordered)
    return _COUNT.pack(len(ordered)) + _little(numbers) + _little(edges) + sure


def unpacked(data: bytes) -> tuple[Placed, ...]:
    """Return the boxes that `packed` wrote.

    Raises:
        ValueError: the bytes are damaged, or a newer Ragstone wrote them.
    """
    if data[:1] != bytes([_FORM]):
        raise ValueError("the boxes of the text have an unknown form")
    try:
        raw = zlib.decompress(data[1:])
        (count,) = _COUNT.unpack_from(raw)
        numbers: array[int] = array("I")
        edges: array[int] = array("H")
        split = _COUNT.size + 3 * count * numbers.itemsize
        end = split + 4 * count * edges.itemsize
        numbers.frombytes(_little_bytes(raw[_COUNT.size : split], numbers.itemsize))
        edges.frombytes(_little_bytes(raw[split:end], edges.itemsize))
        sure = raw[end:]
    except (zlib.error, struct.error) as error:
        raise ValueError(f"the boxes of the text are damaged: {error}") from error
    if len(numbers) != 3 * count or len(edges) != 4 * count or len(sure) != count:
        raise ValueError("the boxes of the text are damaged: some are missing")
    starts, lengths, pages = (numbers[n * count : (n + 1) * count].tolist() for n in range(3))
    left, top, right, bottom = ([edge / _WHOLE for edge in edges[n * count : (n + 1) * count]] for n in range(4))
    return tuple(
        Placed(
            start=start,
            end=start + lengths[n],
            page=pages[n],
            left=left[n],
            top=top[n],
            right=right[n],
            bottom=bottom[n],
            confidence=sure[n] / _SURE,
        )
        for n, start in enumerate(accumulate(starts))
    )


def _share(value: float, whole: int) -> int:
    return round(min(max(value, 0.0), 1.0) * whole)


def _little(numbers: array[int]) -> bytes:
    return _little_bytes(numbers.tobytes(), numbers.itemsize)


def _little_bytes(data: bytes, size: int) -> bytes:
    """Return numbers of this machine with their lowest bytes first, or the other way round."""
    if sys.byteorder == "little":
        return data
    swapped = array("I" if size > 2 else "H", data)
    swapped.byteswap()
    return swapped.tobytes()
