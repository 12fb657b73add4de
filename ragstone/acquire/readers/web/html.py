"""HTML pages: the main content as text, without navigation, headers, footers and notices."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from textwrap import indent

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.encodings import decoded
from ragstone.acquire.readers.numbers import span
from ragstone.acquire.readers.parsed import File, Parsed, Writer, iso_date
from ragstone.acquire.readers.pictures.embedded import EmbeddedPictures, picture_in_address
from ragstone.acquire.readers.scripts import Run, joined
from ragstone.acquire.readers.tables.grid import Cell
from ragstone.acquire.readers.text.plain import without_blobs
from ragstone.acquire.readers.web.inline import BLOCKS, collapsed, height_of, inline, language_of, written_of
from ragstone.acquire.readers.web.main_content import main_content, remove_unseen
from ragstone.core.access import READERS
from ragstone.core.filters import Scalar
from ragstone.core.named_groups import facts_of, named_in

_BLOCKS_IN_CELLS = "pre, h1, h2, ul ul"
_LONGEST_CELL = 600
"""Characters of a cell of data; layout has longer ones."""
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_DEEPEST = 250
"""A deeper page is read without its structure, because that takes the cube of the depth. People make no such pages."""
_INTEGER = re.compile(r"-?\d{1,9}", re.ASCII)
_LEAST_OF_CODE = 4
"""Blanks before a line of code. Another paragraph of a list item has fewer."""
_LETTERS = 26
_LEAST_SHARE, _LEAST_LINKS = 0.1, 0.5
"""Share of the words of a page that its content has at least, and that a content without paragraphs and headings has;
with less, what we took for furniture is the content."""
_SAYS = "p, h1, h2, h3, h4, h5, h6, pre, table, blockquote, dd"
_AUTHORS = ("author", "article:author", "dc.creator", "citation_author")
_DATES = ("article:published_time", "date", "dc.date", "citation_publication_date", "datePublished", "pubdate")


def parse(file: File) -> Parsed:
    """Return a page as text.

    Raises:
        Unreadable: the file holds no page.
    """
    data = file.path.read_bytes()
    if data[:1000].count(0) > 5 and not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise Unreadable("binary, not HTML")
    pictures = EmbeddedPictures(file, picture_in_address)
    return parse_page(decoded(data, file.charset), file.settings.access.column, pictures=pictures)


def parse_page(
    page: str, column: str = READERS, *, whole: bool = False, pictures: EmbeddedPictures | None = None
) -> Parsed:
    """Return a page as text, with headings, code and tables marked.

    Args:
        page: its HTML.
        column: the name of its access list.
        whole: whether all of it is content, as of an e-mail, which has no menus.
        pictures: reads its pictures, by their addresses; None to leave them out.

    Raises:
        Unreadable: it is empty.
    """
    tree = LexborHTMLParser(page)
    if tree.body is None:
        raise Unreadable("empty")
    root, author = tree.css_first("html"), _meta(tree, _AUTHORS)
    facts: dict[str, Scalar | tuple[Scalar, ...]] = {
        **facts_of(named_in(_metas(tree), column)),
        "kind": "html",
        "lang": ((root.attributes.get("lang") if root else "") or "").strip(),
        "author": "" if author.startswith("http") else author,
        "created": iso_date(_meta(tree, _DATES)),
    }
    window, url = _title(tree), _canonical(tree)
    writer = Writer()
    if not _write(writer, tree.body, partial(pictures.write, writer) if pictures else _left_out, whole=whole):
        return parse_page(page, column, whole=True, pictures=pictures)
    parsed = writer.parsed(title=window, url=url, facts={**facts, **(pictures.facts if pictures else {})})
    # The page title often adds the name of the site to the heading.
    own = next((mark.label for mark in parsed.marks if mark.kind == "heading" and mark.level == 1), "")
    return replace(parsed, title=own) if own and own in parsed.title else parsed


def write_page(writer: Writer, page: str, picture: Callable[[str], None]) -> None:
    """Write all of a page, such as a chapter of a book, which has no menus.

    Args:
        writer: receives it.
        page: its HTML.
        picture: writes the picture at an address.

    Raises:
        Unreadable: it is empty.
    """
    body = LexborHTMLParser(page).body
    if body is None:
        raise Unreadable("empty")
    _write(writer, body, picture, whole=True)


def _write(writer: Writer, body: LexborNode, picture: Callable[[str], None], *, whole: bool) -> bool:
    """Write a page, or only its main content; one that is nested too deep as a single paragraph, without pictures.

    Return False, and write nothing, if so little would be left that it cannot be the content.
    """
    if _is_deeper(body, _DEEPEST):
        for node in reversed(body.css("script, style, template, noscript")):
            node.decompose()
        writer.paragraph(collapsed(body.text(separator=" ")))
        return True
    remove_unseen(body)
    content = body
    if not whole:
        seen = len(collapsed(body.text()))
        content = main_content(body)
        is_named = content.mem_id != body.mem_id
        least = _LEAST_SHARE if content.css_first(_SAYS) else _LEAST_LINKS
        if not is_named and 0 < len(collapsed(content.text())) < least * seen:
            return False
    _Renderer(writer, picture).block(content)
    return True


def _left_out(_: str) -> None:
    """Write nothing in the place of a picture."""


class _Renderer:
    """A renderer of elements as blocks of text. White space means what it means in a browser."""

    def __init__(self, writer: Writer, picture: Callable[[str], None]) -> None:
        self.writer, self.picture = writer, picture
        self.addresses: list[str] = []
        self.words: list[Run] = []
        self.height = 0
        self.item, self.depth = "", 0
        self.numbers = dict[int, int]()

    def block(self, node: LexborNode) -> None:
        """Write the content of an element as blocks."""
        self._flush()
        for child in node.iter(include_text=True):
            self._node(child)
        self._flush()

    def _node(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag == "-text":
            self.words.append((node.text_content or "", self.height))
        elif tag in _HEADINGS:
            self._flush()
            self.writer.heading(inline(node), _HEADINGS[tag])
            self._show(node)
        elif tag == "pre":
            self._flush()
            self.writer.code(without_blobs(node.text().replace("\xa0", " ")), language_of(node))
        elif tag == "table":
            self._flush()
            self._table(node)
        elif tag == "li":
            self._flush()
            self.item = "  " * self.depth + self._item_mark(node)
            self.depth += 1
            self.block(node)
            self.item, self.depth = "", self.depth - 1
        elif tag == "br":
            self.words.append(("\v", 0))
        elif tag in BLOCKS:
            self.block(node)
        elif tag == "img":
            self.words.append((written_of(node), 0))
            self.addresses.append(node.attributes.get("src") or "")
        elif written := written_of(node):
            self.words.append((written, 0))
        else:
            before, self.height = self.height, height_of(node, self.height)
            for child in node.iter(include_text=True):
                self._node(child)
            self.height = before

    def _item_mark(self, item: LexborNode) -> str:
        """Return what stands before an item: its number or letter in an ordered list, a dash in any other."""
        around = item.parent
        if around is None or around.tag != "ol":
            return "- "
        start, own = around.attributes.get("start") or "1", item.attributes.get("value") or ""
        following = self.numbers.get(around.mem_id, int(start) if _INTEGER.fullmatch(start) else 1)
        number = int(own) if _INTEGER.fullmatch(own) else following
        self.numbers[around.mem_id] = number + 1
        letter = around.attributes.get("type") or ""
        is_letter = letter in ("a", "A") and 1 <= number <= _LETTERS
        return f"{chr(ord(letter) + number - 1) if is_letter else number}. "

    def _flush(self) -> None:
        """Write the words since the last block as a paragraph or a list item, followed by the pictures among them."""
        lines = (collapsed(line) for line in joined(self.words).split("\v"))
        text = "\n".join(line for line in lines if line)
        self.words.clear()
        if text and self.item:
            self.writer.line(self.item + text)
            self.item = ""
        elif text and self.depth:
            self.writer.line(indent(text, " " * min(2 * self.depth, _LEAST_OF_CODE - 1)))
        elif text:
            self.writer.paragraph(text)
        for address in self.addresses:
            self.picture(address)
        self.addresses.clear()

    def _show(self, element: LexborNode) -> None:
        """Write the pictures in an element whose words are written."""
        for one in element.css("img"):
            self.picture(one.attributes.get("src") or "")

    def _table(self, table: LexborNode) -> None:
        rows = [[cell for cell in row.iter() if cell.tag in ("td", "th")] for row in _rows(table)]
        if not _is_data(rows):  # A layout, or a list drawn as a table.
            for cell in _cells(table):
                self.block(cell)
            return
        caption = table.css_first("caption")
        self.writer.table([[*map(_cell, row)] for row in rows], caption=collapsed(caption.text()) if caption else "")
        for row in rows:
            inner = [table for cell in row for table in _tables(cell)]
            self.writer.paragraph(inline(row[0]) if inner else "")
            for one in inner:
                self._table(one)
        self._show(table)


def _rows(table: LexborNode) -> Iterator[LexborNode]:
    for child in table.iter():
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from _rows(child)


def _cells(table: LexborNode) -> Iterator[LexborNode]:
    for row in _rows(table):
        yield from (cell for cell in row.iter() if cell.tag in ("td", "th"))


def _cell(cell: LexborNode) -> Cell:
    row = cell.parent
    above = row.parent if row else None
    return Cell(
        inline(cell),
        columns=span((cell.attributes.get("colspan") or "").strip()),
        rows=span((cell.attributes.get("rowspan") or "").strip()),
        heading=cell.tag == "th" or (above is not None and above.tag == "thead"),
    )


def _is_data(rows: Sequence[Sequence[LexborNode]]) -> bool:
    """Return whether a table has cells side by side that hold data, and not the parts of a page."""
    if max(map(len, rows), default=0) < 2:
        return False
    cells = [cell for row in rows for cell in row]
    if any(cell.css_first(_BLOCKS_IN_CELLS) for cell in cells):
        return False
    # A page that is laid out as a table has few cells, with tables and paragraphs in them.
    is_wide = sum(len(row) > 1 for row in rows) > 1
    has_tables = any(cell.css_first("table") for cell in cells)
    return is_wide and (not has_tables or all(len(inline(cell)) <= _LONGEST_CELL for cell in cells))


def _tables(node: LexborNode) -> Iterator[LexborNode]:
    """Yield the tables in an element, but not those inside of others."""
    for child in node.iter():
        if child.tag == "table":
            yield child
        else:
            yield from _tables(child)


def _is_deeper(root: LexborNode, limit: int) -> bool:
    level, depth = [root], 0
    while level and depth <= limit:
        level = [child for node in level for child in node.iter()]
        depth += 1
    return bool(level)


def _title(tree: LexborHTMLParser) -> str:
    """Return the title that the page declares."""
    og, window = _meta(tree, ("og:title",)), tree.css_first("head title") or tree.css_first("title")
    return og or (collapsed(window.text()) if window else "")


def _canonical(tree: LexborHTMLParser) -> str:
    link = tree.css_first('link[rel~="canonical"][href]')
    url = (link.attributes.get("href") or "").strip() if link else _meta(tree, ("og:url",))
    return url if url.startswith(("https://", "http://")) else ""


def _metas(tree: LexborHTMLParser) -> dict[str, str]:
    """Return the ``meta`` elements of a page: the content of each by its name."""
    return {
        name: meta.attributes.get("content") or ""
        for meta in tree.css("meta")
        for key in ("name", "property", "itemprop", "http-equiv")
        if (name := meta.attributes.get(key))
    }


def _meta(tree: LexborHTMLParser, names: tuple[str, ...]) -> str:
    for meta in tree.css("meta[content]"):
        attributes = meta.attributes
        name = attributes.get("name") or attributes.get("property") or attributes.get("itemprop") or ""
        if name.lower() in {one.lower() for one in names}:
            return collapsed(attributes.get("content") or "")
    return ""
