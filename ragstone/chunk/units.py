"""The units of a text: paragraphs, words and characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from ragstone.core.records import Span

CJK = "\u2e80-\u2fdf\u3040-\u30ff\u3100-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Characters of scripts without spaces, where each may be a word; for use in ``[...]``."""
# Characters that may not begin a line in these scripts stay with the character before.
_CLINGING = "、。，．：；？！」』）】》〉”’…\u0300-\u036f\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef"
_WORD = re.compile(rf"[{CJK}][{_CLINGING}]*|[^\s{CJK}]+")
_WORD_START = re.compile(rf"(?<=\s)\S|(?<=[{CJK}{_CLINGING}])[^\s{_CLINGING}]|[{CJK}]")
PARAGRAPH_BREAK = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")
_ZERO_WIDTH_JOINER = "\u200d"
_MOST_MARKS = 32
"""The longest run of combining marks to search; no script has a longer one."""


def trim(text: str, start: int, end: int) -> Span | None:
    """Return the span without white space at its ends; None if it is all white space."""
    piece = text[start:end]
    left = piece.lstrip()
    if not left:
        return None
    start = end - len(left)
    return Span(start=start, end=start + len(left.rstrip()))


def paragraphs(text: str) -> list[Span]:
    """Return the spans between blank lines."""
    cuts = [0, *(blank.start() for blank in PARAGRAPH_BREAK.finditer(text)), len(text)]
    return [span for start, end in pairwise(cuts) if (span := trim(text, start, end))]


def words(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the words: the spans between white space, and each character in scripts without spaces."""
    for match in _WORD.finditer(text, start, end):
        yield Span(start=match.start(), end=match.end())


def next_word(text: str, start: int, end: int) -> int:
    """Return the start of the first word that begins at ``start`` or later; ``end`` if there is none."""
    match = _WORD_START.search(text, start, end)
    return match.start() if match else end


def windows(text: str, start: int, end: int, size: int, overlap: int) -> Iterator[Span]:
    """Yield pieces of at most ``size`` characters, without dividing what readers see as one character if possible."""
    while end - start > size:
        stop = _whole_character(text, start + size, floor=start + overlap)
        yield Span(start=start, end=stop)
        start = stop - overlap
        while start < stop and _is_joined(text, start):
            start += 1
    yield Span(start=start, end=end)


def _whole_character(text: str, position: int, *, floor: int) -> int:
    """Return the last place up to ``position`` between two visible characters; ``position`` if none is near."""
    for place in range(position, max(floor, position - _MOST_MARKS), -1):
        if not _is_joined(text, place):
            return place
    return position


def _is_joined(text: str, position: int) -> bool:
    """Return whether the character only completes the one before: an accent, a skin tone, a joined emoji."""
    char = text[position]
    if char < "\u0300":
        return False
    return (
        unicodedata.category(char).startswith("M")
        or char == _ZERO_WIDTH_JOINER
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or text[position - 1] == _ZERO_WIDTH_JOINER
    )
