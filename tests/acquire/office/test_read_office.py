"""Minimal files in Word, PowerPoint, spreadsheet, OpenDocument, RTF and e-book formats."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from compound_file import compound
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

    ids = '<p:sldIdLst><p:sldId r:id="r2"/><p:sldId r:id="r1"/><p:sldId r:id="r2"/></p:sldIdLst>'
    cell = "<a:tc><a:txBody><a:p><a:r><a:t>c</a:t></a:r></a:p></a:txBody></a:tc>"
    said = "<x:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></x:txBody>"
    document = read_one(
        "a.pptx",
        package(
            {
                "_rels/.rels": PART % relation("officeDocument", "ppt/presentation.xml"),
                "ppt/presentation.xml": f"<p:p {p} {a}>{ids}</p:p>",
                "ppt/_rels/presentation.xml.rels": PART
                % (
                    relation("slide", "slides/s1.xml")
                    + relation("slide", "slides/s2.xml", "r2")
                    + relation("authors", "authors.xml", "r3")
                ),
                "ppt/slides/s1.xml": slide(shape("title", "Last"), f"<a:tbl><a:tr>{cell}{cell}</a:tr></a:tbl>"),
                "ppt/slides/s2.xml": slide(shape("title", "First"), shape("body", "words"), shape("sldNum", "7")),
                "ppt/slides/_rels/s2.xml.rels": PART
                % (relation("notesSlide", "../notes/n.xml") + relation("comments", "../c.xml", "r2")),
                "ppt/c.xml": f'<x:cmLst xmlns:x="urn:x" {a}><x:cm authorId="{{A}}" created="2026-05-04T09:00:00">'
                f'<x:replyLst><x:reply authorId="{{B}}">{said.format("No")}</x:reply></x:replyLst>'
                f"{said.format('Really?')}</x:cm></x:cmLst>",
                "ppt/authors.xml": '<x:authorLst xmlns:x="urn:x"><x:author id="{A}" name="Ann"/>'
                '<x:author id="{B}" name="Bo"/></x:authorLst>',
                "ppt/notes/n.xml": slide(shape("body", "say this"), shape("sldNum", "7")),
            }
        ),
    )
    comments = "Comment by Ann, 2026-05-04: Really?\n\nComment by Bo: No"
    assert marked(document, "page") == [f"First\n\nwords\n\nNotes: say this\n\n{comments}", "Last\n\nc | c"]
    assert document.text == "\n\n".join(marked(document, "page"))
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
        f'<office:document-content {names} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:body><office:text>'
        '<text:h text:outline-level="2">Head</text:h><text:p>a<text:s text:c="2"/>b<text:span>c</text:span>'
        "<office:annotation><dc:creator>Ann</dc:creator><dc:date>2026-05-04T09:00:00</dc:date>"
        "<text:p>Really?</text:p></office:annotation>d</text:p>"
        "<text:list><text:list-item><text:p>item</text:p></text:list-item></text:list>"
        f"<table:table><table:table-row>{cell}{cell}</table:table-row></table:table>"
        "</office:text></office:body></office:document-content>"
    )
    document = read_one("a.odt", package({"content.xml": content}))
    assert document.text == "Head\n\na  bcd\n\nComment by Ann, 2026-05-04: Really?\n- item\n\nc | c"
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


# ---------------------------------------------------------------- what Word counts, hides and embeds


def word(body: str, **more: str | bytes) -> bytes:
    relations = "".join(
        relation(kind, target, key)
        for kind, target, key in (
            ("numbering", "numbering.xml", "n1"),
            ("styles", "styles.xml", "n2"),
            ("aFChunk", "chunk.html", "c1"),
            ("chart", "chart1.xml", "c2"),
            ("diagramData", "data1.xml", "c3"),
            ("package", "book.xlsx", "c4"),
            ("oleObject", "object.bin", "c5"),
            ("comments", "comments.xml", "c6"),
        )
    )
    files: dict[str, str | bytes] = {
        "_rels/.rels": PART % relation("officeDocument", "word/document.xml"),
        "word/_rels/document.xml.rels": PART % relations,
        "word/document.xml": f"<w:document {W} {MORE}><w:body>{body}</w:body></w:document>",
    }
    return package(files | {f"word/{name}": data for name, data in more.items()})


MORE = (
    f'xmlns:r="{OFFICE}" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:d="http://schemas.openxmlformats.org/drawingml/2006/diagram" xmlns:o="urn:o" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
)


def words_of(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def in_list(key: int, level: int = 0) -> str:
    return f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{key}"/></w:numPr>'


def level(number: int, kind: str, shape: str) -> str:
    return (
        f'<w:lvl w:ilvl="{number}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{shape}"/></w:lvl>'
    )


NUMBERING = f"""<w:numbering {W}>
<w:abstractNum w:abstractNumId="0">{level(0, "decimal", "%1.")}{level(1, "lowerLetter", "%2)")}</w:abstractNum>
<w:abstractNum w:abstractNumId="1">{level(0, "decimal", "%1")}{level(1, "decimal", "%1.%2")}</w:abstractNum>
<w:abstractNum w:abstractNumId="2">{level(0, "bullet", "o")}</w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="2"/></w:num>
<w:num w:numId="4"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/>
</w:lvlOverride></w:num></w:numbering>"""
NUMBERED_STYLES = f"""<w:styles {W}>
<w:style w:styleId="H1"><w:name w:val="heading 1"/><w:pPr>{in_list(2)}</w:pPr></w:style>
<w:style w:styleId="H2"><w:name w:val="heading 2"/><w:pPr>{in_list(2, 1)}</w:pPr></w:style>
<w:style w:styleId="L"><w:name w:val="List Number"/><w:pPr>{in_list(1)}</w:pPr></w:style>
<w:style w:styleId="L2"><w:name w:val="own list"/><w:basedOn w:val="L"/></w:style></w:styles>"""


def test_word_counts_items_and_headings(read_one: ReadOne) -> None:
    body = (
        words_of("Start", '<w:pStyle w:val="H1"/>')
        + words_of("Valves", '<w:pStyle w:val="H2"/>')
        + words_of("Close", '<w:pStyle w:val="L"/>')
        + words_of("left", in_list(1, 1))
        + words_of("Open", '<w:pStyle w:val="L2"/>')
        + words_of("loose", in_list(3))
        + words_of("Anew", in_list(4))
        + words_of("Plain", f'<w:pStyle w:val="L"/>{in_list(0)}')
        + words_of("Stop", '<w:pStyle w:val="H1"/>')
    )
    document = read_one("a.docx", word(body, **{"numbering.xml": NUMBERING, "styles.xml": NUMBERED_STYLES}))
    assert document.text == ("1 Start\n\n1.1 Valves\n1. Close\na) left\n2. Open\n- loose\n1. Anew\n\nPlain\n\n2 Stop")


def test_word_leaves_out_deleted_rows_and_cells(read_one: ReadOne) -> None:
    gone = f"<w:tr><w:trPr><w:del/></w:trPr>{cell_of_word('Bolt')}{cell_of_word('12')}</w:tr>"
    kept = f"<w:tr>{cell_of_word('Nut')}{cell_of_word('7', '<w:cellDel/>')}{cell_of_word('8')}</w:tr>"
    document = read_one("a.docx", word(f"<w:tbl>{gone}{kept}<w:tr>{cell_of_word('Pin') * 3}</w:tr></w:tbl>"))
    assert document.text == "Nut |  | 8\nPin | Pin | Pin"


def test_word_reads_rows_and_cells_in_content_controls(read_one: ReadOne) -> None:
    cell = f"<w:sdt><w:sdtContent>{cell_of_word('teal')}</w:sdtContent></w:sdt>"
    row = f"<w:sdt><w:sdtContent><w:tr>{cell_of_word('Hull')}{cell}</w:tr></w:sdtContent></w:sdt>"
    document = read_one(
        "a.docx", word(f"<w:tbl><w:tr>{cell_of_word('Part')}{cell_of_word('Colour')}</w:tr>{row}</w:tbl>")
    )
    assert document.text == "Part | Colour\nHull | teal"


def test_word_shows_fields_of_forms(read_one: ReadOne) -> None:
    choice = '<w:ddList><w:result w:val="1"/><w:listEntry w:val="red"/><w:listEntry w:val="teal"/></w:ddList>'
    fields = (choice, "<w:checkBox><w:checked/></w:checkBox>", '<w:checkBox><w:default w:val="0"/></w:checkBox>')
    runs = "".join(f"<w:r><w:fldChar><w:ffData>{one}</w:ffData></w:fldChar><w:t> </w:t></w:r>" for one in fields)
    assert read_one("a.docx", word(f"<w:p>{runs}</w:p>")).text == "teal ☒ ☐"


RAISED = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>6</w:t></w:r>'
FRACTION = "<m:oMath><m:f><m:num><m:r><m:t>3</m:t></m:r></m:num><m:den><m:r><m:t>4</m:t></m:r></m:den></m:f></m:oMath>"


def test_word_keeps_powers_and_fractions(read_one: ReadOne) -> None:
    body = f"<w:p><w:r><w:t>10</w:t></w:r>{RAISED}<w:r><w:t> and 1</w:t></w:r></w:p><w:p>{FRACTION}</w:p>"
    cell = f"<w:tbl><w:tr>{cell_of_word('a')}<w:tc><w:p><w:r><w:t>10</w:t></w:r>{RAISED}</w:p></w:tc></w:tr></w:tbl>"
    assert read_one("a.docx", word(body + cell)).text == "10⁶ and 1\n\n3/4\n\na | 10⁶"


CHART = """<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:ser>
<c:tx><c:pt idx="0"><c:v>Tolls</c:v></c:pt></c:tx>
<c:cat><c:pt idx="0"><c:v>2022</c:v></c:pt><c:pt idx="1"><c:v>2023</c:v></c:pt></c:cat>
<c:val><c:pt idx="0"><c:v>145</c:v></c:pt><c:pt idx="1"><c:v>190</c:v></c:pt></c:val></c:ser></c:chartSpace>"""
DIAGRAM = """<d:dataModel xmlns:d="http://schemas.openxmlformats.org/drawingml/2006/diagram"
xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><d:pt modelId="1"><a:t>Bo Lind</a:t></d:pt>
<d:pt modelId="2"><a:t>Ida Falk</a:t></d:pt><d:cxn srcId="2" destId="1" srcOrd="0"/></d:dataModel>"""


def test_word_reads_what_it_embeds(read_all: ReadAll) -> None:
    body = (
        '<w:altChunk r:id="c1"/><w:p><w:r><c:chart r:id="c2"/></w:r></w:p><w:p><w:r><d:relIds r:dm="c3"/></w:r></w:p>'
        '<w:p><w:r><o:OLEObject r:id="c4"/><o:OLEObject r:id="c5"/></w:r></w:p>'
    )
    files = {"chunk.html": "<p>nine tons</p>", "chart1.xml": CHART, "data1.xml": DIAGRAM, "object.bin": "x"}
    document, book = read_all("a.docx", word(body, **files, **{"book.xlsx": b"x"}))
    assert isinstance(document, Document)
    assert document.text == "nine tons\n\n | Tolls\n2022 | 145\n2023 | 190\n\n- Ida Falk\n  - Bo Lind"
    assert document.metadata["partial"] == "1 embedded object was left out"
    assert book.source.endswith("a.docx/book.xlsx")


def test_word_writes_comments_below_their_paragraph(read_one: ReadOne) -> None:
    marked_words = '<w:p><w:r><w:t>Rent is due.</w:t></w:r><w:r><w:commentReference w:id="4"/></w:r></w:p>'
    comment = '<w:comment w:id="{}" w:author="Ann" w:date="2026-05-04T09:00:00Z">{}</w:comment>'
    listed = comment.format(4, words_of("On which") + words_of("day?")) + comment.format(5, words_of("of nothing"))
    comments = f"<w:comments {W}>{listed}</w:comments>"
    document = read_one("a.docx", word(marked_words + words_of("End"), **{"comments.xml": comments}))
    assert document.text == "Rent is due.\n\nComment by Ann, 2026-05-04: On which day?\n\nEnd"
    assert "partial" not in document.metadata


def test_word_survives_damaged_comments(read_one: ReadOne) -> None:
    document = read_one("a.docx", word(words_of("Rent is due."), **{"comments.xml": "<w:comments"}))
    assert document.text == "Rent is due."
    assert document.metadata["partial"] == "1 part with comments was left out"


def test_word_counts_items_in_cells(read_one: ReadOne) -> None:
    steps = "".join(words_of(step, in_list(1)) for step in ("Close the valve", "Wait"))
    table = f"<w:tbl><w:tr><w:tc>{steps}</w:tc>{cell_of_word('Ann')}</w:tr></w:tbl>"
    document = read_one("a.docx", word(table + words_of("Open it", in_list(1)), **{"numbering.xml": NUMBERING}))
    assert document.text == "1. Close the valve 2. Wait | Ann\n3. Open it"


def test_word_keeps_formulas_apart(read_one: ReadOne) -> None:
    run = "<m:r><m:t>{}</m:t></m:r>"
    fraction = f"<m:f><m:num>{run.format('x-c')}</m:num><m:den>{run.format('v')}</m:den></m:f>"
    power = f"<m:oMath><m:sSup><m:e>{fraction}</m:e><m:sup>{run.format('2')}</m:sup></m:sSup></m:oMath>"
    document = read_one("a.docx", word(f"<w:p>{power}<m:oMath>{run.format('a=b')}</m:oMath></w:p>"))
    assert document.text == "((x-c)/v)² a=b"


# ---------------------------------------------------------------- what a sheet shows


def sheet_of(rows: str, styles: str = "", **more: str) -> bytes:
    files: dict[str, str | bytes] = {
        "_rels/.rels": PART % relation("officeDocument", "xl/workbook.xml"),
        "xl/_rels/workbook.xml.rels": PART
        % (relation("worksheet", "worksheets/sheet1.xml") + relation("styles", "styles.xml", "r2")),
        "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/styles.xml": f'<styleSheet xmlns="{SHEET}">{styles}</styleSheet>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{SHEET}"><sheetData>{rows}</sheetData></worksheet>',
        "[Content_Types].xml": CONTENT_TYPES,
    }
    return package(files | more)


SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
CONTENT_TYPES = """<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/></Types>"""


def rows_of(*rows: str) -> str:
    """Return rows of cells, written as "a|1", in XML; an empty row is left out as spreadsheet programs do."""
    written = ""
    for number, row in enumerate(rows, 1):
        cells = ""
        for column, text in enumerate(row.split("|")):
            place = f"{chr(ord('A') + column)}{number}"
            if text.replace(".", "").isdigit():
                cells += f'<c r="{place}"><v>{text}</v></c>'
            elif text:
                cells += f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'
        written += f'<row r="{number}">{cells}</row>' if cells else ""
    return written


def test_sheets_show_numbers_as_formatted(read_one: ReadOne) -> None:
    codes = ("0000", "0.0%", "&quot;€&quot;#,##0.00", "[h]:mm", "0.0&quot; kg&quot;", "#,##0.00")
    listed = "".join(f'<numFmt numFmtId="{164 + n}" formatCode="{code}"/>' for n, code in enumerate(codes))
    styles = "".join(f'<xf numFmtId="{164 + n}"/>' for n in range(len(codes)))
    values = ("7", "0.125", "1234.5", "1.2534722", "-2.5", "1234.567")
    cells = "".join(f'<c r="{"ABCDEF"[n]}1" s="{n}"><v>{value}</v></c>' for n, value in enumerate(values))
    workbook = sheet_of(f'<row r="1">{cells}</row>', f"<numFmts>{listed}</numFmts><cellXfs>{styles}</cellXfs>")
    assert read_one("a.xlsx", workbook).text == "S\n\n0007 | 12.5% | €1,234.50 | 30:05 | -2.5 kg | 1234.567"


THREADS = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"


def test_sheets_write_comments_with_their_cells(read_one: ReadOne) -> None:
    note = '<comment ref="{}" authorId="{}"><text><r><t>{}</t></r></text></comment>'
    copy = note.format("B2", 1, "[Threaded comment] Comment: Too low")
    files = {
        "xl/worksheets/_rels/sheet1.xml.rels": PART
        % (relation("comments", "../comments1.xml") + relation("threadedComment", "../threads.xml", "r2")),
        "xl/comments1.xml": f'<comments xmlns="{SHEET}"><authors><author>Ann</author><author>tc=1</author></authors>'
        f"<commentList>{note.format('A1', 0, 'Which mill?')}{copy}</commentList></comments>",
        "xl/threads.xml": f'<ThreadedComments xmlns="{THREADS}"><threadedComment ref="B2" dT="2026-05-04T09:00:00.1" '
        'personId="{P}"><text>Too low</text></threadedComment></ThreadedComments>',
        "xl/persons.xml": f'<personList xmlns="{THREADS}"><person displayName="Bo" id="{{P}}"/></personList>',
        "xl/_rels/workbook.xml.rels": PART
        % (relation("worksheet", "worksheets/sheet1.xml") + relation("person", "persons.xml", "r2")),
    }
    document = read_one("a.xlsx", sheet_of(rows_of("mill|price", "Forge|7"), **files))
    assert document.text.split("\n\n")[-2:] == [
        "Comment by Ann on A1 (mill): Which mill?",
        "Comment by Bo on B2 (Forge, 7), 2026-05-04: Too low",
    ]
    assert "partial" not in document.metadata


def biff(*records: tuple[int, bytes]) -> bytes:
    return b"".join(struct.pack("<HH", kind, len(data)) + data for kind, data in records)


def xls(codes: Sequence[str], values: Sequence[float], *records: tuple[int, bytes]) -> bytes:
    """Return a workbook of a sheet with one row, whose cells have these values and formats, and other records."""
    formats = [
        (0x41E, struct.pack("<HHB", 164 + n, len(code), 1) + code.encode("utf-16-le")) for n, code in enumerate(codes)
    ]
    styles = [(0xE0, struct.pack("<HH16x", 0, 164 + n)) for n in range(len(codes))]
    begin, end = (lambda kind: (0x809, struct.pack("<HHHHII", 0x600, kind, 0, 0, 0, 0))), (0x0A, b"")

    def globals_of(start: int) -> bytes:
        return biff(begin(5), *formats, *styles, (0x85, struct.pack("<IHBB", start, 0, 1, 0) + b"S"), end)

    *first, one, other = [struct.pack("<HHHd", 0, n, n, value) for n, value in enumerate(values)]
    packed = struct.pack("<HH", 0, len(first)) + b"".join(
        struct.pack("<HI", int.from_bytes(cell[4:6], "little"), (int(value) << 2 | 2) & 0xFFFFFFFF)
        for cell, value in zip((one, other), values[-2:], strict=True)
    )
    cells = [*((0x203, cell) for cell in first), (0xBD, packed + struct.pack("<H", len(values) - 1))]
    sheet = biff(begin(0x10), *records, *cells, end)
    return compound({"Workbook": globals_of(len(globals_of(0))) + sheet})


def test_older_sheets_show_numbers_as_formatted(read_one: ReadOne) -> None:
    book = xls(["0.0%", '"€"#,##0.00', "General", "0000", '0" kg"'], [0.125, 1234.5, 7.25, 7, -2])
    assert read_one("a.xls", book).text == "S\n\n12.5% | €1,234.50 | 7.25 | 0007 | -2 kg"


@pytest.mark.parametrize(
    "record",
    [
        (0x203, struct.pack("<HHHd", 0, 40_000, 0, 1.0)),
        (0x200, struct.pack("<IIHHH", 0, 4_000_000_000, 0, 4, 0)),
        (0x200, struct.pack("<IIHHH", 128, 5, 0, 4, 0)),
    ],
)
def test_older_sheets_refuse_cells_outside(why_skipped: Callable[..., str], record: tuple[int, bytes]) -> None:
    book = xls(["0.0%", "General"], [0.125, 1.0, 2.0], record)
    assert why_skipped("a.xls", book) == "damaged: a cell stands outside of its sheet"


def test_older_sheets_refuse_parts_in_a_circle(why_skipped: Callable[..., str]) -> None:
    book = xls(["0.0%", "General"], [0.125, 1.0, 2.0])
    after = struct.pack("<I", 1)  # the sector behind the first one of the workbook
    at = book.index(after, 512 * (1 + len(book[512:]) // 512 - 1))
    circle = book[:at] + struct.pack("<I", 0) + book[at + 4 :]
    assert why_skipped("a.xls", circle) == "damaged: its parts lead in a circle"


def test_sheets_refuse_a_far_cell(read_one: ReadOne, why_skipped: Callable[..., str]) -> None:
    far = '<row r="1048576"><c r="XFD1048576"{}</row>'
    rows = rows_of("mill|price", "Forge|7")
    assert read_one("a.xlsx", sheet_of(rows + far.format("/>"))).text == "S\n\nmill | price\nForge | 7"
    filled = sheet_of(rows + far.format(' t="inlineStr"><is><t>far</t></is></c>'))
    assert why_skipped("a.xlsx", filled) == "sheets that cannot be read: S"


def test_open_document_sheets_show_numbers_as_written(read_one: ReadOne) -> None:
    cells = "".join(
        f'<table:table-cell office:value-type="{kind}" office:value="{value}" {more}><text:p>{shown}</text:p>'
        "</table:table-cell>"
        for kind, value, shown, more in (
            ("percentage", "0.125", "12,5 %", ""),
            ("currency", "1234.5", "1.234,50 €", ""),
            ("float", "7", "0007", 'table:number-columns-repeated="2"'),
        )
    )
    names = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{short}:1.0"' for short in ("office", "text", "table")
    )
    content = (
        f"<office:document-content {names}><office:body><office:spreadsheet>"
        '<table:table table:name="S"><table:table-row table:number-rows-repeated="2"><table:table-cell/>'
        f"</table:table-row><table:table-row>{cells}</table:table-row></table:table>"
        "</office:spreadsheet></office:body></office:document-content>"
    )
    manifest = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    book = package({"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": manifest})
    assert read_one("a.ods", book).text == "S\n\n12,5% | 1.234,50 € | 0007 | 0007"


def test_says_that_hidden_sheets_are_left_out(read_one: ReadOne) -> None:
    shown = sheet_of(rows_of("Kg|4"))
    with zipfile.ZipFile(io.BytesIO(shown)) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    book = files["xl/workbook.xml"]
    files["xl/workbook.xml"] = book.replace(
        "</sheets>", '<sheet name="T" sheetId="2" state="hidden" r:id="r1"/></sheets>'
    )
    document = read_one("a.xlsx", package({**files}))
    assert (document.text, document.metadata["partial"]) == ("S\n\nKg | 4", "1 hidden sheet named T was left out")


def test_sheets_show_formulas_without_results(read_one: ReadOne) -> None:
    cells = '<c r="A1"><v>3</v></c><c r="B1"><f>A1&lt;4</f><v></v></c><c r="C1"><f>A1</f><v>3</v></c>'
    document = read_one("a.xlsx", sheet_of(f'<row r="1">{cells}</row>'))
    assert document.text == "S\n\n3 | =A1<4 | 3"
    assert str(document.metadata["partial"]).startswith("1 formula has no stored result; ")


FRUITS, VANS = "Fruit | Kg\nPlum | 4\nPear | 9", "Driver | Van\nTom | V9\nMia | V7"


@pytest.mark.parametrize(
    ("rows", "tables"),
    [
        (("Fruit|Kg", "Plum|4", "Pear|9", "", "", "Driver|Van", "Tom|V9", "Mia|V7"), [FRUITS, VANS]),
        (("Fruit|Kg", "Plum|4", "Pear|9", "", "Driver|Van", "Tom|V9", "Mia|V7"), [FRUITS, VANS]),
        (("Fruit|Kg||Driver|Van", "Plum|4||Tom|V9", "Pear|9||Mia|V7"), [FRUITS, VANS]),
        (
            ("Year|2022|2023", "Sales|4|5", "", "Costs", "Rent|1|1", "", "Total|3|4"),
            ["Year | 2022 | 2023\nSales | 4 | 5\nCosts\nRent | 1 | 1\nTotal | 3 | 4"],
        ),
    ],
    ids=["two empty rows", "one empty row", "side by side", "sections of one table"],
)
def test_sheets_hold_several_tables(read_one: ReadOne, rows: tuple[str, ...], tables: list[str]) -> None:
    assert marked(read_one("a.xlsx", sheet_of(rows_of(*rows))), "table") == tables


# ---------------------------------------------------------------- RTF


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (r"{\b0\*\cs7 nine tons}\par end", "nine tons\n\nend"),
        (r"{\*\unknown gone}end", "end"),
        (r"kept {\deleted gone }\deleted gone\deleted0 end", "kept end"),
        (r"10{\super 6} and 10\up6 -7\up0  mbar", "10⁶ and 10⁻⁷ mbar"),
        (r"{\fonttbl{\f1\fcharset204 B;}{\f2\fcharset134 C;}}\f1 \'cc\'e8\'f0 {\f2 \'b8\'db\'bf\'da}", "Мир 港口"),
    ],
)  # fmt: skip
def test_rtf_keeps_what_it_shows(read_one: ReadOne, written: str, shown: str) -> None:
    assert read_one("a.rtf", r"{\rtf1\ansi " + written + "}").text == shown


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (
            r"Before\par \trowd\cellx9\cellx18 Part\cell Kg\cell\row \trowd\cellx900\cellx1800 Mill\cell 4\cell\row "
            r"\pard After",
            "Before\n\nPart | Kg\nMill | 4\n\nAfter",
        ),
        (
            r"\pard\intbl Part\cell Kg\cell{\trowd\cellx900\cellx1800\row}"
            r"\pard\intbl Old\par\pard\intbl mill\cell 4\cell{\trowd\cellx900\cellx1800\row}\pard After",
            "Part | Kg\nOld mill | 4\n\nAfter",
        ),
        (
            r"\trowd\cellx900\cellx1800\cellx2700 Part\cell 2023\cell 2024\cell\row "
            r"\trowd\cellx900\cellx2700 Mill\cell none\cell\row "
            r"\trowd\cellx900\cellx1800\cellx2700 Forge\cell 9\cell 7\cell\row",
            "Part | 2023 | 2024\nMill | none | none\nForge | 9 | 7",
        ),
        (
            r"\trowd\clvmgf\cellx900\cellx1800\cellx2700 Mill\cell Wheel\cell 4\cell\row "
            r"\trowd\clvmrg\cellx900\cellx1800\cellx2700 \cell Stone\cell 9\cell\row",
            "Mill | Wheel | 4\nMill | Stone | 9",
        ),
        (
            r"\trowd\cellx9\cellx18 Part\cell{\pard\intbl\itap2 a\nestcell b\nestcell{\*\nesttableprops\trowd\cellx9"
            r"\nestrow}{\nonesttables\par}\pard\intbl end\cell}\row",
            "Part | a b end",
        ),
    ],
    ids=["rows", "as Word writes", "wide cell", "high cell", "table in a cell"],
)
def test_rtf_keeps_tables(read_one: ReadOne, written: str, shown: str) -> None:
    document = read_one("a.rtf", r"{\rtf1\ansi " + written + "}")
    assert document.text == shown
    assert len(marked(document, "table")) == 1


def test_rtf_keeps_headings(read_one: ReadOne) -> None:
    document = read_one(
        "a.rtf", r"{\rtf1{\stylesheet{\s1\outlinelevel0 H;}}\pard\outlinelevel1 Mill\par\pard It grinds.}"
    )
    assert (document.text, marked(document, "heading")) == ("Mill\n\nIt grinds.", ["Mill"])
    assert document.title == "Mill"


def test_rtf_says_what_it_leaves_out(read_one: ReadOne) -> None:
    document = read_one("a.rtf", r"{\rtf1 words{\pict 00}{\object{\*\objdata 01}{\result shown}}}")
    assert document.text == "wordsshown"
    assert document.metadata["partial"] == "1 picture and 1 embedded object were left out"


# ---------------------------------------------------------------- OpenDocument

ODF = (
    " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "text", "style", "table")
    )
    + ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:x="http://www.w3.org/1999/xlink"'
)


def test_opendocument_keeps_numbers_charts_and_formulas(read_one: ReadOne) -> None:
    styles = (
        '<style:style style:name="S"><style:text-properties style:text-position="super 58%"/></style:style>'
        '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1" '
        'style:num-suffix="."/><text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"/>'
        "</text:list-style>"
    )
    inner = "<text:list><text:list-item><text:p>left</text:p></text:list-item></text:list>"
    item = "<text:list-item><text:p>%s</text:p>%s</text:list-item>"
    items = item % ("Stop", inner) + item % ("Go", "")
    body = (
        '<text:p>holds 10<text:span text:style-name="S">6</text:span> litres</text:p>'
        f'<text:list text:style-name="L">{items}</text:list>'
        '<text:p><draw:object x:href="./One"/><draw:object x:href="./Two"/><draw:object x:href="./Three"/></text:p>'
    )
    row = (
        "<table:table-row><table:table-cell><text:p>%s</text:p></table:table-cell><table:table-cell><text:p>%s</text:p>"
    )
    rows = "".join(
        f"{row % cells}</table:table-cell></table:table-row>" for cells in (("2022", "145"), ("2023", "190"))
    )
    content = f"<o {ODF}>%s</o>"
    document = read_one(
        "a.odt",
        package(
            {
                "content.xml": content % f"{styles}<office:body><office:text>{body}</office:text></office:body>",
                "One/content.xml": content % f"<table:table>{rows}</table:table>",
                "Two/content.xml": "<math><mfrac><mn>3</mn><mn>4</mn></mfrac></math>",
            }
        ),
    )
    assert document.text == "holds 10⁶ litres\n1. Stop\na) left\n2. Go\n\n2022 | 145\n2023 | 190\n\n3/4"
    assert document.metadata["partial"] == "1 embedded object was left out"


@pytest.mark.parametrize(
    ("properties", "first", "header"),
    [
        ('<w:tblStyle w:val="Grid"/><w:tblLook w:firstRow="1"/>', "", 0),
        ('<w:tblStyle w:val="Lined"/><w:tblLook w:firstRow="1"/>', "", 1),
        ('<w:tblStyle w:val="Lined"/><w:tblLook w:val="04A0"/>', "", 1),
        ('<w:tblStyle w:val="Lined"/><w:tblLook w:firstRow="0"/>', "", 0),
        ("", "<w:rPr><w:b/></w:rPr>", 1),
        ("", '<w:rPr><w:b w:val="0"/></w:rPr>', 0),
    ],
)
def test_word_sets_headings_of_tables_apart(read_one: ReadOne, properties: str, first: str, header: int) -> None:
    rows = [["Club", "Chair"], ["Chess", "Ann"], ["Rowing", "Bob"]]
    told = "".join(
        f"<w:tr>{''.join(f'<w:tc><w:p><w:r>{look}<w:t>{text}</w:t></w:r></w:p></w:tc>' for text in row)}</w:tr>"
        for row, look in zip(rows, [first, "", ""], strict=True)
    )
    table = f"<w:tbl><w:tblPr>{properties}</w:tblPr>{told}</w:tbl>"
    styles = f"""<w:styles {W}><w:style w:styleId="Base"><w:tblStylePr w:type="firstRow"/></w:style>
    <w:style w:styleId="Lined"><w:basedOn w:val="Base"/></w:style><w:style w:styleId="Grid"/></w:styles>"""
    document = docx(f"<w:document {W}><w:body>{table}</w:body></w:document>", **{"word/styles.xml": styles})
    (mark,) = [one for one in read_one("a.docx", document).marks if one.kind == "table"]
    assert mark.header == header


def test_properties_of_a_template_are_none_of_the_file(read_one: ReadOne) -> None:
    made = CORE.replace("2024-05-06T07:08:09Z", "2013-12-23T23:15:00Z").replace("N. Author", "python-docx")
    by_program = CORE.replace("N. Author", "openpyxl")
    facts = [read_one("a.docx", docx(**{"docProps/core.xml": core})).metadata for core in (CORE, made, by_program)]
    assert [(one.get("author"), one.get("created")) for one in facts] == [
        ("N. Author", "2024-05-06T07:08:09"),
        (None, None),
        (None, "2024-05-06T07:08:09"),
    ]
