"""The Markdown of an answer: what a line is, its words without signs, and where a citation mark leaves it whole."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragstone.core.line_marks import BULLETS, HASHES
from ragstone.core.span import Span, line_start
from ragstone.respond.passage_structure import HEADING_WORDS, ITEM, ends_in_code

_ROW = re.compile(r"\s*\|.*\|\s*", re.DOTALL)
_RULE = re.compile(r"[\s|:*_=-]*")
_MARKER = re.compile(rf"\s*(?:(?:[{BULLETS}>]|{HASHES})\s+)*(?:\*\*|__)?\(?(?P<number>\d{{1,3}})[.)](?=\s)")
_HASHES = re.compile(rf"\s*{HASHES}\s")
_BOLD_LINE = re.compile(r"\s*(\*\*|__)(?P<words>[^*_]+)\1:?\s*")
_SIGNS = re.compile(
    rf"^\s*(?:(?:[{BULLETS}>]|{HASHES}|\d{{1,3}}[.)])\s+)+"
    r"|\*\*|__|~~|(?<!\w)[*_](?=\w)|(?<=[\w.!?])[*_](?!\w)|`",
    re.MULTILINE,
)


def is_row(sentence: str) -> bool:
    """Return whether a sentence is a row of a table."""
    return bool(_ROW.fullmatch(sentence))


def is_item(sentence: str) -> bool:
    """Return whether a sentence begins an item of a list."""
    return bool(ITEM.match(sentence.lstrip()))


def is_marker(text: str, span: Span) -> bool:
    """Return whether a number is that of an item of a list or of a heading, at the beginning of its line."""
    line = text[line_start(text, span.start) :]
    found = _MARKER.match(line)
    return found is not None and found.start("number") == span.start - (len(text) - len(line))


def is_rule(sentence: str) -> bool:
    """Return whether a sentence only draws a line, as below the head of a table."""
    return bool(_RULE.fullmatch(sentence))


def is_heading(sentence: str) -> bool:
    """Return whether a sentence is a heading: marked as one, or a few bold words alone on their line."""
    bold = _BOLD_LINE.fullmatch(sentence)
    words = bold["words"] if bold else sentence if _HASHES.match(sentence) else ""
    return 0 < len(words.split()) <= HEADING_WORDS and not words.rstrip().endswith((".", "!", "?"))


def bare(sentence: str) -> str:
    """Return a sentence without the signs of lists, headings, emphasis and tables; code stays as it is.

    Cells become sentences, so that each begins with a capital and no figure runs into the next.
    """
    if ends_in_code(sentence):
        return sentence
    words = _SIGNS.sub("", sentence)
    if is_row(sentence):
        words = ". ".join(filter(None, (cell.strip() for cell in words.split("|"))))
    return " ".join(words.split())


def marked(sentence: str, marks: Sequence[str]) -> str:
    """Return a sentence with its citation marks: within the last cell of a row, and below code."""
    if not marks:
        return sentence
    shown = " ".join(marks)
    if ends_in_code(sentence):
        return f"{sentence}\n{shown}"
    if is_row(sentence):
        return f"{sentence.rstrip()[:-1].rstrip()} {shown} |"
    return f"{sentence} {shown}"
