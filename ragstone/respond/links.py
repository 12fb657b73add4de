"""Remove links, pictures and active HTML, so that no program that shows an answer follows or loads them.

A document may contain an address planted by an attacker. A viewer that renders answers as Markdown or HTML must not
load or follow it. Links are replaced by their words; anything that cannot be replaced is broken by a space. The space
is put into code as well, because programs disagree about where code ends. This does not sanitise HTML: a page that
shows an answer must still escape it.
"""

from __future__ import annotations

import re

_ADDRESS = r"\((?:[^()]|\([^()]*\)){0,2000}\)"
_LINK = rf"!?\[(?P<words>[^\[\]\n]*(?:\n(?!\s)[^\[\]\n]*){{0,2}})\](?:{_ADDRESS})"
_ELEMENTS = (
    "a|animate|applet|area|audio|base|body|button|embed|form|frame|frameset|head|html|iframe|image|img|input|link|"
    "math|meta|noscript|object|picture|script|set|source|style|svg|template|textarea|track|use|video"
)
"""HTML elements that load, link or run something."""
_TAG = rf"</?(?:{_ELEMENTS})(?![\w-])[^<>]*>|<[a-z][^<>]*=[^<>]*>|<!--[^<>]*>"
_BARE = r"<(?P<address>[a-z][a-z0-9+.-]*:[^<>\s]*)>"
_CODE = r"(?P<code>`[^`\n]+`)"
_KNOWN = re.compile(f"{_CODE}|{_LINK}|{_TAG}|{_BARE}", re.IGNORECASE)
_REST = re.compile(rf"(?<=\])(?=\()|(?<=\])(?=:)|(?<=<)(?=/?(?:{_ELEMENTS})(?![\w-]))", re.IGNORECASE)
_REST_IN_CODE = re.compile(
    rf"(?<=\])(?=\()|^( {{0,3}}\[[^\]\n]*\])(?=:)|(?<=<)(?=/?(?:{_ELEMENTS})(?![\w-]))", re.IGNORECASE | re.MULTILINE
)
_MAX_NESTING = 4
"""Levels of nested links and pictures that are replaced."""


def strip_links(text: str) -> str:
    """Return the text without links, pictures and active HTML tags; inline code is kept."""
    return break_links(replace_links(text))


def strip_links_from_code(code: str) -> str:
    """Return a code block with its links broken; no characters are removed."""
    return _REST_IN_CODE.sub(lambda found: f"{found[1] or ''} ", code)


def replace_links(text: str) -> str:
    """Return the text with recognised links and tags replaced by their words; inline code is kept."""
    for _ in range(_MAX_NESTING):
        text, changes = _replace_once(text)
        if not changes:
            break
    return text


def break_links(text: str) -> str:
    """Return the text with a space inside every link or tag that was not recognised."""
    return _REST.sub(" ", text)


def _replace_once(text: str) -> tuple[str, int]:
    changes = 0

    def words(link: re.Match[str]) -> str:
        nonlocal changes
        if code := link["code"]:
            return code
        changes += 1
        return link["words"] or link["address"] or ""

    return _KNOWN.sub(words, text), changes
