"""Text to terms, for keyword search."""

from __future__ import annotations

import re
import unicodedata

MARKS = STEM, START = "~", "^"
"""Begin a term that is a stem, or the beginning of a word; no word has these characters."""

_LONGEST = 100
_BARE = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"})
"""Letters with a stroke, and joined ones, which Unicode does not take apart."""
_WORD = re.compile(r"[^\W_]+")


class Plain:
    """Lower-cases and splits on everything that is neither letter nor digit, in any script."""

    fingerprint = "plain-1"

    def __call__(self, text: str, language: str = "") -> list[str]:  # noqa: ARG002 - the same in every language
        return words(text)


def words(text: str) -> list[str]:
    """The words of a text in lower case, each cut at a hundred characters."""
    return [word[:_LONGEST] for word in _WORD.findall(text.lower())]


def fold(text: str) -> str:
    """The text in lower case with bare letters: ``Kortelę`` as ``kortele``, ``Größe`` as ``grosse``.

    Folding twice changes nothing more.
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text.casefold()).casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c)).translate(_BARE)
