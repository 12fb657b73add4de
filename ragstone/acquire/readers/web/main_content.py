"""The main content of an HTML page, without its furniture: menus, headers, footers and notices.

First we remove elements that are never content, then those with the name of furniture. The content is the element
that the page calls ``main``, or else the smallest element that holds most of the prose. Elements are removed from last
to first, so that none is examined after its parent is gone.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

_NEVER = (
    "script, style, noscript, template, svg, math annotation, iframe, object, canvas, audio, video, button, select, "
    "input, textarea, nav, dialog, link, meta, [hidden], [aria-hidden=true], [role=navigation], [role=search], "
    "[role=banner], [role=contentinfo], [role=dialog], [role=alertdialog], [role=menu], [role=menubar], "
    "a.headerlink, a.anchor, a.viewcode-link, .linenos, .lineno, .mw-editsection, "
    "div.prompt"
)
_OUTSIDE_MAIN = "header, footer, aside, [role=complementary]"
_FURNITURE = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navigation|navbox|menu|topbar|sidebar|side-bar|breadcrumbs?|footer|site-header|cookies?|"
    r"consent|gdpr|toc|tableofcontents|share|sharing|social|related|recommended|comments?|respond|advert\w*|ads|promo|"
    r"sponsor\w*|newsletter|subscribe|popup|modal|overlay|skip|skiplink|pagination|pager|prev-next|noprint|catlinks|"
    r"printfooter|authorbox|widget|toolbar|masthead|jump-to-nav)(?=$|[\s_-])",
    re.IGNORECASE,
)
_NAMED = ", ".join(f"{tag}[class], {tag}[id]" for tag in ("div", "section", "ul", "table", "p", "span")) + ", form"
_MAIN = (
    "[role=main]", "main", "[itemprop=articleBody]", ".mw-parser-output", "#mw-content-text", "article",
    "#main-content", "#content", ".post-content", ".entry-content", ".article-body",
)  # fmt: skip
_CONTAINERS = ("div", "section", "article", "main", "center", "table", "tbody", "tr", "td")
_ENOUGH = 0.25
"""Share of the page's prose that an element called main must hold."""
_MOST = 0.7
"""Share of the prose that an element must hold for the rest to be dropped."""
LAYOUT = "td table, td h1, td h2, td h3, td pre, th pre"
"""What a table holds if it is there for layout."""
_LINKS = 0.6
"""A block with a larger share of links is a menu, unless the page names its content."""


def main_content(body: LexborNode) -> LexborNode:
    """Return the element with the content of a page. Furniture is removed from the tree."""
    for node in reversed(body.css(_NEVER)):
        node.decompose()
    whole = _prose(body)
    named = _named_main(body, whole)
    root = named or body
    for node in reversed(root.css(_OUTSIDE_MAIN)):
        if not _holds_article(node):
            node.decompose()
    _remove_furniture(root, _prose(root))
    if named:
        return root
    _remove_menus(root)
    return _densest(root)


def _named_main(body: LexborNode, whole: int) -> LexborNode | None:
    for selector in _MAIN:
        found = body.css(selector)
        # A page with several articles is an overview; keep all of it.
        if len(found) == 1 and _prose(found[0]) >= _ENOUGH * whole:
            return found[0]
    return None


def _holds_article(node: LexborNode) -> bool:
    """Return whether a header belongs to an article, with its title, and not to the site."""
    return node.tag == "header" and node.css_first("h1") is not None


def _remove_furniture(root: LexborNode, whole: int) -> None:
    for node in reversed(root.css(_NAMED)):
        names = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}"
        # If the body itself has such a name, nothing would be left.
        if (node.tag == "form" or _FURNITURE.search(names)) and node.mem_id != root.mem_id and _prose(node) < whole / 2:
            node.decompose()


def _remove_menus(root: LexborNode) -> None:
    for node in reversed(root.css("ul, ol, div, section, table")):
        links = node.css("a")
        if len(links) > 2:
            text = _length(node)
            inside = sum(_length(link) for link in links)
            if text and inside > _LINKS * text and not node.css_first("p, pre, h1"):
                node.decompose()


def _densest(root: LexborNode) -> LexborNode:
    """Descend as long as one child holds most of the prose."""
    whole = _prose(root)
    while True:
        best = max(root.iter(), key=_prose, default=None)
        if best is None or best.tag not in _CONTAINERS or _prose(best) < _MOST * whole or _is_data(best):
            return root
        root = best


def _is_data(node: LexborNode) -> bool:
    """Return whether an element is a table of data: two rows with cells side by side, and no blocks in them."""
    if node.tag != "table" or node.css_first(LAYOUT) is not None:
        return False
    rows = (row for row in node.css("tr") if sum(cell.tag in ("td", "th") for cell in row.iter()) > 1)
    return next(rows, None) is not None and next(rows, None) is not None


def _prose(node: LexborNode) -> int:
    """Return the characters in paragraphs, code, cells and headings: menus have few of them."""
    return sum(_length(one) for one in node.css("p, pre, blockquote, dd, h1, h2, h3, h4, td, li")) or _length(node)


def _length(node: LexborNode) -> int:
    return len(node.text_content or node.text() or "")
