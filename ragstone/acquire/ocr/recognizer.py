"""What every engine that reads pictures can do, and the lines that it returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ragstone.acquire.readers.decode import Unreadable
from ragstone.core.frozen import frozen

Gray = NDArray[np.uint8]
"""A picture in shape (height, width): 0 is black, 255 is white."""


DOUBTFUL = 0.85
"""Lines that are read less surely than this may be upside down: turned by half, print is read at 0.4 to 0.7."""


@frozen
class TextLine:
    """A line of text, or the part of one that stands alone, such as a cell of a table.

    Its box is in pixels of the picture from its upper left corner, and its ``confidence`` is 0 to 1.
    """

    text: str
    confidence: float
    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        return max(self.bottom - self.top, 1.0)


@frozen
class Recognized:
    """The lines of a picture, in any order.

    If the text stands ``upside_down`` in the picture, the boxes are those in the picture turned by half.
    """

    lines: Sequence[TextLine]
    upside_down: bool = False


class Recognizer(Protocol):
    """An engine that reads the lines of a picture."""

    @property
    def name(self) -> str:
        """What the fact ``ocr`` of a document says."""
        ...

    @property
    def pages_at_once(self) -> int:
        """How many pictures to read side by side; 1 if an engine uses all cores for one."""
        ...

    def read(self, picture: Gray, languages: Sequence[str], seconds: float) -> Recognized:
        """Return the lines of a picture, which are level, but may be upside down.

        Args:
            picture: the picture. Threads may share a recognizer.
            languages: ISO 639-1 codes of the languages that the text may be in; empty if they are not known. What an
                engine does not know it ignores.
            seconds: how long it may take.

        Raises:
            Unreadable: it takes longer, or the engine fails.
        """
        ...


def too_slow(seconds: float) -> Unreadable:
    """Return the error for a picture that takes longer than it may."""
    return Unreadable(f"a picture took more than {seconds:g} s (acquire.ocr_seconds)")


def confidence(lines: Sequence[TextLine]) -> float:
    """Return the mean confidence of the characters; 0 if there are none."""
    count = sum(len(line.text) for line in lines)
    return sum(line.confidence * len(line.text) for line in lines) / count if count else 0.0
