"""Pictures and files with pictures, made for tests."""

from __future__ import annotations

import zipfile
from base64 import b64encode
from collections.abc import Mapping, Sequence
from email.mime.image import MIMEImage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
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


def workbook(picture: bytes) -> bytes:
    """A spreadsheet (xlsx) of a sheet with a cell and a picture."""
    m = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    cell = '<row r="1"><c r="A1" t="inlineStr"><is><t>Before the picture</t></is></c></row>'
    return package([
        ("_rels/.rels", relations(("d", "officeDocument", "xl/workbook.xml"))),
        (
            "xl/workbook.xml",
            f'<workbook xmlns="{m}" xmlns:r="{_OFFICE}"><sheets><sheet name="Prices" sheetId="1" r:id="s"/></sheets>'
            "</workbook>",
        ),
        ("xl/_rels/workbook.xml.rels", relations(("s", "worksheet", "worksheets/sheet1.xml"))),
        ("xl/worksheets/sheet1.xml", f'<worksheet xmlns="{m}"><sheetData>{cell}</sheetData></worksheet>'),
        ("xl/worksheets/_rels/sheet1.xml.rels", relations(("d", "drawing", "../drawings/drawing1.xml"))),
        ("xl/drawings/drawing1.xml", f'<d xmlns:a="{_A}" xmlns:r="{_OFFICE}"><a:blip r:embed="p"/></d>'),
        ("xl/drawings/_rels/drawing1.xml.rels", relations(("p", "image", "../media/image1.png"))),
        ("xl/media/image1.png", picture),
    ])  # fmt: skip


_FRAME = '<draw:frame><draw:image xlink:href="Pictures/1.png"/><svg:title>A map of the coast</svg:title></draw:frame>'


def text_document(picture: bytes) -> bytes:
    """An OpenDocument text (odt) of a paragraph, a picture that has an alternative text, and a paragraph after it."""
    paragraphs = f"<text:p>Before the picture</text:p><text:p>{_FRAME}</text:p><text:p>After it</text:p>"
    return _open_document("text", paragraphs, picture)


def presentation(picture: bytes) -> bytes:
    """An OpenDocument presentation (odp) of a slide with a text and a picture."""
    box = "<draw:frame><draw:text-box><text:p>Before the picture</text:p></draw:text-box></draw:frame>"
    return _open_document("presentation", f"<draw:page>{box}{_FRAME}</draw:page>", picture)


def spreadsheet(picture: bytes) -> bytes:
    """An OpenDocument spreadsheet (ods) of a sheet with a cell and a picture."""
    cell = '<table:table-cell office:value-type="string"><text:p>Before the picture</text:p></table:table-cell>'
    sheet = f"<table:shapes>{_FRAME}</table:shapes><table:table-row>{cell}</table:table-row>"
    return _open_document("spreadsheet", f'<table:table table:name="Prices">{sheet}</table:table>', picture)


def _open_document(kind: str, body: str, picture: bytes) -> bytes:
    ns = "urn:oasis:names:tc:opendocument:xmlns"
    named = " ".join(f'xmlns:{name}="{ns}:{name}:1.0"' for name in ("office", "text", "table"))
    other = (
        f'xmlns:draw="{ns}:drawing:1.0" xmlns:svg="{ns}:svg-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"'
    )
    content = f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    return package([
        ("mimetype", f"application/vnd.oasis.opendocument.{kind}"),
        ("content.xml", f"<office:document-content {named} {other}>{content}</office:document-content>"),
        ("Pictures/1.png", picture),
        ("META-INF/manifest.xml", "<manifest/>"),
    ])  # fmt: skip


def book(*chapters: str, pictures: Mapping[str, bytes]) -> bytes:
    """An e-book (epub) of chapters, which are the bodies of pages in the folder ``text``, and of pictures by name."""
    names = [f"text/{number}.xhtml" for number in range(len(chapters))]
    listed = "".join(f'<item id="{one}" href="{one}" media-type="application/xhtml+xml"/>' for one in names)
    order = "".join(f'<itemref idref="{one}"/>' for one in names)
    return package([
        (
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OPS/book.opf"/></rootfiles></container>',
        ),
        (
            "OPS/book.opf",
            f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{listed}</manifest><spine>{order}</spine>'
            "</package>",
        ),
        *((f"OPS/{name}", f"<html><body>{body}</body></html>") for name, body in zip(names, chapters, strict=True)),
        *((f"OPS/{name}", data) for name, data in pictures.items()),
    ])  # fmt: skip


def in_page(picture: bytes, kind: str = "png") -> str:
    """The ``data:`` address of a picture."""
    return f"data:image/{kind};base64,{b64encode(picture).decode()}"


def saved_page(picture: bytes, *, body: str) -> bytes:
    """A web archive (mhtml) of a page and a picture, which is at ``https://example.org/a/p.png``."""
    page = MIMEText(f"<html><body>{body}</body></html>", "html", "utf-8")
    page["Content-Location"] = "https://example.org/a/page"
    image = MIMEImage(picture, "png")
    image["Content-Location"] = "https://example.org/a/p.png"
    image["Content-ID"] = "<picture@example>"
    whole = MIMEMultipart("related")
    whole["Subject"], whole["Date"] = "A page", "Mon, 02 Mar 2026 10:00:00 +0000"
    whole.attach(page)
    whole.attach(image)
    return whole.as_bytes()
