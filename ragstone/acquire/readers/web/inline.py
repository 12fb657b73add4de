"""Elements of a page on one line: words, formulas, and what fields of forms and pictures say."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from ragstone.acquire.readers.scripts import Run, formula, joined
from ragstone.acquire.readers.text.plain import without_blobs

BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup",
    "hr", "html", "legend", "li", "main", "menu", "nav", "ol", "p", "pre", "section", "summary", "table", "tbody",
    "td", "tfoot", "th", "thead", "tr", "ul", "caption",
}  # fmt: skip
_HEIGHTS = {"sup": 1, "sub": -1}
_TYPED = ("", "text", "number", "date", "time", "email", "tel", "url", "month", "week", "datetime-local")
"""Types of fields whose values people see as words."""
_SPACE = re.compile(r"[ \t\n\r\f]+")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight|brush|sourceCode)[-:\s]+([\w+#.-]+)")
_DESCRIPTION = re.compile(r"(?!.*\.\w{3,4}$)(?:\S+\s+){2}\S")
"""Words that describe a picture. Two words are a label, and the name of a file says nothing."""


def inline(node: LexborNode) -> str:
    """Return the words of an element on one line, with spaces between its blocks, without those of tables in it."""
    words: list[Run] = []

    def add(inner: LexborNode, height: int) -> None:
        if inner.tag == "-text":
            words.append((inner.text_content or "", height))
        elif written := written_of(inner):
            words.append((written, 0))
        elif inner.tag != "table":
            gap = " " if inner.tag in BLOCKS or inner.tag == "br" else ""
            words.append((gap, 0))
            for child in inner.iter(include_text=True):
                add(child, height_of(inner, height))
            words.append((gap, 0))

    add(node, 0)
    return collapsed(joined(words))


def written_of(node: LexborNode) -> str:
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
            alt, is_sign = collapsed(attributes.get("alt") or ""), node.parent and node.parent.tag in ("a", "td", "th")
            return f" {alt} " if _DESCRIPTION.match(alt) and not is_sign else ""
        case "select":
            return f" {', '.join(collapsed(one.text()) for one in node.css('option[selected]'))} "
        case _:
            return ""


def height_of(node: LexborNode, around: int) -> int:
    """Return whether an element is raised: 1 for an exponent and the mark of a note, -1 for an index."""
    is_mark = node.tag == "a" and "noteref" in (node.attributes.get("epub:type") or node.attributes.get("role") or "")
    return 1 if is_mark else _HEIGHTS.get(node.tag or "", around)


def _formula(node: LexborNode) -> str:
    if node.tag == "-text":
        return collapsed(node.text_content or "")
    parts = [_formula(child) for child in node.iter(include_text=True)]
    return formula(node.tag or "", [part for part in parts if part])


def collapsed(text: str) -> str:
    """Return text as a browser shows it on one line, without the data of ``data:`` addresses and marks of links."""
    return _SPACE.sub(" ", without_blobs(text).replace("\xa0", " ")).strip(" ¶")


def language_of(pre: LexborNode) -> str:
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
