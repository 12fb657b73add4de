"""Pictures that a model is to describe: which ones readers hand over, and where its words stand."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from textwrap import wrap

import pytest
from pdf_file import pdf, text
from pictures import (
    LINES,
    book,
    drawn,
    in_page,
    letter,
    painted,
    presentation,
    saved,
    saved_page,
    slide,
    spreadsheet,
    text_document,
    workbook,
)
from structure import check, marked

from ragstone.acquire import Description, described, read, reduced
from ragstone.acquire.readers.parsed import Writer
from ragstone.core.errors import SourceError
from ragstone.core.records import Document, Skipped
from ragstone.settings import AcquireSettings, MetadataSettings

Image = pytest.importorskip("PIL.Image")

MODEL = "openai:sees"
DESCRIBING = {"captions": {"model": MODEL}, "ocr": "off", "parse_seconds": 120}


def notebook(picture: bytes, *, is_attached: bool = False) -> bytes:
    """Return a notebook with a picture in its output, or attached to its text."""
    shown = {"image/png": [f"{line}\n" for line in wrap(b64encode(picture).decode(), 76)]}
    output = {"output_type": "display_data", "data": {"text/plain": "<Figure size 64x48 with 1 Axes>", **shown}}
    files = {"a.png": shown} if is_attached else {}
    text = {"cell_type": "markdown", "source": "Before the picture", "attachments": files}
    code = {"cell_type": "code", "source": "plot()", "outputs": [] if is_attached else [output]}
    return json.dumps({"cells": [text, code]}).encode()


KINDS: dict[str, Callable[[bytes], bytes]] = {
    "a.docx": letter,
    "a.pptx": slide,
    "a.xlsx": workbook,
    "a.odt": text_document,
    "a.odp": presentation,
    "a.ods": spreadsheet,
    "a.epub": lambda picture: book('<p>Before the picture</p><img src="../p.png">', pictures={"p.png": picture}),
    "a.html": lambda picture: f'<p>Before the picture</p><img src="{in_page(picture)}">'.encode(),
    "a.ipynb": notebook,
    "b.ipynb": partial(notebook, is_attached=True),
    "a.mhtml": lambda picture: saved_page(picture, body='<p>Before the picture</p><img src="p.png">'),
}
"""Files of each kind with the words "Before the picture" and a picture."""
SQUARE = "q 200 0 0 200 100 300 cm BI /W 2 /H 1 /CS /RGB /BPC 8 /F /AHx ID ff00000000ff> EI Q"
"""Half red and half blue, on a page of a PDF."""


def found(folder: Path, name: str, content: bytes, **settings: object) -> Document | Skipped:
    """Return the one document of a file, or why it gives none."""
    (folder / name).write_bytes(content)
    own = AcquireSettings.model_validate({**DESCRIBING, **settings})
    (one,) = (one for one in read(str(folder / name), own, base=folder) if isinstance(one, Document | Skipped))
    return one


def document(folder: Path, name: str, content: bytes, **settings: object) -> Document:
    one = found(folder, name, content, **settings)
    assert isinstance(one, Document), one
    check(one)
    return one


def with_words(one: Document, *words: str) -> Document:
    """Return a document whose pictures have these descriptions; an empty one failed."""
    told = [Description(model=MODEL, text=text, failure="" if text else "the server is away") for text in words]
    complete = described(one, told, MetadataSettings())
    assert isinstance(complete, Document), complete
    check(complete)
    return complete


def block(words: str) -> str:
    return f"Picture, described by {MODEL}:\n{words}"


# ---------------------------------------------------------------- what readers hand over


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_hands_over_a_picture_file(tmp_path: Path, kind: str) -> None:
    one = document(tmp_path, f"a.{kind.lower()}", saved(painted("red", size=(2000, 1000)), kind))
    (picture,) = one.pictures
    image = Image.open(BytesIO(picture))
    assert (image.format, image.size) == ("JPEG", (1280, 640))
    red, green, blue = image.convert("RGB").getpixel((640, 320))
    assert red > 200 > 60 > max(green, blue)


def test_leaves_out_where_a_photo_was_taken(tmp_path: Path) -> None:
    file, about = BytesIO(), Image.Exif()
    about[0x010E] = "Ann's garden"
    painted("red").save(file, "JPEG", exif=about)
    assert b"garden" in file.getvalue()
    (picture,) = document(tmp_path, "a.jpg", file.getvalue()).pictures
    assert b"garden" not in picture


def test_hands_over_nothing_unless_a_model_is_named(tmp_path: Path) -> None:
    without = found(tmp_path, "a.png", saved(painted("red"), "PNG"), captions={"model": ""})
    assert isinstance(without, Skipped)
    one = document(tmp_path, "a.docx", letter(saved(painted("red"), "PNG")), captions={"model": ""})
    assert (one.text, one.pictures) == ("Before the picture", ())


@pytest.mark.parametrize("name", KINDS)
def test_hands_over_pictures_in_files(tmp_path: Path, name: str) -> None:
    one = document(tmp_path, name, KINDS[name](saved(painted("red"), "PNG")))
    assert (len(one.pictures), marked(one, "picture")) == (1, ["\ufffc"])
    assert "Before the picture" in one.text[: one.text.index("\ufffc")]
    assert "partial" not in one.metadata


@pytest.mark.parametrize("name", KINDS)
def test_damaged_picture_costs_no_text(tmp_path: Path, name: str) -> None:
    one = document(tmp_path, name, KINDS[name](saved(painted("red"), "PNG")[:60] + bytes(2000)))
    assert ("Before the picture" in one.text, "\ufffc" in one.text, one.pictures) == (True, False, ())
    assert str(one.metadata["partial"]).startswith("1 unreadable picture")


@pytest.mark.parametrize("name", ["a.docx", "a.odt", "a.epub"])
def test_damaged_part_costs_no_text(tmp_path: Path, name: str) -> None:
    picture = saved(painted("red"), "PNG")
    whole = KINDS[name](picture)
    one = document(tmp_path, name, whole.replace(picture[100:120], bytes(20)))  # its checksum is wrong now
    assert ("Before the picture" in one.text, one.pictures) == (True, ())
    assert one.metadata["partial"] == "1 unreadable picture was left out"


def test_pictures_of_a_page_stand_after_their_paragraph(tmp_path: Path) -> None:
    red, blue, green = (in_page(saved(painted(one), "PNG")) for one in ("red", "blue", "green"))
    page = (
        f'<h1>Trees <img src="{red}"></h1><p>An <img alt="An old oak tree" src="{blue}"> oak.</p>'
        f'<ul><li>A pine <img src="{red}"></li><li>A yew <a href="b.png"><img src="{green}"></a></li></ul>'
    )
    one = document(tmp_path, "a.html", page.encode())
    assert one.text == "Trees\n\n\ufffc\n\nAn An old oak tree oak.\n\n\ufffc\n- A pine\n- A yew\n\n\ufffc"
    assert len(one.pictures) == 3


def test_hands_over_pictures_in_tables_of_a_page(tmp_path: Path) -> None:
    cells = f"<tr><td>Oak</td><td><img src='{in_page(saved(painted('red'), 'PNG'))}'></td></tr>"
    one = document(tmp_path, "a.html", f"<table><tr><th>Tree</th><th>Leaf</th></tr>{cells}{cells}</table>".encode())
    assert (one.text, len(one.pictures)) == ("Tree | Leaf\nOak\nOak\n\n\ufffc", 1)


def test_keeps_alternative_texts(tmp_path: Path) -> None:
    picture = saved(painted("red"), "PNG")
    words = '<p>Before</p><p><img alt="A map of the coast" src="../p.png"></p>'
    for name, content in (("a.odt", text_document(picture)), ("a.epub", book(words, pictures={"p.png": picture}))):
        one = document(tmp_path, name, content)
        assert "A map of the coast\n\n\ufffc" in one.text


@pytest.mark.parametrize(
    "address",
    ["https://example.org/p.png", "//example.org/p.png", "p.png", "file:///etc/hostname", "/etc/hostname", ""],
)
def test_fetches_no_picture_of_a_page(tmp_path: Path, address: str) -> None:
    (tmp_path / "p.png").write_bytes(saved(painted("red"), "PNG"))
    one = document(tmp_path, "a.html", f'<p>Words.</p><img src="{address}">'.encode())
    assert (one.text, one.pictures, one.metadata.get("partial")) == ("Words.", (), None)


@pytest.mark.parametrize(
    "address",
    [
        "data:image/png;base64,A" + "A" * 2000,
        "data:image/png;base64," + "A" * 2001,
        "data:image/jpeg;base64," + "%00" * 2000,
    ],
    ids=["no picture", "cut off", "not base64"],
)
def test_damaged_data_of_a_page_cost_no_text(tmp_path: Path, address: str) -> None:
    one = document(tmp_path, "a.html", f'<p>Words.</p><img src="{address}"><p>More.</p>'.encode())
    assert (one.text, one.pictures) == ("Words.\n\nMore.", ())


def test_data_of_a_page_are_no_words(tmp_path: Path) -> None:
    address = in_page(saved(painted("red"), "PNG"))
    one = document(tmp_path, "a.html", f"<p>See {address} here.</p><pre>x = {address}</pre>".encode())
    assert one.text == "See data:image/png here.\n\nx = data:image/png"


@pytest.mark.parametrize("address", ["p.png", "https://example.org/a/p.png", "cid:picture@example"])
def test_hands_over_pictures_of_a_web_archive(tmp_path: Path, address: str) -> None:
    body = f'<p>Words.</p><img src="{address}"><img src="https://example.org/other.png"><img src=""><p>More.</p>'
    one = document(tmp_path, "a.mhtml", saved_page(saved(painted("red"), "PNG"), body=body))
    assert (one.text, len(one.pictures)) == ("Words.\n\n\ufffc\n\nMore.", 1)


def test_hands_over_pictures_of_an_old_notebook(tmp_path: Path) -> None:
    data = b64encode(saved(painted("red"), "JPEG")).decode()
    output = {"output_type": "display_data", "jpeg": data, "png": None, "text": "<Figure>"}
    cells = [{"cell_type": "code", "input": "plot()", "outputs": [output, {**output, "jpeg": [7]}, 7]}]
    one = document(tmp_path, "a.ipynb", json.dumps({"worksheets": [{"cells": cells}]}).encode())
    assert (len(one.pictures), one.text.startswith("plot()")) == (1, True)


def test_picture_in_two_chapters_is_handed_over_once(tmp_path: Path) -> None:
    pictures = {"img/1.png": saved(painted("red"), "PNG"), "img/a b.png": saved(painted("blue"), "PNG")}
    first, second = (
        '<p>One.</p><img src="../img/1.png">',
        '<p>Two.</p><img src="../img/1.png"><img src="../img/a%20b.png">',
    )
    one = document(tmp_path, "a.epub", book(first, second, pictures=pictures))
    assert (one.text, len(one.pictures)) == ("One.\n\n\ufffc\n\nTwo.\n\n\ufffc", 2)


def test_hands_over_pictures_in_a_pdf(tmp_path: Path) -> None:
    page = f"{text(100, 700, 'Words above the picture')} {SQUARE}"
    one = document(tmp_path, "a.pdf", pdf([page, text(100, 700, "The last page")], drawn=True))
    (picture,) = one.pictures
    shown = Image.open(BytesIO(picture)).convert("RGB")
    wide, high = shown.size
    assert (wide, high) == pytest.approx((278, 278), abs=4)
    red, blue = shown.getpixel((wide // 4, high // 2)), shown.getpixel((3 * wide // 4, high // 2))
    assert red[0] > 200 > 60 > red[2]
    assert blue[2] > 200 > 60 > blue[0]
    assert marked(one, "page") == ["Words above the picture\n\n\ufffc", "The last page"]


def test_hands_over_a_page_that_is_a_photo(tmp_path: Path) -> None:
    file = BytesIO()
    painted("blue", size=(600, 800)).save(file, "PDF")
    one = document(tmp_path, "a.pdf", file.getvalue())
    assert (one.text, len(one.pictures)) == ("\ufffc", 1)


def test_repeated_picture_is_handed_over_once(tmp_path: Path) -> None:
    red, blue = saved(painted("red"), "PNG"), saved(painted("blue"), "PNG")
    one = document(tmp_path, "a.docx", letter(red, blue, red))
    assert (len(one.pictures), len(marked(one, "picture"))) == (2, 2)
    page = f"{text(100, 700, 'Words')} {SQUARE}"
    assert len(document(tmp_path, "a.pdf", pdf([page, page], drawn=True)).pictures) == 1


@pytest.mark.parametrize(
    "image",
    [
        painted("red", size=(400, 8)),
        Image.new("RGB", (300, 300), "navy"),
        Image.effect_noise((16, 16), 60).resize((8, 8)),
    ],
    ids=["a rule", "one colour", "a bullet"],
)
def test_decoration_is_not_handed_over(tmp_path: Path, image: Image.Image) -> None:
    padded = saved(image, "BMP") + bytes(1000)
    assert document(tmp_path, "a.docx", letter(padded)).pictures == ()


def test_page_of_text_is_not_handed_over(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    page = saved(drawn(LINES * 7), "PNG")
    one = document(tmp_path, "a.png", page, ocr="rapidocr", ocr_seconds=240)
    assert one.pictures == ()
    short = document(tmp_path, "b.png", saved(drawn(), "PNG"), ocr="rapidocr", ocr_seconds=240)
    assert short.text == "\n".join(LINES) + "\n\n\ufffc"
    assert len(short.pictures) == 1


def test_reads_no_more_pictures_than_allowed(tmp_path: Path) -> None:
    colours = ("red", "green", "blue")
    one = document(tmp_path, "a.docx", letter(*(saved(painted(one), "PNG") for one in colours)), ocr_pages=2)
    assert len(one.pictures) == 2
    assert one.metadata["partial"] == "1 picture was not read (acquire.ocr_pages)"


# ---------------------------------------------------------------- where the words stand


def made(*blocks: str) -> Document:
    """Return a document of paragraphs, each on a page of its own after ``page``, and of pictures for ``picture``."""
    writer, pages = Writer(), 0
    for number, one in enumerate(blocks):
        if one == "page":
            pages += 1
            writer.page(str(pages))
        elif one == "picture":
            writer.picture(b"picture %d" % number)
        else:
            writer.paragraph(one)
    parsed = writer.parsed()
    return Document(id="made", text=parsed.text, marks=parsed.marks, pictures=parsed.pictures)


def test_words_stand_where_the_picture_was() -> None:
    one = with_words(made("page", "First.", "picture", "page", "Last."), "A  red\ndisc.")
    assert one.text == f"First.\n\n{block('A red disc.')}\n\nLast."
    assert marked(one, "picture") == [block("A red disc.")]
    assert marked(one, "page") == [f"First.\n\n{block('A red disc.')}", "Last."]
    assert [mark.label for mark in one.marks if mark.kind == "picture"] == [MODEL]
    assert one.pictures == ()
    assert one.metadata["word_count"] == len(one.text.split())
    assert one.metadata["content_hash"] == one.content_hash


@pytest.mark.parametrize(
    "blocks",
    [
        ("page", "picture", "First.", "page", "Last."),
        ("page", "First.", "picture", "page", "Last."),
        ("page", "First.", "page", "picture", "picture", "Last."),
        ("page", "picture", "page", "First.", "page", "picture", "page", "Last.", "picture"),
    ],
)
def test_picture_without_words_leaves_no_trace(blocks: Sequence[str]) -> None:
    before = made(*blocks)
    one = with_words(before, *([""] * len(before.pictures)))
    assert one.text == "First.\n\nLast."
    assert marked(one, "page") == ["First.", "Last."]
    assert marked(one, "picture") == []
    count = len(before.pictures)
    said = "1 picture was" if count == 1 else f"{count} pictures were"
    assert one.metadata["partial"] == f"{said} not described: the server is away"


def test_says_what_else_is_missing() -> None:
    before = replace(made("First.", "picture", "picture"), metadata={"partial": "1 comment was left out"})
    one = with_words(before, "A red disc.", "")
    assert one.text == f"First.\n\n{block('A red disc.')}"
    assert one.metadata["partial"] == "1 comment was left out; 1 picture was not described: the server is away"


def test_document_of_failed_pictures_is_skipped() -> None:
    told = [Description(model=MODEL, failure="the server is away")]
    skipped = described(made("picture"), told, MetadataSettings())
    assert skipped == Skipped(source="made", reason="1 picture was not described: the server is away")


def test_long_description_is_cut_between_words() -> None:
    one = with_words(made("picture"), "disc " * 1000)
    assert len(one.text) < 2100
    assert one.text.endswith("disc …")


# ---------------------------------------------------------------- pictures of questions


def test_reduces_the_picture_of_a_question() -> None:
    image = Image.open(BytesIO(reduced(saved(painted("red", size=(3000, 1500)), "PNG"), AcquireSettings())))
    assert (image.format, image.size) == ("JPEG", (1280, 640))


@pytest.mark.parametrize("content", [b"no picture", saved(painted("red"), "PNG")[:500]])
def test_refuses_what_is_no_picture(content: bytes) -> None:
    with pytest.raises(SourceError, match=r"^the picture cannot be read: "):
        reduced(content, AcquireSettings())
