"""Which way up a picture of text is, and by how much it leans, from its ink alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from ragstone.acquire.ocr.recognizer import Gray, TextLine
from ragstone.core.frozen import frozen

_SIDE = 1000
"""Pixels of the longer side of the picture that is examined."""
_MOST_LEAN = 8.0
_COARSE, _FINE = 0.5, 0.1
_LEVEL = 0.25
"""Degrees that no engine minds."""
_CLEARER = 4.0
"""How much clearer the lines of a turned picture are. A frame or a table alone is twice as clear across its lines."""
_INK = 24
"""How much darker, of 255, ink is than the paper around it."""
_MOST_INK = 60_000
"""Pixels of ink that are examined; more change nothing."""


Box = tuple[float, float, float, float]
"""Left, top, right and bottom, as fractions of the sides of a picture."""


@frozen
class Turn:
    """How a picture is turned upright: by ``quarters`` of a turn counter-clockwise, then by ``degrees``."""

    quarters: int = 0
    degrees: float = 0.0

    def apply(self, picture: Gray) -> Gray:
        """Return the picture upright."""
        turned = np.rot90(picture, self.quarters)
        if not self.degrees:
            return np.ascontiguousarray(turned)
        image = Image.fromarray(np.ascontiguousarray(turned))
        paper = int(np.percentile(turned[::8, ::8], 90))
        return np.asarray(image.rotate(self.degrees, Image.Resampling.BICUBIC, expand=True, fillcolor=paper))

    def upside_down(self) -> Turn:
        return Turn(quarters=(self.quarters + 2) % 4, degrees=self.degrees)

    def box(
        self, line: TextLine, shape: tuple[int, int], upright: tuple[int, int]
    ) -> tuple[float, float, float, float]:
        """Return the box of a line in the picture as it was.

        Args:
            line: a line of the upright picture.
            shape: height and width of the picture as it was.
            upright: height and width of the upright picture.
        """
        corners = [(x, y) for x in (line.left, line.right) for y in (line.top, line.bottom)]
        found = [self._back(x, y, shape, upright) for x, y in corners]
        across, down = [x for x, _ in found], [y for _, y in found]
        return _share(min(across)), _share(min(down)), _share(max(across)), _share(max(down))

    def _back(self, x: float, y: float, shape: tuple[int, int], upright: tuple[int, int]) -> tuple[float, float]:
        high, wide = shape if self.quarters % 2 == 0 else shape[::-1]
        angle = np.deg2rad(self.degrees)
        x, y = x - upright[1] / 2, y - upright[0] / 2
        # Pillow turns counter-clockwise, and y points down.
        x, y = x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)
        u, v = x / wide + 0.5, y / high + 0.5
        match self.quarters:
            case 1:
                return 1 - v, u
            case 2:
                return 1 - u, 1 - v
            case 3:
                return v, 1 - u
            case _:
                return u, v


def turn_of(picture: Gray) -> Turn:
    """Return how a picture is turned so that its lines are level. Which side is up the ink does not say."""
    down, across, (height, width) = _ink(picture)
    if not len(down):
        return Turn()
    level, level_score = _lean(down, across, width)
    upright, upright_score = _lean(across, down, height)
    if upright_score > _CLEARER * level_score:
        # Turned by a quarter, the rows become columns from right to left, so the lean changes its sign.
        return Turn(quarters=1, degrees=_rounded(-upright))
    return Turn(degrees=_rounded(level))


def _ink(picture: Gray) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[int, int]]:
    """Return the rows and columns of dark pixels on lighter paper, or the other way round, in a smaller picture."""
    image = Image.fromarray(picture)
    image.thumbnail((_SIDE, _SIDE), Image.Resampling.BOX)
    small = np.asarray(image, np.int16)
    around = np.asarray(image.filter(ImageFilter.BoxBlur(12)), np.int16)
    dark, light = around - small > _INK, small - around > _INK
    rows, columns = np.nonzero(light if light.sum() > 2 * dark.sum() else dark)
    step = len(rows) // _MOST_INK + 1
    return rows[::step].astype(np.float64), columns[::step].astype(np.float64), (image.height, image.width)


def _lean(down: NDArray[np.float64], across: NDArray[np.float64], length: int) -> tuple[float, float]:
    """Return the angle in degrees, counter-clockwise, that makes the lines level, and how clear they are then."""

    def clear(degrees: float) -> float:
        angle = np.deg2rad(degrees)
        rows = down * np.cos(angle) - across * np.sin(angle)
        profile = np.bincount((rows - rows.min()).astype(np.int64))
        # Between lines the profile falls to nothing; across them it changes little from row to row.
        return float((np.diff(profile.astype(np.float64)) ** 2).sum())

    coarse = max(np.arange(-_MOST_LEAN, _MOST_LEAN + _COARSE, _COARSE), key=clear)
    best = max(np.arange(coarse - _COARSE, coarse + _COARSE + _FINE, _FINE), key=clear)
    # A level row of n pixels counts for more the longer it is, so the score is taken for each pixel of length.
    return float(best), clear(best) / length


def _rounded(degrees: float) -> float:
    return round(degrees, 1) if abs(degrees) >= _LEVEL else 0.0


def _share(value: float) -> float:
    return min(max(float(value), 0.0), 1.0)
