"""Entries of glossaries and lists of terms: a line that begins with a term, and what it says about the term.

"OKTB    OK to board. The message that ..." and "Laytime: the time that ..." answer what the term means, as a whole.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ragstone.core.line_marks import BULLETS
from ragstone.core.question import Question
from ragstone.core.span import Span, line_end, line_start
from ragstone.language.facts import form, words
from ragstone.language.message import messages_in

_ENTRY = re.compile(
    rf"[ \t]{{0,8}}(?:[{BULLETS}][ \t]+)?"
    r"[*_`\"'“„«]{0,4}(?P<head>[^\W_][^\n\t:=–—|]{0,58}?)[*_`\"'”“»]{0,4}"
    r"(?P<gap>[ \t]*[:=–—][*_]{0,2}[ \t]+|[ \t]+-[ \t]+|\t+|[ \t]{2,})(?=\S)"
)
"""The beginning of an entry: a term, a gap that sets it apart, and its text."""
_ALSO = re.compile(r",|/|\(|\)|;| or ")
"""What stands between several terms of one entry: "BL, B/L" and "Despatch (DES)"."""
_FIRST_WORDS = re.compile(r"[^.:;,(\n]{1,60}")
_INDENTED = re.compile(r"[ \t]{2,}\S")
_ENDS = (".", "!", "?", "。", ")", ":")
_LONGEST = 1000
"""Characters of an entry that is quoted whole."""


def entry_of(question: Question, text: str, span: Span) -> Span | None:
    """Return the entry in which a sentence stands, if it explains the term that a question asks for; else None."""
    asked = _term(question)
    if not asked:
        return None
    start = line_start(text, span.start)
    while start and _INDENTED.match(text, start):
        start = line_start(text, start - 1)
    entry = _ENTRY.match(text, start)
    if entry is None or not _is_about(asked, entry["head"], text[entry.end() :]):
        return None
    end = _end(text, start)
    begin = entry.start("head")
    return Span(start=begin, end=end) if span.start < end <= begin + _LONGEST else None


def _is_about(asked: frozenset[str], head: str, explained: str) -> bool:
    """Return whether an entry has a term as its head, or first explains its head by it, as "DEM: demurrage." does."""
    first = _FIRST_WORDS.match(explained)
    names = [*_ALSO.split(head), *([first.group()] if first else [])]
    return any(_forms(name) == asked for name in names)


@lru_cache(maxsize=1024)
def _forms(name: str) -> frozenset[str]:
    return frozenset(form(word) for word in words(name) if not word.stop)


def _term(question: Question) -> frozenset[str]:
    """Return the words of the term whose meaning is asked for; none if something else is asked."""
    if question.kind != "definition":
        return frozenset()
    told = frozenset[str]().union(*(one.means for one in messages_in()))
    return frozenset(form(word) for word in question.words if not word.stop and word.lower not in told)


def _end(text: str, start: int) -> int:
    """Return where an entry ends: at the last of its lines that are indented, or into which it was wrapped."""
    end = line_end(text, start)
    while end < len(text):
        after = line_end(text, end + 1)
        line = text[end + 1 : after]
        is_wrapped = not text[start:end].rstrip().endswith(_ENDS) and not _ENTRY.match(line)
        if not line.strip() or not (_INDENTED.match(line) or is_wrapped):
            break
        end = after
    return end
