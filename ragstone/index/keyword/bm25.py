"""Keyword search: BM25 over terms that were analysed outside, on tantivy.

Terms reach tantivy joined by spaces, so any analyzer works. tantivy fixes k1 = 1.2 and b = 0.75; where
others are set, its best thousand are scored again here. Robertson and Zaragoza 2009, "The Probabilistic
Relevance Framework: BM25 and Beyond"; the idf is Lucene's, which is never negative.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tantivy

from ragstone.core.catalog import NO_MATCHES, IndexedCatalog, Stamp
from ragstone.core.errors import Damaged
from ragstone.core.filters import Filter
from ragstone.core.protocols import Analyzer, Detector
from ragstone.core.records import Chunk, Matches
from ragstone.index.keyword.analyze import MARKS, START, fold
from ragstone.index.keyword.scoring import bm25, idf
from ragstone.index.keyword.segment_files import segment_files, verify_segment
from ragstone.index.keyword.term_query import any_of, best_first, filtered, hits
from ragstone.index.keyword.wordbook import Gathering, Wordbook, clear
from ragstone.storage.disk import clear_away, make_folder
from ragstone.storage.files import disposable, identity, read_json, write_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

ENGINE_K1, ENGINE_B = 1.2, 0.75
RESCORED = 1000
HEAP = 256_000_000
"""Bytes that indexing may hold before it writes a segment. Each is searched by itself: the fewer, the faster."""
QUICK = 200_000
"""At most this many chunks are searched in a millisecond or two, faster than switching to a thread and back."""
FEW = 1000
"""Chunks with a word that are read one and all to see which of them may be."""
MOST_TERMS = 1024
"""A longer question is cut: no more clauses than the engine searches in milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What is known of the index since its files had these identities; without searcher, nothing.

    The files are the manifest, and tantivy's list of segments: merged ones weigh words a bit otherwise.
    """

    files: tuple[tuple[int, int, int], ...] = ()
    stamp: Stamp = Stamp()  # noqa: RUF009 - frozen
    searcher: tantivy.Searcher | None = None
    languages: Mapping[str, float] = field(default_factory=dict[str, float])
    book: Wordbook = field(default_factory=Wordbook)


_CODE = re.compile("[a-z]{2}")


class TermIndex:
    """A tantivy index of every chunk's terms that follows the catalog.

    Opening changes nothing on disk, since any process may do it; what is missing, damaged or made for
    another catalog or analyzer is made again by `follow`.
    """

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
            folder: where it lies.
            catalog: what it follows.
            analyzer: text to terms.
            detect: tells the language of a chunk whose document does not; None leaves it open.
            k1: BM25 term saturation.
            b: BM25 length normalisation.
        """
        self._folder, self._catalog, self._analyzer, self._detect = folder, catalog, analyzer, detect
        self._k1, self._b = k1, b
        self._schema = (
            tantivy.SchemaBuilder()
            .add_text_field("terms", tokenizer_name="whitespace", index_option="freq")
            .add_text_field("language", tokenizer_name="raw", index_option="basic")
            .add_integer_field("row", indexed=True, fast=True)
            .add_integer_field("length", fast=True)
            .build()
        )
        self._index = self._opened()
        self._seen = _Seen()
        self._mean: tuple[tantivy.Searcher | None, float] = None, 0.0

    async def search(self, terms: Sequence[str], k: int, where: Filter | None = None) -> Matches:
        """The ``k`` best chunks by BM25, best first, of those ``where`` lets through."""
        searcher = self._looked().searcher if where is None else None
        if searcher is not None and searcher.num_docs <= QUICK and (self._k1, self._b) == (ENGINE_K1, ENGINE_B):
            return self.best(terms, k, None)
        return await asyncio.to_thread(self.best, terms, k, where)

    @property
    def stamp(self) -> Stamp:
        """The last commit of the catalog that can be found here; the stamp before all where nothing can."""
        return self._looked().stamp

    def _looked(self) -> _Seen:
        """The index as it is now. What it was the last time, unless a follow has changed it since."""
        manifest = self._folder / "manifest.json"
        now, seen = (identity(manifest), identity(self._folder / "meta.json")), self._seen
        if seen.searcher is not None and seen.files == now:
            return seen
        index = self._index = self._index or self._opened()
        about = read_json(manifest)
        if index is None:
            return _Seen()
        try:
            with self._sound():
                index.reload()
                searcher = index.searcher()
                sound = about.get("analyzer") == self._analyzer.fingerprint
                # A last look at what tantivy itself does not check: its list of segments.
                sound = sound and searcher.num_docs == about["chunks"]
                seen = _Seen(
                    files=now,
                    stamp=Stamp(**about["stamp"]) if sound else Stamp(),
                    searcher=searcher,
                    languages=_shares(searcher, about.get("languages", [])),
                    book=Wordbook.read(self._folder, about["words"], seen.book),
                )
        except (KeyError, TypeError, ValueError, AttributeError, OSError, Damaged):
            return _Seen()
        self._seen = seen
        return seen

    def weigh(self, words: Sequence[str]) -> list[float]:
        """Inverse document frequency of each word as it is written; of its rarest part where it is several.

        All weigh the same where there is no index.
        """
        searcher = self._looked().searcher
        if searcher is None:
            return [1.0] * len(words)
        with self._sound():
            terms = [[t for t in self._analyzer(word) if not t.startswith(MARKS)] for word in words]
            rarity = {t: idf(searcher.doc_freq("terms", t), searcher.num_docs) for some in terms for t in some}
        return [max((rarity[t] for t in some), default=0.0) for some in terms]

    def unseen(self) -> float:
        """What `weigh` gives a word that no chunk has."""
        searcher = self._looked().searcher
        return idf(0, searcher.num_docs) if searcher else 1.0

    def ceiling(self, terms: Sequence[str]) -> float:
        """Return the score of a chunk that repeats these terms forever; no chunk scores more."""
        searcher = self._looked().searcher
        if searcher is None:
            return 0.0
        with self._sound():
            return (self._k1 + 1) * sum(idf(searcher.doc_freq("terms", t), searcher.num_docs) for t in terms)

    def frequencies(self, terms: Sequence[str]) -> tuple[int, dict[str, int]]:
        """How many chunks there are, and how many have each term; where there is no index, one of one."""
        searcher = self._looked().searcher
        if searcher is None:
            return 1, dict.fromkeys(terms, 1)
        with self._sound():
            return searcher.num_docs, {term: searcher.doc_freq("terms", term) for term in set(terms)}

    def mean_length(self) -> float:
        """How many terms a chunk has on average; 0 where there is no index, or nothing in it."""
        searcher = self._looked().searcher
        if searcher is None or not searcher.num_docs:
            return 0.0
        with self._sound():
            return self._mean_of(searcher)

    def _mean_of(self, searcher: tantivy.Searcher) -> float:
        """The mean length of the chunks that a searcher sees; looked up once for each."""
        known, mean = self._mean
        if known is not searcher:
            wanted: dict[str, Any] = {"mean": {"avg": {"field": "length"}}}
            asked: Any = searcher
            mean: float = asked.aggregate(tantivy.Query.all_query(), wanted)["mean"]["value"]
            self._mean = searcher, mean
        return mean

    def analysed(self, chunk: Chunk) -> list[str]:
        """The terms of a chunk, as they are indexed."""
        return self._analyzer(chunk.headed, self._language(chunk))

    def among(self, word: str, language: str, rows: NDArray[np.int64], most: int) -> int:
        """How many of these rows, ascending, have a word, or another form of it in that language; ``most`` at most."""
        searcher = self._looked().searcher
        if searcher is None or not len(rows):
            return 0
        with self._sound():
            terms = [term for term in self._analyzer(word, language) if not term.startswith(START)]
            wanted = any_of(searcher, self._schema, terms)
            count = sum(searcher.doc_freq("terms", term) for term in terms)
            if not 0 < count <= FEW:
                return len(filtered(searcher, self._schema, wanted, most, rows)) if count else 0
            return min(most, len(np.intersect1d(hits(searcher, wanted, count)[0], rows)))

    def has_language(self, code: str, rows: NDArray[np.int64]) -> bool:
        """Whether any of these rows, ascending, is in a language."""
        searcher = self._looked().searcher
        if searcher is None or not len(rows):
            return False
        with self._sound():
            wanted = tantivy.Query.term_query(self._schema, "language", code)
            return len(filtered(searcher, self._schema, wanted, 1, rows)) > 0

    def profiled(self, text: str, shares: Mapping[str, float]) -> str | None:
        """The language of a text, where these are the shares of the languages; None where that is not known."""
        return self._looked().book.profiles.language(text, shares)

    def languages(self) -> Mapping[str, float]:
        """The share of the chunks in each language; empty where none is known."""
        return self._looked().languages if self._detect else {}

    def known(self, words: Sequence[str], language: str) -> list[bool]:
        """Whether any chunk has the word, or another form of it in that language; true where there is no index."""
        searcher = self._looked().searcher
        if searcher is None:
            return [True] * len(words)
        with self._sound():
            terms = [[t for t in self._analyzer(word, language) if not t.startswith(START)] for word in words]
            return [any(searcher.doc_freq("terms", term) for term in some) for some in terms]

    def near(self, word: str, errors: int) -> dict[str, int]:
        """Words of the documents, folded, and how many chunks have each: all that differ from one by so few errors,
        and some others.
        """
        seen = self._looked()
        if seen.searcher is None:
            return {}
        with self._sound():
            counted = {term: self._count(seen.searcher, term) for term in seen.book.near(fold(word), errors)}
        return {term: count for term, count in counted.items() if count}

    def _count(self, searcher: tantivy.Searcher, word: str) -> int:
        """How many chunks have a word; where the analyzer keeps none as it is written, a form of it."""
        if count := searcher.doc_freq("terms", word):
            return count
        others = (term for term in self._analyzer(word) if not term.startswith(MARKS))
        return max((searcher.doc_freq("terms", term) for term in others), default=0)

    def language(self, text: str) -> str | None:
        """The language of a question, one of the documents', by how their texts look; None where that is not known."""
        return self.profiled(text, self.languages())

    def follow(self, *, write: bool = True) -> None:
        """Take in what the catalog has and the index has not. Only under the lock; nothing without ``write``.

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
            languages = set(read_json(self._folder / "manifest.json").get("languages", []) if since.generation else [])
            gathering = Gathering(self._looked().book if since.generation else Wordbook())
            with _writer(self._index) as writer:
                if since.generation:
                    for row in self._catalog.removed_since(since.generation):
                        writer.delete_documents_by_term("row", row)
                for row, chunk in self._catalog.chunks_since(since.generation):
                    if since.generation:  # there already if the last follow was cut short
                        writer.delete_documents_by_term("row", row)
                    language = self._language(chunk)
                    languages.add(language)
                    gathering.take(chunk.headed, language)
                    terms = " ".join(analysed := self._analyzer(chunk.headed, language))
                    writer.add_document(tantivy.Document(row=row, length=len(analysed), terms=terms, language=language))
                writer.commit()
                self._index.reload()
                book = gathering.written(self._folder, now.generation)
                # Only now, and before segments are merged, which may take long and changes no count. An index
                # that was committed and not described is not believed, and made again.
                about = {"stamp": asdict(now), "analyzer": self._analyzer.fingerprint}
                about |= {"languages": sorted(languages - {""}), "words": book.told()}
                write_json(self._folder / "manifest.json", about | {"chunks": self._index.searcher().num_docs})
            self._index.reload()
            clear(self._folder, book)

    def _language(self, chunk: Chunk) -> str:
        """Of the document, where it tells; of the chunk's own text otherwise."""
        told = chunk.metadata.get("language")
        if isinstance(told, str) and _CODE.fullmatch(told):
            return told
        return self._detect(chunk.headed) if self._detect else ""

    def _opened(self) -> tantivy.Index | None:
        """The index in the folder; None where there is none, or one that is damaged or of another format."""
        try:
            for file in segment_files(self._folder):
                verify_segment(file)
            return tantivy.Index(self._schema, path=str(self._folder), reuse=True)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _made(self) -> tantivy.Index:
        """An empty index in the place of whatever is there."""
        clear_away(self._folder)
        make_folder(self._folder.absolute())
        return tantivy.Index(self._schema, path=str(self._folder), reuse=False)

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

    def best(self, terms: Sequence[str], k: int, where: Filter | None) -> Matches:
        """`search` in this thread."""
        terms = terms[:MOST_TERMS]
        searcher = self._looked().searcher
        if searcher is None or not terms or k < 1:
            return NO_MATCHES
        allowed = None if where is None else self._catalog.select(where)
        ours = (self._k1, self._b) != (ENGINE_K1, ENGINE_B)
        with self._sound():
            depth = max(k, RESCORED) if ours else k
            wanted = any_of(searcher, self._schema, terms)
            matches = filtered(searcher, self._schema, wanted, depth, allowed)
            if ours and len(matches):
                matches = self._rescored(searcher, terms, matches)
        return Matches(rows=matches.rows[:k], scores=matches.scores[:k])

    def _rescored(self, searcher: tantivy.Searcher, terms: Sequence[str], matches: Matches) -> Matches:
        chunks = self._catalog.chunks(matches.rows.tolist())
        texts = {row: self._analyzer(chunk.headed, self._language(chunk)) for row, chunk in chunks.items()}
        mean = self._mean_of(searcher)
        frequency = {term: searcher.doc_freq("terms", term) for term in set(terms)}
        scores = bm25(terms, list(texts.values()), frequency, searcher.num_docs, mean, k1=self._k1, b=self._b)
        return best_first(np.fromiter(texts, dtype=np.int64, count=len(texts)), scores)


def _shares(searcher: tantivy.Searcher, codes: Sequence[str]) -> dict[str, float]:
    count = {code: searcher.doc_freq("language", code) for code in codes}
    total = sum(count.values())
    return {code: part / total for code, part in count.items() if part}


@contextmanager
def _writer(index: tantivy.Index) -> Generator[tantivy.IndexWriter]:
    """A writer that is let go of in any case; tantivy's own context manager commits even after an exception."""
    writer = index.writer(heap_size=HEAP, num_threads=1)
    try:
        yield writer
    finally:
        writer.wait_merging_threads()
