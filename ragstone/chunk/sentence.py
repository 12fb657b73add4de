"""Sentences by rule, for many languages, in one pass over the text.

A sentence ends at a mark such as ``.`` or ``。``, unless its context shows that the sentence continues: an abbreviation
before it, or a lower-case word after it. It also ends at a deliberate line break, such as one after a heading, but not
at one that only wraps a paragraph.

Chunks are cut at these sentences, so a change of the rules changes chunks: it needs a new version of their fingerprint,
and every knowledge base a rebuild. What is quoted is mended by `ragstone.chunk.reading`, which may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Literal, get_args

from ragstone.chunk.units import CJK, PARAGRAPH_BREAK, trim
from ragstone.core.line_marks import BULLETS, HASHES
from ragstone.core.records import Span
from ragstone.language import lexicon
from ragstone.language.words import any_of

_SPACED = ".!?…"
_UNSPACED = "。！？｡؟۔।॥።။։។៕"
"""Marks that end a sentence even if no white space follows."""
_CLOSING = "\"'”’“‘»«)\\]}」』）】》〉*_`¹²³"
_OPENING = "\"'“‘„‚«»([{¿¡*_`「『（"

# A mark, and what follows it in the same sentence: closing quotes and brackets, and footnotes such as "[12]".
_END = re.compile(rf"([{_SPACED}{_UNSPACED}]+)((?:[{_CLOSING}]|\[\d{{1,3}}\]|[ \u00a0\u202f][»“”](?!\S))*)")
_NEXT_WORD = re.compile(rf"[\s{re.escape(_OPENING)}]*(\w*)")
_LAST_WORD = re.compile(r"[\w.'’/]*$")
_ACRONYM = re.compile(r"(?:[^\W\d]\.)+[^\W\d]{1,2}")
_ROMAN = re.compile(r"[IVX]{2,5}")
_LIST_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3})*")
# "minister.Kemudian ": a missing space after the full stop. Not "node.js" or "www.Example.com".
_SPACE_FORGOTTEN = re.compile(r"[^\W\d_]+[\s,]")
_PLAIN_WORD = re.compile(r"(?:^|[\s(])(?:[^\W\d_]{3,}|\d{4})$")
_LONGEST_WORD = 24
"""Characters before a full stop to examine: enough for any abbreviation and the word before it."""

_ITEM = re.compile(rf"\s*(?:[{BULLETS}]\s|\(?\d{{1,3}}(?:\.\d{{1,3}})*[.)]\s|\(?[A-Za-z]\)\s|{HASHES}\s|\|)")
_ALONE = re.compile(rf"\s*(?:{HASHES}\s|\||([=\-*_~])\1{{2,}}\s*$)")
_FIRST_WORD = re.compile(rf"\s*([{CJK}]|[^\s{CJK}]*)")
_NARROW = 40
"""If all lines of a paragraph are shorter, they were not wrapped to fit a page."""

GoesOn = Literal["always", "before_number", "inside"]
"""When a sentence goes on after an abbreviation: ``inside`` a sentence, unless the next word often begins one."""


@cache
def _abbreviations() -> dict[str, GoesOn]:
    rules: tuple[GoesOn, ...] = get_args(GoesOn)
    return {word: rule for rule in rules for word in lexicon().abbreviations[rule]}


def abbreviation(word: str) -> GoesOn | None:
    """Return when the sentence goes on after the full stop of a word; None if it is no abbreviation."""
    return _abbreviations().get(word.casefold())


def sentences(text: str) -> list[Span]:
    """Return the sentences of a text, in order, without the white space around them.

    Together they hold every character that is not white space, and none overlap. Line breaks are ``\\n``.
    """
    spans: list[Span] = []
    for start, end in _stretches(text):
        for stop in [*_ends(text, start, end), end]:
            if span := trim(text, start, stop):
                spans.append(span)
            start = stop
    return spans


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text between line breaks that end a sentence."""
    start = 0
    for blank in PARAGRAPH_BREAK.finditer(text):
        yield from _lines_joined(text, start, blank.start())
        start = blank.end()
    yield from _lines_joined(text, start, len(text))


