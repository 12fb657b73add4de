"""Tell whether two words are the same name: inflected, abbreviated, part of a compound, or mistyped by one letter."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.language import lexicon
from ragstone.language.facts import Word, alike, initials

_STEM = 3
"""Letters that two forms of a name share at least."""
_COMPOUND = 5
"""Letters of a name from which it is recognised within a longer word, as in a German compound."""
_MISTYPED = 6
"""Letters of a name from which one of them may be wrong."""
_ACRONYM = 3
"""Letters of an acronym from which the words it stands for need no capitals."""


class Names:
    """The words of a text, for looking up whether it has a name in any form."""

    def __init__(self, words: Sequence[Word], solid: str = "") -> None:
        """Take the words of a text, and addresses and file names, in which words stand without spaces."""
        self._words, self._solid = words, solid.lower()
        self._begin: dict[str, set[str]] = {}
        for word in words:
            if word.named or not word.value:
                self._begin.setdefault(word.lower[:1], set()).add(word.lower)
        self._acronyms = {word.lower for word in words if word.capitals and len(word.lower) > 1}
        self._initials = "".join(word.lower[:1] for word in words)

    def has(self, name: Word) -> bool:
        """Return whether the text has a name."""
        own = name.lower
        near = self._begin.get(own[:1], set())
        if own in near or any(same_name(own, other) for other in near):
            return True
        if len(own) >= _COMPOUND and any(own in word for words in self._begin.values() for word in words):
            return True
        if len(own) > _STEM and own in self._solid:
            return True
        return self._spelled_out(name) or (len(own) >= _MISTYPED and any(_one_letter_off(own, other) for other in near))

    def abbreviates(self, name: Sequence[Word]) -> bool:
        """Return whether the text has the initials of a name of several words, as US of United States."""
        return len(name) > 1 and "".join(word.lower[:1] for word in name) in self._acronyms

    def _spelled_out(self, name: Word) -> bool:
        if initials(name, self._words):
            return True
        return name.capitals and len(name.lower) >= _ACRONYM and name.lower in self._initials


def same_name(one: str, other: str) -> bool:
    """Return whether two lower-case words are forms of one name, as Lenkijoje and Lenkija."""
    if alike(one, other, name=True):
        return True
    shared = _shared(one, other)
    endings = lexicon().endings
    return shared >= _STEM and any(
        one[cut:] in endings and other[cut:] in endings for cut in range(shared, max(_STEM, shared - 2) - 1, -1)
    )


def _shared(one: str, other: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _one_letter_off(one: str, other: str) -> bool:
    """Return whether one letter is wrong, missing or extra, or two neighbours are exchanged."""
    if abs(len(one) - len(other)) > 1:
        return False
    start = _shared(one, other)
    a, b = one[start:], other[start:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[:2][::-1] and a[2:] == b[2:])
