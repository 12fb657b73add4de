"""Minimal files in Word, PowerPoint, spreadsheet, OpenDocument, RTF and e-book formats."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from structure import marked, outline

from ragstone.core.records import Document, Skipped

ReadAll = Callable[..., list[Document | Skipped]]
ReadOne = Callable[..., Document]
Why = Callable[..., str]

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
PART = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">%s</Relationships>'
STYLES = f"""<w:styles {W}><w:style w:styleId="T1"><w:name w:val="heading 1"/></w:style>
<w:style w:styleId="T2"><w:name w:val="own"/><w:basedOn w:val="T1"/></w:style></w:styles>"""
CORE = """<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"><dc:title>Given</dc:title>
<dc:creator>N. Author</dc:creator><dcterms:created>2024-05-06T07:08:09Z</dcterms:created></cp:coreProperties>"""
BODY = """
<w:p><w:pPr><w:pStyle w:val="T1"/></w:pPr><w:r><w:t>A head</w:t></w:r><w:r><w:t>ing</w:t></w:r></w:p>
<w:p><w:r><w:t>One </w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>
<w:ins><w:r><w:t>in</w:t></w:r></w:ins>
<w:r><w:instrText>PAGE</w:instrText><w:tab/><w:t>\ufb01n</w:t><w:br/><w:t>down</w:t></w:r></w:p>
<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>item</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr><w:p><w:r><w:t>wide</w:t></w:r></w:p></w:tc></w:tr>
<w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
<w:sdt><w:sdtContent><w:p><w:pPr><w:pStyle w:val="T2"/></w:pPr><w:r><w:t>Own</w:t></w:r></w:p></w:sdtContent></w:sdt>
<w:sectPr/>"""
BOMB = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "%s">]>' % ("x" * 9)
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>'


def relation(kind: str, target: str, key: str = "r1") -> str:
    return f'<Relationship Id="{key}" Type="{OFFICE}/{kind}" Target="{target}"/>'


def package(files: dict[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def docx(document: str = f"<w:document {W}><w:body>{BODY}</w:body></w:document>", **more: str) -> bytes:
    header = f"<w:hdr {W}><w:p><w:r><w:t>HEADER</w:t></w:r></w:p></w:hdr>"
    notes = f"<w:footnotes {W}><w:footnote><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>"
    below = relation("styles", "styles.xml") + relation("header", "header1.xml", "r2")
    files: dict[str, str | bytes] = {
        "_rels/.rels": PART % relation("officeDocument", "word/document.xml"),
        "word/_rels/document.xml.rels": PART % (below + relation("footnotes", "footnotes.xml", "r3")),
        "word/document.xml": document,
        "word/styles.xml": STYLES,
        "word/header1.xml": header,
        "word/footnotes.xml": notes,
        "docProps/core.xml": CORE,
    }
    return package(files | more)


def test_reads_word(read_one: ReadOne) -> None:
    document = read_one("a.docx", docx())
    assert document.text == "A heading\n\nOne in\tfin\ndown\n- item\n\nwide\na | b\n\nOwn\n\nA note."
    assert outline(document) == [(1, "A heading"), (1, "Own")]
    assert marked(document, "table") == ["wide\na | b"]
    assert document.title == "Given"


def cell_of_word(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>"


def test_word_tables_repeat_spans(read_one: ReadOne) -> None:
    wide, begin, on = '<w:gridSpan w:val="2"/>', '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    rows = [
        "<w:trPr><w:tblHeader/></w:trPr>" + cell_of_word("Name") + cell_of_word("Year Ended", wide),
        cell_of_word("x", begin) + cell_of_word("1") + cell_of_word("2"),
        cell_of_word("", on) + cell_of_word("3") + cell_of_word("4"),
    ]
    table = "".join(f"<w:tr>{row}</w:tr>" for row in rows)
    document = read_one("a.docx", docx(f"<w:document {W}><w:body><w:tbl>{table}</w:tbl></w:body></w:document>"))
    assert marked(document, "table") == ["Name | Year Ended | Year Ended\nx | 1 | 2\nx | 3 | 4"]
    assert [mark.header for mark in document.marks if mark.kind == "table"] == [1]
    wanted = {"kind": "docx", "author": "N. Author", "created": "2024-05-06T07:08:09"}
    assert {key: document.metadata[key] for key in wanted} == wanted


@pytest.mark.parametrize("prolog", [BOMB, OUTSIDE])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_refuses_declared_entities(why_skipped: Why, prolog: str, encoding: str) -> None:
    text = prolog.replace("?>", f' encoding="{encoding}"?>', 1)
    xml = f"{text}<w:document {W}><w:body><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:body></w:document>"
    files = {"_rels/.rels": PART % relation("officeDocument", "d.xml"), "d.xml": xml.encode(encoding)}
    assert why_skipped("a.docx", package(files)) == "refused: it declares XML entities or a document type"


MAIN_PARTS = {
    "docx": "word/document.xml", "pptx": "ppt/presentation.xml", "xlsx": "xl/workbook.xml", "odt": "content.xml",
    "ods": "content.xml", "epub": "META-INF/container.xml",
}  # fmt: skip


def test_refuses_sample_bombs(
    data_dir: Path, tmp_path: Path, read_all: Callable[..., list[Document | Skipped]]
) -> None:
    samples = (data_dir / "security_samples" / "dev" / "xml").glob("*.xml")
    declaring = [sample for sample in samples if b"<!DOCTYPE" in sample.read_bytes()]
    assert len(declaring) >= 4
    for sample in declaring:
        for kind, part in MAIN_PARTS.items():
            (tmp_path / f"{sample.stem}.{kind}").write_bytes(package({part: sample.read_bytes()}))
        (tmp_path / f"{sample.stem}.html").write_bytes(sample.read_bytes())
    results = read_all(tmp_path)
    told = [one.reason.split(":")[0] for one in results if isinstance(one, Skipped)]
    assert told.count("refused") == len(declaring) * len(MAIN_PARTS)
    # In a page nothing expands: browsers ignore declared entities.
    pages = [one for one in results if isinstance(one, Document)]
    assert all(len(page.text) < 1000 and "root:" not in page.text for page in pages)


def test_refuses_part_that_expands_too_far(why_skipped: Why) -> None:
    content = docx(f"<w:document {W}><w:body>{'<w:p/>' * 20_000_000}</w:body></w:document>")
    assert len(content) < 500_000
    assert why_skipped("a.docx", content).startswith("a bomb")


@pytest.mark.parametrize("name", ["a.docx", "a.pptx", "a.xlsx", "a.xls", "a.ods", "a.odt", "a.epub", "a.rtf", "a.pdf"])
def test_reports_damaged_files(read_all: ReadAll, tmp_path: Path, name: str) -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600
    contents = [b"", b"PK\3\4 broken", b"no such file", package({"a": "b"})]
    contents += [ole] if name.endswith("x") or name == "a.odt" else []
    for number, content in enumerate(contents):
        (tmp_path / f"{number}{name}").write_bytes(content)
    results = sorted(read_all(tmp_path), key=lambda one: one.source)
    empty, *damaged = [one.reason for one in results[:4] if isinstance(one, Skipped)]
    assert empty == "empty"
    assert len(damaged) == 3
    assert all(reason.startswith(("damaged", "empty")) for reason in damaged)
    assert all(isinstance(one, Skipped) and one.reason.startswith("encrypted") for one in results[4:])
    assert len(results) == len(contents)


def test_survives_deeply_nested_word_file(read_one: ReadOne) -> None:
    deep = "<w:sdt>" * 5000 + "<w:p/>" + "</w:sdt>" * 5000
    text = "<w:p>" + "<w:smartTag>" * 3000 + "</w:smartTag>" * 3000 + "<w:r><w:t>end</w:t></w:r></w:p>"
    assert "end" in read_one("a.docx", docx(f"<w:document {W}><w:body>{deep}{text}</w:body></w:document>")).text


def test_reads_slides(read_one: ReadOne) -> None:
    p = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    a = f'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="{OFFICE}"'

    def shape(role: str, text: str) -> str:
        kind = f'<p:nvSpPr><p:nvPr><p:ph type="{role}"/></p:nvPr></p:nvSpPr>'
        return f"<p:sp>{kind}<p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"

    def slide(*shapes: str) -> str:
        return f"<p:sld {p} {a}><p:cSld><p:spTree>{''.join(shapes)}</p:spTree></p:cSld></p:sld>"

    ids = '<p:sldIdLst><p:sldId r:id="r2"/><p:sldId r:id="r1"/></p:sldIdLst>'
    cell = "<a:tc><a:txBody><a:p><a:r><a:t>c</a:t></a:r></a:p></a:txBody></a:tc>"
    document = read_one(
        "a.pptx",
        package(
            {
                "_rels/.rels": PART % relation("officeDocument", "ppt/presentation.xml"),
                "ppt/presentation.xml": f"<p:p {p} {a}>{ids}</p:p>",
                "ppt/_rels/presentation.xml.rels": PART
                % (relation("slide", "slides/s1.xml") + relation("slide", "slides/s2.xml", "r2")),
                "ppt/slides/s1.xml": slide(shape("title", "Last"), f"<a:tbl><a:tr>{cell}{cell}</a:tr></a:tbl>"),
                "ppt/slides/s2.xml": slide(shape("title", "First"), shape("body", "words"), shape("sldNum", "7")),
                "ppt/slides/_rels/s2.xml.rels": PART % relation("notesSlide", "../notes/n.xml"),
                "ppt/notes/n.xml": slide(shape("body", "say this"), shape("sldNum", "7")),
            }
        ),
    )
    assert document.text == "First\n\nwords\n\nNotes: say this\n\nLast\n\nc | c"
    assert marked(document, "page") == ["First\n\nwords\n\nNotes: say this", "Last\n\nc | c"]
    assert [mark.label for mark in document.marks if mark.kind == "page"] == ["1", "2"]
    assert (document.title, document.metadata["pages"]) == ("First", 2)


def test_reads_rich_text(read_one: ReadOne) -> None:
    rtf = (
        r"{\rtf1\ansi\ansicpg1257{\fonttbl{\f0 Times;}}{\info{\title T}{\author A}}{\*\generator X;}"
        r"\pard \'dedis \u382?\uc2\u8211 --x\par {\b bold\tab tab}\line next\par\trowd a\cell b\cell\row}"
    )
    document = read_one("a.rtf", rtf)
    assert document.text == "Ždis ž–x\n\nbold\ttab\nnext\n\na | b"
    assert document.title == "T"


def test_reads_open_document(read_one: ReadOne) -> None:
    names = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{short}:1.0"' for short in ("office", "text", "table")
    )
    cell = "<table:table-cell><text:p>c</text:p></table:table-cell>"
    content = (
        f"<office:document-content {names}><office:body><office:text>"
        '<text:h text:outline-level="2">Head</text:h><text:p>a<text:s text:c="2"/>b<text:span>c</text:span>'
        "<office:annotation><text:p>COMMENT</text:p></office:annotation>d</text:p>"
        "<text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>"
        f"<table:table><table:table-row>{cell}{cell}</table:table-row></table:table>"
        "</office:text></office:body></office:document-content>"
    )
    document = read_one("a.odt", package({"content.xml": content}))
    assert document.text == "Head\n\na  bcd\n- item\n\nc | c"
    assert outline(document) == [(2, "Head")]
    assert marked(document, "table") == ["c | c"]


def test_reads_slides_of_opendocument(read_one: ReadOne) -> None:
    spaces = " ".join(
        f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for prefix, name in (("o", "office"), ("d", "drawing"), ("p", "presentation"), ("t", "text"))
    )
    frame = '<d:frame p:class="{}"><d:text-box><t:p>{}</t:p></d:text-box></d:frame>'
    notes = f"<p:notes>{frame.format('notes', 'Say it slowly')}</p:notes>"
    footer = frame.format("footer", "x")
    slides = "".join(
        f"<d:page>{frame.format('title', title)}{frame.format('outline', words)}{footer}{notes}</d:page>"
        for title, words in (("Rent", "By the third day"), ("Repairs", "The owner pays"))
    )
    content = (
        f"<o:document-content {spaces}><o:body><o:presentation>{slides}</o:presentation></o:body></o:document-content>"
    )
    document = read_one("a.odp", package({"content.xml": content}))
    assert document.text.split("\n\n") == [
        *("Rent", "By the third day", "Notes: Say it slowly"),
        *("Repairs", "The owner pays", "Notes: Say it slowly"),
    ]
    assert [mark.label for mark in document.marks if mark.kind == "heading"] == ["Rent", "Repairs"]
    assert document.metadata["pages"] == 2
