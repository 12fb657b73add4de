"""The records that flow between the stages. The stages themselves are described in `protocols`.

Records are frozen, slotted and keyword-only. Higher scores are always better. A *row* is the catalog's number of a
chunk; it is never reused, and every index uses it as the key.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import field
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from ragstone.core.filters import Scalar
from ragstone.core.frozen import frozen
from ragstone.core.layout import Placed
from ragstone.core.place import embedded_text
from ragstone.core.question import Question
from ragstone.core.search_step import SearchStep
from ragstone.core.shown import shown, shown_html
from ragstone.core.span import Span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

Metadata = Mapping[str, Scalar | tuple[Scalar, ...]]
"""Properties of a document or chunk, all usable in filters. Dates are ISO 8601 text, which sorts by time."""

EXTRACTED_AT = "extracted_at"
"""Metadata key of the time when a document was read. A change of this time alone does not change a document."""
READ_SECONDS = "read_seconds"
"""Metadata key of how long the parser process took for a file. Another time does not change a document either."""
OF_READING = frozenset({EXTRACTED_AT, READ_SECONDS})
"""Metadata keys of what differs each time that the same file is read."""
UNCLEAR = "readers_unclear"
"""Metadata key of why only administrators may read a document: a damaged access list, or lists that contradict."""
AS_OF = "as_of"
"""Metadata key of the date from which a document is in force, as far as its title, name, head or text says one."""
ATTACHED = "attached_to"
"""Metadata key for the conversation, as a group, that a document is attached to; see `ragstone.core.access`."""
BOOKKEEPING = frozenset(
    {"path", "kind", *OF_READING, "content_hash", UNCLEAR, "version_of", AS_OF, "valid_until", ATTACHED}
)
"""Metadata keys that say nothing about the subject of a document; filters use them, answers do not show them."""
OF_FILE = BOOKKEEPING | {"publication_id", "word_count", "pages", "language", "source", "thread"}
"""Metadata keys of a file that are of no use beside a passage of it, neither to a reader nor to a language model."""

DATE_KEYS = (AS_OF, "date", "published", "publication_date", "period", "created", "year")
"""Metadata keys of the date of a document, the surest first."""
_DATE = re.compile(r"(?:1[5-9]|20)\d\d(?:-\d\d(?:-\d\d)?)?")
MENTIONS = frozenset({"mentioned_companies", "mentioned_dates"})
"""Metadata keys of what a whole document mentions: useful in filters, but mostly irrelevant to a single passage."""
CITED_BY_LINE = frozenset({"code", "ini", "log", "toml", "xml", "yaml"})
"""Kinds of documents that programs read or write. Their text equals the file, so line numbers match."""


def beside(passage: str, metadata: Metadata) -> Metadata:
    """Return the metadata of a document to show with a passage.

    Of what the document mentions, only what the passage names is kept. If one name contains another, only the longer
    one is kept. Dates are omitted: the passage has its own.
    """
    shown = {key: fact for key, fact in metadata.items() if key not in MENTIONS}
    names = metadata.get("mentioned_companies", ())
    named: list[str] = []
    for name in sorted(map(str, names), key=len, reverse=True) if isinstance(names, tuple) else ():
        whole = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", passage)
        if whole and not any(name in longer for longer in named):
            named.append(name)
    return {**shown, "mentioned_companies": tuple(sorted(named))} if named else shown


def date_of(metadata: Metadata) -> str:
    """Return the date of a document as it sorts, such as 2021, 2021-05 or 2021-05-03; empty if it has none."""
    values = (str(metadata[key]) for key in DATE_KEYS if key in metadata)
    return next((found[0] for value in values if (found := _DATE.match(value))), "")


# ---------------------------------------------------------------- acquire
TextKind = Literal["", "text", "markdown", "html", "rst"]
"""How a text that a program adds is read; as it is if it has none."""


@frozen
class Mark:
    """A structural element of a document, characters ``start`` to ``end`` of its text.

    A ``heading`` covers its line; it has a ``level`` from 1 and its text as ``label``. A ``page`` covers the whole page
    and is labelled as printed, such as "12". ``code`` covers the code without its fences and is labelled with its
    language. A ``table`` is labelled with its caption, if any, and begins with ``header`` rows of column headings. Its
    rows are lines, with " | " between their cells, or Markdown as it was written. A ``picture`` covers the description
    of a picture and is labelled with the model that wrote it: these words do not stand in the original.
    """

    kind: Literal["heading", "page", "code", "table", "picture"]
    start: int
    end: int
    level: int = 0
    label: str = ""
    header: int = 0


@frozen(repr=False)
class Document:
    """A text with an identity. ``id`` comes from the source and stays the same when the text changes.

    ``marks`` are sorted by ``start``; pages may overlap other marks. ``placed`` has the positions of words on the pages
    of the original, sorted by ``start``; it is empty if the document has no pages. ``kind`` says how a text that a
    program adds is read: as Markdown, for example, with headings and tables. A stored document has none.

    ``pictures`` are JPEG images to be described, one for each mark of the kind ``picture``, which covers one character
    until then. A stored document has none.

    >>> Document(id="note", text="The pump runs at 4 bar.", metadata={"year": 2024}).metadata["year"]
    2024
    """

    __repr__ = shown
    _repr_html_ = shown_html

    id: str
    text: str
    source: str = ""
    title: str = ""
    url: str = ""
    metadata: Metadata = field(default_factory=dict[str, "Scalar | tuple[Scalar, ...]"])
    marks: tuple[Mark, ...] = ()
    placed: tuple[Placed, ...] = field(default=(), repr=False)
    kind: TextKind = ""
    pictures: tuple[bytes, ...] = field(default=(), repr=False)

    @property
    def content_hash(self) -> str:
        """SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@frozen
