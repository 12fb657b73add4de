"""HTML pages: the main content as text, without navigation, headers, footers and notices."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from textwrap import indent

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import File, Parsed, Writer, iso_date
from ragstone.acquire.readers.scripts import Run, formula, joined
from ragstone.acquire.readers.tables.grid import Cell
from ragstone.acquire.readers.text.plain import without_blobs
from ragstone.acquire.readers.web.main_content import main_content, remove_unseen
from ragstone.core.access import READERS
from ragstone.core.filters import Scalar
from ragstone.core.named_groups import facts_of, named_in

_BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup",
    "hr", "html", "legend", "li", "main", "menu", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody",
    "td", "tfoot", "th", "thead", "tr", "ul", "caption",
}  # fmt: skip
_HEIGHTS = {"sup": 1, "sub": -1}
_TYPED = ("", "text", "number", "date", "time", "email", "tel", "url", "month", "week", "datetime-local")
"""Types of fields whose values people see as words."""
_BLOCKS_IN_CELLS = "pre, h1, h2, ul ul"
_LONGEST_CELL = 600
"""Characters of a cell of data; layout has longer ones."""
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SPACE = re.compile(r"[ \t\n\r\f]+")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight|brush|sourceCode)[-:\s]+([\w+#.-]+)")
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s{0,9}=\s{0,9}[\"']?([\w-]+)", re.IGNORECASE)
_DEEPEST = 250
"""A deeper page is read without its structure, because that takes the cube of the depth. People make no such pages."""
_INTEGER = re.compile(r"-?\d{1,9}", re.ASCII)
_LEAST_OF_CODE = 4
"""Blanks before a line of code. Another paragraph of a list item has fewer."""
_LETTERS = 26
_LEAST_SHARE, _LEAST_LINKS = 0.1, 0.5
"""Share of the words of a page that its content has at least, and that a content without paragraphs and headings has;
with less, what we took for furniture is the content."""
_DESCRIPTION = re.compile(r"(?!.*\.\w{3,4}$)(?:\S+\s+){2}\S")
"""Words that describe a picture. Two words are a label, and the name of a file says nothing."""
_SAYS = "p, h1, h2, h3, h4, h5, h6, pre, table, blockquote, dd"
_WIDEST_SPAN = 1000
"""Rows or columns that a cell can span, as in browsers."""
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
    return parse_page(without_blobs(decoded(data)), file.settings.access.column)


def parse_page(page: str, column: str = READERS, *, whole: bool = False) -> Parsed:
    """Return a page as text, with headings, code and tables marked.

    Args:
        page: its HTML.
        column: the name of its access list.
        whole: whether all of it is content, as of an e-mail or a chapter, which have no menus.
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
    if _is_deeper(tree.body, _DEEPEST):
        tree.strip_tags(["script", "style", "template", "noscript"])
        writer.paragraph(_collapsed(tree.body.text(separator=" ")))
    else:
        remove_unseen(tree.body)
        seen = len(_collapsed(tree.body.text()))
        content = tree.body if whole else main_content(tree.body)
        is_named = content.mem_id != tree.body.mem_id
        _Renderer(writer).block(content)
        least = _LEAST_SHARE if content.css_first(_SAYS) else _LEAST_LINKS
        if not (whole or is_named) and 0 < writer.length < least * seen:
            return parse_page(page, column, whole=True)
    parsed = writer.parsed(title=window, url=url, facts=facts)
    # The page title often adds the name of the site to the heading.
    own = next((mark.label for mark in parsed.marks if mark.kind == "heading" and mark.level == 1), "")
    return replace(parsed, title=own) if own and own in parsed.title else parsed


def decoded(data: bytes) -> str:
    """Return the text of a page, decoded by its byte order mark, else as UTF-8 if that fits, else as it declares."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        declared = _CHARSET.search(data[:4096])
        try:
            name = codecs.lookup(declared[1].decode()).name if declared else "cp1252"
            # Browsers treat the two as the same.
            return data.decode("cp1252" if name in ("iso8859-1", "ascii") else name, "replace")
        except LookupError:
            return data.decode("utf-8", "replace")


class _Renderer:
    """A renderer of elements as blocks of text. White space means what it means in a browser."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
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
            self.writer.heading(_inline(node), _HEADINGS[tag])
        elif tag == "pre":
            self._flush()
            self.writer.code(node.text().replace("\xa0", " "), _language(node))
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
        elif tag in _BLOCKS:
            self.block(node)
        elif written := _written(node):
            self.words.append((written, 0))
        else:
            before, self.height = self.height, _height(node, self.height)
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
        """Write the words since the last block as a paragraph or a list item."""
        lines = (_collapsed(line) for line in joined(self.words).split("\v"))
        text = "\n".join(line for line in lines if line)
        self.words.clear()
        if text and self.item:
            self.writer.line(self.item + text)
            self.item = ""
        elif text and self.depth:
            self.writer.line(indent(text, " " * min(2 * self.depth, _LEAST_OF_CODE - 1)))
        elif text:
            self.writer.paragraph(text)

    def _table(self, table: LexborNode) -> None:
        rows = [[cell for cell in row.iter() if cell.tag in ("td", "th")] for row in _rows(table)]
        if not _is_data(rows):  # A layout, or a list drawn as a table.
            for cell in _cells(table):
                self.block(cell)
            return
        caption = table.css_first("caption")
        self.writer.table([[*map(_cell, row)] for row in rows], caption=_collapsed(caption.text()) if caption else "")
        for row in rows:
            inner = [table for cell in row for table in _tables(cell)]
            self.writer.paragraph(_inline(row[0]) if inner else "")
            for one in inner:
                self._table(one)


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
        _inline(cell),
        columns=_span(cell, "colspan"),
        rows=_span(cell, "rowspan"),
        heading=cell.tag == "th" or (above is not None and above.tag == "thead"),
    )


