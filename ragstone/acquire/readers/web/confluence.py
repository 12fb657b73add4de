"""Pages in Confluence's storage format: HTML with elements of its own for code, links, tasks and panels."""

from __future__ import annotations

import html
import re

from ragstone.acquire.readers.parsed import File, Parsed
from ragstone.acquire.readers.web.html import parse_page

_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_LANGUAGE = re.compile(r'<ac:parameter ac:name="language">([\w+#.-]{1,30})</ac:parameter>')
_TITLE = re.compile(r'<ac:parameter ac:name="title">([^<]*)</ac:parameter>')
_PARAMETER = re.compile(r"<ac:(parameter|task-id|task-status)\b[^>]*>[^<]*</ac:\1>")
_CODE = re.compile(r"<(/?)ac:plain-text-body>")
_TARGET = re.compile(r'<ri:(?:page|attachment|blog-post)\b[^>]*?\bri:(?:content-title|filename)="([^"]*)"[^>]*>')
_LINK = re.compile(r"<ac:link(?=[\s>])")
_NAMED_LINK = re.compile(r"<ac:(?:plain-text-)?link-body\b[^>]*>")
_DATE = re.compile(r'<time\b[^>]*?\bdatetime="([^"]*)"[^>]*>')
_OPENED = {
    "ac:rich-text-body": "div",
    "ac:layout": "div",
    "ac:layout-cell": "div",
    "ac:task-list": "ul",
    "ac:task": "li",
}
"""The elements of HTML that stand for elements of Confluence; only the words of others are kept."""
_OWN = re.compile(r"<(/?)((?:ac|ri|at):[\w-]+)\b[^>]*>")


def parse(file: File) -> Parsed:
    """Return the text of a page, with headings, code and tables marked."""
    storage = file.path.read_text("utf-8", "replace")
    return parse_page(f"<html><body>{as_html(storage)}</body></html>", whole=True)


def as_html(storage: str) -> str:
    """Return a page in storage format as HTML: code as ``pre``, links by their words or the title of their page."""
    text = _CDATA.sub(lambda found: html.escape(found[1], quote=False), storage)
    before, *macros = text.split("<ac:structured-macro")
    before, *links = _LINK.split(_PARAMETER.sub("", before) + "".join(map(_macro, macros)))
    text = _DATE.sub(lambda found: found[1], before + "".join(map(_link, links)))
    return _OWN.sub(_replaced, text)


def _macro(part: str) -> str:
    """Return what follows the opening of a macro. Its parameters are no text, but for a title."""
    language = _LANGUAGE.search(part)
    head = f"<p><strong>{title[1]}</strong></p>" if (title := _TITLE.search(part)) and title[1].strip() else ""
    attribute = f' class="language-{language[1]}"' if language else ""
    part = _CODE.sub(lambda found: "</code></pre>" if found[1] else f"<pre><code{attribute}>", _PARAMETER.sub("", part))
    return f"{head}<ac:structured-macro{part}"


def _link(part: str) -> str:
    """Return what follows the opening of a link; without words of its own, it has those of the title it leads to."""
    inside, closing, rest = part.partition("</ac:link>")
    if closing and not _NAMED_LINK.search(inside):
        target = _TARGET.search(inside)
        return f"<ac:link>{target[1] if target else ''}{rest}"
    return f"<ac:link{part}"


def _replaced(found: re.Match[str]) -> str:
    name = _OPENED.get(found[2])
    return f"<{found[1]}{name}>" if name else ""
