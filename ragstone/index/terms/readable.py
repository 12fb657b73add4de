"""The words of the documents, as one reader may know them.

Whether a word stands in any document, and which ones look like it, may tell of documents that somebody may not read. So
whoever is limited is told of the words of their own documents only. Who that is, is known for the question at hand:
`reading` is put around all that is done for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from ragstone.conditions import Filter
from ragstone.index.catalog.any_catalog import AnyCatalog
from ragstone.index.catalog.filters import told
from ragstone.index.embed.minilm.weights import english_words
from ragstone.index.records import Stamp

if TYPE_CHECKING:
    from ragstone.index.terms.bm25 import TermIndex

COUNTED = 100
"""Of the words that may have been meant, the more frequent is taken; chunks are counted up to so many."""
REMEMBERED = 100_000
"""Words, each for the readers of some groups, of which it is remembered whether they are known."""

_ALLOWED: ContextVar[Filter | None] = ContextVar("allowed", default=None)


@contextmanager
def reading(allowed: Filter | None) -> Iterator[None]:
    """Inside, in tasks and threads that begin there too, only words of these documents are known."""
    token = _ALLOWED.set(allowed)
    try:
        yield
    finally:
        _ALLOWED.reset(token)


def reading_now() -> Filter | None:
    """What may be read where this is asked; nothing where that is everything."""
    return _ALLOWED.get()


class Words:
    """What `TermIndex` tells of words and languages, limited to what may be read where the question is asked."""

    def __init__(self, terms: TermIndex, catalog: AnyCatalog) -> None:
        self._terms, self._catalog = terms, catalog
        self._stamp, self._told = (Stamp(), Stamp()), dict[str, dict[tuple[str, str], bool]]()

    def _told_of(self, allowed: Filter) -> dict[tuple[str, str], bool]:
        """What was worked out, since the last commit, of the words that these readers know."""
        stamp = self._catalog.stamp(), self._terms.stamp
        if stamp != self._stamp or sum(map(len, self._told.values())) > REMEMBERED:
            self._stamp, self._told = stamp, {}
        return self._told.setdefault(told(allowed), {})

    def known(self, words: Sequence[str], language: str) -> list[bool]:
        """Whether any chunk has the word, or another form of it in that language; true where there is no index."""
        allowed = _ALLOWED.get()
        if allowed is None:
            return self._terms.known(words, language)
        before = self._told_of(allowed)
        new = [word for word in dict.fromkeys(words) if (word, language) not in before]
        if new:
            rows = self._catalog.select(allowed)
            for word, there in zip(new, self._terms.known(new, language), strict=True):
                before[word, language] = there and self._terms.among(word, language, rows, 1) > 0
        return [before[word, language] for word in words]

    def ordinary(self, language: str) -> frozenset[str]:
        """Words of a language that anybody may use, whether a document has them or not; none where no list is known."""
        return english_words() if language == "en" else frozenset()

    def weigh(self, words: Sequence[str]) -> list[float]:
        """Inverse document frequency of each word. One that only others' documents have is as rare as any unknown."""
        weights = self._terms.weigh(words)
        if _ALLOWED.get() is None:
            return weights
        unseen = self._terms.unseen()
        known = self.known(words, "")
        return [weight if there or not weight else unseen for weight, there in zip(weights, known, strict=True)]

    def near(self, word: str, errors: int) -> dict[str, int]:
        """Words that look like it, folded, and how many chunks have each, or about how many."""
        found = self._terms.near(word, errors)
        allowed = _ALLOWED.get()
        if allowed is None or not found:
            return found
        rows = self._catalog.select(allowed)
        counted = {word: self._terms.among(word, "", rows, COUNTED) for word in found}
        return {word: count for word, count in counted.items() if count}

    def languages(self) -> Mapping[str, float]:
        """The share of the chunks in each language; of readers who are limited, in each that they may read."""
        shares = self._terms.languages()
        allowed = _ALLOWED.get()
        if allowed is None or not shares:
            return shares
        rows = self._catalog.select(allowed)
        own = {code: share for code, share in shares.items() if self._terms.has_language(code, rows)}
        return {code: 1 / len(own) for code in own}

    def language(self, text: str) -> str | None:
        """The language of a question, one of the documents', by how their texts look; None where that is not known."""
        if _ALLOWED.get() is None:
            return self._terms.language(text)
        shares = self.languages()
        likely = self._terms.profiled(text, shares)
        return likely if likely in shares else None
