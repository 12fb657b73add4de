"""Write the documents of examples/alderwren that are not plain text: PDF, DOCX, XLSX and the scanned letter.

Their text is in the HTML files of this folder, the price list below. It needs Debian's Chromium and the packages of the
tests: ``python tools/demo_documents/build.py``.
"""

from __future__ import annotations

import io
import re
import shutil
from html import escape
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
from PIL import Image, ImageFilter
from playwright.sync_api import sync_playwright
from selectolax.lexbor import LexborHTMLParser, LexborNode

HERE = Path(__file__).parent
DOCUMENTS = HERE.parent.parent / "examples" / "alderwren"
Rows = tuple[tuple[str | float, ...], ...]
PDFS = {
    "reports/quarterly-report-2025-q4.pdf": "20260203",
    "reports/quarterly-report-2026-q1.pdf": "20260428",
    "service/otter-owners-manual.pdf": "20260115",
}
PRICES: dict[str, Rows] = {
    "Bikes": (
        ("Article", "Description", "Price excl. VAT (£)", "Price incl. VAT (£)", "Delivery (weeks)"),
        ("WR-100", "Wren, 400 Wh battery", 2658.33, 3190, 2),
        ("AL-100", "Alder, 522 Wh battery", 3708.33, 4450, 3),
        ("OT-100", "Otter, 522 Wh battery", 4408.33, 5290, 6),
        ("OT-200", "Otter Pro, two batteries", 4983.33, 5980, 8),
    ),
    "Accessories": (
        ("Article", "Description", "Price excl. VAT (£)", "Price incl. VAT (£)", "Fits"),
        ("RC-010", "Rain cover for the box", 137.5, 165, "Otter"),
        ("CS-020", "Child seat with belt", 104.17, 125, "Alder, Wren"),
        ("BN-030", "Bench for two children", 154.17, 185, "Otter"),
        ("PB-040", "Pannier bag, 25 litres", 57.5, 69, "Alder, Wren"),
        ("LK-050", "Frame lock with chain", 70.83, 85, "Alder, Otter, Wren"),
    ),
    "Spare parts": (
        ("Article", "Description", "Price excl. VAT (£)", "Price incl. VAT (£)", "In stock"),
        ("BA-400", "Battery 400 Wh", 441.67, 530, 38),
        ("BA-522", "Battery 522 Wh", 495.83, 595, 112),
        ("BL-220", "Brake levers, pair", 48.33, 58, 640),
        ("BP-230", "Brake pads, pair", 15, 18, 1250),
        ("SC-310", "Steering cable", 26.67, 32, 74),
        ("CH-006", "Charger, 4 A", 74.17, 89, 57),
    ),
}
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml"
WORD_PART = "application/vnd.openxmlformats-officedocument.wordprocessingml"
STYLES = {"h1": ("Heading1", "heading 1", 36), "h2": ("Heading2", "heading 2", 26)}


def main() -> None:
    """Write the files."""
    write_docx(DOCUMENTS / "people" / "employee-handbook.docx", HERE / "employee-handbook.html")
    write_xlsx(DOCUMENTS / "sales" / "price-list-2026.xlsx", PRICES)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 820, "height": 1160}, device_scale_factor=1.6)
        for name, day in PDFS.items():
            page.goto((HERE / Path(name).with_suffix(".html").name).as_uri())
            pdf = page.pdf(prefer_css_page_size=True, tagged=True, outline=True)
            # Chromium writes today's date; as many digits keep the offsets in the file.
            (DOCUMENTS / name).write_bytes(re.sub(rb"\(D:\d{8}", f"(D:{day}".encode(), pdf))
        page.goto((HERE / "lease-letter.html").as_uri())
        scanned(page.screenshot()).save(DOCUMENTS / "letters" / "2026-04-02-lease.jpg", quality=60)
        browser.close()
    for path in sorted(path for path in DOCUMENTS.rglob("*") if path.is_file()):
        print(f"{path.stat().st_size:8,} {path.relative_to(DOCUMENTS)}")


def scanned(screenshot: bytes) -> Image.Image:
    """Return the picture as a scanner leaves it: a little askew, soft and grainy."""
    picture = Image.open(io.BytesIO(screenshot)).convert("L")
    picture = picture.rotate(0.6, Image.Resampling.BICUBIC, fillcolor=246).filter(ImageFilter.GaussianBlur(0.6))
    grain = np.random.default_rng(2026).normal(0, 5, (picture.height, picture.width))
    return Image.fromarray(np.clip(np.asarray(picture) + grain, 0, 255).astype(np.uint8))


