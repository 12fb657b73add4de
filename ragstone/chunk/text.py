"""Four strategies that split a text into spans of at most ``size`` characters; two of them can count tokens instead.

Every strategy covers each character that is not white space, returns exact spans with increasing starts and ends, and
repeats at most the last ``overlap`` characters of a span in the next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from ragstone.chunk import units
from ragstone.chunk.ruler import Characters, Ruler
from ragstone.chunk.sentence import sentences
from ragstone.core.records import Span


def sliding_window(text: str, size: int, overlap: int) -> list[Span]:
    """Return windows of ``size`` characters, each ``size - overlap`` after the last, regardless of words.

    A window of white space is dropped; the others do not move.
    """
    step = size - overlap
    starts = range(0, max(len(text) - overlap, 1), step)
    spans = (Span(start=start, end=min(start + size, len(text))) for start in starts)
    return [span for span in spans if span.of(text).strip()]


def by_sentence(text: str, size: int, overlap: int, ruler: Ruler | None = None) -> list[Span]:
    """Pack whole sentences up to ``size``. A longer sentence is split between words, a longer word anywhere."""
    return pack(text, sentences(text), [units.words], ruler or Characters(text), size, overlap)


def by_paragraph(text: str, size: int, overlap: int, ruler: Ruler | None = None) -> list[Span]:
    """Pack whole paragraphs up to ``size``. A longer paragraph is split into sentences, words or characters."""
    return pack(text, units.paragraphs(text), [sentences_of, units.words], ruler or Characters(text), size, overlap)


def recursive(text: str, size: int, overlap: int) -> list[Span]:
    """Split at the coarsest boundary that suffices: paragraph, line, sentence, word or character.

    Neighbouring pieces of one level are merged up to ``size``, and a span repeats whole pieces of the one before. As in
    other recursive splitters, white space before a piece counts towards its size, and is trimmed only at the end.
    """
    levels = [_at_paragraphs, _at_lines, _at_sentences, _at_words]
    spans: list[Span] = []
    for rough in _cut(text, Span(start=0, end=len(text)), levels, size, overlap):
        span = units.trim(text, rough.start, rough.end)
        # Trimming may leave a span within its neighbour.
        if span is None or (spans and span.end <= spans[-1].end):
            continue
        if spans and span.start <= spans[-1].start:
            spans.pop()
        spans.append(span)
    return spans


# ---------------------------------------------------------------- packing

Finer = Callable[[str, int, int], Iterable[Span]]


def pack(text: str, spans: Iterable[Span], finer: Sequence[Finer], ruler: Ruler, size: int, overlap: int) -> list[Span]:
    """Pack as many whole units into each span as fit, after the tail of the span before.

    Args:
        text: the text of the spans.
        spans: the units, in order.
        finer: the ways to split a unit that is too long, coarsest first.
        ruler: measures size and overlap.
        size: the largest measure of a span.
        overlap: the largest measure of a tail.
    """
    packed: list[Span] = []
    start = end = -1
    for unit in _fitting(text, spans, finer, ruler, size):
        if start >= 0 and ruler.length(start, unit.end) > size:
            packed.append(Span(start=start, end=end))
            # Shorten the tail if it and the unit together would be too long.
            earliest = max(ruler.back(end, overlap), ruler.back(unit.end, size), start + 1)
            tail = units.next_word(text, earliest, end)
            start = tail if tail < end else unit.start
        elif start < 0:
            start = unit.start
        end = unit.end
    return [*packed, Span(start=start, end=end)] if start >= 0 else packed


def _fitting(text: str, spans: Iterable[Span], finer: Sequence[Finer], ruler: Ruler, size: int) -> Iterator[Span]:
    """Yield the spans, with finer spans in place of those longer than ``size``."""
    for span in spans:
        if ruler.length(span.start, span.end) <= size:
            yield span
        elif finer:
            yield from _fitting(text, finer[0](text, span.start, span.end), finer[1:], ruler, size)
        else:
            yield from ruler.cut(span.start, span.end, size)


def sentences_of(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the sentences of a part of a text."""
    for span in sentences(text[start:end]):
        yield Span(start=start + span.start, end=start + span.end)


# ---------------------------------------------------------------- recursion

_Level = Callable[[str, Span], Iterable[int]]
"""Return the positions, in ascending order, at which a piece of the text may be split."""


def _cut(text: str, whole: Span, levels: Sequence[_Level], size: int, overlap: int) -> Iterator[Span]:
    if not levels:
        yield from units.windows(text, whole.start, whole.end, size, overlap)
        return
    small: list[Span] = []
    for piece in _pieces(whole, levels[0](text, whole)):
        if piece.end - piece.start <= size:
            small.append(piece)
            continue
        yield from _merge(small, size, overlap)
        small = []
        bare = units.trim(text, piece.start, piece.end)
        if bare and bare.end - bare.start <= size:
            yield bare
        elif bare:
            yield from _cut(text, piece, levels[1:], size, overlap)
    yield from _merge(small, size, overlap)


def _pieces(whole: Span, cuts: Iterable[int]) -> Iterator[Span]:
    start = whole.start
    for cut in cuts:
        if cut > start:
            yield Span(start=start, end=cut)
            start = cut
    yield Span(start=start, end=whole.end)


def _merge(pieces: Iterable[Span], size: int, overlap: int) -> Iterator[Span]:
    """Merge adjacent pieces up to ``size``. The last ones, up to ``overlap``, are repeated."""
    window: deque[Span] = deque()
    for piece in pieces:
        if window and piece.end - window[0].start > size:
            yield Span(start=window[0].start, end=window[-1].end)
            while window and (piece.start - window[0].start > overlap or piece.end - window[0].start > size):
                window.popleft()
        window.append(piece)
    if window:
        yield Span(start=window[0].start, end=window[-1].end)


def _at_paragraphs(text: str, piece: Span) -> Iterator[int]:
    return (blank.start() for blank in units.PARAGRAPH_BREAK.finditer(text, piece.start, piece.end))


def _at_lines(text: str, piece: Span) -> Iterator[int]:
    cut = text.find("\n", piece.start, piece.end)
    while cut >= 0:
        yield cut
        cut = text.find("\n", cut + 1, piece.end)


def _at_sentences(text: str, piece: Span) -> Iterator[int]:
    return (span.end for span in sentences_of(text, piece.start, piece.end))


def _at_words(text: str, piece: Span) -> Iterator[int]:
    return (span.end for span in units.words(text, piece.start, piece.end))
