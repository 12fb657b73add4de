"""Where the words of a document stand on its pages, so that a citation can be drawn on the original."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A line on a page, or a part of one: characters ``start`` to ``end`` of the text of the document stand in a box.

    ``page`` counts from 0. ``left``, ``top``, ``right`` and ``bottom`` are fractions of the width and height of the
    page as it is shown, counted from its upper left corner. ``confidence`` is how surely the words are read right, 0
    to 1: 1 for words that the file holds as text, less for words read from a picture.
    """

    start: int
    end: int
    page: int
    left: float
    top: float
    right: float
    bottom: float
    confidence: float = 1.0
