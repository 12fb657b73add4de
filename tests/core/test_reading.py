"""What is said of how a document was read."""

import pytest

from ragstone.core.reading import note_of, reading_of
from ragstone.core.records import Document, Mark, Metadata


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


def test_column_of_that_name_is_no_note() -> None:
    row = Document(id="docs/a.csv#1", text="partial: yes", metadata={"path": "a.csv", "partial": "yes"})
    assert note_of(row) == ""


def test_counts_what_was_found() -> None:
    marks = [Mark(kind=kind, start=0, end=1) for kind in ("page", "page", "table", "heading", "heading", "heading")]
    found = reading_of(Document(id="a.pdf", text="words", metadata={"kind": "pdf"}, marks=tuple(marks)))
    assert (found.kind, found.characters, found.pages, found.headings, found.tables) == ("pdf", 5, 2, 3, 1)
    assert (found.ocr, found.ocr_confidence, found.note) == ("", None, "")
