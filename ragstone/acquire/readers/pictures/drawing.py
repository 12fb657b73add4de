"""Pictures as images of a bounded size, upright and on white."""

from __future__ import annotations

from ragstone.acquire.readers.parsed import File, Parsed, Part
from ragstone.acquire.readers.pictures.png import MOST_PIXELS, png


def reduce(file: File) -> Parsed:
    """Return a picture for a vision model as one part, a JPEG image.

    Raises:
        Unreadable: the file is no picture, is damaged or too large, or shows nothing.
    """
    from ragstone.acquire.ocr.pictures import shown  # needs Pillow, which is an extra

    return Parsed(text="", parts=(Part(name="picture.jpg", data=shown(file.path)),))


def draw(file: File) -> Parsed:
    """Return the frame that is wanted of a picture as one part, a PNG image.

    Raises:
        Unreadable: the file is no picture, is damaged or too large, or has no such frame.
    """
    from ragstone.acquire.ocr.pictures import coloured  # needs Pillow, which is an extra

    assert file.wanted is not None
    pixels = coloured(file.path, file.wanted.number, file.wanted.width, MOST_PIXELS)
    return Parsed(text="", parts=(Part(name="page.png", data=png(pixels)),))
