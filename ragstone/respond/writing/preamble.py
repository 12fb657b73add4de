"""What stands before an answer only to introduce it: a lead-in, the question once more, and the word "Answer"."""

from __future__ import annotations

import re
from functools import cache

from ragstone.language import lexicon
from ragstone.language.words import any_of
from ragstone.respond.writing.claims import introduces

_LEAD, _QUESTION = 200, 600
"""Characters of a lead-in and of a repeated question, at most."""
_WORD = 30
"""Characters of a word, at most."""
_SIGNS = r"[ \t*_#>-]{0,6}"


class Preamble:
    """Takes the preamble off a streamed answer."""

    def __init__(self) -> None:
        self._held, self._is_over = "", False

    def add(self, piece: str) -> str:
        """Add a piece and return what belongs to the answer; nothing while a preamble may go on."""
        if self._is_over:
            return piece
        self._held += piece
        return "" if _may_go_on(self._held) else self.end()

    def end(self) -> str:
        """Return what was held and belongs to the answer."""
        self._is_over = True
        text, self._held = self._held, ""
        found = _preamble().match(text)
        return text[found.end() :].lstrip() if found and introduces(found["lead"] or "") else text


@cache
def _label(kind: str) -> str:
    """Return the pattern of "Question:" or "Answer:" in any language, possibly in bold."""
    return rf"{_SIGNS}(?:{any_of(lexicon().layout[kind])})[*_ ]{{0,3}}:{_SIGNS}"


@cache
def _preamble() -> re.Pattern[str]:
    asked, answered = _label("asked"), _label("answered")
    lead = rf"(?!{asked}|{answered})(?P<lead>[^\n]{{1,{_LEAD}}})\n\s*"
    return re.compile(rf"\s*(?:{lead})?(?:{asked}[^\n]{{0,{_QUESTION}}}\n\s*)?{answered}", re.IGNORECASE)


@cache
def _asked() -> re.Pattern[str]:
    return re.compile(_label("asked"), re.IGNORECASE)


def _may_go_on(text: str) -> bool:
    """Return whether more text may show that this is a preamble, or where it ends."""
    if found := _preamble().match(text):
        return found.end() == len(text)
    *lines, begun = text.lstrip().split("\n")
    whole = [line for line in lines if line.strip()]
    leads, asks = (whole[:1], whole[1:]) if whole and not _asked().match(whole[0]) else ([], whole)
    if len(asks) > 1 or not all(map(_asked().match, asks)) or not all(map(_may_lead, leads)):
        return False
    if asks:
        return _may_be_label(begun, "answered")
    if _asked().match(begun):
        return len(begun) <= _QUESTION
    return _may_be_label(begun, "asked") or _may_be_label(begun, "answered") or (not leads and _may_lead(begun))


def _may_lead(line: str) -> bool:
    """Return whether a line, whose last word may be incomplete, only introduces."""
    whole, _, last = line.rpartition(" ")
    is_whole = line.rstrip().endswith((":", "!", ".")) or len(last) > _WORD
    return len(line) <= _LEAD and introduces(line if is_whole else whole)


def _may_be_label(begun: str, kind: str) -> bool:
    word = begun.lstrip(" *_#>").rstrip(" *_:").casefold()
    return any(one.startswith(word) for one in lexicon().layout[kind])
