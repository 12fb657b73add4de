"""Tell whether a word is one of a language, from shipped lists: such a word is no error if no document has it."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain

from ragstone.index.embed.minilm.weights import english_words
from ragstone.index.keyword.compounds import Compounds
from ragstone.language.words import written_in

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
    own = written_in(language)
    rests = chain(map(word.removesuffix, own.word_endings), map(word.removeprefix, own.word_beginnings))
    return word in listed or any(len(one) >= _SHORTEST_REST and one in listed for one in rests)
