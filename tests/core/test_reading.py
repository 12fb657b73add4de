"""What is said of how a document was read."""

import pytest

from ragstone.core.layout import Placed
from ragstone.core.reading import note_of, reading_of, with_notice
from ragstone.core.records import Chunk, Document, Mark, Metadata
from ragstone.core.span import Span


@pytest.mark.parametrize(
    ("metadata", "note"),
    [
        ({}, ""),
        ({"partial": "2 charts were left out"}, "read only in part: 2 charts were left out"),
        ({"ocr": "tesseract", "ocr_confidence": 0.6}, "read from pictures by OCR, at a confidence of 60%"),
        ({"ocr": "tesseract", "ocr_confidence": 0.9}, ""),
        ({"decoding": "gb18030, guessed"}, "gb18030, guessed"),
        ({"decoding": "of genes"}, ""),
        (
            {"partial": "1 sheet", "ocr": "t", "ocr_confidence": 0.5},
            "read only in part: 1 sheet; read from pictures by OCR, at a confidence of 50%",
        ),
    ],
)
def test_notes_what_may_be_wrong_or_missing(metadata: Metadata, note: str) -> None:
    assert note_of(Document(id="a.docx", text="a", metadata=metadata)) == note


def test_notices_add_up() -> None:
    facts = with_notice({"pages": 2, "partial": "1 chart was left out"}, "", "page 2 cannot be read")
    assert facts == {"pages": 2, "partial": "1 chart was left out; page 2 cannot be read"}
    assert with_notice({"pages": 2}, "", "") == {"pages": 2}


def test_column_of_that_name_is_no_note() -> None:
    row = Document(id="docs/a.csv#1", text="partial: yes", metadata={"path": "a.csv", "partial": "yes"})
    assert note_of(row) == ""


def test_counts_what_was_found() -> None:
    marks = [Mark(kind=kind, start=0, end=1) for kind in ("page", "page", "table", "heading", "heading", "heading")]
    found = reading_of(Document(id="a.pdf", text="words", metadata={"kind": "pdf"}, marks=tuple(marks)))
    assert (found.kind, found.characters, found.pages, found.headings, found.tables) == ("pdf", 5, 2, 3, 1)
    assert (found.ocr, found.ocr_confidence, found.note) == ("", None, "")


def test_seconds_are_those_of_a_whole_file() -> None:
    took: Metadata = {"path": "a.csv", "read_seconds": 1.5}
    assert reading_of(Document(id="docs/a.csv", text="words", metadata=took)).seconds == 1.5
    assert reading_of(Document(id="docs/a.csv#1", text="words", metadata=took)).seconds is None
    assert reading_of(Document(id="a.pdf", text="words")).seconds is None


def test_says_how_sure_ocr_was_of_each_page() -> None:
    def line(page: int, start: int, end: int, confidence: float) -> Placed:
        return Placed(start=start, end=end, page=page, left=0, top=0, right=1, bottom=1, confidence=confidence)

    layout = [line(0, 0, 9, 1.0), line(2, 10, 13, 0.5), line(2, 14, 15, 0.9), line(1, 16, 17, 0.75)]
    found = reading_of(Document(id="a.pdf", text="words"), layout)
    assert found.ocr_pages == ((2, 0.75), (3, pytest.approx(0.6)))


def test_says_how_a_text_was_cut() -> None:
    pieces = [
        Chunk(id=f"a:{at}", document_id="a", index=0, total=2, start=at, end=at + 4, text="word") for at in (5, 0)
    ]
    assert reading_of(Document(id="a", text="word words"), chunks=pieces).chunks == (
        Span(start=0, end=4),
        Span(start=5, end=9),
    )