def write_docx(path: Path, source: Path) -> None:
    """Write the headings, paragraphs, numbered steps and tables of a page as a Word document."""
    body = LexborHTMLParser(source.read_text(encoding="utf-8")).body
    assert body is not None, source
    parts: list[str] = []
    lists = 0
    for node in body.iter():
        if node.tag == "ol":
            lists += 1
            numbering = f'<w:numPr><w:ilvl w:val="0"/><w:numId w:val="{lists}"/></w:numPr>'
            parts += [paragraph(item, numbering) for item in node.iter()]
        elif node.tag == "table":
            rows = (f"<w:tr>{''.join(map(cell, row.iter()))}</w:tr>" for row in node.css("tr"))
            parts.append(f"<w:tbl><w:tblPr/><w:tblGrid/>{''.join(rows)}</w:tbl>")
        else:
            style = f'<w:pStyle w:val="{STYLES[node.tag][0]}"/>' if node.tag in STYLES else ""
            parts.append(paragraph(node, style))
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{identifier}"><w:name w:val="{name}"/>'
        f'<w:pPr><w:spacing w:before="240"/></w:pPr><w:rPr><w:b/><w:sz w:val="{size}"/></w:rPr></w:style>'
        for identifier, name, size in STYLES.values()
    )
    level = '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>'
    steps = f'<w:abstractNum w:abstractNumId="0">{level}</w:abstractNum>' + "".join(
        f'<w:num w:numId="{number}"><w:abstractNumId w:val="0"/></w:num>' for number in range(1, lists + 1)
    )
    write_package(
        path,
        "word/document.xml",
        {
            "word/document.xml": (
                f"{WORD_PART}.document.main+xml",
                tag("w:document", WORD, "<w:body>", *parts, "</w:body>"),
            ),
            "word/styles.xml": (f"{WORD_PART}.styles+xml", tag("w:styles", WORD, styles)),
            "word/numbering.xml": (f"{WORD_PART}.numbering+xml", tag("w:numbering", WORD, steps)),
        },
    )


def paragraph(node: LexborNode, properties: str = "") -> str:
    text = escape(" ".join(node.text().split()))
    return f'<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def cell(node: LexborNode) -> str:
    return f'<w:tc><w:tcPr><w:tcW w:w="3000" w:type="dxa"/></w:tcPr>{paragraph(node)}</w:tc>'


def write_xlsx(path: Path, sheets: dict[str, Rows]) -> None:
    """Write each table as a sheet of a workbook."""
    listed = "".join(
        f'<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>' for number, name in enumerate(sheets, 1)
    )
    parts = {"xl/workbook.xml": (f"{WORKBOOK}.sheet.main+xml", tag("workbook", MAIN, f"<sheets>{listed}</sheets>"))}
    for number, rows in enumerate(sheets.values(), 1):
        data = "".join(f"<row>{''.join(map(value, row))}</row>" for row in rows)
        sheet = tag(
            "worksheet", MAIN, '<cols><col min="1" max="5" width="24"/></cols>', f"<sheetData>{data}</sheetData>"
        )
        parts[f"xl/worksheets/sheet{number}.xml"] = (f"{WORKBOOK}.worksheet+xml", sheet)
    write_package(path, "xl/workbook.xml", parts)


def value(item: str | float) -> str:
    if isinstance(item, str):
        return f'<c t="inlineStr"><is><t>{escape(item)}</t></is></c>'
    return f"<c><v>{item}</v></c>"


def tag(name: str, namespace: str, *content: str) -> str:
    prefix = f":{name.partition(':')[0]}" if ":" in name else ""
    return f'<{name} xmlns{prefix}="{namespace}" xmlns:r="{RELATIONS}">{"".join(content)}</{name}>'


def write_package(path: Path, main_part: str, parts: dict[str, tuple[str, str]]) -> None:
    """Write parts, each with its content type, as a package of Office Open XML whose main part refers to the others."""
    folder = f"{Path(main_part).parent}/"

    def relation(number: int, name: str, target: str) -> str:
        kind = "worksheet" if name.startswith("sheet") else name
        return f'<Relationship Id="rId{number}" Type="{RELATIONS}/{kind}" Target="{target}"/>'

    others = [name for name in parts if name != main_part]
    inner = "".join(relation(i, Path(name).stem, name.removeprefix(folder)) for i, name in enumerate(others, 1))
    types = "".join(f'<Override PartName="/{name}" ContentType="{kind}"/>' for name, (kind, _) in parts.items())
    default = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    files = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">{default}{types}</Types>',
        "_rels/.rels": tag("Relationships", f"{PACKAGE}/relationships", relation(1, "officeDocument", main_part)),
        f"{folder}_rels/{Path(main_part).name}.rels": tag("Relationships", f"{PACKAGE}/relationships", inner),
        **{name: content for name, (_, content) in parts.items()},
    }
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            # A fixed date, so that the same content gives the same file.
            entry = ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            entry.compress_type = ZIP_DEFLATED
            archive.writestr(entry, f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n{content}')


if __name__ == "__main__":
    main()
