"""How alike two texts are, and which of two lists of headings are the same."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

_NEAR = 0.85
"""Two headings are the same if they are at least so alike: one may lack its number, or hold a note."""


def plain(text: str) -> str:
    """Return the letters and digits of a text, in lower case."""
    return "".join(one for one in unicodedata.normalize("NFKC", text).casefold() if one.isalnum())


def similarity(first: str, second: str) -> float:
    """Return the share of two texts that is in both, in the same order, 0 to 1: ``2 * LCS / (len + len)``.

    The longest common subsequence is found with one addition of large numbers for each character (Hyyrö 2004).
    """
    if not first or not second:
        return float(first == second)
    places: dict[str, int] = {}
    for number, one in enumerate(first):
        places[one] = places.get(one, 0) | 1 << number
    every = (1 << len(first)) - 1
    left = every
    for one in second:
        met = left & places.get(one, 0)
        left = ((left + met) | (left - met)) & every
    return 2 * (len(first) - left.bit_count()) / (len(first) + len(second))


def matched(right: Sequence[str], found: Sequence[str]) -> int:
    """Return how many headings that were found are right, each at most once. Both are `plain`."""
    missing, extra = Counter(right), Counter(found)
    same = (missing & extra).total()
    missing, extra = missing - Counter(found), extra - Counter(right)
    for one in extra.elements():
        near = max(missing, key=lambda other: similarity(one, other), default="")
        if near and similarity(one, near) >= _NEAR:
            missing -= Counter([near])
            same += 1
    return same
