"""Tokens without a tokenizer: an estimate that is rather too high, so that what should fit does.

Models cut common words whole and rare ones into pieces, and scripts other than Latin finer. Here every word is cut
into short pieces, and digits and signs stand alone. Beside the tokenizer of SmolLM2, which was made for English alone,
that gives 1.4 times the tokens of English text and of Python code, 1.1 times those of Russian, 0.85 times those of
German and Lithuanian, and 0.75 times those of Malay; tokenizers made for many languages need fewer for these.
"""

from __future__ import annotations

import re

from ragstone.contracts import Span

_PIECE = re.compile(
    r"[A-Za-z]{1,4}"  # of a word in Latin script without marks
    r"|\n+|[^\S\n]{2,}"  # breaks and indents; the blank before a word belongs to it
    r"|\S"  # all else stands alone: digits, signs, letters with marks and of other scripts
)
_FAR_EAST, _BEYOND = "\u2e80", "\uffff"
"""Characters from the one on are a token and a half, behind the other, such as emojis, three: spelt byte by byte."""


def spans(text: str) -> list[Span]:
    """The estimated tokens of a text, in order; none of them is empty."""
    return [Span(start=one.start(), end=one.end()) for one in _PIECE.finditer(text)]


def count(text: str) -> int:
    """About how many tokens a text has for a language model, on the high side."""
    pieces = sum(1 for _ in _PIECE.finditer(text))
    if text.isascii():
        return pieces
    beyond = sum(char > _BEYOND for char in text)
    return pieces + 2 * beyond + (sum(char >= _FAR_EAST for char in text) - beyond + 1) // 2