class Skipped:
    """A source, or a part of one, that gave no document, with the reason.

    ``emptied`` says that it was read and holds nothing, so that what is stored of it is outdated.
    """

    source: str
    reason: str
    emptied: bool = False


@frozen
class Decoded:
    """A file whose text may be wrong in places or lack parts; ``note`` says why.

    Its encoding is a guess, some of its bytes could not be decoded and are U+FFFD in the document, OCR was not sure, or
    a part could not be read.
    """

    source: str
    note: str


@frozen
class Unchanged:
    """A source that has not changed since all its documents were stored; it was not read again."""

    source: str


@frozen
class Finished:
    """The end of a source that was read completely, without skips. ``stamp`` identifies its current state."""

    source: str
    stamp: str


Acquired = Document | Skipped | Unchanged | Finished
"""A result of reading. The end of a source comes after its documents."""


# ---------------------------------------------------------------- chunk
SourceType = Literal["internal", "web", "tool"]
"""Where a passage is from: a stored document, a web page, or the result of a tool."""
WEB, TOOL = "web:", "tool:"
"""Prefixes of the ids of what is found outside: evidence for one question, never stored."""


@frozen(repr=False)
class Chunk:
    """A piece of a document, with an exact span.

    ``text`` is ``document.text[start:end]``. ``context`` has the place of the document and titles from outside the
    span; it precedes the text in analysis and, without the place, in embedding.
    ``facts`` belong to the chunk and ``metadata`` to its document; filters apply to both.

    >>> from ragstone import Ragstone
    >>> with Ragstone("kb") as kb:
    ...     report = kb.add("docs/")
    ...     [hit] = kb.search("pump", 1)
    >>> hit.chunk.document_id, hit.chunk.start
    ('docs/pump.md', 0)
    """

    __repr__ = shown
    _repr_html_ = shown_html

    id: str
    document_id: str
    index: int
    total: int
    start: int
    end: int
    text: str
    title: str = ""
    url: str = ""
    metadata: Metadata = field(default_factory=dict[str, "Scalar | tuple[Scalar, ...]"])
    context: str = ""
    facts: Metadata = field(default_factory=dict[str, "Scalar | tuple[Scalar, ...]"])

    @property
    def source_type(self) -> SourceType:
        """Where it is from. Ids of stored chunks are hashes, so they cannot have a prefix."""
        return "web" if self.id.startswith(WEB) else "tool" if self.id.startswith(TOOL) else "internal"

    @property
    def is_outside(self) -> bool:
        """Whether it is not of a stored document."""
        return self.source_type != "internal"

    @property
    def path(self) -> str:
        """The path of its file below the root of the source; the id of the document if it is of no file."""
        return path if isinstance(path := self.metadata.get("path"), str) else self.document_id

    @property
    def headed(self) -> str:
        """The text to analyse: the context, then the text."""
        return f"{self.context}\n{self.text}" if self.context else self.text

    @property
    def embedded(self) -> str:
        """The text to embed: as it is headed, but without the place of its document."""
        return embedded_text(self.headed, path=self.metadata.get("path"), title=self.title)

    @property
    def heading(self) -> str:
        """The nearest heading above the chunk; empty without one."""
        return str(self.facts.get("section", "")).rpartition(" > ")[2]

    @property
    def described(self) -> Metadata:
        """The metadata of the document, the facts of the chunk, and the place of the chunk in the document."""
        place = {"doc_id": self.document_id, "chunk_id": self.id, "chunk_index": self.index, "total_chunks": self.total}
        return {**self.metadata, **self.facts, **place}


