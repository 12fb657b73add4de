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

from ragstone.language import lexicon
from ragstone.language.words import any_of
from ragstone.respond.writing.claims import Claim
from ragstone.respond.writing.preamble import Preamble

Told = Literal["all", "part", "nothing"]
"""How much of the question the reply answers."""
FIRST_LINE = "FOUND: "
REFUSAL = f"{FIRST_LINE}no"
"""The first line that the prompt asks for if the sources do not answer."""
_FIRST = re.compile(
    r"\W{0,6}found\W{1,6}(?P<told>yes|partly|partially|partial|in part|no(?:ne|t)?\b(?=\W*(?:$|\n|[.,;:!–—*_-])))"
    r"[^\S\n]*[*_`\"'.,;:!–—-]*\s*",
    re.IGNORECASE,
)
_AGAIN = re.compile(r"[*_`]{0,3}FOUND[*_`]{0,3}:[*_` ]{0,4}(?P<told>yes|partly|no)\b[*_`.]{0,4}")
"""The line repeated: in capitals, as nobody else writes it."""
_AGAIN_BEGUN = re.compile(
    r"(?=[*_`F])[*_`]{0,3}(?:F(?:O(?:U(?:N(?:D[*_`]{0,3}(?::[*_` ]{0,4}\w{0,6}[*_`.]{0,4})?)?)?)?)?)?\Z"
)
_END = re.compile(r"\Z")
_SIGNS = " \t\n*_#`\"'"
_BARE = re.compile(r"\W*no[ _]answer\W*", re.IGNORECASE)
PARTLY = 2
"""Facts after words such as "no price is given" from which a reply answers a part of the question."""
_MAX_FIRST = 48
"""Characters of a first line, at most."""


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
        return self._preamble.add(self._taken(_AGAIN_BEGUN))

    def end(self) -> str:
        """Return what was held and belongs to the answer."""
        return self._preamble.add(self._taken(_END)) + self._preamble.end()

    def _may_go_on(self) -> bool:
        begun = self._held.lstrip(_SIGNS).casefold()
        stated = _verdict().match(begun)
        behind = begun[stated.end() :].lstrip(_SIGNS) if stated else begun
        may_come = any(word.startswith(begun) for word in _verdicts()) or any(
            one.startswith(text[: len(one)]) for one in ("found", "no answer") for text in (begun, behind)
        )
        return may_come and "\n" not in begun and len(begun) <= _MAX_FIRST

    def _taken(self, open_end: re.Pattern[str]) -> str:
        """Take what was held up to an end that may go on, and return what belongs to the answer."""
        if not self._is_over:
            self._is_over = True
            self._held = self._without_first(self._held)
        end = open_end.search(self._held)
        text, self._held = self._held[: end.start()] if end else self._held, self._held[end.start() :] if end else ""
        return self._begun(_AGAIN.sub(self._again, text))

    def _without_first(self, text: str) -> str:
        if _BARE.fullmatch(text):
            self.told = "nothing"
            return ""
        stated = _verdict().match(text)
        found = _FIRST.match(text) or (_FIRST.match(text, stated.end()) if stated else None)
        if not found:
            return text
        self.told = _told(found["told"])
        return text[found.end() :]

    def _again(self, found: re.Match[str]) -> str:
        self.told = self.told or _told(found["told"])
        return ""

    def _begun(self, text: str) -> str:
        """Return the text without blank lines before the answer."""
        text = text if self._has_begun else text.lstrip()
        self._has_begun = self._has_begun or bool(text)
        return text


def _told(word: str) -> Told:
    first = word.casefold()
    return "all" if first == "yes" else "nothing" if first.startswith("no") else "part"


@cache
def _verdicts() -> frozenset[str]:
    return lexicon().agrees | lexicon().disagrees


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
