"""Tell whether a word is one of a language, from shipped lists: such a word is no error if no document has it."""

from __future__ import annotations

from collections.abc import Collection

from ragstone.index.embed.minilm.weights import english_words
from ragstone.index.keyword.compounds import Compounds

_ENDINGS = {"en": ("s", "es", "d", "ed", "ing"), "de": ("e", "n", "en", "er", "ern", "es", "s", "em", "t", "st", "te")}
_PREFIXES = {"de": ("ver", "be", "ent", "er", "zer", "ge", "vor", "ab", "an", "auf", "aus", "ein", "nach", "mit")}
"""Beginnings of verbs that are written as one word with them."""
_SHORTEST_REST = 4
"""Letters of a listed word that stands in a longer one."""


def is_ordinary(word: str, language: str) -> bool:
    """Return whether a word is listed, or a form of a listed one; False in a language without a list.

    Stems are not compared, because "insurence" has that of "insurance".

    Args:
        word: in lower case.
        language: ISO 639-1 code.
    """
    match language:
        case "en":
            return _has(english_words(), word, language)
        case "de":
            compounds = Compounds.shipped(language)
            return _has(compounds.listed, word, language) or bool(compounds.split(word))
        case _:
            return False


def _has(listed: Collection[str], word: str, language: str) -> bool:
    forms = [word, *(word.removesuffix(ending) for ending in _ENDINGS[language])]
    forms += [word.removeprefix(prefix) for prefix in _PREFIXES.get(language, ())]
    return any((one == word or len(one) >= _SHORTEST_REST) and one in listed for one in forms)
