"""Pages of PDF files as images."""

from __future__ import annotations

from math import sqrt
from typing import Any, cast

import numpy as np
import pypdfium2  # pyright: ignore[reportMissingTypeStubs]

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import File, Parsed, Part
from ragstone.acquire.readers.pictures.png import MOST_PIXELS, png

_MOST_SCALE = 300 / 72
"""Pixels for each point of a page. A page as small as a stamp gets no sharper than print."""


def draw(file: File) -> Parsed:
    """Return the page that is wanted of a file as one part, a PNG image.

    Raises:
        Unreadable: the file is damaged or encrypted, or has no such page.
    """
    assert file.wanted is not None
    try:
        book = pypdfium2.PdfDocument(file.path)
        if file.wanted.number >= len(book):
            raise Unreadable("the file has no such page")
        page = book[file.wanted.number]
        width, height = (max(side, 1.0) for side in page.get_size())
        scale = min(file.wanted.width / width, sqrt(MOST_PIXELS / (width * height)), _MOST_SCALE)
        drawn = cast(Any, page).render(scale=scale, rev_byteorder=True)
    except pypdfium2.PdfiumError as error:
        raise Unreadable("it is damaged, or the file is encrypted") from error
    pixels = np.asarray(drawn.to_numpy(), np.uint8)[:, :, :3]
    return Parsed(text="", parts=(Part(name="page.png", data=png(pixels)),))
