"""Scans and pictures as documents: what is read, with which facts, and what is refused."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import numpy as np
import pytest
from pdf_file import pdf, text
from pictures import LINES, drawn, gray, in_page, letter, presentation, saved, slide
from PIL import Image
from structure import check

from ragstone.acquire import read
from ragstone.acquire.ocr import engines
from ragstone.acquire.ocr.pictures import frames
from ragstone.acquire.ocr.reading import Tally, read_all
from ragstone.acquire.ocr.recognizer import Gray, Recognized
from ragstone.acquire.readers.decode import Unreadable, decoded_file
from ragstone.acquire.readers.pdf.pictures import is_readable
from ragstone.core.records import Document, Skipped
from ragstone.settings import AcquireSettings

pytestmark = pytest.mark.skipif(find_spec("rapidocr") is None, reason="the package rapidocr is not installed")

Read = Callable[..., Document]
Why = Callable[..., str]
Get = Callable[[str], Document]
PATIENT = {"parse_seconds": 120, "ocr_seconds": 240}
"""Limits for a machine that does much else."""
TURNS = (90, 180, 270, 4)
"""Degrees."""
SECOND = "A second page with words"
TYPED = "\n".join(f"This line number {n} was typed, not scanned." for n in range(5))


def png(width: int, height: int, rows: bytes = b"") -> bytes:
    """A PNG of this size, whose pixels may be missing."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


