"""Text to terms by the rules of its language.

Every word gives three terms: the word without diacritics, its stem, and its first five letters. All have the same
weight, so a word in the question's own form counts three times as much as one that only begins like it. Measured, the
three together find more than any of them alone. Stems join the forms of a word. Beginnings join forms that the stemmer
misses (Lithuanian has hundreds of endings) and serve languages without a stemmer. The words themselves keep names and
numbers exact.

Two neighbouring words give a fourth term, their pair, which a query weighs less (`weight_of`). Pairs find a heading or
the name of an option where its words stand together, not where a long chunk has them all here and there. This is the
sequential dependence of Metzler and Croft 2005, "A Markov Random Field Model for Term Dependencies", *SIGIR*.

The stemmers are those of Snowball (Porter 2001, "Snowball: A language for stemming
algorithms"); for beginnings see McNamee and Mayfield 2004, "Character N-Gram Tokenization for European Language
Text Retrieval", *Information Retrieval* 7.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, pairwise
from threading import Lock
from typing import Any

import Stemmer

from ragstone.index.keyword.compounds import Compounds

snowball: Any = Stemmer  # which has no types

MARKS = STEM, START, PAIR = "~", "^", "+"
"""The first characters of stems, of beginnings of words, and of pairs of words; no word has them."""
PAIR_WEIGHT = 0.3
"""The weight of a pair in a query; other terms have 1."""

_LONGEST = 100
_BARE = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"})
"""Letters with a stroke and ligatures, which Unicode does not decompose."""
_WORD = re.compile(r"[^\W_]+")


def weight_of(term: str) -> float:
    """Return the weight of a term in a query."""
    return PAIR_WEIGHT if term.startswith(PAIR) else 1.0


class Plain:
    """Lower-cases and splits on everything that is neither letter nor digit, in any script."""

    fingerprint = "plain-1"

    def __call__(self, text: str, language: str = "") -> list[str]:  # noqa: ARG002 - the same in every language
        return words(text)


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, each cut at a hundred characters."""
    return [word[:_LONGEST] for word in _WORD.findall(text.lower())]


def written_words(text: str) -> list[str]:
    """Return the words of a text as they are written."""
    return _WORD.findall(text)


def fold(text: str) -> str:
    """Return the text in lower case without diacritics: ``Kortelę`` as ``kortele``, ``Größe`` as ``grosse``.

    Folding is idempotent.
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text.casefold()).casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c)).translate(_BARE)


_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french",
    "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian",
    "lt": "lithuanian", "ms": "indonesian", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
    "uk": "russian",
}  # fmt: skip
"""Malay uses the stemmer of Indonesian, and Ukrainian that of Russian: they have none and share most endings."""
_UNTOLD = "en"
"""The language of a text that has none: it is mostly code, whose words are English."""
_BEGINNING = 5

_WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]{2,}")
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese, which are searched by pairs of letters."""
_NAME = re.compile(r"[^\W\d]\w*(?:(?:::|\.|->)[^\W\d]\w*)*")
_IDENTIFIER = re.compile(r"::|\.|->|[^\W_]_[^\W_]|[a-z][A-Z]")
"""Identifiers: cudaq::qubit, numpy.linalg, self->size, snake_case, camelCase."""
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+")
_DOTTED = re.compile(r"(?<![\d.])\d{1,4}(?:[.-]\d{1,4}){1,4}(?!\d|[.-]\d)")
"""Versions, dates and decimals: their parts are everywhere, 3.1.3 is not."""
_LONGEST_IDENTIFIER = 80
_REMEMBERED = 200_000
"""Words whose terms are cached."""


class ByLanguage:
    """Folded words, stems, beginnings and pairs of words; parts of German compounds; identifiers whole and in parts.

    A text in a language without a stemmer gives words and beginnings.
    """

    def __init__(self) -> None:
        self._compounds = {"de": Compounds.shipped("de")}
        about: list[str] = ["language-3", snowball.version(), *(one.fingerprint for one in self._compounds.values())]
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}
        self.fingerprint = f"language-{hashlib.sha256(' '.join(about).encode()).hexdigest()[:12]}"

    def __call__(self, text: str, language: str = "") -> list[str]:
        language = language or _UNTOLD
        of_words = [self._of_word(word, language) for word in words(text)]
        return [*chain.from_iterable(of_words), *_pairs(of_words), *_of_identifiers(text), *_DOTTED.findall(text)]

    def _of_word(self, word: str, language: str) -> tuple[str, ...]:
        terms = self._known.get((word, language))
        if terms is None:
            if len(self._known) > _REMEMBERED:
                self._known.clear()
            terms = self._known[word, language] = tuple(self._analysed(word, language))
        return terms

    def _analysed(self, word: str, language: str) -> Iterator[str]:
        if _WITHOUT_SPACES.search(word):
            yield from (word[i : i + 2] for i in range(max(1, len(word) - 1)))
            return
        folded = fold(word)
        yield folded
        yield START + folded[:_BEGINNING]
        if language in _STEMMERS:
            yield _stem(word, language)
        if language in self._compounds:
            yield from (_stem(part, language) for part in self._compounds[language].split(word))


def _stem(word: str, language: str) -> str:
    with _LOCK:
        stem: str = _stemmer(_STEMMERS[language]).stemWord(word)
    return STEM + fold(stem)


@cache
def _stemmer(name: str) -> Any:
    return snowball.Stemmer(name, 0)


_LOCK = Lock()  # a stemmer works in a buffer of its own


def _pairs(of_words: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield the pairs of neighbouring words, given the terms of each; languages without spaces have other pairs."""
    for one, other in pairwise(of_words):
        if one[-1].startswith(MARKS) and other[-1].startswith(MARKS):
            yield f"{PAIR}{one[0]}{PAIR}{other[0]}"


def _of_identifiers(text: str) -> Iterator[str]:
    """Yield each identifier in lower case, and the words in it that begin with capitals."""
    for match in _NAME.finditer(text):
        whole = match.group().strip("_")
        if len(whole) > _LONGEST_IDENTIFIER or not _IDENTIFIER.search(whole):
            continue
        yield whole.lower()
        humps = [part for name in re.split(r"[\W_]+", whole) if len(parts := _HUMP.findall(name)) > 1 for part in parts]
        for hump in humps:
            if len(hump) > 1:
                yield hump.lower()
                yield _stem(hump.lower(), _UNTOLD)
