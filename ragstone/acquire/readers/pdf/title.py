"""The title of a PDF: from its properties, from its first page, or from the cover of a filing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache

from ragstone.acquire.readers.parsed import tidy
from ragstone.acquire.readers.pdf.layout import Block
from ragstone.acquire.readers.pdf.words import Line, in_rows
from ragstone.core.frozen import frozen
from ragstone.filings import cover_of
from ragstone.language import lexicon
from ragstone.language.words import any_of

_LEFT_BEHIND = re.compile(
    r"\W*(?:untitled|anonymous|document\W?\d*|slide \d+|powerpoint presentation|paper title\b.*)\W*$|microsoft \w+ - |"
    r".*\.(?:docx?|pdf|indd|qxd|tex|dvi|pptx?|xlsx?|rtf|txt|html?|p65|fm)$|[\W\d_]*$",
    re.IGNORECASE,
)
"""What programs leave in the title: their own names, names of files, numbers."""
_FILE_NAME = re.compile(r"(?=.*[\d_])[\w.\-]{6,}")
_WORD = re.compile(r"[^\W\d_]{3,}")
_LONGEST = 200


@frozen
class Named:
    """The title of a document, and what the cover of a filing says besides."""

    title: str
    facts: Mapping[str, str] = field(default_factory=dict[str, str])


def named(written: str, lines: Sequence[Line], blocks: Sequence[Block], text: str) -> Named:
    """Return the title of a document.

    Args:
        written: the title in the properties of the file.
        lines: the lines of the first page with text.
        blocks: its paragraphs, headings and tables.
        text: of the whole document.
    """
    cover = cover_of([row.text for row in sorted(in_rows(lines), key=lambda row: -row.top)], text)
    if cover is not None:
        return Named(title=cover.title, facts=cover.facts)
    words = " ".join(tidy(written).split())
    own = " ".join(line.text for line in lines)
    return Named(title=words if words and not is_left_behind(words) and _shares_word(words, own) else _largest(blocks))


def is_left_behind(title: str) -> bool:
    """Return whether a program left a title there that names nothing: its own name, a file or a number."""
    return bool(_LEFT_BEHIND.match(title) or _FILE_NAME.fullmatch(title))


def _shares_word(title: str, page: str) -> bool:
    """Return whether the first page has a word of the title. In scripts without spaces, nothing can be said."""
    words = {word.casefold() for word in _WORD.findall(title)}
    return not words or not page or bool(words & {word.casefold() for word in _WORD.findall(page)})


def _largest(blocks: Sequence[Block]) -> str:
    """Return the largest heading of the page that is no part of the document, the first of equals."""
    headings = [
        block
        for block in blocks
        if block.level and not _part().match(block.text) and sum(one.isalpha() for one in block.text) > 2
    ]
    best = max(headings, key=lambda block: round(block.lines[0].size), default=None)
    return best.text if best is not None and len(best.text) <= _LONGEST else ""


@cache
def _part() -> re.Pattern[str]:
    """Return a pattern of the beginning of a heading that is of a part of the document, and no title."""
    words = any_of((*lexicon().layout["sections"], *lexicon().layout["contents"]))
    return re.compile(rf"[^\w]*(?:\d+[.)]?\d*|[IVX]+\.|{words})(?:\W|$)", re.IGNORECASE)
