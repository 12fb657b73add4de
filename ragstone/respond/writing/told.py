"""What a reply says of the sources: whether they answer the question, in part, or not at all.

The prompt asks for a first line that a small model can write: ``FOUND: yes``, ``FOUND: partly`` or ``FOUND: no``. The
line is taken off. If it is missing, the sentences decide: a reply that begins by saying that the documents do not tell
something is a refusal, in whatever words, unless several facts follow. One fact is usually only what comes closest.
Below "no", facts are an answer if the documents support all of them and none says that something is missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from ragstone.respond.writing.claims import Claim

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
_BARE = re.compile(r"\W*no[ _]answer\W*", re.IGNORECASE)
PARTLY = 2
"""Facts after words such as "no price is given" from which a reply answers a part of the question."""
_MAX_FIRST = 48
"""Characters of a first line, at most."""


class FirstLine:
    """Takes the first line off a streamed reply."""

    def __init__(self) -> None:
        self.told: Told | None = None
        self._held, self._is_over, self._has_begun = "", False, False

    def add(self, piece: str) -> str:
        """Add a piece and return what belongs to the answer; nothing while the first line may go on."""
        if self._is_over:
            return self._begun(piece)
        self._held += piece
        begun = self._held.lstrip(" \t\n*_#`\"'").casefold()
        may_go_on = any(one.startswith(begun[: len(one)]) for one in ("found", "no answer"))
        return "" if may_go_on and "\n" not in begun and len(begun) <= _MAX_FIRST else self.end()

    def end(self) -> str:
        """Return what was held and belongs to the answer."""
        if self._is_over:
            return ""
        self._is_over = True
        text, self._held = self._held, ""
        if _BARE.fullmatch(text):
            self.told = "nothing"
            return ""
        if found := _FIRST.match(text):
            first = found["told"].casefold()
            self.told = "all" if first == "yes" else "nothing" if first.startswith("no") else "part"
            text = text[found.end() :]
        return self._begun(text)

    def _begun(self, text: str) -> str:
        """Return the text without blank lines before the answer."""
        text = text if self._has_begun else text.lstrip()
        self._has_begun = self._has_begun or bool(text)
        return text


def told_by(first: Told | None, claims: Sequence[Claim], *, proved: bool = False) -> Told:
    """Return how much of the question a reply answers.

    Args:
        first: what its first line says; None without one.
        claims: what its sentences claim, in order.
        proved: whether the documents support all of these.
    """
    stated = [one for one in claims if one != "nothing"]
    denies = "absence" in stated
    if first == "nothing" and (denies or not proved or "fact" not in stated):
        return "nothing"
    if first is None and denies and stated[0] == "absence" and stated.count("fact") < PARTLY:
        return "nothing"
    return "part" if first != "all" and (denies or first == "part") else "all"
