"""Boxes around the lines of a picture, from a map that says of each pixel how likely it is inside a line.

The map comes from a network for differentiable binarization (Liao et al. 2020), which marks each line shrunk, so that
neighbours do not touch. A box is grown again by the same rule.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ragstone.core.frozen import frozen

_INSIDE = 0.3
"""Pixels above this belong to a line; this and the next two are the values that the network is published with."""
_SURE = 0.5
_GROWTH = 1.6
_SMALLEST = 3
_MOST_RUNS = 200_000
"""A map with more runs of pixels shows no text but a pattern, and would take minutes."""


@frozen
class TextBox:
    """A box around a line, in pixels, that leans by ``slope`` (pixels down for each to the right).

    ``x`` and ``y`` are its middle, ``width`` is counted across and ``height`` upright.
    """

    x: float
    y: float
    width: float
    height: float
    slope: float


def text_boxes(likely: NDArray[np.float32]) -> list[TextBox]:
    """Return the boxes of a map in shape (height, width)."""
    rows, starts, ends = _runs(likely > _INSIDE)
    if not len(rows) or len(rows) > _MOST_RUNS:
        return []
    group = _joined(rows, starts, ends)
    order = np.argsort(group, kind="stable")
    bounds = np.flatnonzero(np.diff(group[order])) + 1
    sums = np.concatenate([np.zeros((len(likely), 1), np.float64), np.cumsum(likely, axis=1, dtype=np.float64)], axis=1)
    scores = sums[rows, ends] - sums[rows, starts]
    boxes: list[TextBox] = []
    for members in np.split(order, bounds):
        lengths = ends[members] - starts[members]
        if scores[members].sum() >= _SURE * lengths.sum():
            box = _box(rows[members], starts[members], ends[members], lengths)
            if box is not None:
                boxes.append(box)
    return boxes


def _runs(mask: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return row, first column and end of each run of true pixels, row by row."""
    padded = np.zeros((mask.shape[0], mask.shape[1] + 2), np.int8)
    padded[:, 1:-1] = mask
    change = np.diff(padded, axis=1)
    rows, starts = np.nonzero(change == 1)
    _, ends = np.nonzero(change == -1)
    return rows, starts, ends


def _joined(rows: NDArray[np.int64], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number for each run that runs touching one another, also by a corner, share."""
    parent = list(range(len(rows)))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    row, start, end = rows.tolist(), starts.tolist(), ends.tolist()
    above = 0
    for here in range(len(row)):
        while row[above] < row[here] - 1 or (row[above] == row[here] - 1 and end[above] < start[here]):
            above += 1
        beside = above
        while row[beside] == row[here] - 1 and start[beside] <= end[here]:
            parent[root(here)] = root(beside)
            beside += 1
    return np.array([root(one) for one in range(len(row))])


def _box(
    rows: NDArray[np.int64], starts: NDArray[np.int64], ends: NDArray[np.int64], lengths: NDArray[np.int64]
) -> TextBox | None:
    left, right = float(starts.min()), float(ends.max())
    top, bottom = float(rows.min()), float(rows.max() + 1)
    width, height = right - left, bottom - top
    if min(width, height) < _SMALLEST:
        return None
    slope = _slope(rows, starts, ends, lengths) if width > 3 * height else 0.0
    middle = (left + right) / 2
    # How far each run is above or below the leaning middle line.
    apart = np.concatenate([rows + 0.5 - slope * (starts - middle), rows + 0.5 - slope * (ends - middle)])
    top, bottom = float(apart.min()) - 0.5, float(apart.max()) + 0.5
    height = bottom - top
    grow = _GROWTH * width * height / (2 * (width + height))
    return TextBox(x=middle, y=(top + bottom) / 2, width=width + 2 * grow, height=height + 2 * grow, slope=slope)


def _slope(
    rows: NDArray[np.int64], starts: NDArray[np.int64], ends: NDArray[np.int64], lengths: NDArray[np.int64]
) -> float:
    """Return the slope of the line of least squares through the pixels of a component."""
    count = float(lengths.sum())
    centers = (starts + ends) / 2
    x, y = float((centers * lengths).sum()) / count, float((rows * lengths).sum()) / count
    spread = float((lengths * (centers - x) ** 2).sum() + (lengths.astype(np.float64) ** 3).sum() / 12)
    together = float((lengths * (centers - x) * (rows - y)).sum())
    return together / spread if spread else 0.0
