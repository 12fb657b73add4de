"""How a PDF page lies: from its own coordinates to those in which its words stand upright, and to its picture."""

from __future__ import annotations

from ragstone.acquire.readers.tables.grid import Box
from ragstone.core.frozen import frozen

_LEAST = 0.0005
"""A box smaller than this share of the page cannot be seen: it lies outside, or it holds nothing."""


@frozen
class Frame:
    """The visible part of a page, in the coordinates of the file, and how it is turned.

    ``shown`` and ``read`` count quarter turns clockwise: those that a viewer makes, and those after which the words
    stand upright. They differ where a table lies on its side.
    """

    left: float = 0.0
    bottom: float = 0.0
    right: float = 612.0
    top: float = 792.0
    shown: int = 0
    read: int = 0

    @property
    def width(self) -> float:
        """The width in points, with upright words."""
        return self.top - self.bottom if self.read % 2 else self.right - self.left

    @property
    def height(self) -> float:
        """The height in points, with upright words."""
        return self.right - self.left if self.read % 2 else self.top - self.bottom

    def turned(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Return a box of the file where words stand upright: in points from the lower left of the visible part."""
        if self.read == 1:
            return bottom - self.bottom, self.right - right, top - self.bottom, self.right - left
        if self.read == 2:
            return self.right - right, self.top - top, self.right - left, self.top - bottom
        if self.read == 3:
            return self.top - top, left - self.left, self.top - bottom, right - self.left
        return left - self.left, bottom - self.bottom, right - self.left, top - self.bottom

    def fractions(self, box: Box) -> Box | None:
        """Return a `turned` box as the page is shown: left, top, right and bottom as fractions of width and height.

        None means that a viewer does not see it.
        """
        wide, high = max(self.width, 1.0), max(self.height, 1.0)
        left, right = (min(max(at / wide, 0.0), 1.0) for at in (box[0], box[2]))
        top, bottom = (min(max(1.0 - at / high, 0.0), 1.0) for at in (box[3], box[1]))
        for _ in range((self.read - self.shown) % 4):  # turn it back, a quarter counterclockwise
            left, top, right, bottom = top, 1.0 - right, bottom, 1.0 - left
        if right - left < _LEAST or bottom - top < _LEAST:
            return None
        return left, top, right, bottom
