"""Keyword search: BM25 over terms that were analysed outside, on tantivy.

Terms reach tantivy joined by spaces, so any analyzer works. tantivy fixes k1 = 1.2 and b = 0.75; where
others are set, its best thousand are scored again here. Robertson and Zaragoza 2009, "The Probabilistic
Relevance Framework: BM25 and Beyond"; the idf is Lucene's, which is never negative.
"""

from __future__ import annotations

import asyncio
import json
import mmap
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import tantivy

from ragstone.conditions import Filter
from ragstone.contracts import Chunk, Matches
from ragstone.errors import Damaged
from ragstone.index.analyze import MARKS, START, fold, words
from ragstone.index.catalog import Catalog
from ragstone.index.disk import clear_away, make_folder
from ragstone.index.files import disposable, identity, read_json, write_json
from ragstone.index.records import NO_MATCHES, Stamp
from ragstone.index.scoring import bm25, idf
from ragstone.protocols import Analyzer, Detector

if TYPE_CHECKING:
    from numpy.typing import NDArray

ENGINE_K1, ENGINE_B = 1.2, 0.75
RESCORED = 1000
MOST_TERMS = 1024
"""A longer question is cut: no more clauses than the engine searches in milliseconds."""
PARTS = ("fast", "fieldnorm", "idx", "pos", "store", "term")
"""The files of every segment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What is known of the index since its manifest was the one with this identity; without searcher, nothing."""

    manifest: tuple[int, int, int] = (0, 0, 0)
    stamp: Stamp = Stamp()  # noqa: RUF009 - frozen
    searcher: tantivy.Searcher | None = None


FUZZY = 200
"""Chunks read to find the word that a mistyped one was meant to be."""
_CODE = re.compile("[a-z]{2}")


