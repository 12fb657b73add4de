"""Text that nobody's browser follows: links and pictures reduced to their words.

An address that a document planted must not be loaded or followed by whoever shows an answer as Markdown or HTML. What
cannot be reduced is broken by a blank, in code too, for where code ends is told differently by different programs.
This is no cleaner of HTML: who shows an answer in a page escapes it all the same.
"""

from __future__ import annotations

import re

_ADDRESS = r"\((?:[^()]|\([^()]*\)){0,2000}\)"
_LINK = rf"!?\[(?P<words>[^\]\n]*)\](?:{_ADDRESS})"
_ELEMENTS = (
    "a|animate|applet|area|audio|base|body|button|embed|form|frame|frameset|head|html|iframe|image|img|input|link|"
    "math|meta|noscript|object|picture|script|set|source|style|svg|template|textarea|track|use|video"
)
"""Of HTML, what loads, links or runs something."""
_TAG = rf"</?(?:{_ELEMENTS})(?![\w-])[^<>]*>|<[a-z][^<>]*=[^<>]*>|<!--[^<>]*>"
_BARE = r"<(?P<address>[a-z][a-z0-9+.-]*:[^<>\s]*)>"
_CODE = r"(?P<code>`[^`\n]+`)"
_KNOWN = re.compile(f"{_CODE}|{_LINK}|{_TAG}|{_BARE}", re.IGNORECASE)
_LEFT = re.compile(rf"(?<=\])(?=\()|(?<=\])(?=:)|(?<=<)(?=/?(?:{_ELEMENTS})(?![\w-]))", re.IGNORECASE)
_LEFT_IN_CODE = re.compile(
    rf"(?<=\])(?=\()|^( {{0,3}}\[[^\]\n]*\])(?=:)|(?<=<)(?=/?(?:{_ELEMENTS})(?![\w-]))", re.IGNORECASE | re.MULTILINE
)
_NESTED = 4
"""Links and pictures within each other that are reduced."""


def unlinked(text: str) -> str:
    """A text without links, pictures and the tags of HTML that load or run something; inline code stays."""
    return defused(reduced(text))


def unlinked_code(code: str) -> str:
    """The same for a block of code, of which nothing is taken away."""
    return _LEFT_IN_CODE.sub(lambda found: f"{found[1] or ''} ", code)


def reduced(text: str) -> str:
    """A text in which links and tags that can be told are their words; inline code stays."""
    for _ in range(_NESTED):
        text, changes = _reduced_once(text)
        if not changes:
            break
    return text


def defused(text: str) -> str:
    """A text in which those that are left are broken by a blank."""
    return _LEFT.sub(" ", text)


def _reduced_once(text: str) -> tuple[str, int]:
    changes = 0

    def words(found: re.Match[str]) -> str:
        nonlocal changes
        if code := found["code"]:
            return code
        changes += 1
        return found["words"] or found["address"] or ""

    return _KNOWN.sub(words, text), changes
