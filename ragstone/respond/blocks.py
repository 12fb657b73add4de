"""What in a text is no sentence to quote by itself: headings, tables, code; and what a sentence with a colon leads to.

A heading tells that the answer is near, and is none. "The steps are:" is none either without its steps, so it is quoted
with them. Code is quoted whole or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragstone.contracts import Span

LONGEST = 800
"""Characters that a quote may have with the list or code it leads to."""
HEADING_WORDS = 12
"""A line that stands alone, has no more words than this and does not end as a sentence does is taken for a heading."""

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_HASHES = re.compile(r"#{1,6}[ \t]")
_UNDERLINE = re.compile(r"\n {0,3}(=+|-{3,})[ \t]*(?:\n|$)")
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦▪●·–][ \t]|\(?(?:\d{1,3}|[A-Za-z])[.)][ \t])")
_INDENTED = re.compile(r"[ \t]{2,}\S")
_INDENTED_CODE = re.compile(r"(?: {4}|\t)[ \t]*\S")
_TABLE = ("|", "+--", "+==")
_DIRECTIVE = re.compile(r"[ \t]*\.\. (?:code|code-block|parsed-literal|math)::.*")
_LABEL_WORDS = 2
"""A line before code with no more words than this, and without an end, is a label, such as that of a tab: "C++"."""
_ENDS = (".", "!", "?", "…", ":", ";", "。", "！", "？", "।", "۔", "؟")
_CLOSING = "\"'”’“»)]*_`"


def is_heading(text: str, span: Span) -> bool:
    """Whether a sentence of a text is a heading: marked as one, or short, alone on its line, and without an end."""
    start, end = text.rfind("\n", 0, span.start) + 1, _line_end(text, span.end)
    line = text[start:end].strip()
    if _HASHES.match(line) or _UNDERLINE.match(text, end):
        return True
    if span.of(text).strip() != line.strip("*_ ") and span.of(text).strip() != line:
        return False  # one sentence of several
    if _ITEM.match(line) or line.rstrip(_CLOSING).endswith(_ENDS):
        return False
    alone_above = start == 0 or not text[text.rfind("\n", 0, start - 1) + 1 : start - 1].strip()
    alone_below = end < len(text) and not text[end + 1 : _line_end(text, end + 1)].strip()
    return alone_above and alone_below and len(line.split()) <= HEADING_WORDS


def is_table(text: str, span: Span) -> bool:
    """Whether a sentence begins in a row of a table."""
    return _line_of(text, span).startswith(_TABLE)


def is_directive(text: str, span: Span) -> bool:
    """Whether a sentence begins in a line that reStructuredText shows to nobody: ``.. _place:``."""
    return _line_of(text, span).startswith(".. ")


def code_around(text: str, position: int) -> Span | None:
    """The fenced block of code that a place in a text lies in, with its fences; one without an end is none."""
    fences = _FENCE.finditer(text)
    for opening in fences:
        closing = next((one for one in fences if one[1].startswith(opening[1])), None)
        if closing and opening.start() <= position < closing.end():
            return Span(start=opening.start(), end=closing.end())
    return None


def has_lines(quote: str) -> bool:
    """Whether the lines of a quote mean something: it has the items of a list, or code."""
    rest = quote.split("\n")[1:]
    return any(_ITEM.match(line) or _INDENTED_CODE.match(line) or _FENCE.match(line) for line in rest)


def ends_in_code(quote: str) -> bool:
    """Whether the last line is a fence, which nothing may follow on the same line."""
    return bool(_FENCE.fullmatch(quote.rpartition("\n")[2]))


def led_to(text: str, span: Span) -> Span:
    """A sentence that ends with a colon, together with the list or the code it leads to; any other as it is."""
    if not span.of(text).rstrip(_CLOSING).endswith(":"):
        return span
    start = _after_blank(text, span.end)
    line = text[start : _line_end(text, start)]
    if _is_label(line) or _DIRECTIVE.fullmatch(line):
        after = _after_blank(text, start)
        if code_around(text, after) or _INDENTED_CODE.match(text[after : _line_end(text, after)]):
            start, line = after, text[after : _line_end(text, after)]
    if code := code_around(text, start):
        return _within_limit(span, code.end)
    if _ITEM.match(line):
        return _within_limit(span, *_list_ends(text, start))
    if _INDENTED_CODE.match(line):
        return _within_limit(span, *_indented_ends(text, start))
    return span


def leads_out(text: str, span: Span) -> bool:
    """Whether what a sentence with a colon leads to is in the next chunk: at most a label stands between."""
    rest = text[span.end :].strip(_CLOSING + " \t\n")
    return span.of(text).rstrip(_CLOSING).endswith(":") and (not rest or _is_label(rest))


def _is_label(line: str) -> bool:
    words = line.split()
    return 0 < len(words) <= _LABEL_WORDS and "\n" not in line and not line.endswith(_ENDS) and not _ITEM.match(line)


def _list_ends(text: str, start: int) -> Iterator[int]:
    """Where the items of a list end, one after the other; an item goes on in indented lines."""
    end = 0
    while start < len(text):
        line_end = _line_end(text, start)
        line = text[start:line_end]
        begins = _ITEM.match(line)
        if line.strip() and not begins and not _INDENTED.match(line):
            break
        if begins and end:
            yield end
        if line.strip():
            end = line_end
        start = line_end + 1
    yield end


def _indented_ends(text: str, start: int) -> Iterator[int]:
    """Where a block of indented code ends."""
    end = start
    while start < len(text):
        line_end = _line_end(text, start)
        line = text[start:line_end]
        if line.strip() and not _INDENTED_CODE.match(line):
            break
        if line.strip():
            end = line_end
        start = line_end + 1
    yield end


def _within_limit(span: Span, *ends: int) -> Span:
    """The sentence up to the last of these ends that keeps the quote short enough; as it is, where none does."""
    fitting = [end for end in ends if end - span.start <= LONGEST]
    return Span(start=span.start, end=max([span.end, *fitting]))


def _after_blank(text: str, position: int) -> int:
    """The beginning of the first line with anything on it after the one at this position."""
    start = _line_end(text, position) + 1
    while start < len(text) and not text[start : _line_end(text, start)].strip():
        start = _line_end(text, start) + 1
    return min(start, len(text))


def _line_of(text: str, span: Span) -> str:
    """The line that a sentence begins in."""
    return text[text.rfind("\n", 0, span.start) + 1 : _line_end(text, span.start)].lstrip()


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end
