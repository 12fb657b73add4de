"""The terms of all chunks as PostgreSQL has them, for hosts that keep no keyword index of their own.

The keyword engine also counts in how many chunks each term is, and marks each chunk with its language. So how rare a
word is, whether any document has it, and which words look like it are questions to the server.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ragstone.core.ascending import intersection
from ragstone.core.catalog import NO_MATCHES, IndexedCatalog, Stamp
from ragstone.core.errors import EngineError
from ragstone.core.filters import Filter
from ragstone.core.protocols import Analyzer, Detector
from ragstone.core.records import Chunk, Matches
from ragstone.index.engines.postgres.keywords import LANGUAGE, Counted, PostgresTerms
from ragstone.index.keyword.analyze import START, fold
from ragstone.index.keyword.scoring import bm25, idf
from ragstone.index.keyword.terms import NEWEST, count_word, known_words, language_of, most_scored, weights
from ragstone.index.keyword.vocabulary import Words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

REUSED = 0.2
"""Seconds for which counts serve without a look at the catalog; a question looks when it begins."""
CANDIDATES = 20_000
"""Words that are compared letter by letter with one that no document has."""
_ALMOST_ALL = 0.98
"""A question is assumed to be in a language that has at least this share of the chunks."""


class ServedTerms:
    """The terms of one version, as `ragstone.index.keyword.terms.Terms`."""

    is_local = False

    def __init__(
        self,
        store: PostgresTerms,
        catalog: IndexedCatalog,
        analyzer: Analyzer,
        detect: Detector | None,
        *,
        k1: float,
        b: float,
    ) -> None:
        """
        Args:
            store: the engine, which counts the terms.
            catalog: that it follows.
            analyzer: turns text into terms.
            detect: finds the language of a text; None leaves it open.
            k1: BM25 term saturation.
            b: BM25 length normalisation.
        """
        self._store, self._catalog, self._analyzer, self._detect = store, catalog, analyzer, detect
        self._k1, self._b = k1, b
        self._seen: _ServerCounts | None = None
        self._looked = -REUSED

    def close(self) -> None:
        self._store.close()

    @property
    def stamp(self) -> Stamp:
        counts = self._counts(fresh=True)
        return counts.counted.stamp if counts else Stamp()

    def follow(self, *, write: bool = True) -> None:
        """Do nothing: the engine follows the catalog under the lock of whoever changes documents."""

    def analysed(self, chunk: Chunk) -> list[str]:
        """Return the terms of a chunk and a mark for its language, as the engine stores them."""
        language = language_of(chunk, self._detect)
        terms = self._analyzer(chunk.headed, language)
        return [*terms, LANGUAGE + language] if language else terms

    def best_of(self, rows: Rows, terms: Sequence[str], k: int, where: Filter | None) -> Matches:
        """Return the ``k`` best of these chunks, the newest ones, that match ``where``."""
        newest = rows[-NEWEST:]
        if where is not None:
            newest = intersection(newest, self._catalog.select(where))
        chunks = self._catalog.chunks(newest.tolist())
        if not chunks or not terms:
            return NO_MATCHES
        texts = [self._analyzer(one.headed, language_of(one, self._detect)) for one in chunks.values()]
        total, having = self.frequencies(terms)
        scores = bm25(terms, texts, having, total, self.mean_length(), k1=self._k1, b=self._b)
        found = np.fromiter(chunks, dtype=np.int64, count=len(chunks))
        order = np.lexsort((found, -scores))[: max(k, 0)]
        order = order[scores[order] > 0]
        return Matches(rows=found[order], scores=scores[order].astype(np.float32))

    async def search(self, terms: Sequence[str], k: int, where: Filter | None = None) -> Matches:
        """Refuse: the engine itself is asked.

        Raises:
            EngineError: always.
        """
        del terms, k, where
        raise EngineError(f"this host has no keyword index beside that in {self._store.name}")

    # ------------------------------------------------------------ how rare

    def weigh(self, words: Sequence[str]) -> list[float]:
        counts = self._counts()
        return weights(counts, self._analyzer, words) if counts else [1.0] * len(words)

    def unseen(self) -> float:
        counts = self._counts()
        return idf(0, counts.chunks) if counts else 1.0

    def ceiling(self, terms: Sequence[str]) -> float:
        counts = self._counts()
        return most_scored(counts, terms, self._k1) if counts else 0.0

    def frequencies(self, terms: Sequence[str]) -> tuple[int, dict[str, int]]:
        counts = self._counts()
        if counts is None:
            return 1, dict.fromkeys(terms, 1)
        counts.prepare(terms)
        return counts.chunks, {term: counts.having(term) for term in set(terms)}

    def mean_length(self) -> float:
        counts = self._counts()
        return counts.counted.length / counts.chunks if counts and counts.chunks else 0.0

    # ------------------------------------------------------------ words and languages

    def known(self, words: Sequence[str], language: str) -> list[bool]:
        counts = self._counts()
        return known_words(counts, self._analyzer, words, language) if counts else [True] * len(words)

    def near(self, word: str, errors: int) -> dict[str, int]:
        counts, folded = self._counts(), fold(word)
        if counts is None:
            return {}
        candidates = Words.of(self._store.like(_pieces(folded, errors), len(folded), errors, CANDIDATES))
        near = candidates.near(folded, errors)
        counts.prepare(near)
        counted = {one: count_word(counts, self._analyzer, one) for one in near}
        return {one: count for one, count in counted.items() if count}

    def among(self, word: str, language: str, rows: Rows, most: int) -> int:
        terms = [term for term in self._analyzer(word, language) if not term.startswith(START)]
        return self._store.count_among(terms, rows, most) if len(rows) and terms else 0

    def languages(self) -> Mapping[str, float]:
        counts = self._counts()
        if counts is None or not counts.chunks or self._detect is None:
            return {}
        return {code: count / counts.chunks for code, count in counts.counted.languages.items()}

    def has_language(self, code: str, rows: Rows) -> bool:
        return len(rows) > 0 and self._store.count_among([LANGUAGE + code], rows, 1) > 0

    def language(self, text: str) -> str | None:
        return self.profiled(text, self.languages())

    def profiled(self, text: str, shares: Mapping[str, float]) -> str | None:
        """Return the language of a text if these chunks have it: the only one, or the one that the text looks like."""
        likeliest = max(shares, key=lambda code: shares[code], default="")
        if likeliest and shares[likeliest] >= _ALMOST_ALL:
            return likeliest
        language = self._detect(text) if self._detect else ""
        return language if language in shares else None

    def _counts(self, *, fresh: bool = False) -> _ServerCounts | None:
        """Return the counts of the engine; None if it is away or empty: then all words weigh the same.

        Args:
            fresh: as it is now, not as it was a moment ago.
        """
        seen, clock = self._seen, time.monotonic()
        if seen is not None and not fresh and clock - self._looked < REUSED:
            return seen
        now = self._catalog.stamp()
        if seen is not None and seen.counted.stamp == now:
            self._looked = clock
            return seen
        try:
            counted = self._store.counted()
        except EngineError:
            return None
        if counted is None:
            return None
        if seen is None or seen.counted.stamp != counted.stamp:
            self._seen = seen = _ServerCounts(self._store, counted)
        self._looked = clock
        return seen


class _ServerCounts:
    """The counts of one state, each read once, as `ragstone.index.keyword.terms.Counts`."""

    def __init__(self, store: PostgresTerms, counted: Counted) -> None:
        self._store, self.counted = store, counted
        self._known: dict[str, int] = {}

    @property
    def chunks(self) -> int:
        return self.counted.chunks

    def having(self, term: str) -> int:
        if term not in self._known:
            self.prepare([term])
        return self._known[term]

    def rarity(self, term: str) -> float:
        return idf(self.having(term), self.chunks)

    def prepare(self, terms: Iterable[str]) -> None:
        if new := [term for term in dict.fromkeys(terms) if term not in self._known]:
            self._known |= dict.fromkeys(new, 0) | self._store.having(new)


def _pieces(word: str, errors: int) -> list[str]:
    """Return parts of a word, one of which stands in every word that differs by so few errors.

    An error changes one part, and two exchanged letters may change two.
    """
    count = min(2 * errors + 1, max(1, len(word)))
    places = [round(len(word) * n / count) for n in range(count + 1)]
    return [word[start:end] for start, end in pairwise(places)]
