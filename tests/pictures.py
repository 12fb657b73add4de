"""Pictures and files with pictures, made for tests."""

from __future__ import annotations

import zipfile
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
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_FONT = Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSerif.ttf"


def drawn(lines: Sequence[str] = LINES, *, size: int = 30, width: int = 900) -> Image.Image:
    """Return a white picture with these lines in black."""
    font = ImageFont.truetype(str(_FONT), size)
    image = Image.new("L", (width, int(1.6 * size * (len(lines) + 3))), 255)
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        draw.text((2 * size, 1.6 * size * (number + 1.5)), line, font=font, fill=0)
    return image


def painted(colour: str, *, size: tuple[int, int] = (320, 240)) -> Image.Image:
    """Return a picture without words: a large disc of a colour on white."""
    image = Image.new("RGB", size, "white")
    ImageDraw.Draw(image).ellipse((size[0] // 8, size[1] // 8, size[0] * 7 // 8, size[1] * 7 // 8), fill=colour)
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


def package(parts: Sequence[tuple[str, str | bytes]]) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as whole:
        for name, content in parts:
            whole.writestr(name, content)
    return file.getvalue()


def relations(*listed: tuple[str, str, str]) -> str:
    rows = (f'<Relationship Id="{id}" Type="{_OFFICE}/{kind}" Target="{target}"/>' for id, kind, target in listed)
    return f'<Relationships xmlns="{_PACKAGE}">{"".join(rows)}</Relationships>'


def letter(*pictures: bytes, after: str = "") -> bytes:
    """A Word document of a paragraph, pictures, and a paragraph after them."""
    w = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    names = [f"p{number}" for number in range(len(pictures))]
    shown = "".join(f'<w:p><w:r><w:drawing><a:blip r:embed="{name}"/></w:drawing></w:r></w:p>' for name in names)
    body = (
        f'<w:document xmlns:w="{w}" xmlns:a="{_A}" xmlns:r="{_OFFICE}"><w:body><w:p><w:r><w:t>Before the picture</w:t>'
        f"</w:r></w:p>{shown}<w:p><w:r><w:t>{after}</w:t></w:r></w:p></w:body></w:document>"
    )
    return package([
        ("_rels/.rels", relations(("d", "officeDocument", "word/document.xml"))),
        ("word/document.xml", body),
        ("word/_rels/document.xml.rels", relations(*((name, "image", f"media/{name}.png") for name in names))),
        *((f"word/media/{name}.png", picture) for name, picture in zip(names, pictures, strict=True)),
    ])  # fmt: skip


def slide(picture: bytes) -> bytes:
    """A presentation of a slide with a text and a picture."""
    p = "http://schemas.openxmlformats.org/presentationml/2006/main"
    named = f'xmlns:p="{p}" xmlns:a="{_A}" xmlns:r="{_OFFICE}"'
    shapes = (
        "<p:sp><p:txBody><a:p><a:r><a:t>Before the picture</a:t></a:r></a:p></p:txBody></p:sp>"
        '<p:pic><p:blipFill><a:blip r:embed="p"/></p:blipFill></p:pic>'
    )
    shown = f'<p:presentation {named}><p:sldIdLst><p:sldId r:id="s"/></p:sldIdLst></p:presentation>'
    return package([
        ("_rels/.rels", relations(("d", "officeDocument", "ppt/presentation.xml"))),
        ("ppt/presentation.xml", shown),
        ("ppt/_rels/presentation.xml.rels", relations(("s", "slide", "slides/slide1.xml"))),
        ("ppt/slides/slide1.xml", f"<p:sld {named}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"),
        ("ppt/slides/_rels/slide1.xml.rels", relations(("p", "image", "../media/image1.png"))),
        ("ppt/media/image1.png", picture),
    ])  # fmt: skip