# ---------------------------------------------------------------- what is read


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Document | Skipped]:
    """What files of many kinds gave, by name; read by one process, because its models take a second to load."""
    pages = saved(drawn(LINES[:2]), "TIFF", more=[drawn((SECOND,))])
    files = {
        "a.png": saved(drawn(), "PNG"),
        "a.jpeg": saved(drawn(), "JPEG"),
        "a.webp": saved(drawn(), "WEBP"),
        "pages.tif": pages,
        "cut.tif": pages[: len(pages) * 2 // 3],
        "divided.png": saved(drawn(("The depart-", "ment closes at noon.", "Ask for Anglo-", "Saxon coins.")), "PNG"),
        "scanned.pdf": saved(drawn(), "PDF", more=[drawn(LINES[2:])]),
        "typed.pdf": pdf([TYPED]),
        "a.pptx": slide(saved(drawn(), "PNG")),
        "a.docx": letter(saved(drawn(), "PNG")),
        "a.odp": presentation(saved(drawn(), "PNG")),
        "a.html": f'<p>Before the picture</p><img src="{in_page(saved(drawn(), "PNG"))}">'.encode(),
        "shade.png": saved(Image.fromarray(np.tile(np.arange(256, dtype=np.uint8), (200, 2))), "PNG"),
    }
    for degrees in TURNS:
        files[f"{degrees}.png"] = saved(drawn().rotate(degrees, expand=True, fillcolor=255), "PNG")
    folder = tmp_path_factory.mktemp("pictures")
    for name, content in files.items():
        (folder / name).write_bytes(content)
    told = read(str(folder), AcquireSettings.model_validate(PATIENT), base=folder)
    return {Path(one.source).name: one for one in told if isinstance(one, Document | Skipped)}


@pytest.fixture
def document(results: dict[str, Document | Skipped]) -> Callable[[str], Document]:
    def get(name: str) -> Document:
        result = results[name]
        assert isinstance(result, Document), result
        check(result)
        return result

    return get


@pytest.mark.parametrize("name", ["a.png", "a.jpeg", "a.webp"])
def test_reads_a_picture(document: Get, name: str) -> None:
    got = document(name)
    assert got.text.split("\n") == list(LINES)
    assert got.metadata["ocr"] == "rapidocr"
    assert 0.9 < float(str(got.metadata["ocr_confidence"])) <= 1
    assert decoded_file(got) is None


def test_places_every_line(document: Get) -> None:
    got = document("a.png")
    assert [got.text[one.start : one.end] for one in got.placed] == list(LINES)
    tops = [one.top for one in got.placed]
    assert tops == sorted(tops)
    assert all(0 < one.left < 0.1 and one.page == 0 and 0.8 < one.confidence <= 1 for one in got.placed)


def test_every_frame_of_a_tiff_is_a_page(document: Get) -> None:
    got = document("pages.tif")
    pages = [got.text[mark.start : mark.end] for mark in got.marks if mark.kind == "page"]
    assert pages == ["\n".join(LINES[:2]), SECOND]
    assert {one.page for one in got.placed} == {0, 1}


def test_damaged_frame_costs_only_what_follows(document: Get) -> None:
    got = document("cut.tif")
    assert got.text.split("\n") == list(LINES[:2])
    assert str(got.metadata["partial"]).startswith("damaged")


@pytest.mark.parametrize("degrees", TURNS)
def test_turns_a_page_upright(document: Get, degrees: int) -> None:
    assert document(f"{degrees}.png").text.split("\n") == list(LINES)


def test_joins_words_divided_at_line_ends(document: Get) -> None:
    got = document("divided.png")
    assert got.text == "The department closes at noon.\nAsk for Anglo-\nSaxon coins."
    assert [got.text[one.start : one.end] for one in got.placed] == [
        "The depart", "ment closes at noon.", "Ask for Anglo-", "Saxon coins.",
    ]  # fmt: skip


def test_reads_a_scanned_pdf(document: Get) -> None:
    got = document("scanned.pdf")
    pages = [got.text[mark.start : mark.end] for mark in got.marks if mark.kind == "page"]
    assert pages == ["\n".join(LINES), "\n".join(LINES[2:])]
    assert got.metadata["ocr"] == "rapidocr"


def test_pages_of_text_keep_their_text(document: Get) -> None:
    assert document("typed.pdf").text == TYPED
    assert "ocr" not in document("typed.pdf").metadata


@pytest.mark.parametrize("name", ["a.pptx", "a.docx", "a.odp", "a.html"])
def test_reads_pictures_in_other_files(document: Get, name: str) -> None:
    got = document(name)
    assert got.text.split("\n") == ["Before the picture", "", *LINES]
    assert got.metadata["ocr"] == "rapidocr"


def test_picture_without_text_is_skipped(results: dict[str, Document | Skipped]) -> None:
    shade = results["shade.png"]
    assert isinstance(shade, Skipped)
    assert shade.reason == "no text in the picture"


@pytest.mark.skipif(which("tesseract") is None, reason="the program tesseract is not installed")
def test_starts_tesseract_if_named(read_one: Read) -> None:
    document = read_one("a.png", saved(drawn(), "PNG"), ocr="tesseract", ocr_languages=["en"], **PATIENT)
    assert document.text.split("\n") == list(LINES)
    assert document.metadata["ocr"] == "tesseract"


def test_reads_no_more_pages_than_allowed(read_one: Read) -> None:
    document = read_one("a.pdf", saved(drawn(), "PDF", more=[drawn()]), ocr_pages=1, **PATIENT)
    assert document.text.split("\n") == list(LINES)
    assert "acquire.ocr_pages" in str(document.metadata["partial"])


def test_says_which_frames_are_left_out(read_one: Read) -> None:
    document = read_one("a.tif", saved(drawn(), "TIFF", more=[drawn()]), ocr_pages=1, **PATIENT)
    assert document.text.split("\n") == list(LINES)
    assert document.metadata["partial"] == "only the first 1 pages were read (acquire.ocr_pages)"


def test_says_all_that_a_file_lacks(read_one: Read) -> None:
    words = text(72, 700, "The first page is text, the second a scan, and the third is damaged.")
    scan = "q 400 0 0 300 72 200 cm BI /W 2 /H 2 /CS /G /BPC 8 ID \x01\xff\x02\xfe EI Q"
    content = pdf([words, scan, scan], drawn=True, kids="6 0 R 8 0 R 10 0 R 99 0 R")
    document = read_one("a.pdf", content, ocr="rapidocr", ocr_pages=1, ocr_seconds=0.001, parse_seconds=120)
    unread, failed, lost = str(document.metadata["partial"]).split("; ")
    assert unread == "1 of 2 scans and pictures were not read (acquire.ocr_pages)"
    assert failed.startswith("1 of 2 scans and pictures could not be read: ")
    assert lost == "pages that cannot be read: 4"


def test_picture_beside_the_page_costs_no_text(read_one: Read) -> None:
    beside = "q 500 0 0 200 2000 2000 cm BI /W 1 /H 1 /CS /G /BPC 8 ID x EI Q"
    document = read_one("a.pdf", pdf([f"{text(72, 700, 'Typed and worth keeping')} {beside}"], drawn=True), **PATIENT)
    assert document.text == "Typed and worth keeping"


def test_failure_costs_only_one_picture() -> None:
    class Fails:
        name, pages_at_once = "fails", 1

        def read(self, picture: Gray, languages: Sequence[str], seconds: float) -> Recognized:
            raise Unreadable(f"no power for {picture.ndim} sides in {len(languages)} languages and {seconds:g} s")

    tally = Tally()
    for scan in read_all([gray(drawn())] * 2, Fails(), AcquireSettings(), lambda: None):
        tally.add(scan)
    assert (tally.characters, tally.failed, tally.failure) == (0, 2, "no power for 2 sides in 0 languages and 120 s")


@pytest.mark.parametrize("engine", ["rapidocr", "tesseract"])
def test_slow_page_is_left_out(read_one: Read, engine: str) -> None:
    if engine == "tesseract" and not which("tesseract"):
        pytest.skip("the program tesseract is not installed")
    words = text(72, 700, "The first page is text, and is kept whatever happens to the second.")
    scan = "q 400 0 0 300 72 200 cm BI /W 2 /H 2 /CS /G /BPC 8 ID \x01\xff\x02\xfe EI Q"
    document = read_one("a.pdf", pdf([words, scan], drawn=True), ocr=engine, ocr_seconds=0.001, parse_seconds=120)
    assert document.text.startswith("The first page is text")
    assert "1 of 1 scans and pictures could not be read" in str(document.metadata["partial"])
    assert "took more than 0.001 s (acquire.ocr_seconds)" in str(document.metadata["partial"])
    decoded = decoded_file(document)
    assert decoded is not None
    assert decoded.note.startswith("read only in part: 1 of 1 scans")


@pytest.mark.parametrize(("sure", "is_noted"), [(0.62, True), (0.97, False)])
def test_reports_what_is_read_poorly(sure: float, is_noted: bool) -> None:
    metadata = {"path": "a.png", "ocr": "rapidocr", "ocr_confidence": sure}
    noted = decoded_file(Document(id="a.png", text="words", source="/scans/a.png", metadata=metadata))
    assert (noted is not None) == is_noted
    if noted:
        assert (noted.source, noted.note) == ("/scans/a.png", "read from pictures by OCR, at a confidence of 62%")


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("name", ["a.png", "a.pdf"])
def test_says_how_to_switch_it_on(why_skipped: Why, name: str) -> None:
    kind = name[2:].upper()
    assert "acquire.ocr is off" in why_skipped(name, saved(drawn(), kind), ocr="off")


def test_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda _: None)
    with pytest.raises(Unreadable, match=r"a scan; .* is not installed; run: .*install .*\[ocr\]'"):
        engines.chosen("auto", "a scan")


