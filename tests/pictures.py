"""Pictures of text, drawn for tests."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from ragstone.acquire.ocr.recognizer import Gray

LINES = (
    "The tenant pays the rent by the third day",
    "of every month to the account of the owner.",
    "Repairs above 250.00 EUR are not his to pay.",
    "The contract ends on 31 December 2027.",
)
_FONT = Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSerif.ttf"


def drawn(lines: Sequence[str] = LINES, *, size: int = 30, width: int = 900) -> Image.Image:
    """Return a white picture with these lines in black."""
    font = ImageFont.truetype(str(_FONT), size)
    image = Image.new("L", (width, int(1.6 * size * (len(lines) + 3))), 255)
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        draw.text((2 * size, 1.6 * size * (number + 1.5)), line, font=font, fill=0)
    return image


def gray(image: Image.Image) -> Gray:
    return np.asarray(image.convert("L"))


def saved(image: Image.Image, kind: str, *, more: Sequence[Image.Image] = ()) -> bytes:
    """Return a file of this kind, with more frames if there are any."""
    file = BytesIO()
    if kind == "PDF":  # black and white without loss, as scanners write it
        scans = [one.convert("1") for one in (image, *more)]
        scans[0].save(file, kind, save_all=True, append_images=scans[1:], resolution=150.0)
    elif more:
        image.save(file, kind, save_all=True, append_images=list(more))
    else:
        image.save(file, kind)
    return file.getvalue()