def _span(cell: LexborNode, name: str) -> int:
    written = (cell.attributes.get(name) or "").strip()
    return min(int(written), _WIDEST_SPAN) if written.isascii() and written.isdigit() and len(written) < 7 else 1


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
    return is_wide and (not has_tables or all(len(_inline(cell)) <= _LONGEST_CELL for cell in cells))


def _tables(node: LexborNode) -> Iterator[LexborNode]:
    """Yield the tables in an element, but not those inside of others."""
    for child in node.iter():
        if child.tag == "table":
            yield child
        else:
            yield from _tables(child)


def _inline(node: LexborNode) -> str:
    """Return the words of an element on one line, with spaces between its blocks, without those of tables in it."""
    words: list[Run] = []

    def add(inner: LexborNode, height: int) -> None:
        if inner.tag == "-text":
            words.append((inner.text_content or "", height))
        elif written := _written(inner):
            words.append((written, 0))
        elif inner.tag != "table":
            gap = " " if inner.tag in _BLOCKS or inner.tag == "br" else ""
            words.append((gap, 0))
            for child in inner.iter(include_text=True):
                add(child, _height(inner, height))
            words.append((gap, 0))

    add(node, 0)
    return _collapsed(joined(words))


def _written(node: LexborNode) -> str:
    """Return what a formula or a field of a form shows; empty for any other element."""
    attributes = node.attributes
    match node.tag:
        case "math":
            return _formula(node)
        case "input" if (attributes.get("type") or "") in _TYPED:
            return f" {attributes.get('value') or ''} "
        case "input" if attributes.get("type") in ("checkbox", "radio"):
            return "☒ " if "checked" in attributes else "☐ "
        case "img":
            # A picture that is a link is a button or a logo, and one in a cell is a flag.
            alt, is_sign = _collapsed(attributes.get("alt") or ""), node.parent and node.parent.tag in ("a", "td", "th")
            return f" {alt} " if _DESCRIPTION.match(alt) and not is_sign else ""
        case "select":
            return f" {', '.join(_collapsed(one.text()) for one in node.css('option[selected]'))} "
        case _:
            return ""


def _height(node: LexborNode, around: int) -> int:
    """Return whether an element is raised: 1 for an exponent and the mark of a note, -1 for an index."""
    is_mark = node.tag == "a" and "noteref" in (node.attributes.get("epub:type") or node.attributes.get("role") or "")
    return 1 if is_mark else _HEIGHTS.get(node.tag or "", around)


def _formula(node: LexborNode) -> str:
    if node.tag == "-text":
        return _collapsed(node.text_content or "")
    parts = [_formula(child) for child in node.iter(include_text=True)]
    return formula(node.tag or "", [part for part in parts if part])


def _collapsed(text: str) -> str:
    return _SPACE.sub(" ", text.replace("\xa0", " ")).strip(" ¶")


def _language(pre: LexborNode) -> str:
    """Return the language of a code block, from its class, that of its child, or that of its parents."""
    inner = pre.css_first("code")
    node: LexborNode | None = pre if inner is None else inner
    for _ in range(5):
        if node is None:
            break
        if found := _LANGUAGE.search(node.attributes.get("class") or ""):
            return "" if found[1] in ("default", "none", "text", "notranslate") else found[1]
        node = node.parent
    return ""


def _is_deeper(root: LexborNode, limit: int) -> bool:
    level, depth = [root], 0
    while level and depth <= limit:
        level = [child for node in level for child in node.iter()]
        depth += 1
    return bool(level)


def _title(tree: LexborHTMLParser) -> str:
    """Return the title that the page declares."""
    og, window = _meta(tree, ("og:title",)), tree.css_first("head title") or tree.css_first("title")
    return og or (_collapsed(window.text()) if window else "")


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
            return _collapsed(attributes.get("content") or "")
    return ""
