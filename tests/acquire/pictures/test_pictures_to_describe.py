"""Pictures that a model is to describe: which ones readers hand over, and where its words stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from pdf_file import pdf, text
from pictures import LINES, drawn, letter, painted, saved, slide
from structure import check, marked

from ragstone.acquire import Description, described, read, reduced
from ragstone.acquire.readers.parsed import Writer
from ragstone.core.errors import SourceError
from ragstone.core.records import Document, Skipped
from ragstone.settings import AcquireSettings, MetadataSettings

Image = pytest.importorskip("PIL.Image")

MODEL = "openai:sees"
DESCRIBING = {"captions": {"model": MODEL}, "ocr": "off", "parse_seconds": 120}
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


@pytest.mark.parametrize("name", ["a.docx", "a.pptx"])
def test_hands_over_pictures_in_office_files(tmp_path: Path, name: str) -> None:
    picture = saved(painted("red"), "PNG")
    one = document(tmp_path, name, letter(picture) if name == "a.docx" else slide(picture))
    assert (len(one.pictures), marked(one, "picture")) == (1, ["\ufffc"])
    assert one.text == "Before the picture\n\n\ufffc"


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


def test_damaged_picture_costs_no_text(tmp_path: Path) -> None:
    one = document(tmp_path, "a.docx", letter(saved(painted("red"), "PNG")[:60] + bytes(2000)))
    assert (one.text, one.pictures) == ("Before the picture", ())


def test_reads_no_more_pictures_than_allowed(tmp_path: Path) -> None:
    colours = ("red", "green", "blue")
    one = document(tmp_path, "a.docx", letter(*(saved(painted(one), "PNG") for one in colours)), ocr_pages=2)
    assert len(one.pictures) == 2
    assert one.metadata["partial"] == "1 pictures were not read (acquire.ocr_pages)"


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