def _lines_joined(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    lines = text[start:end].split("\n")
    widest = max(len(line.rstrip()) for line in lines)
    position = start
    for line, after in pairwise(lines):
        position += len(line) + 1
        if _broken_on_purpose(line.rstrip(), after, widest):
            yield start, position
            start = position
    yield start, end


def _broken_on_purpose(line: str, after: str, widest: int) -> bool:
    """Return whether a line break within a paragraph is deliberate.

    A line with room for the next word, compared with the widest line of its paragraph, was not merely wrapped.
    """
    if begins_block(line, after):
        return True
    first = _FIRST_WORD.match(after)
    word = first.group(1) if first else ""
    if word[:1].islower() or line.endswith((",", "-")):
        return False
    return widest < _NARROW or len(line) + 1 + len(word) <= widest


def begins_block(line: str, after: str) -> bool:
    """Return whether something else than a paragraph ends with a line, or begins after it: an item or a heading."""
    return bool(_ITEM.match(after) or _ALONE.match(after) or _ALONE.match(line))


def _ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the ends of the sentences in a part of a text, except the last."""
    for match in _END.finditer(text, start, end):
        mark, closing, stop = match.group(1), match.group(2), match.end()
        if stop == end:
            return
        if mark[-1] not in _UNSPACED:
            if not text[stop].isspace():
                if not closing and _lacks_space(text, start, match.start(), stop):
                    yield stop
                    start = stop
                continue
            following = _NEXT_WORD.match(text, stop, end)
            word = following.group(1) if following else ""
            if following and not word and text[following.end() : following.end() + 1] in tuple(_SPACED):
                continue  # an ellipsis written ". . ."
            # '"Really?" he asked.' continues; "Really? he asked." does not.
            if word[:1].islower() and (closing or mark[-1] in ".…"):
                continue
            if mark == "." and not closing and _goes_on(text, start, match.start(), word):
                continue
        yield stop
        start = stop


def _lacks_space(text: str, start: int, stop: int, after: int) -> bool:
    """Return whether the mark at ``stop`` ends a sentence although a letter follows it directly."""
    if not text[after].isupper() or not text[after + 1 : after + 2].islower():
        return False
    before = _PLAIN_WORD.search(text[max(start, stop - _LONGEST_WORD) : stop])
    return before is not None and _SPACE_FORGOTTEN.match(text, after) is not None


def _goes_on(text: str, start: int, stop: int, following: str) -> bool:
    """Return whether the full stop at ``stop`` belongs to the word before it and ends no sentence."""
    before = text[max(start, stop - _LONGEST_WORD) : stop]
    found = _LAST_WORD.search(before)
    word = found.group() if found else ""
    if _LIST_NUMBER.fullmatch(word) and not text[max(start, stop - 2 * _LONGEST_WORD) : stop - len(word)].strip():
        return True  # "1. First item"
    if word.isdecimal():
        return len(word) <= 2 and _is_ordinal(before, following)
    rule = abbreviation(word)
    if rule == "always":
        return True
    if rule == "before_number":
        return following[:1].isdigit()
    is_initial = len(word) == 1 and word.upper() != word.lower()
    if rule == "inside" or is_initial or _ACRONYM.fullmatch(word) or _ROMAN.fullmatch(word):
        return not begins_sentence(following)
    return False


def begins_sentence(word: str) -> bool:
    """Return whether this is a word that usually begins a sentence where it is capitalised; few names begin with it."""
    return word in lexicon().sentences["starts"]


def _is_ordinal(before: str, following: str) -> bool:
    """Return whether a number is an ordinal: German "am 3. Mai", "im 19. Jahrhundert", dates such as "3. 5. 2024"."""
    if following[:1].isdigit() or following in lexicon().sentences["after_ordinal"]:
        return True
    return bool(_before_ordinal().search(before)) and not begins_sentence(following)


@cache
def _before_ordinal() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{any_of(lexicon().sentences['before_ordinal'])})\s+\S*$")