# ---------------------------------------------------------------- index, query, rank
@frozen(eq=False)
class Matches:
    """The result of an index: distinct rows (n,) of chunks and their scores (n,), best first."""

    rows: NDArray[np.int64]
    scores: NDArray[np.floating]

    def __len__(self) -> int:
        return len(self.rows)

    def first(self, count: int) -> Matches:
        """Return the best matches, at most this many."""
        return self if len(self) <= count else Matches(rows=self.rows[:count], scores=self.scores[:count])

    def reaching(self, least: float) -> Matches:
        """Return the matches with at least this score."""
        count = int((self.scores >= least).sum())
        return Matches(rows=self.rows[:count], scores=self.scores[:count])


@frozen
class Step:
    """One entry in the history of a hit: the score and rank from one stage, and a note."""

    stage: str
    score: float
    rank: int
    note: str = ""


@frozen
class Candidate:
    """A chunk found by one or more search legs, after fusion; its text is not loaded yet."""

    row: int
    score: float
    why: tuple[Step, ...] = ()


WEAK = "weak match"
"""The stage of a hit's history which says that no hit is similar to the question."""


@frozen(repr=False)
class Hit:
    """A chunk with its score and the history of that score; ``vector`` is set if a later stage needs it.

    >>> from ragstone import Ragstone
    >>> with Ragstone("kb") as kb:
    ...     report = kb.add("docs/")
    ...     [hit] = kb.search("pump", 1)
    >>> [step.stage for step in hit.why]
    ['bm25', 'vector', 'fusion']
    """

    __repr__ = shown
    _repr_html_ = shown_html

    chunk: Chunk
    score: float
    why: tuple[Step, ...] = ()
    vector: Vector | None = None

    @property
    def is_weak(self) -> bool:
        """Whether it is only the nearest hit, because no hit is similar to the question."""
        return any(step.stage == WEAK for step in self.why)


@frozen
class Passage:
    """What a language model reads: a hit, widened to its section. ``also`` are titles of documents that repeat it."""

    hit: Hit
    also: tuple[str, ...] = ()


@frozen
class Considered:
    """A candidate for the evidence: its document, and its score from each search leg, None if that leg missed it."""

    document_id: str
    vector: float | None = None
    keyword: float | None = None


@frozen
class Evidence:
    """The result of retrieval for a question.

    ``tables`` are the best tables beyond the hits: the answer may be in a cell of a table whose text differs from the
    question. ``missing`` are steps that failed or ran out of time. ``considered`` are the candidates in the order of
    fusion, ``steps`` the searches after the first one, and ``rows`` all rows of each document whose tables the question
    may compare. ``further`` are the next best hits. ``versions`` are passages of the hits as other versions of
    their documents have them. ``passages`` are what a language model reads, empty without one.
    """

    question: Question
    hits: tuple[Hit, ...]
    method: str
    missing: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    considered: tuple[Considered, ...] = ()
    tables: tuple[Hit, ...] = ()
    steps: tuple[SearchStep, ...] = ()
    rows: tuple[tuple[Hit, ...], ...] = ()
    further: tuple[Hit, ...] = ()
    versions: tuple[Hit, ...] = ()
    passages: tuple[Passage, ...] = ()


@frozen
class Trace:
    """The output of each stage of a search, best first.

    ``found`` counts the chunks from each search leg; ``weights`` are the weights of the legs in fusion. ``fused`` are
    the best candidates after fusion; ``ranked`` are the candidates for the evidence after boosts and reranking.
    """

    found: Mapping[str, int]
    weights: Mapping[str, float]
    fused: tuple[Hit, ...]
    ranked: tuple[Hit, ...]
    evidence: Evidence


@frozen
class TokenVectors:
    """L2-normalised vectors of the tokens of a text (tokens, dimensions), and the span of each token."""

    vectors: Vector
    spans: tuple[Span, ...]


_start = attrgetter("start")


@frozen
class TokenMatches:
    """The similarity of a question and a text, token by token.

    ``weights`` (question tokens,) sum to 1; ``similarity`` (question tokens, text tokens) holds cosines; ``spans`` and
    ``asked`` locate the tokens of the text and of the question, in order.
    """

    weights: Vector
    similarity: Vector
    spans: tuple[Span, ...]
    asked: tuple[Span, ...] = ()

    def score(self, within: Span | None = None) -> float:
        """Return the mean over question tokens, by weight, of the best cosine with a token of the text or a part."""
        first, last = 0, len(self.spans)
        if within is not None:
            first, last = (bisect_left(self.spans, end, key=_start) for end in (within.start, within.end))
        return float(self.weights @ self.similarity[:, first:last].max(axis=1)) if first < last else 0.0
