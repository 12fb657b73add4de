"""The title of a PDF: from its properties, from its first page, or what the cover of a company's filing says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

from ragstone.acquire.readers.parsed import tidy
from ragstone.acquire.readers.pdf.fiscal import day_of, fiscal_period
from ragstone.acquire.readers.pdf.layout import Block
from ragstone.acquire.readers.pdf.words import Line, in_rows
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
_MOST_FIRST = 60
"""Lines of the cover of a filing to look at."""

_NAME_ABOVE = re.compile(r"\(?\s*exact name of (?:the )?(?:registrant|company|issuer)", re.IGNORECASE)
_FILE_NUMBER = re.compile(r"commission file (?:number|no)", re.IGNORECASE)
_FORM = re.compile(r"\bform\s+(10-?[KQ]T?|20-?F|40-?F|8-?K|6-?K|11-?K|S-?[1348]|F-?[134])(/A)?\b", re.IGNORECASE)
_MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_PERIOD = re.compile(
    r"for the (?:fiscal |annual |transition )?(quarter|year|period)(?:ly period|ly)?\s+ended:?\s+"
    rf"({_MONTH}\s+\d{{1,2}},?\s+\d{{4}})",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^\W\d_][\w&.,'’/()\- ]{1,100}")
_KINDS = {"10-K": "year", "10-KT": "year", "20-F": "year", "40-F": "year", "11-K": "year", "10-Q": "quarter"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """The title of a document, and of a filing ``company``, ``form``, ``period`` and ``fiscal_period``."""

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
    filing = _filing(lines, text)
    if filing is not None:
        return filing
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


# ---------------------------------------------------------------- filings


def _filing(lines: Sequence[Line], text: str) -> Named | None:
    """Return what the cover of a company's filing says; None if it is none."""
    rows = [row.text for row in sorted(in_rows(lines), key=lambda row: -row.top)[:_MOST_FIRST]]
    cover = " ".join(rows)
    form, company = _FORM.search(cover), _company(rows)
    if form is None or not company or not _FILE_NUMBER.search(cover):
        return None
    code = form[1].upper()
    code = (code if "-" in code else re.sub(r"^(\d+|[SF])", r"\1-", code)) + (form[2] or "").upper()
    ended = _PERIOD.search(cover)
    period = " ".join(ended[2].split()).title() if ended else ""
    kind = _KINDS.get(code.removesuffix("/A"), ended[1].lower() if ended else "")
    fiscal = fiscal_period(text, kind, period) if kind in ("quarter", "year") else ""
    parts = [company, f"Form {code}", f"{kind} ended {period}" if period else "", fiscal]
    day = day_of(period)
    facts = {"company": company, "form": code, "period": day.isoformat() if day else "", "fiscal_period": fiscal}
    return Named(
        title=" · ".join(part for part in parts if part), facts={key: one for key, one in facts.items() if one}
    )


def _company(rows: Sequence[str]) -> str:
    """Return the name above the line that asks for it, or below the number of the file."""
    for above, row in pairwise(rows):
        if _NAME_ABOVE.match(row) and _NAME.fullmatch(above):
            return above.strip()
    for row, below in pairwise(rows):
        if _FILE_NUMBER.search(row) and _NAME.fullmatch(below):
            return below.strip()
    return ""


@cache
def _part() -> re.Pattern[str]:
    """Return a pattern of the beginning of a heading that is of a part of the document, and no title."""
    words = any_of((*lexicon().layout["sections"], *lexicon().layout["contents"]))
    return re.compile(rf"[^\w]*(?:\d+[.)]?\d*|[IVX]+\.|{words})(?:\W|$)", re.IGNORECASE)
