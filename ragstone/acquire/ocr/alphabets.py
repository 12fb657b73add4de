"""Which letters a language is written with, and the reading of a line with these letters only.

A network that knows all scripts takes an "ė" for an "é" now and then, and a speck for a Chinese character. A line of
Lithuanian has neither.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_LETTERS = {
    "en": "", "ms": "", "id": "", "de": "äöüß", "lt": "ąčęėįšųūž", "lv": "āčēģīķļņšūž", "et": "äõöüšž",
    "pl": "ąćęłńóśźż", "cs": "áčďéěíňóřšťúůýž", "sk": "áäčďéíĺľňóôŕšťúýž", "hu": "áéíóöőúüű", "ro": "ăâîșțşţ",
    "fr": "àâæçéèêëîïôœùûüÿ", "es": "áéíñóúü", "pt": "àáâãçéêíóôõú", "it": "àèéìîòù", "nl": "áéèëíïóöúü",
    "sv": "åäöé", "da": "æøåé", "nb": "æøåéòô", "no": "æøåéòô", "fi": "äöåšž", "tr": "çğıöşüâîû", "hr": "čćđšž",
    "sl": "čšž",
}  # fmt: skip
"""The letters of a language in addition to those of English, by ISO 639-1 code."""
_FOREIGN = 0.9
"""A letter that the language lacks must be this sure: names are foreign at times."""
_OWN = 3.0
"""How much likelier a letter of the language is than the network thinks, which expects any language."""
_FAINT_SPACE = 0.15
"""A space is read where the network is only this sure of it: next to "V" and "T" it sees a narrower gap."""


def letters_of(languages: Sequence[str]) -> str:
    """Return the letters of these languages in addition to those of English; empty if any of them is not known here."""
    if not languages or any(one not in _LETTERS for one in languages):
        return ""
    return "".join(sorted({letter for one in languages for letter in _LETTERS[one]})) or "-"


class Alphabet:
    """The characters that a network tells apart.

    Args:
        characters: one for each column of its output; the first is "", for none.
    """

    def __init__(self, characters: Sequence[str]) -> None:
        forms: dict[str, list[int]] = {}
        for column, character in enumerate(characters):
            plain = unicodedata.normalize("NFKC", character) if len(character) == 1 else character
            if column == 0 or (len(plain) == 1 and _is_western(plain)):
                forms.setdefault(plain, []).append(column)
        self._columns = np.array([column for columns in forms.values() for column in columns])
        self._starts = np.cumsum([0, *(len(columns) for columns in forms.values())])[:-1]
        self._characters = [*forms]
        self._space = self._characters.index(" ")

    def western(self, likely: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probabilities of Latin letters, digits and signs alone, of (steps, columns) for all scripts."""
        # Several columns may be forms of one character, such as the wide comma of Chinese.
        return np.add.reduceat(likely[:, self._columns], self._starts, axis=1)

    def decode(self, western: NDArray[np.float32], letters: str) -> tuple[str, float]:
        """Return what a line says, and the mean probability of its characters.

        Args:
            western: what `western` returned for the line.
            letters: the letters of the language in addition to those of English, or "" for all.
        """
        if letters:
            own, foreign = _split(tuple(self._characters), letters)
            western = western.copy()
            western[:, own] = np.minimum(_OWN * western[:, own], 1.0)
            western[:, foreign] *= western[:, foreign] >= _FOREIGN
        best: NDArray[np.int64] = western.argmax(axis=1)
        chosen: NDArray[np.float32] = western.max(axis=1)
        kept: list[str] = []
        sure: list[float] = []
        before, gap = 0, 0.0
        for at, (column, probability) in enumerate(zip(map(int, best), map(float, chosen), strict=True)):
            if column == 0:
                gap = max(gap, float(western[at, self._space]))
            elif column != before:
                if gap >= _FAINT_SPACE and column != self._space and kept and kept[-1] != " ":
                    kept.append(" ")
                kept.append(self._characters[column])
                sure.append(probability)
                gap = 0.0
            else:
                gap = 0.0
            before = column
        return "".join(kept), float(np.mean(sure)) if sure else 0.0


@lru_cache(maxsize=64)
def _split(characters: tuple[str, ...], letters: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which letters beyond those of English the language has, and which it lacks."""
    known = {*letters, *letters.upper()}
    beyond = [(at, one) for at, one in enumerate(characters) if one.isalpha() and not one.isascii()]
    own, foreign = ([at for at, one in beyond if (one in known) is has] for has in (True, False))
    return np.array(own, np.int64), np.array(foreign, np.int64)


def _is_western(character: str) -> bool:
    """Return whether a character is a Latin letter, a digit, or a sign."""
    if character.isalpha():
        return unicodedata.name(character, "").startswith("LATIN")
    return unicodedata.category(character)[0] in "NPSZ" and ord(character) < 0x2E80
