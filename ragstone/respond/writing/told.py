"""What a reply says of the sources: whether they answer the question, in part, or not at all.

The prompt asks for a first line that a small model can write: ``FOUND: yes``, ``FOUND: partly`` or ``FOUND: no``. The
line is taken off. If it is missing, the sentences decide: a reply that begins by saying that the documents do not tell
something is a refusal, in whatever words, unless several facts follow. One fact is usually only what comes closest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal

from ragstone.core.frozen import frozen
from ragstone.language import lexicon, plain
from ragstone.language.words import any_of
from ragstone.respond.writing.claims import Claim
from ragstone.respond.writing.preamble import Preamble

Told = Literal["all", "part", "nothing"]
"""How much of the question the reply answers."""
FIRST_LINE = "FOUND: "
REFUSAL = f"{FIRST_LINE}no"
"""The first line that the prompt asks for if the sources do not answer."""
_UNKNOWN = re.compile(r"\W{0,6}FOUND\W{0,4}:\W{0,4}[^\W\d_]{1,12}[*_`\"'. ]*(?:\n\s*|$)")
"""The line with a word of another language, whose meaning is not known."""
_CLOSES = re.compile(r"\W*(?:$|\n|[.,;:!–—*_-])")
"""What follows a word that ends the line."""
_BEHIND = re.compile(r"[^\S\n]*[*_`\"'.,;:!)–—-]*\s*")
_YES, _NO = frozenset({"true"}), frozenset({"false", "none", "not"})
"""Words that models write beside yes and no of all languages."""
_END = re.compile(r"\Z")
_SIGNS = " \t\n*_#`\"'"
_BARE = re.compile(r"\W*no[ _]answer\W*", re.IGNORECASE)
PARTLY = 2
"""Facts after words such as "no price is given" from which a reply answers a part of the question."""
_MAX_FIRST = 48
"""Characters of a first line, at most."""


@frozen
class _Line:
    """The first line at the beginning of a text: how many characters it has, and what it says."""

    end: int
    told: Told | None


class FirstLine:
    """Takes the first line off a streamed reply, the same line where it is repeated, and a preamble."""

    def __init__(self) -> None:
        self.told: Told | None = None
        self._held, self._is_over, self._has_begun = "", False, False
        self._preamble = Preamble()

    def add(self, piece: str) -> str:
        """Add a piece and return what belongs to the answer; nothing while the first line may go on."""
        self._held += piece
        if not self._is_over and self._may_go_on():
            return ""
        return self._preamble.add(self._taken(_again_begun()))

    def end(self) -> str:
        """Return what was held and belongs to the answer."""
        text = self._preamble.add(self._taken(_END)) + self._preamble.end()
        return text if self.told else self._without_first(text)  # it was a field of JSON

    def _may_go_on(self) -> bool:
        begun = plain(self._held.lstrip(_SIGNS))
        stated = _verdict().match(begun)
        behind = begun[stated.end() :].lstrip(_SIGNS) if stated else begun
        may_come = any(word.startswith(begun) for word in _verdicts()) or any(
            one.startswith(text[: len(one)]) for one in (*_labels(), "no answer") for text in (begun, behind)
        )
        return may_come and "\n" not in behind and len(begun) <= _MAX_FIRST

    def _taken(self, open_end: re.Pattern[str]) -> str:
        """Take what was held up to an end that may go on, and return what belongs to the answer."""
        if not self._is_over:
            self._is_over = True
            self._held = self._without_first(self._held)
        end = open_end.search(self._held)
        text, self._held = self._held[: end.start()] if end else self._held, self._held[end.start() :] if end else ""
        return self._begun(_again().sub(self._repeated, text))

    def _without_first(self, text: str) -> str:
        if _BARE.fullmatch(text):
            self.told = "nothing"
            return ""
        stated = _verdict().match(text)
        found = _first_line(text) or (_first_line(text, stated.end()) if stated else None)
        if not found:
            return text
        self.told = found.told
        return text[found.end :]

    def _repeated(self, found: re.Match[str]) -> str:
        self.told = self.told or _told(plain(found["told"]))
        return ""

    def _begun(self, text: str) -> str:
        """Return the text without blank lines before the answer."""
        text = text if self._has_begun else text.lstrip()
        self._has_begun = self._has_begun or bool(text)
        return text


def _first_line(text: str, start: int = 0) -> _Line | None:
    """Return the first line that begins at a place of a text; None if there is none."""
    low = plain(text)
    if unknown := _UNKNOWN.match(text, start):
        return _Line(end=unknown.end(), told=_told(low[start : unknown.end()]))
    found = _first().match(low, start) if len(low) == len(text) else None
    if not found:
        return None
    rest = text[found.end() :]
    if not (found["bare"] or _CLOSES.match(rest) or rest.lstrip()[:1].isupper()):
        return None
    behind = _BEHIND.match(text, found.end())
    return _Line(end=behind.end() if behind else found.end(), told=_told(found[0]))


def _told(line: str) -> Told | None:
    """Return what a line says; None if its word means yes in one language and no in another."""
    said = set(re.findall(r"[^\W\d_]+", line))
    if re.search(rf"\b(?:{any_of(_partly())})\b", line):
        return "part"
    agrees, disagrees = bool(said & (lexicon().agrees | _YES)), bool(said & (lexicon().disagrees | _NO))
    return None if agrees == disagrees else "all" if agrees else "nothing"


def _verdicts() -> frozenset[str]:
    return lexicon().agrees | lexicon().disagrees


@cache
def _labels() -> tuple[str, ...]:
    return tuple(map(plain, lexicon().layout["found"]))


@cache
def _partly() -> tuple[str, ...]:
    return tuple(map(plain, lexicon().layout["partly"]))


@cache
def _first() -> re.Pattern[str]:
    """Return a pattern of the first line in small letters without diacritics: "found: yes" in any language."""
    labels, partly = any_of(_labels()), any_of(_partly())
    words = any_of((*_verdicts(), *_YES, *_NO, *_partly()))
    return re.compile(
        rf"\W{{0,6}}(?:{labels})(?:\W{{0,4}}[:=–—-]\W{{0,4}}(?P<told>{words})|\W{{1,6}}(?P<bare>yes|{any_of(_partly())}))\b"
        rf"(?:[,;/(\s]{{1,3}}(?:{partly})\b)?"
    )


@cache
def _again() -> re.Pattern[str]:
    """Return a pattern of the line repeated: in capitals, as nobody else writes it."""
    words = any_of((*_verdicts(), *_partly()))
    return re.compile(rf"[*_`]{{0,3}}(?:{_capitals()})[*_`]{{0,3}}:[*_` ]{{0,4}}(?P<told>(?i:{words}))\b[*_`.]{{0,4}}")


@cache
def _again_begun() -> re.Pattern[str]:
    """Return a pattern of an end that may become this line."""
    rest = r"(?:[*_`]{0,3}(?::[*_` ]{0,4}\w{0,12}[*_`.]{0,4})?)?"
    begun = [label[:size] for label in map(str.upper, _labels()) for size in range(1, len(label))]
    return re.compile(rf"(?:[*_`]{{1,3}}|[*_`]{{0,3}}(?:(?:{any_of(begun)})|(?:{_capitals()}){rest}))\Z")


def _capitals() -> str:
    return any_of(map(str.upper, _labels()))


@cache
def _verdict() -> re.Pattern[str]:
    """Return a pattern of yes or no before the first line."""
    return re.compile(rf"\W{{0,6}}(?:{any_of(_verdicts())})\W{{1,4}}", re.IGNORECASE)


def told_by(first: Told | None, claims: Sequence[Claim]) -> Told:
    """Return how much of the question a reply answers.

    Args:
        first: what its first line says; None without one.
        claims: what its sentences claim, in order.
    """
    stated = [one for one in claims if one != "nothing"]
    denies = "absence" in stated
    if first == "nothing":
        return "nothing"
    if first is None and denies and stated[0] == "absence" and stated.count("fact") < PARTLY:
        return "nothing"
    return "part" if first != "all" and (denies or first == "part") else "all"
