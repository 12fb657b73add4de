"""PDF files made of a few lines of text."""

from __future__ import annotations

from collections.abc import Sequence


def text(left: float, bottom: float, words: str, *, size: float = 12, turn: str = "1 0 0 1") -> str:
    """Words at a place of a page, for `pdf` with ``drawn`` pages; ``turn`` begins the text matrix."""
    return f"BT /F1 {size} Tf {turn} {left} {bottom} Tm ({words}) Tj ET"


def pdf(pages: Sequence[str], *, info: str = "", kids: str | None = None, drawn: bool = False, page: str = "") -> bytes:
    """A PDF with these lines on its pages.

    Args:
        pages: the lines of each page; what draws it if ``drawn``.
        info: the properties of the file.
        kids: the pages in other order, or others.
        drawn: whether pages are operators of PDF, such as those of `text`.
        page: more entries of each page, such as ``/Rotate 90``.
    """
    objects = ["<</Type/Catalog/Pages 2 0 R>>", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>", f"<<{info}>>"]
    numbers = []
    for content in pages:
        shown = " ".join(f"({line}) Tj 0 -14 Td" for line in content.split("\n"))
        stream = content if drawn else f"BT /F1 12 Tf 72 700 Td {shown} ET"
        objects.append(f"<</Length {len(stream)}>>stream\n{stream}\nendstream")
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {len(objects)} 0 R"
            f"/Resources<</Font<</F1 3 0 R>>>>{page}>>"
        )
        numbers.append(len(objects))
    kids = kids if kids is not None else " ".join(f"{number} 0 R" for number in numbers)
    objects[1] = f"<</Type/Pages/Count {len(kids.split()) // 3}/Kids[{kids}]>>"
    body, table = "%PDF-1.4\n", "0000000000 65535 f \n"
    for number, text in enumerate(objects, 1):
        table += f"{len(body):010} 00000 n \n"
        body += f"{number} 0 obj\n{text}\nendobj\n"
    size = len(objects) + 1
    end = f"trailer\n<</Root 1 0 R/Info 4 0 R/Size {size}>>\nstartxref\n{len(body)}\n%%EOF\n"
    return f"{body}xref\n0 {size}\n{table}{end}".encode("latin-1")
