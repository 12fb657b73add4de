"""How a document was read: what was found in it, what its text lacks, and where it may be wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from ragstone.core.catalog import DocumentSummary
from ragstone.core.frozen import frozen
from ragstone.core.layout import Placed
from ragstone.core.record import file_of
from ragstone.core.records import READ_SECONDS, Chunk, Document, Metadata
from ragstone.core.span import Span

PARTIAL = "partial"
"""Metadata key of what readers left out of a document."""
GUESSED, REPLACED = "guessed", "undecodable replaced"
AS_TEXT, LEFT_OUT = "read as text", "left out"
"""How notes on the text of a file end."""
_DOUBTFUL = 0.85
"""OCR that is less sure than this has more than one wrong character in twenty as a rule."""


@frozen
class Reading:
    """What was read of a document. ``note`` says why the text may be wrong or lack parts; empty if nothing does.

    ``pictures`` counts those that a model described. ``ocr`` names the engine that read text in pictures,
    ``ocr_confidence`` is how sure it was, from 0 to 1, and ``ocr_pages`` how sure on each page that has such text, by
    their numbers from 1. ``chunks`` are the pieces that the text was cut into, in order. The last two are empty where
    they are not known. ``seconds`` is how long the parser process took; None if that was not measured, as for text
    files, rows of tables, and documents of earlier versions of Ragstone.
    """

    kind: str
    characters: int
    pages: int
    headings: int
    tables: int
    code: int
    pictures: int
    ocr: str
    ocr_confidence: float | None
    note: str
    ocr_pages: tuple[tuple[int, float], ...] = ()
    chunks: tuple[Span, ...] = ()
    seconds: float | None = None


def reading_of(document: Document, layout: Sequence[Placed] = (), chunks: Iterable[Chunk] = ()) -> Reading:
    """Return how a document was read.

    Args:
        document: the document.
        layout: where its words are on its pages.
        chunks: the pieces that it was cut into.
    """
    marks = Counter(mark.kind for mark in document.marks)
    pages, sure = document.metadata.get("pages"), document.metadata.get("ocr_confidence")
    seconds = document.metadata.get(READ_SECONDS)
    return Reading(
        kind=str(document.metadata.get("kind", "")),
        characters=len(document.text),
        pages=pages if isinstance(pages, int) else marks["page"],
        headings=marks["heading"],
        tables=marks["table"],
        code=marks["code"],
        pictures=marks["picture"],
        ocr=str(document.metadata.get("ocr", "")),
        ocr_confidence=sure if isinstance(sure, float) else None,
        note=note_of(document),
        ocr_pages=tuple(_ocr_pages(layout)),
        chunks=tuple(Span(start=start, end=end) for start, end in sorted((chunk.start, chunk.end) for chunk in chunks)),
        seconds=seconds if isinstance(seconds, float) and _is_whole(document) else None,
    )


def _ocr_pages(layout: Sequence[Placed]) -> Iterator[tuple[int, float]]:
    """Yield the pages with words that OCR read, and its mean confidence over their characters."""
    lines = sorted((line for line in layout if line.confidence < 1), key=lambda line: line.page)
    for page, group in groupby(lines, key=lambda line: line.page):
        read = [(line.end - line.start, line.confidence) for line in group]
        yield page + 1, sum(size * sure for size, sure in read) / max(sum(size for size, _ in read), 1)


def with_notice(facts: Metadata, *notices: str) -> Metadata:
    """Return the facts of a document that also say what its text lacks, in addition to what they say of it already."""
    said = [one for one in dict.fromkeys((str(facts.get(PARTIAL, "")), *notices)) if one]
    return {**facts, PARTIAL: "; ".join(said)} if said else facts


def partial_of(document: Document | DocumentSummary) -> str:
    """Return what the text of a document lacks of its file; empty if nothing says so."""
    return str(document.metadata.get(PARTIAL, "")) if _is_whole(document) else ""


def _is_whole(document: Document | DocumentSummary) -> bool:
    """Return whether a document is a whole file. A row of a table may have columns of the same names as facts."""
    return file_of(document) == (document.id if isinstance(document, Document) else document.document_id)


def note_of(document: Document | DocumentSummary) -> str:
    """Return why the text of a document may be wrong or lack parts; empty if nothing says so."""
    facts = document.metadata
    notes, decoding, sure = list[str](), str(facts.get("decoding", "")), facts.get("ocr_confidence")
    if missing := partial_of(document):
        notes.append(f"read only in part: {missing}")
    if "ocr" in facts and isinstance(sure, float) and sure < _DOUBTFUL:
        notes.append(f"read from pictures by OCR, at a confidence of {sure:.0%}")
    if decoding.endswith((GUESSED, REPLACED, AS_TEXT, LEFT_OUT)):
        notes.append(decoding)
    return "; ".join(notes)
