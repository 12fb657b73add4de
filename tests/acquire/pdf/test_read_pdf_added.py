"""What people add to PDF files, and pages whose words look like something else."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pdf_file import pdf, text

from ragstone.acquire.readers.pdf.pictures import is_readable
from ragstone.core.records import Document, Skipped

ReadOne = Callable[..., Document]
ReadAll = Callable[..., list[Document | Skipped]]

FORM = """<</FT/Tx/V(Heron)/T(a)/Type/Annot/Subtype/Widget/Rect[200 694 300 714]>>
<</FT/Btn/T(b)/V/Yes/AS/Yes/Type/Annot/Subtype/Widget/Rect[200 664 212 676]>>
<</FT/Btn/T(c)/V/Off/AS/Off/Type/Annot/Subtype/Widget/Rect[250 664 262 676]>>
<</Type/Annot/Subtype/FreeText/Contents(Paid in May)/Rect[72 600 200 615]>>
<</Type/Annot/Subtype/Text/Contents(Ask Ann)/Rect[400 600 420 620]>>"""


def with_form() -> bytes:
    """A page with a form. The fields are listed by the catalog, which `pdf` knows nothing of."""
    drawn = text(72, 700, "Ship") + text(72, 667, "Deck") + text(216, 667, "open") + text(266, 667, "closed")
    fields = FORM.replace("\n", " ")
    made = pdf([drawn], drawn=True, page=f"/Annots[{fields}]")
    return made.replace(b"/Type/Catalog", b"/Type/Catalog/AcroForm<</Fields[]>>", 1)


def test_values_of_forms_stand_beside_their_labels(read_one: ReadOne) -> None:
    document = read_one("a.pdf", with_form())
    words = document.text.replace(" | ", " ")
    for shown in ("Ship Heron", "Deck ☒ open ☐ closed", "Paid in May"):
        assert shown in words, document.text
    assert document.metadata["partial"] == "1 comment on page 1 was left out"


def test_attached_files_become_documents(read_all: ReadAll) -> None:
    names = (
        "/Names<</EmbeddedFiles<</Names[(inner.txt) <</Type/Filespec/F(inner.txt)/UF(inner.txt)/EF<</F 5 0 R>>>>]>>>>"
    )
    # The content of the page is attached as well: it is the stream at hand.
    made = pdf(["The mast is tall"]).replace(b"/Type/Catalog", b"/Type/Catalog" + names.encode(), 1)
    whole, inner = read_all("a.pdf", made)
    assert isinstance(whole, Document)
    assert isinstance(inner, Document)
    assert whole.text == "The mast is tall"
    assert inner.id.endswith("a.pdf/inner.txt")
    assert "The mast is tall" in inner.text


@pytest.mark.parametrize("drawn", ["Rope, 30 m ............ 45.50", "Rope, 30 m............45.50"])
def test_leader_dots_are_no_words(read_one: ReadOne, drawn: str) -> None:
    lines = [text(72, 700 - 20 * n, drawn.replace("Rope", name)) for n, name in enumerate(("Anchor", "Rope", "Lamp"))]
    document = read_one("a.pdf", pdf(["\n".join(lines)], drawn=True))
    assert [line.replace(" | ", " ") for line in document.text.split("\n")] == [
        f"{name}, 30 m 45.50" for name in ("Anchor", "Rope", "Lamp")
    ]


def test_raised_digits_stay_apart_from_numbers_and_words(read_one: ReadOne) -> None:
    drawn = [
        text(72, 700, "holds 10") + text(119, 705, "6", size=7) + text(130, 700, "litres"),
        text(72, 660, "for three years") + text(148.5, 665, "3", size=7),
    ]
    document = read_one("a.pdf", pdf(["\n".join(drawn)], drawn=True))
    assert document.text == "holds 10⁶ litres\n\nfor three years ³"


def test_prose_with_wide_gaps_is_no_table(read_one: ReadOne) -> None:
    lines = (
        "The keeper must write the log each night",
        "and sign it with the seal of our port",
        "V I S I T O R S must wait at gate four",
    )
    drawn = "".join(text(60, 700 - 16 * n, line).replace("BT", "BT 16 Tw") for n, line in enumerate(lines))
    document = read_one("a.pdf", pdf([drawn], drawn=True))
    assert " | " not in document.text
    assert "VISITORS must wait" in document.text


def test_a_large_first_letter_begins_its_word(read_one: ReadOne) -> None:
    drawn = text(60, 690, "T", size=30) + text(80, 700, "he keeper writes the log") + text(80, 686, "each night.")
    assert read_one("a.pdf", pdf([drawn], drawn=True)).text.startswith("The keeper writes")


CODES = " ".join(f"BRKT-{letter}{n:03}-L0 R{n % 7}S0{n % 5} {n}" for n in range(30) for letter in "KQXZ")
ABBREVIATIONS = "DB MySQL 8.0 LTS x86 HTTP GET 204 JS ES6 npm ls TLS v1.3 RSA 4096 SHA512 CPU 32 hrs 500 kWh " * 4


@pytest.mark.parametrize("written", [CODES, ABBREVIATIONS])
def test_codes_and_abbreviations_are_readable(written: str) -> None:
    assert is_readable(written)
