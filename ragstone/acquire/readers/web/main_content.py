"""The main content of an HTML page, without its furniture: menus, headers, footers and notices.

No word of the content may be lost, so that an element goes only if its kind or its name says that it is furniture and
its words are those of furniture: links, or a notice. Elements are removed from last to first, so that none is examined
after its parent is gone.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

_UNSEEN = (
    "script, style, noscript, template, svg, math annotation, math annotation-xml, iframe, object, canvas, audio, "
    "video, link, meta, [hidden], [aria-hidden=true], a.headerlink, a.anchor, a.viewcode-link, .linenos, .lineno"
)
_NEVER = (
    "nav, dialog, button, [role=navigation], [role=search], [role=banner], [role=contentinfo], [role=dialog], "
    "[role=alertdialog], [role=menu], [role=menubar], .mw-editsection, div.prompt"
)
_NOTICE = re.compile(
    r"(?:^|[\s_-])(?:navbox|topbar|cookies?|consent|gdpr|advert\w*|ads|promo|sponsor\w*|newsletter|subscribe|popup|"
    r"modal|overlay|skip|skiplink|noprint|catlinks|printfooter|authorbox|toolbar|jump-to-nav)(?=$|[\s_-])",
    re.IGNORECASE,
)
_LINKING = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navigation|menu|sidebar|side-bar|breadcrumbs?|footer|site-header|masthead|toc|"
    r"tableofcontents|share|sharing|social|related|recommended|comments?|respond|pagination|pager|prev-next|widget)"
    r"(?=$|[\s_-])",
    re.IGNORECASE,
)
"""Names of what is furniture if it consists of links; opening hours in a sidebar do not."""
_NAMED = ", ".join(f"{tag}[class], {tag}[id]" for tag in ("div", "section", "ul", "table", "p", "span", "aside"))
_CALLED = ("[role=main]", "main", "[itemprop=articleBody]", ".mw-parser-output", "#mw-content-text")
_LIKELY = ("article", "#main-content", "#content", ".post-content", ".entry-content", ".article-body")
_ENOUGH, _NEARLY_ALL = 0.25, 0.6
"""Shares of the page's prose that an element must hold which the page calls main, and one that is so by custom."""
_SOME_LINKS, _LINKS = 0.3, 0.6
"""A block with a larger share of links is a menu, if its name says so or without a name."""
_ASKING = "input[type=search], input[type=password], input[name=q], input[name=s]"


def main_content(body: LexborNode) -> LexborNode:
    """Return the element with the content of a page without `remove_unseen`. Furniture is removed from the tree."""
    for node in reversed(body.css(_NEVER)):
        node.decompose()
    whole = _prose(body)
    named = _named_main(body, whole)
    root = named or body
    for node in reversed(root.css("header, footer, aside, [role=complementary], form")):
        if _is_outside(node, is_inside_main=named is not None):
            node.decompose()
    for node in reversed(root.css(_NAMED)):
        names = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}"
        is_furniture = _NOTICE.search(names) or (_LINKING.search(names) and _links(node) > _SOME_LINKS)
        # If the body itself has such a name, nothing would be left.
        if is_furniture and node.mem_id != root.mem_id and _prose(node) < whole / 2:
            node.decompose()
    if named is None:
        _remove_menus(root)
    return root


def remove_unseen(body: LexborNode) -> None:
    """Remove from the tree what a browser does not show as text."""
    for node in reversed(body.css(_UNSEEN)):
        node.decompose()


def _named_main(body: LexborNode, whole: int) -> LexborNode | None:
    for selectors, enough in ((_CALLED, _ENOUGH), (_LIKELY, _NEARLY_ALL)):
        for selector in selectors:
            found = body.css(selector)
            # A page with several articles is an overview; keep all of it.
            if len(found) == 1 and _prose(found[0]) >= enough * whole:
                return found[0]
    return None


def _is_outside(node: LexborNode, *, is_inside_main: bool) -> bool:
    """Return whether an element belongs to the site, and not to the text of the page."""
    if node.tag == "form":
        return node.css_first(_ASKING) is not None and node.css_first("p, table, h1, h2") is None
    if node.tag == "header":
        # The header of an article or section has its title; that of a site has links.
        is_own = is_inside_main or (node.parent is not None and node.parent.tag in ("article", "section", "main"))
        return node.css_first("h1, h2, h3" if is_own else "h1") is None
    if node.tag == "footer":
        return not is_inside_main or _links(node) > _SOME_LINKS
    return _links(node) > _SOME_LINKS


def _remove_menus(root: LexborNode) -> None:
    whole = _length(root)
    for node in reversed(root.css("ul, ol, div, section, table")):
        is_menu = len(node.css("a")) > 2 and _links(node) > _LINKS and not node.css_first("p, pre, h1")
        # A page that consists of links is about them.
        if is_menu and _length(node) < whole / 2:
            node.decompose()


def _links(node: LexborNode) -> float:
    """Return the share of the words of an element that are links."""
    return sum(map(_length, node.css("a"))) / max(_length(node), 1)


def _prose(node: LexborNode) -> int:
    """Return the characters in paragraphs, code, cells and headings: menus have few of them."""
    return sum(_length(one) for one in node.css("p, pre, blockquote, dd, h1, h2, h3, h4, td, li")) or _length(node)


def _length(node: LexborNode) -> int:
    return len(node.text_content or node.text() or "")
