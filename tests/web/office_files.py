"""Presentations and workbooks, as small as they can be."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape
from zipfile import ZipFile

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_NAMED = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    f' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="{_OFFICE}"'
)
_SHEET = f'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{_OFFICE}"'
Table = Sequence[Sequence[str]]


def presentation(*slides: tuple[str, str | Table, str]) -> bytes:
    """Return a presentation of slides, each with a title, a text or a table, and notes."""
    names = [f"s{n}" for n in range(len(slides))]
    ids = "".join(f'<p:sldId r:id="{name}"/>' for name in names)
    files = {
        "_rels/.rels": _relations(("d", "officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f"<p:presentation {_NAMED}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": _relations(*((name, "slide", f"slides/{name}.xml") for name in names)),
    }
    for name, (title, body, notes) in zip(names, slides, strict=True):
        shown = _shape("body", body) if isinstance(body, str) else _table(body)
        files[f"ppt/slides/{name}.xml"] = _slide(_shape("title", title), shown)
        files[f"ppt/slides/_rels/{name}.xml.rels"] = _relations(("n", "notesSlide", f"../notes/{name}.xml"))
        files[f"ppt/notes/{name}.xml"] = _slide(_shape("body", notes))
    return _package(files)


def workbook(sheets: Mapping[str, Table]) -> bytes:
    """Return a workbook of sheets with texts and numbers."""
    names = dict(zip((f"s{n}" for n in range(1, len(sheets) + 1)), sheets.items(), strict=True))
    listed = "".join(
        f'<sheet name="{escape(title)}" sheetId="{name[1:]}" r:id="{name}"/>' for name, (title, _) in names.items()
    )
    files = {
        "_rels/.rels": _relations(("d", "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f"<workbook {_SHEET}><sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": _relations(*((name, "worksheet", f"worksheets/{name}.xml") for name in names)),
    }
    for name, (_, rows) in names.items():
        told = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
        files[f"xl/worksheets/{name}.xml"] = f"<worksheet {_SHEET}><sheetData>{told}</sheetData></worksheet>"
    return _package(files)


def _cell(text: str) -> str:
    if text.isdigit():
        return f"<c><v>{text}</v></c>"
    return f'<c t="inlineStr"><is><t>{escape(text)}</t></is></c>'


def _slide(*shapes: str) -> str:
    return f"<p:sld {_NAMED}><p:cSld><p:spTree>{''.join(shapes)}</p:spTree></p:cSld></p:sld>"


def _shape(role: str, text: str) -> str:
    lines = "".join(f"<a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p>" for line in text.split("\n"))
    kind = f'<p:nvSpPr><p:nvPr><p:ph type="{role}"/></p:nvPr></p:nvSpPr>'
    return f"<p:sp>{kind}<p:txBody>{lines}</p:txBody></p:sp>"


def _table(rows: Table) -> str:
    cell = "<a:tc><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc>"
    told = "".join(f"<a:tr>{''.join(cell.format(escape(one)) for one in row)}</a:tr>" for row in rows)
    return f'<p:graphicFrame><a:tbl><a:tblPr firstRow="1"/>{told}</a:tbl></p:graphicFrame>'


def _relations(*relations: tuple[str, str, str]) -> str:
    told = "".join(f'<Relationship Id="{id}" Type="{_OFFICE}/{kind}" Target="{to}"/>' for id, kind, to in relations)
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{told}</Relationships>'


def _package(files: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with ZipFile(packed, "w") as into:
        for name, content in files.items():
            into.writestr(name, content)
    return packed.getvalue()
