"""Every word that a file shows is in its text, wherever it stands: a property of every reader."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.acquire.readers import READERS
from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import File, Parsed
from ragstone.core.records import Document
from ragstone.settings import AcquireSettings

Made = Callable[[Sequence[str]], bytes]
"""Makes a file of pieces, each with the words that it shows."""

NAMESPACES = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
    "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
    "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
    "s": "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
}
DECLARED = " ".join(f'xmlns:{name}="{address}"' for name, address in NAMESPACES.items())
RELATIONS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
RELATION = '<Relationship Id="r1" Type="http://x/{}" Target="{}"/>'


def package(**files: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def html(pieces: Sequence[str]) -> bytes:
    return f"<html><body>{''.join(pieces)}</body></html>".encode()


def docx(pieces: Sequence[str]) -> bytes:
    document = f"<w:document {DECLARED}><w:body>{''.join(pieces)}</w:body></w:document>"
    main = RELATIONS.format(RELATION.format("officeDocument", "word/document.xml"))
    return package(**{"_rels/.rels": main, "word/document.xml": document})


def pptx(pieces: Sequence[str]) -> bytes:
    return package(
        **{
            "_rels/.rels": RELATIONS.format(RELATION.format("officeDocument", "ppt/presentation.xml")),
            "ppt/_rels/presentation.xml.rels": RELATIONS.format(RELATION.format("slide", "slides/slide1.xml")),
            "ppt/presentation.xml": f'<p:presentation {DECLARED}><p:sldId r:id="r1"/></p:presentation>',
            "ppt/slides/slide1.xml": f"<p:sld {DECLARED}>{''.join(pieces)}</p:sld>",
        }
    )


def odt(pieces: Sequence[str]) -> bytes:
    body = f"<office:body><office:text>{''.join(pieces)}</office:text></office:body>"
    return package(**{"content.xml": f"<office:document-content {DECLARED}>{body}</office:document-content>"})


def rtf(pieces: Sequence[str]) -> bytes:
    return ("{\\rtf1\\ansi " + "".join(pieces) + "}").encode()


def lines(pieces: Sequence[str]) -> bytes:
    return "\n\n".join(pieces).encode()


def eml(pieces: Sequence[str]) -> bytes:
    return b"Subject: s\nContent-Type: text/html; charset=utf-8\n\n" + html(pieces)


def csv(pieces: Sequence[str]) -> bytes:
    return "\n".join(["name,price", *pieces]).encode()


ROW, CELL = "<w:tr>{}</w:tr>", "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
IN_CONTROL = "<w:sdt><w:sdtContent>{}</w:sdtContent></w:sdt>"
MARKUP = (
    "<p>{}</p>", "<div>{}</div>", "{}", "<ul><li>{}</ul>", "<ol><li>{}<li>b</ol>", "<aside>{}</aside>", "<h2>{}</h2>",
    "<form><p>{}</p></form>", "<table><tr><td>{}<td>1<tr><td>a<td>b</table>", "<dl><dt>a<dd>{}</dl>", "<pre>{}</pre>",
    "<table><tr><td>a<td><table><tr><td>{}<td>b<tr><td>c<td>d</table><tr><td>e<td>f</table>", "<span>{}</span>",
    "<section><header><h2>{}</h2></header></section>", "<details><summary>{}</summary></details>",
    "<p><sup>{}</sup></p>",
)  # fmt: skip
PIECES: dict[str, tuple[Made, Sequence[str]]] = {
    ".html": (html, MARKUP),
    ".eml": (eml, MARKUP),
    ".docx": (
        docx,
        (
            "<w:p><w:r><w:t>{}</w:t></w:r></w:p>",
            f"<w:tbl>{ROW.format(CELL + CELL.format('b'))}{ROW.format(CELL.format('c') * 2)}</w:tbl>",
            f"<w:tbl>{IN_CONTROL.format(ROW.format(CELL + IN_CONTROL.format(CELL.format('b'))))}</w:tbl>",
            IN_CONTROL.format("<w:p><w:r><w:t>{}</w:t></w:r></w:p>"),
            "<w:p><w:ins><w:r><w:t>{}</w:t></w:r></w:ins></w:p>",
            "<w:p><w:r><w:rPr><w:vertAlign w:val='superscript'/></w:rPr><w:t>{}</w:t></w:r></w:p>",
            "<w:p><m:oMath><m:f><m:num><m:r><m:t>{}</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f>"
            "</m:oMath></w:p>",
            "<w:p><w:r><w:txbxContent><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:txbxContent></w:r></w:p>",
            "<w:p><w:hyperlink><w:r><w:t>{}</w:t></w:r></w:hyperlink></w:p>",
        ),
    ),
    ".pptx": (
        pptx,
        (
            "<p:sp><p:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></p:txBody></p:sp>",
            "<p:grpSp><p:sp><a:p><a:fld><a:t>{}</a:t></a:fld></a:p></p:sp></p:grpSp>",
            "<a:tbl><a:tr><a:tc><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:tc><a:tc/></a:tr></a:tbl>",
            "<p:sp><a:p><a:pPr><a:buAutoNum/></a:pPr><a:r><a:t>{}</a:t></a:r></a:p></p:sp>",
        ),
    ),
    ".odt": (
        odt,
        (
            "<text:p>{}</text:p>",
            "<text:p><text:span>{}</text:span></text:p>",
            "<text:section><text:p>{}</text:p></text:section>",
            "<text:list><text:list-item><text:p>{}</text:p></text:list-item></text:list>",
            "<table:table><table:table-row><table:table-cell><text:p>{}</text:p></table:table-cell>"
            "</table:table-row></table:table>",
        ),
    ),
    ".rtf": (
        rtf,
        ("{}\\par ", "{{\\b {}}}\\par ", "{{\\fs24\\i0\\*\\cs7 {}}}\\par ", "{}\\cell b\\row ", "{{\\super {}}}\\par "),
    ),
    ".md": (lines, ("{}", "# {}", "- {}", "> {}", "| {} | b |\n|---|---|\n| c | d |", "```\n{}\n```")),
    ".rst": (lines, ("{}", "{}\n==================", "- {}", ".. note:: {}", "::\n\n   {}", "**{}**")),
    ".csv": (csv, ("{},1", "a,{}", '"{}, b",2')),
    ".txt": (lines, ("{}",)),
}  # fmt: skip


def texts_of(suffix: str, content: bytes) -> Iterator[Parsed | Document]:
    """Yield what the reader of a suffix makes of a file, in this process."""
    reader = READERS[suffix]
    parse = import_module(f"ragstone.acquire.readers.{reader}").parse if isinstance(reader, str) else reader
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"a{suffix}"
        path.write_bytes(content)
        made = parse(File(path=path, name="a", source="a", suffix=suffix, settings=AcquireSettings(ocr="off")))
        yield from [made] if isinstance(made, Parsed) else (one for one in made if isinstance(one, Document))


@pytest.mark.parametrize("suffix", PIECES)
@settings(max_examples=40)
@given(data=st.data())
def test_every_word_is_in_the_text(suffix: str, data: st.DataObject) -> None:
    make, forms = PIECES[suffix]
    chosen = data.draw(st.lists(st.sampled_from(forms), min_size=1, max_size=12))
    words = [f"word{number}x" for number in range(len(chosen))]
    pieces = [form.format(word) for form, word in zip(chosen, words, strict=True)]
    try:
        text = "\n".join(one.text for one in texts_of(suffix, make(pieces)))
    except Unreadable as error:
        pytest.fail(f"{error}: {pieces}")
    assert [word for word in words if word not in text] == [], text