@pytest.mark.parametrize("source", [png(60_000, 60_000), png(9_000, 9_000)])
def test_refuses_too_many_pixels(source: bytes) -> None:
    with pytest.raises(Unreadable, match="million pixels"):
        next(frames(source, 1))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF"])
def test_truncated_file_is_damaged(kind: str) -> None:
    whole = saved(drawn(), kind)
    for length in (12, len(whole) // 3, len(whole) - len(whole) // 3):
        with pytest.raises(Unreadable, match="damaged"):
            next(frames(whole[:length], 1))


def test_never_raises_anything_else() -> None:
    rng = np.random.default_rng(1)
    for kind in ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF"):
        whole = np.frombuffer(saved(drawn(LINES[:1], width=300, size=12), kind), np.uint8)
        for _ in range(40):
            broken = whole.copy()
            places = rng.integers(0, len(broken), 8)
            broken[places] = rng.integers(0, 256, 8)
            with suppress(Unreadable):
                assert all(one.ndim == 2 for one in frames(broken.tobytes(), 3))


# ---------------------------------------------------------------- text that says nothing


@pytest.mark.parametrize(
    "text",
    [
        "\ue012\ue013\ue044 \ue012\ue013 \ue044\ue015\ue016",
        "�� ���� �� �� ���",
        " ".join(["WKLV SDJH LV VKLIWHG EB WKUHH OHWWHUV LQ LWV IRQW"] * 5),
    ],
)
def test_knows_text_that_cannot_be_read(text: str) -> None:
    assert not is_readable(text)


@pytest.mark.parametrize(
    "text",
    [
        "Bylą dėl fizinio asmens pripažinimo nežinia kur esančiu teismas nagrinėja pagal šio Kodekso straipsnius " * 3,
        "HTTP TCP TLS DNS SSH FTP SMTP: the protocols of the network and their numbers are listed in the table below",
        "Это обычный русский текст без единой латинской буквы, и он читается " * 3,
        "1,234 5,678 9,012 (345) 2019 2020 2021",
    ],
)
def test_knows_text_that_can_be_read(text: str) -> None:
    assert is_readable(text)


# ---------------------------------------------------------------- scans


def test_reads_scans(read_one: Read, data_dir: Path) -> None:
    folder = data_dir / "scans" / "made" / "dev"
    truth = {one["file"]: one["text"] for one in map(json.loads, (folder / "truth.jsonl").read_text().splitlines())}
    for file in ("img/lit-17.pdf", "img/msa-14.jpg"):
        text = read_one(folder / file, **PATIENT).text
        assert (
            SequenceMatcher(None, " ".join(truth[file].split()), " ".join(text.split()), autojunk=False).ratio() > 0.97
        )
