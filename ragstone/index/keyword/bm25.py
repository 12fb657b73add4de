"""Keyword search with BM25 on tantivy.

Ragstone analyses the texts and hands the terms to tantivy joined by spaces, so any analyzer works. tantivy fixes
k1 = 1.2 and b = 0.75; for other values, its best thousand are scored again here. Robertson and Zaragoza 2009, "The
Probabilistic Relevance Framework: BM25 and Beyond"; the idf is Lucene's, which is never negative.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import tantivy

from ragstone.core.ascending import contained
from ragstone.core.catalog import NO_MATCHES, IndexedCatalog, Stamp
from ragstone.core.errors import Damaged
from ragstone.core.filters import Filter
from ragstone.core.frozen import frozen
from ragstone.core.protocols import Analyzer, Detector
from ragstone.core.records import Chunk, Matches
from ragstone.index.keyword.analyze import PAIR, START, fold
from ragstone.index.keyword.balancing import balance, document
from ragstone.index.keyword.scoring import bm25, idf
from ragstone.index.keyword.segment_files import (
    chunks_held,
    clear_killed,
    lockable,
    segment_files,
    unwatched,
    verify_segment,
    writing,
)
from ragstone.index.keyword.statistics import Statistics
from ragstone.index.keyword.term_query import any_of, best_first, filtered, hits, searched
from ragstone.index.keyword.terms import count_word, known_words, language_of, most_scored, weights
from ragstone.index.keyword.wordbook import Gathering, Wordbook, clear
from ragstone.storage.disk import clear_away, make_folder
from ragstone.storage.files import disposable, identity, is_writable, read_json, write_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

ENGINE_K1, ENGINE_B = 1.2, 0.75
RESCORED = 1000
QUICK = 200_000
"""At most this many chunks are searched in a millisecond or two, faster than switching to a thread and back."""
FEW = 1000
"""The most chunks with a word to read in order to see which of them are allowed."""
WORN = 0.1
"""The share of removed chunks at which all are written again, so that the space and time they take is bounded."""
MOST_WEIGHTS = 50_000
"""Words whose weights are kept for the next questions, about 5 MB."""
MOST_TERMS = 1024
"""A longer question is cut: no more clauses than the engine searches in milliseconds."""


@frozen
class _Seen:
    """What was read of the index when its files had these identities; nothing if there are no statistics.

    The files are the manifest and tantivy's list of segments: merging segments changes scores slightly. ``weights`` are
    those of the words that were weighed since.
    """

    files: tuple[tuple[int, int, int], ...] = ()
    stamp: Stamp = Stamp()
    statistics: Statistics | None = None
    languages: Mapping[str, float] = field(default_factory=dict[str, float])
    book: Wordbook = field(default_factory=Wordbook)
    weights: dict[str, float] = field(default_factory=dict[str, float])


class TermIndex:
    """A tantivy index of every chunk's terms that follows the catalog.

    Opening changes nothing on disk, because any process may open it. `follow` rebuilds an index that is missing,
    damaged, or made for another catalog or analyzer.
    """

    is_local = True

    def __init__(
        self,
        folder: Path,
        catalog: IndexedCatalog,
        analyzer: Analyzer,
        detect: Detector | None = None,
        *,
        k1: float,
        b: float,
    ) -> None:
        """
        Args:
            folder: of the index.
            catalog: to follow.
            analyzer: turns text into terms.
            detect: finds the language of a chunk whose document has none; None leaves it open.
            k1: BM25 term saturation.
            b: BM25 length normalisation.
        """
        self._folder, self._catalog, self._analyzer, self._detect = folder, catalog, analyzer, detect
        self._manifest, self._segments = folder / "manifest.json", folder / "meta.json"
        self._k1, self._b = k1, b
        self._schema = (
            tantivy.SchemaBuilder()
            .add_text_field("terms", tokenizer_name="whitespace", index_option="freq")
            .add_text_field("language", tokenizer_name="raw", index_option="basic")
            .add_integer_field("row", indexed=True, fast=True)
            .add_integer_field("block", indexed=True)
            .add_integer_field("length", fast=True)
            .build()
        )
        self._index = self._opened()
        self._seen = _Seen()

    async def search(self, terms: Sequence[str], k: int, where: Filter | None = None) -> Matches:
        """Return the ``k`` best chunks by BM25 that match ``where``, best first."""
        counted = self._looked().statistics
        is_quick = counted is not None and counted.chunks <= QUICK and (self._k1, self._b) == (ENGINE_K1, ENGINE_B)
        allowed = None if where is None or not is_quick else self._catalog.selected(where)
        if is_quick and (where is None or allowed is not None):
            return self._best(terms, k, allowed)
        return await asyncio.to_thread(self.best, terms, k, where)

    @property
    def stamp(self) -> Stamp:
        """The commit of the catalog that was indexed last; the stamp before all commits if there is none."""
        return self._looked().stamp

    def _looked(self) -> _Seen:
        """Return the index as it is now, from memory unless it was changed since."""
        now, seen = (identity(self._manifest), identity(self._segments)), self._seen
        if seen.statistics is not None and seen.files == now:
            return seen
        is_fixed = self._manifest.exists() and not is_writable(self._manifest)
        if is_fixed:
            self._index = None  # it was opened through links, which name the files of that moment
        index = self._index = self._index or self._opened()
        about = read_json(self._manifest)
        if index is None:
            return _Seen()
        try:
            with self._sound():
                if not is_fixed:
                    index.reload()
                counted = Statistics(index.searcher(), self._schema, chunks_held(self._folder))
                sound = about.get("analyzer") == self._analyzer.fingerprint
                # A last look at what tantivy itself does not check: its list of segments.
                sound = sound and counted.chunks == about["chunks"]
                seen = _Seen(
                    files=now,
                    stamp=Stamp(**about["stamp"]) if sound else Stamp(),
                    statistics=counted,
                    languages=counted.shares(about.get("languages", [])),
                    book=Wordbook.read(self._folder, about["words"], seen.book),
                )
        except (KeyError, TypeError, ValueError, AttributeError, OSError, Damaged):
            return _Seen()
        self._seen = seen
        return seen

    def weigh(self, words: Sequence[str]) -> list[float]:
        """Return the inverse document frequency of each word as written, or of its rarest part.

        Without an index, all words weigh the same.
        """
        seen = self._looked()
        if seen.statistics is None:
            return [1.0] * len(words)
        cached = seen.weights  # words are only added, because other threads read them too
        new = [word for word in dict.fromkeys(words) if word not in cached]
        with self._sound():
            fresh = dict(zip(new, weights(seen.statistics, self._analyzer, new), strict=True))
        if len(cached) < MOST_WEIGHTS:
            cached.update(fresh)
        return [fresh[word] if word in fresh else cached[word] for word in words]

    def unseen(self) -> float:
        """Return the weight that `weigh` gives a word that no chunk has."""
        counted = self._looked().statistics
        return idf(0, counted.chunks) if counted else 1.0

    def ceiling(self, terms: Sequence[str]) -> float:
        """Return the score of a chunk that repeats these terms forever; no chunk scores more.

        Words that no chunk has count, because they show how much of the question is found. Pairs of words do not.
        """
        counted = self._looked().statistics
        if counted is None:
            return 0.0
        with self._sound():
            return most_scored(counted, searched(counted, terms), self._k1)

    def frequencies(self, terms: Sequence[str]) -> tuple[int, dict[str, int]]:
        """Return the number of chunks, and for each term the number that have it; one of one without an index."""
        counted = self._looked().statistics
        if counted is None:
            return 1, dict.fromkeys(terms, 1)
        with self._sound():
            return counted.chunks, {term: counted.having(term) for term in set(terms)}

    def mean_length(self) -> float:
        """Return the mean number of terms of a chunk; 0 if there is no index or it is empty."""
        counted = self._looked().statistics
        if counted is None:
            return 0.0
        with self._sound():
            return counted.mean_length()

    def analysed(self, chunk: Chunk) -> list[str]:
        """Return the terms of a chunk, as they are indexed."""
        return self._analyzer(chunk.headed, language_of(chunk, self._detect))

    def among(self, word: str, language: str, rows: NDArray[np.int64], most: int) -> int:
        """Count the rows, ascending, that have a word or another form of it in that language, up to ``most``."""
        counted = self._looked().statistics
        if counted is None or not len(rows):
            return 0
        with self._sound():
            terms = [term for term in self._analyzer(word, language) if not term.startswith((START, PAIR))]
            wanted = any_of(counted, self._schema, terms)
            count = sum(map(counted.having, terms))
            if not 0 < count <= FEW:
                return len(filtered(counted.searcher, self._schema, wanted, most, rows)) if count else 0
            return min(most, int(contained(hits(counted.searcher, wanted, count)[0], rows).sum()))

    def has_language(self, code: str, rows: NDArray[np.int64]) -> bool:
        """Return whether any of these rows, ascending, is in a language."""
        counted = self._looked().statistics
        if counted is None or not len(rows):
            return False
        with self._sound():
            wanted = tantivy.Query.term_query(self._schema, "language", code)
            return len(filtered(counted.searcher, self._schema, wanted, 1, rows)) > 0

    def profiled(self, text: str, shares: Mapping[str, float]) -> str | None:
        """Return the language of a text, given the share of each language; None if it is not known."""
        return self._looked().book.profiles.language(text, shares)

    def languages(self) -> Mapping[str, float]:
        """Return the share of the chunks in each language; empty if none is known."""
        return self._looked().languages if self._detect else {}

    def known(self, words: Sequence[str], language: str) -> list[bool]:
        """Return for each word whether a chunk has it or another form of it in that language; True without an index."""
        counted = self._looked().statistics
        if counted is None:
            return [True] * len(words)
        with self._sound():
            return known_words(counted, self._analyzer, words, language)

    def near(self, word: str, errors: int) -> dict[str, int]:
        """Return words of the documents, folded, with the number of chunks that have each.

        All words that differ by at most ``errors`` are among them, and some others.
        """
        seen = self._looked()
        if seen.statistics is None:
            return {}
        with self._sound():
            near = seen.book.near(fold(word), errors)
            counts = {term: count_word(seen.statistics, self._analyzer, term) for term in near}
        return {term: count for term, count in counts.items() if count}

    def language(self, text: str) -> str | None:
        """Return the language of the documents that a question looks like most; None if it is not known."""
        return self.profiled(text, self.languages())

    def follow(self, *, write: bool = True) -> None:
        """Index what the catalog has and the index lacks; do nothing without ``write``. Hold the lock.

        Raises:
            KnowledgeBaseError: the index could not be written.
        """
        if not write:
            return
        with self._catalog.snapshot() as now, disposable(self._folder):
            since = self.stamp
            if since == now:
                return
            if self._index is None or not self._catalog.knows(since):
                self._index, since = self._made(), Stamp()
            removed = self._catalog.removed_since(since.generation) if since.generation else []
            self._write(self._index, now, Stamp() if self._is_worn(len(removed)) else since, removed)
            if since.generation and self._balance(self._index):
                self._balance(self._index)  # the first may have set off a merge

    def _write(self, index: tantivy.Index, now: Stamp, since: Stamp, removed: Sequence[int]) -> None:
        """Write what was added and removed since a commit; everything, in one step, since the stamp before all."""
        later = since.generation > 0
        languages = set(read_json(self._manifest).get("languages", []) if later else [])
        gathering = Gathering(self._looked().book if later else Wordbook())
        clear_killed(self._folder)
        with writing(index) as writer:
            if not later:
                writer.delete_all_documents()
            for row in removed if later else ():
                writer.delete_documents_by_term("row", row)
            for row, chunk in self._catalog.chunks_since(since.generation):
                if later:  # there already if the last follow was cut short
                    writer.delete_documents_by_term("row", row)
                language = language_of(chunk, self._detect)
                languages.add(language)
                gathering.take(chunk.headed, language)
                writer.add_document(document(row, self._analyzer(chunk.headed, language), language))
            writer.commit()
            index.reload()
            book = gathering.written(self._folder, now.generation)
            # Only now, and before segments are merged, which may take long and changes no count. An index
            # that was committed and not described is not believed, and made again.
            about = {"stamp": asdict(now), "analyzer": self._analyzer.fingerprint}
            about |= {"languages": sorted(languages - {""}), "words": book.told()}
            write_json(self._manifest, about | {"chunks": index.searcher().num_docs})
        index.reload()
        clear(self._folder, book)

    def _is_worn(self, more: int) -> bool:
        """Return whether removed chunks, with some more, are so many that all is better written again."""
        counted = self._looked().statistics
        return counted is not None and counted.removed + more > WORN * (counted.chunks + counted.removed)

    def _balance(self, index: tantivy.Index) -> bool:
        """Make tantivy's mean length that of the chunks, and return whether it was not."""
        counted = self._looked().statistics
        if counted is None or not counted.chunks:
            return False
        with self._sound():
            row = int(hits(counted.searcher, tantivy.Query.all_query(), 1)[0][0])
            chunk = self._catalog.chunks([row])[row]
            return balance(index, counted, row, self.analysed(chunk), language_of(chunk, self._detect))

    def _opened(self) -> tantivy.Index | None:
        """Return the index in the folder; None if there is none, or it is damaged or of another format."""
        try:
            for file in segment_files(self._folder):
                verify_segment(file)
            with lockable(self._folder) as folder:
                return unwatched(tantivy.Index(self._schema, path=str(folder), reuse=True))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _made(self) -> tantivy.Index:
        """Create an empty index in place of what is there."""
        clear_away(self._folder)
        make_folder(self._folder.absolute())
        return unwatched(tantivy.Index(self._schema, path=str(self._folder), reuse=False))

    @contextmanager
    def _sound(self) -> Generator[None]:
        """Doubt the index when reading it fails: it is verified before it is used again."""
        try:
            yield
        except BaseException as error:
            # tantivy panics over some damage, and its panics are no Exception.
            if not isinstance(error, (ValueError, OSError)) and type(error).__name__ != "PanicException":
                raise
            self._index = None
            raise Damaged(f"the index in {self._folder} cannot be read: {error}") from error

    def best_of(self, rows: NDArray[np.int64], terms: Sequence[str], k: int, where: Filter | None) -> Matches:
        """Return those of the ``k`` best chunks that are among these rows: of the best of them, none is missing."""
        matches = self.best(terms, k, where)
        fresh = np.isin(matches.rows, rows)
        return Matches(rows=matches.rows[fresh], scores=matches.scores[fresh])

    def best(self, terms: Sequence[str], k: int, where: Filter | None) -> Matches:
        """Search in this thread."""
        return self._best(terms, k, None if where is None else self._catalog.select(where))

    def _best(self, terms: Sequence[str], k: int, allowed: NDArray[np.int64] | None) -> Matches:
        """Return the ``k`` best of the allowed rows, ascending; None allows all."""
        terms = terms[:MOST_TERMS]
        counted = self._looked().statistics
        if counted is None or not terms or k < 1:
            return NO_MATCHES
        ours = (self._k1, self._b) != (ENGINE_K1, ENGINE_B)
        with self._sound():
            depth = max(k, RESCORED) if ours else k
            wanted = any_of(counted, self._schema, terms)
            matches = filtered(counted.searcher, self._schema, wanted, depth, allowed)
            if ours and len(matches):
                matches = self._rescored(counted, terms, matches)
        return Matches(rows=matches.rows[:k], scores=matches.scores[:k])

    def _rescored(self, counted: Statistics, terms: Sequence[str], matches: Matches) -> Matches:
        chunks = self._catalog.chunks(matches.rows.tolist())
        texts = {row: self._analyzer(chunk.headed, language_of(chunk, self._detect)) for row, chunk in chunks.items()}
        frequency = {term: counted.having(term) for term in set(terms)}
        mean = counted.mean_length()
        scores = bm25(terms, list(texts.values()), frequency, counted.chunks, mean, k1=self._k1, b=self._b)
        return best_first(np.fromiter(texts, dtype=np.int64, count=len(texts)), scores)