class TermIndex:
    """A tantivy index of every chunk's terms that follows the catalog.

    Opening changes nothing on disk, since any process may do it; what is missing, damaged or made for
    another catalog or analyzer is made again by `follow`.
    """

    def __init__(
        self, folder: Path, catalog: Catalog, analyzer: Analyzer, detect: Detector | None = None, *, k1: float, b: float
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

    async def search(self, terms: Sequence[str], k: int, where: Filter | None = None) -> Matches:
        """The ``k`` best chunks by BM25, best first, of those ``where`` lets through."""
        return await asyncio.to_thread(self._search, terms, k, where)

    @property
    def stamp(self) -> Stamp:
        """The last commit of the catalog that can be found here; the stamp before all where nothing can."""
        return self._looked().stamp

    def _looked(self) -> _Seen:
        """The index as it is now. What it was the last time, unless another follow has written its manifest since."""
        manifest = self._folder / "manifest.json"
        now, seen = identity(manifest), self._seen
        if seen.searcher is not None and seen.manifest == now:
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
                seen = _Seen(manifest=now, stamp=Stamp(**about["stamp"]) if sound else Stamp(), searcher=searcher)
        except (KeyError, TypeError, Damaged):
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

    def ceiling(self, terms: Sequence[str]) -> float:
        """What a chunk would score that held these terms over and over: no chunk scores more."""
        searcher = self._looked().searcher
        if searcher is None:
            return 0.0
        with self._sound():
            return (self._k1 + 1) * sum(idf(searcher.doc_freq("terms", t), searcher.num_docs) for t in terms)

    def languages(self) -> dict[str, float]:
        """The share of the chunks in each language; empty where none is known."""
        if self._index is None or self._detect is None:
            return {}
        with self._sound():
            searcher = self._index.searcher()
            codes = read_json(self._folder / "manifest.json").get("languages", [])
            count = {code: searcher.doc_freq("language", code) for code in codes}
        total = sum(count.values())
        return {code: part / total for code, part in count.items() if part}

    def known(self, words: Sequence[str], language: str) -> list[bool]:
        """Whether any chunk has the word, or another form of it in that language; true where there is no index."""
        if self._index is None:
            return [True] * len(words)
        with self._sound():
            searcher = self._index.searcher()
            terms = [[t for t in self._analyzer(word, language) if not t.startswith(START)] for word in words]
            return [any(searcher.doc_freq("terms", term) for term in some) for some in terms]

    def near(self, word: str, errors: int) -> dict[str, int]:
        """Terms, as they are written, that differ from a word by so few errors, and how many chunks have each.

        They are looked for in `FUZZY` chunks: tantivy finds chunks by such terms, and does not tell the terms.
        """
        word = fold(word)
        if self._index is None:
            return {}
        with self._sound():
            searcher = self._index.searcher()
            query = tantivy.Query.fuzzy_term_query(self._schema, "terms", word, errors)
            rows = _read(searcher, query, min(FUZZY, max(searcher.num_docs, 1))).rows.tolist()
            texts = self._catalog.chunks(rows).values()
            found = {term for chunk in texts for term in map(fold, words(chunk.headed)) if _alike(word, term, errors)}
            return {term: searcher.doc_freq("terms", term) for term in found}

    def follow(self) -> None:
        """Take in what the catalog has and the index has not. Only for the process that holds the lock.

        Raises:
            KnowledgeBaseError: the index could not be written.
        """
        with self._catalog.snapshot() as now, disposable(self._folder):
            since = self.stamp
            if since == now:
                return
            if self._index is None or not self._catalog.knows(since):
                self._index, since = self._made(), Stamp()
            languages = set(read_json(self._folder / "manifest.json").get("languages", []) if since.generation else [])
            with _writer(self._index) as writer:
                if since.generation:
                    for row in self._catalog.removed_since(since.generation):
                        writer.delete_documents_by_term("row", row)
                for row, chunk in self._catalog.chunks_since(since.generation):
                    if since.generation:  # there already if the last follow was cut short
                        writer.delete_documents_by_term("row", row)
                    language = self._language(chunk)
                    languages.add(language)
                    terms = " ".join(analysed := self._analyzer(chunk.headed, language))
                    writer.add_document(tantivy.Document(row=row, length=len(analysed), terms=terms, language=language))
                writer.commit()
                self._index.reload()
                # Only now, and before segments are merged, which may take long and changes no count. An index
                # that was committed and not described is not believed, and made again.
                about = {"stamp": asdict(now), "analyzer": self._analyzer.fingerprint}
                about["languages"] = sorted(languages - {""})
                write_json(self._folder / "manifest.json", about | {"chunks": self._index.searcher().num_docs})
            self._index.reload()

    def _language(self, chunk: Chunk) -> str:
        """Of the document, where it tells; of the chunk's own text otherwise."""
        told = chunk.metadata.get("language")
        if isinstance(told, str) and _CODE.fullmatch(told):
            return told
        return self._detect(chunk.headed) if self._detect else ""

    def _opened(self) -> tantivy.Index | None:
        """The index in the folder; None where there is none, or one that is damaged or of another format."""
        try:
            for file in _segment_files(self._folder):
                _verify(file)
            return tantivy.Index(self._schema, path=str(self._folder), reuse=True)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _made(self) -> tantivy.Index:
        """An empty index in the place of whatever is there."""
        clear_away(self._folder)
        make_folder(self._folder.absolute())
        return tantivy.Index(self._schema, path=str(self._folder), reuse=False)

    @contextmanager
    def _sound(self) -> Iterator[None]:
        """Doubt the index when reading it fails: it is verified before it is used again."""
        try:
            yield
        except BaseException as error:
            # tantivy panics over some damage, and its panics are no Exception.
            if not isinstance(error, (ValueError, OSError)) and type(error).__name__ != "PanicException":
                raise
            self._index = None
            raise Damaged(f"the index in {self._folder} cannot be read: {error}") from error

    def _search(self, terms: Sequence[str], k: int, where: Filter | None) -> Matches:
        terms = terms[:MOST_TERMS]
        searcher = self._looked().searcher
        if searcher is None or not terms or k < 1:
            return NO_MATCHES
        allowed = None if where is None else self._catalog.select(where)
        ours = (self._k1, self._b) != (ENGINE_K1, ENGINE_B)
        with self._sound():
            depth = max(k, RESCORED) if ours else k
            matches = _filtered(searcher, self._schema, _query(self._schema, terms), depth, allowed)
            if ours and len(matches):
                matches = self._rescored(searcher, terms, matches)
        return Matches(rows=matches.rows[:k], scores=matches.scores[:k])

    def _rescored(self, searcher: tantivy.Searcher, terms: Sequence[str], matches: Matches) -> Matches:
        chunks = self._catalog.chunks(matches.rows.tolist())
        texts = {row: self._analyzer(chunk.headed, self._language(chunk)) for row, chunk in chunks.items()}
        average = searcher.aggregate(tantivy.Query.all_query(), {"mean": {"avg": {"field": "length"}}})["mean"]["value"]
        frequency = {term: searcher.doc_freq("terms", term) for term in set(terms)}
        scores = bm25(terms, list(texts.values()), frequency, searcher.num_docs, average, k1=self._k1, b=self._b)
        return _best_first(np.fromiter(texts, dtype=np.int64, count=len(texts)), scores)


def _alike(word: str, term: str, errors: int) -> bool:
    """Whether a term may be so near, by its length and letters; a cheap look before the errors are counted."""
    return abs(len(word) - len(term)) <= errors and sum((Counter(word) - Counter(term)).values()) <= errors


def _query(schema: tantivy.Schema, terms: Sequence[str]) -> tantivy.Query:
    should = [
        (tantivy.Occur.Should, tantivy.Query.term_query(schema, "terms", term, "freq")) for term in terms[:MOST_TERMS]
    ]
    return tantivy.Query.boolean_query(should)


def _filtered(
    searcher: tantivy.Searcher,
    schema: tantivy.Schema,
    query: tantivy.Query,
    k: int,
    allowed: NDArray[np.int64] | None,
) -> Matches:
    """The best ``k`` of the allowed rows. A score does not depend on the filter, so reading on is exact."""
    most = max(searcher.num_docs, 1)
    k = min(k, most)  # tantivy makes room for as many as it is asked for
    if allowed is None:
        return _read(searcher, query, k)
    # Chance finds enough among so many of the best. Where that is more than are allowed, the engine is told which.
    depth = min(most, k * most // max(len(allowed), 1) * 5 // 4 + 100)
    if len(allowed) <= depth:
        among = tantivy.Query.term_set_query(schema, "row", allowed.tolist())
        scored = (tantivy.Occur.Must, query)
        return _read(
            searcher,
            tantivy.Query.boolean_query([scored, (tantivy.Occur.Must, tantivy.Query.const_score_query(among, 0.0))]),
            k,
        )
    while True:
        matches = _read(searcher, query, depth)
        at = np.minimum(np.searchsorted(allowed, matches.rows), len(allowed) - 1)
        kept = allowed[at] == matches.rows
        if np.count_nonzero(kept) >= k or len(matches) < depth or depth == most:
            return Matches(rows=matches.rows[kept][:k], scores=matches.scores[kept][:k])
        depth = min(depth * 4, most)


def _read(searcher: tantivy.Searcher, query: tantivy.Query, k: int) -> Matches:
    hits = searcher.search(query, k, count=False).hits
    rows = searcher.fast_field_values("row", [address for _, address in hits])
    scores = np.array([score for score, _ in hits], dtype=np.float32)
    return _best_first(np.array([row or 0 for row in rows], dtype=np.int64), scores)


def _best_first(rows: NDArray[np.int64], scores: NDArray[np.floating]) -> Matches:
    order = np.lexsort((rows, -scores))
    return Matches(rows=rows[order], scores=scores[order])


@contextmanager
def _writer(index: tantivy.Index) -> Iterator[tantivy.IndexWriter]:
    """A writer that is let go of in any case; tantivy's own context manager commits even after an exception."""
    writer = index.writer(heap_size=64_000_000, num_threads=1)
    try:
        yield writer
    finally:
        writer.wait_merging_threads()


def _segment_files(folder: Path) -> list[Path]:
    """The files that tantivy's list of segments names.

    Raises:
        ValueError: one is not there. tantivy takes some for empty, and fails only when it writes.
    """
    segments = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["segments"]
    names = {segment["segment_id"].replace("-", "") for segment in segments}
    files = [file for file in folder.iterdir() if file.name.partition(".")[0] in names]
    missing = {f"{name}.{part}" for name in names for part in PARTS} - {file.name for file in files}
    if missing:
        raise ValueError(f"{folder} lacks {', '.join(sorted(missing))}")
    return files


def _verify(file: Path) -> None:
    """Compare a file with the checksum at its end, which tantivy writes and does not read.

    Raises:
        ValueError: they differ.
    """
    with file.open("rb") as opened:
        content = memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
    length = int.from_bytes(content[-8:-4], "little")
    footer = json.loads(bytes(content[-8 - length : -8]))
    if zlib.crc32(content[: -8 - length]) != footer["crc"]:
        raise ValueError(f"{file} is not what was written")
