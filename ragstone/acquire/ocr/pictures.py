"""Pictures from files, within bounds that hold before anything is decoded."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

from ragstone.acquire.ocr.recognizer import Gray
from ragstone.acquire.readers.decode import Blank, Unreadable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Colours = NDArray[np.uint8]

FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF")
"""Pillow has many more decoders, and whoever sends a file would choose among them."""
MOST_PIXELS = 64_000_000
"""Pixels of a picture: a page of A3 at 600 dpi has 70 million, one of A4 35 million."""
_LONGEST_SIDE = 3600
"""Pixels of the longer side that are kept: a page of A4 at 300 dpi."""
SMALLEST_SIDE = 12
"""Pixels of the shorter side of a picture that may hold text."""
SHOWN_SIDE = 1280
"""Pixels of the longer side of a picture that a vision model is shown: enough for the small print of a chart."""
_QUALITY = 85
_FEWEST_SHADES = 8
"""Difference between the darkest and the lightest of 256 shades of each colour below which a picture shows nothing."""
_UNEVEN = 1.1
"""Pixels that are this much wider than high, as in a fax, are made square."""


def frames(source: Path | bytes, most: int) -> Iterator[Gray]:
    """Yield the pictures of a file, up to a number of them. Only TIFF files have several; of a GIF the first counts.

    Raises:
        Unreadable: the file is no picture, is damaged, or has too many pixels.
        Blank: it is too small to hold text.
    """
    with _opened(source) as image:
        for number, frame in enumerate(ImageSequence.Iterator(image)):
            if number >= most or (number and image.format != "TIFF"):
                break
            yield _gray(frame)


def shown(source: Path | bytes, number: int = 0) -> bytes:
    """Return a picture of a file for a vision model: a JPEG image, without what the file says of place and time.

    Args:
        source: the file.
        number: of the frame, from 0.

    Raises:
        Unreadable: as for `frames`, or there is no such frame.
        Blank: it shows nothing.
    """
    return jpeg(coloured(source, number, SHOWN_SIDE, SHOWN_SIDE**2))


def jpeg(colours: Colours) -> bytes:
    """Return a picture, shape (height, width, 3), as a JPEG image of a bounded size.

    Raises:
        Blank: it is too small, or of one colour.
    """
    if min(colours.shape[:2]) < SMALLEST_SIDE or int(np.ptp(colours, axis=(0, 1)).max()) < _FEWEST_SHADES:
        raise Blank("a picture that shows nothing")
    image, file = Image.fromarray(colours), BytesIO()
    image.thumbnail((SHOWN_SIDE, SHOWN_SIDE))
    image.save(file, "JPEG", quality=_QUALITY)
    return file.getvalue()


def coloured(source: Path | bytes, number: int, width: int, most_pixels: int) -> Colours:
    """Return a picture of a file as it is shown, in colour, shape (height, width, 3).

    Args:
        source: the file.
        number: of the frame, from 0.
        width: pixels of the result at most.
        most_pixels: of the result.

    Raises:
        Unreadable: as for `frames`, or there is no such frame.
    """
    with _opened(source) as image:
        image.seek(number)
        _check_size(image)
        image.draft("RGB", (width, width))
        shown = _square(_on_paper(ImageOps.exif_transpose(image)).convert("RGB"), image.info.get("dpi"))
        scale = min(1.0, width / shown.width, (most_pixels / (shown.width * shown.height)) ** 0.5)
        size = (max(1, round(shown.width * scale)), max(1, round(shown.height * scale)))
        return np.asarray(shown.resize(size, Image.Resampling.BOX))


@contextmanager
def _opened(source: Path | bytes) -> Generator[Image.Image]:
    """Open a picture; what Pillow raises meanwhile becomes `Unreadable`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns of much; what matters raises.
            with Image.open(BytesIO(source) if isinstance(source, bytes) else source, formats=FORMATS) as image:
                yield image
    except UnidentifiedImageError as error:
        raise Unreadable("damaged, or not a supported kind of picture") from error
    except Image.DecompressionBombError as error:
        raise Unreadable(f"a picture of more than {MOST_PIXELS // 1_000_000} million pixels") from error
    except (OSError, ValueError, SyntaxError, EOFError, TypeError, KeyError) as error:
        # Pillow reports damage by any of these.
        raise Unreadable(f"damaged: {error}") from error


def scaled(picture: Image.Image) -> Gray:
    """Return a picture in gray, no larger than what is read well."""
    if max(picture.size) > _LONGEST_SIDE:
        picture.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE), Image.Resampling.BOX)
    return np.asarray(picture.convert("L"))


def _gray(frame: Image.Image) -> Gray:
    _check_size(frame)
    if min(frame.size) < SMALLEST_SIDE:
        raise Blank("a picture too small to hold text")
    # JPEG can decode to half of its size, and to gray, at no cost.
    frame.draft("L", (_LONGEST_SIDE, _LONGEST_SIDE))
    return scaled(_square(_on_paper(ImageOps.exif_transpose(frame)).convert("L"), frame.info.get("dpi")))


def _check_size(picture: Image.Image) -> None:
    width, height = picture.size
    if width * height > MOST_PIXELS:
        raise Unreadable(f"a picture of more than {MOST_PIXELS // 1_000_000} million pixels ({width} x {height})")


def _on_paper(picture: Image.Image) -> Image.Image:
    """Return a picture on white instead of nothing, and with 8 bits instead of more."""
    if picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info:
        picture = picture.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture)
    if picture.mode.startswith("I;16") or picture.mode in ("I", "F"):
        deep = np.asarray(picture, np.float32)
        return Image.fromarray((255 * (deep - deep.min()) / max(float(np.ptp(deep)), 1.0)).astype(np.uint8))
    return picture


def _square(image: Image.Image, dpi: object) -> Image.Image:
    """Return a picture whose pixels are as high as wide, judged by the resolution that the file states."""
    if not isinstance(dpi, tuple):
        return image
    try:
        across, down = (float(one) for one in dpi)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    except (TypeError, ValueError, ZeroDivisionError):
        return image
    if not 0.25 <= (across / down if down else 0.0) <= 4 or 1 / _UNEVEN <= across / down <= _UNEVEN:
        return image
    width, height = image.size
    size = (width, round(height * across / down)) if across > down else (round(width * down / across), height)
    return image.resize(size, Image.Resampling.BICUBIC)
