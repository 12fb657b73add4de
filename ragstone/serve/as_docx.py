"""A report as a Word file: its headings, paragraphs, lists and tables, in the few parts that such a file needs."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from ragstone.core.printable import printable

if TYPE_CHECKING:
    from markdown_it.token import Token

_OPEN, _TYPES = "http://schemas.openxmlformats.org", "application/vnd.openxmlformats"
_TEXT = f"{_TYPES}-officedocument.wordprocessingml"
_WORD, _RELATED = f'xmlns:w="{_OPEN}/wordprocessingml/2006/main"', f"{_OPEN}/officeDocument/2006/relationships"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_LINKS = f'<Relationships xmlns="{_OPEN}/package/2006/relationships"><Relationship Id="r1" Type="{_RELATED}/'
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_OPEN}/package/2006/content-types">'
    f'<Default Extension="rels" ContentType="{_TYPES}-package.relationships+xml"/>'
    f'<Override PartName="/word/document.xml" ContentType="{_TEXT}.document.main+xml"/>'
    f'<Override PartName="/word/styles.xml" ContentType="{_TEXT}.styles+xml"/></Types>',
    "_rels/.rels": f'{_LINKS}officeDocument" Target="word/document.xml"/></Relationships>',
    "word/_rels/document.xml.rels": f'{_LINKS}styles" Target="styles.xml"/></Relationships>',
}
_SIZES = {1: 36, 2: 28, 3: 24}
"""The size of the headings by their level, in half points."""
_SIDES = ("top", "left", "bottom", "right", "insideH", "insideV")
_EDGES = "".join(f'<w:{side} w:val="single" w:sz="4"/>' for side in _SIDES)
_TABLE = f'<w:tbl><w:tblPr><w:tblW w:w="5000" w:type="pct"/><w:tblBorders>{_EDGES}</w:tblBorders></w:tblPr><w:tblGrid>'
_CELLS = {f"{cell}_{end}": tag for cell in ("th", "td") for end, tag in (("open", "<w:tc>"), ("close", "</w:tc>"))}
_TAGS = {"tr_open": "<w:tr>", "tr_close": "</w:tr>", "table_close": "</w:tbl><w:p/>", **_CELLS}


def docx_of(tokens: Sequence[Token]) -> bytes:
    """Return the tokens of a Markdown text as a Word file."""
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/><w:pPr><w:keepNext/>'
        f'<w:outlineLvl w:val="{level - 1}"/></w:pPr><w:rPr><w:b/><w:sz w:val="{size}"/></w:rPr></w:style>'
        for level, size in _SIZES.items()
    )
    body = f"<w:document {_WORD}><w:body>{''.join(_blocks(tokens))}</w:body></w:document>"
    parts = {**_PARTS, "word/document.xml": body, "word/styles.xml": f"<w:styles {_WORD}>{styles}</w:styles>"}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name, _HEAD + text)
    return out.getvalue()


def _blocks(tokens: Sequence[Token]) -> Iterator[str]:
    style = lead = ""
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            style = f'<w:pStyle w:val="Heading{min(int(token.tag[1:]), max(_SIZES))}"/>'
        elif token.type == "list_item_open":
            style, lead = '<w:ind w:left="360" w:hanging="240"/>', "• "
        elif token.type in ("heading_close", "list_item_close"):
            style = ""
        elif token.type == "table_open":
            head = [one.type for one in tokens[at:]]
            yield f"{_TABLE}{'<w:gridCol/>' * head[: head.index('tr_close')].count('th_open')}</w:tblGrid>"
        elif token.type in ("inline", "fence", "code_block"):
            text = "".join("\n" if "break" in one.type else one.content for one in token.children or (token,))
            shown = escape(printable(f"{lead}{text.strip()}")).replace("\n", '</w:t><w:br/><w:t xml:space="preserve">')
            yield f'<w:p><w:pPr>{style}</w:pPr><w:r><w:t xml:space="preserve">{shown}</w:t></w:r></w:p>'
            lead = ""
        yield _TAGS.get(token.type, "")
