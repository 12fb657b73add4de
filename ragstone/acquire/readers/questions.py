"""Questions of FAQs without headings: each begins a paragraph or an item, on a line of its own above its answer."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from ragstone.core.headings import QUESTION_LEVEL
from ragstone.core.records import Mark

_FEWEST, _PARAGRAPHS = 3, 10
"""A FAQ has at least this many questions, and one in this many paragraphs. So do interviews; other texts ask less."""
_LETTER = r"[^\W\d_]\d{0,3}[:.)][ \t]+"
"""A letter before a question, perhaps with a number: "Q:", "F2."."""
_MARKER = rf"(?:{_LETTER}|\d{{1,3}}[.)][ \t]+)"
_ASKED = re.compile(
    rf"(?:\A|\n[ \t]*\n|\n(?={_MARKER}))(?:<details>[ \t]*\n)?((?=[*_<]{{0,5}}[\w¿])[^\n|]{{2,200}}[?？؟]"
    r"(?:[*_]{1,3}|</summary>)?)[ \t]*(?=\n)"
)
"""A question with its markup. Lines in quotation marks, or behind a dash, are what somebody says."""
_NO_WORDS = re.compile(rf"[*_`]|</?(?:details|summary)>|\A[*_]{{0,5}}{_LETTER}")
"""What a heading leaves out of its line."""


def with_questions(text: str, marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """Return the marks of a text in order, with headings for its questions if it is a FAQ."""
    asked = [match.span(1) for match in _ASKED.finditer(text)]
    if len(asked) < _FEWEST:
        return tuple(marks)
    blocks = [mark for mark in marks if mark.kind != "page"]
    ends = [*(start for start, _ in asked[1:]), len(text)]
    headings = [
        Mark(kind="heading", start=start, end=end, level=QUESTION_LEVEL, label=_label(text[start:end]))
        for (start, end), after in zip(asked, ends, strict=True)
        if any(map(str.isalnum, text[end:after])) and not _is_in(blocks, start)
    ]
    if len(headings) < max(_FEWEST, text.count("\n\n") / _PARAGRAPHS):
        return tuple(marks)
    return tuple(sorted([*marks, *headings], key=lambda mark: mark.start))


def _label(line: str) -> str:
    return _NO_WORDS.sub("", line).strip()


def _is_in(blocks: Sequence[Mark], position: int) -> bool:
    """Return whether a position is in a heading, a table or code."""
    at = bisect_right(blocks, position, key=lambda mark: mark.start) - 1
    return at >= 0 and position < blocks[at].end
