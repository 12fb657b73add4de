"""What a language model reads: the hits of a question widened to their sections, each text once, newest versions first.

A model answers better from whole sections than from chunks cut at a size, and from each fact once. Tables and rows of
data files stay as they are: their chunks carry their own headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cmp_to_key

from ragstone.chunk import Outlined
from ragstone.core.answers import EXTRACTIVE
from ragstone.core.editions import VERSION_OF, edition_of
from ragstone.core.naming import name_of
from ragstone.core.record import record_of
from ragstone.core.records import Chunk, Evidence, Hit, Passage, Span
from ragstone.core.table import without_table
from ragstone.engine.cited import Outlines
from ragstone.engine.components import Components

WIDEST = 2400
"""Characters to which a hit is widened, about 600 tokens; a longer hit stays as it is."""
LONGEST = 2 * WIDEST
"""Characters of a passage of several hits."""
SHINGLE = 5
"""Words in a row that are compared to find passages that repeat each other."""
REPEATED = 0.8
"""Share of the shorter passage that a better one must repeat for it to be left out."""
_WORD = re.compile(r"\w+")


def with_passages(version: Components, evidence: Evidence) -> Evidence:
    """Return the evidence with the passages for a language model, best first; without any if hits are read as they are.

    Reads documents from the catalog, so it belongs in a thread.
    """
    own = version.settings.respond
    most = 0 if own.model.name == EXTRACTIVE else own.passages
    if not most:
        return evidence
    outlines = Outlines(version.catalog)
    with version.catalog.snapshot():
        hits = (*evidence.hits, *evidence.versions, *evidence.further)
        wide = [(hit, _widened(hit, outlines)) for hit in hits]
        merged = _merged(_beside_tables(wide, outlines), outlines)
    passages = list(_distinct(merged))
    if evidence.question.versions_meant == ():
        passages = _newest_first(passages)
    return replace(evidence, passages=tuple(passages[:most]))


def _widened(hit: Hit, outlines: Outlines) -> Hit:
    """Return a hit with the text of its section around it, as far as that fits."""
    chunk = hit.chunk
    if chunk.is_outside or chunk.facts.get("is_table") or record_of(chunk) or len(chunk.text) >= WIDEST:
        return hit
    outline = outlines.of(chunk.document_id)
    if outline is None or outline.text[chunk.start : chunk.end] != chunk.text:
        return hit
    return _spanning(hit, outline, _around(chunk, outline))


def _around(chunk: Chunk, outline: Outlined) -> Span:
    """Return the section of a chunk, or the whole paragraphs of it around the chunk that fit."""
    section = outline.section_span(chunk.start)
    low, high = min(section.start, chunk.start), max(section.end, chunk.end)
    if high - low <= WIDEST:
        return Span(start=low, end=high)
    room = WIDEST - (chunk.end - chunk.start)
    start = max(low, chunk.start - room // 2)
    end = min(high, start + WIDEST)
    start = chunk.start if (at := outline.text.find("\n\n", start, chunk.start)) < 0 and start > low else max(start, at)
    end = end if end == high else max(chunk.end, outline.text.rfind("\n\n", chunk.end, end))
    return Span(start=start, end=end)


def _spanning(hit: Hit, outline: Outlined, span: Span) -> Hit:
    """Return a hit with these characters of its document, without white space at their ends.

    A table with what stands around it is no longer a table: its headings would be those of every other table there.
    """
    text = span.of(outline.text)
    start = span.start + len(text) - len(text.lstrip())
    own, text = hit.chunk, text.strip()
    facts = own.facts if text == own.text else without_table(own.facts)
    return replace(hit, chunk=replace(own, start=start, end=start + len(text), text=text, facts=facts))


def _beside_tables(wide: Sequence[tuple[Hit, Hit]], outlines: Outlines) -> Iterator[tuple[Hit, Hit]]:
    """Yield hits as found and as widened, the widened ones up to the tables around them that are hits themselves.

    A table is read best on its own, under its headings, and its rows only once. It follows the first text that was
    widened over it, so that it keeps the place that it had in this text, and replaces what is only its title.
    """
    tables = [hit for hit, _ in wide if hit.chunk.facts.get("is_table")]
    told = set[str]()
    for found, hit in wide:
        if found.chunk.id in told:
            continue
        told.add(found.chunk.id)
        over = [one for one in tables if one is not found and _overlap(one.chunk, hit.chunk)]
        outline = outlines.of(found.chunk.document_id) if over else None
        if outline is None:
            yield found, hit
            continue
        start = max([hit.chunk.start, *(one.chunk.end for one in over if one.chunk.end <= found.chunk.start)])
        end = min([hit.chunk.end, *(one.chunk.start for one in over if one.chunk.start >= found.chunk.end)])
        text = _spanning(hit, outline, Span(start=start, end=end))
        if not _words(text.chunk.text) <= {word for one in over for word in _words(_told_with(one.chunk))}:
            yield found, text
        for one in over:
            if one.chunk.id not in told:
                told.add(one.chunk.id)
                yield one, one


def _told_with(table: Chunk) -> str:
    """Return the words that a language model reads with a table."""
    return " ".join([table.headed, *(str(table.facts.get(key, "")) for key in ("table_caption", "section"))])


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def _merged(wide: Iterable[tuple[Hit, Hit]], outlines: Outlines) -> list[Hit]:
    """Return the widened hits, those of one document that overlap as one, at the rank of the better one.

    What would get too long stays apart, as it was found, so that one document does not take the room of all others.

    Args:
        wide: each hit as it was found, and widened.
        outlines: of the documents.
    """
    out: list[Hit] = []
    for found, hit in wide:
        same = [one for one in out if _overlap(one.chunk, hit.chunk)]
        outline = outlines.of(hit.chunk.document_id) if same else None
        if outline is None:
            out.append(hit)
            continue
        best, *rest = same
        rest = rest if _length([hit, *same]) <= LONGEST else []
        if _length([hit, best, *rest]) <= LONGEST:
            joined = _spanning(best, outline, _hull([hit, best, *rest]))
            out = [joined if one is best else one for one in out if all(one is not other for other in rest)]
        elif all(_hull([one, found]) != _hull([one]) for one in same):
            out.append(found)
    return out


def _hull(hits: Sequence[Hit]) -> Span:
    """Return the characters from the first to the last one of hits."""
    return Span(start=min(hit.chunk.start for hit in hits), end=max(hit.chunk.end for hit in hits))


def _length(hits: Sequence[Hit]) -> int:
    hull = _hull(hits)
    return hull.end - hull.start


def _overlap(one: Chunk, other: Chunk) -> bool:
    return one.document_id == other.document_id and one.start < other.end and other.start < one.end


@dataclass(slots=True)
class _Seen:
    passage: Passage
    shingles: frozenset[tuple[str, ...]]


def _distinct(hits: Sequence[Hit]) -> Iterator[Passage]:
    """Yield the passages; one that repeats a better one only adds the title of its document to it."""
    seen: list[_Seen] = []
    for hit in hits:
        own = _shingles(hit.chunk.text)
        same = next((one for one in seen if _repeats(own, one.shingles)), None)
        if same is None:
            seen.append(_Seen(passage=Passage(hit=hit), shingles=own))
        elif hit.chunk.document_id != same.passage.hit.chunk.document_id:
            titles = dict.fromkeys([*same.passage.also, name_of(hit.chunk)])
            same.passage = replace(same.passage, also=tuple(titles))
    yield from (one.passage for one in seen)


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = [word.casefold() for word in _WORD.findall(text)]
    return frozenset(tuple(words[i : i + SHINGLE]) for i in range(max(1, len(words) - SHINGLE + 1)))


def _repeats(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
    return len(one & other) >= REPEATED * min(len(one), len(other))


def _newest_first(passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages with the versions of a document in the order of their dates, in the places that they had."""
    versions: dict[str, list[int]] = {}
    for place, passage in enumerate(passages):
        chunk = passage.hit.chunk
        versions.setdefault(str(chunk.metadata.get(VERSION_OF, chunk.id)), []).append(place)
    out = list(passages)
    for places in versions.values():
        own = sorted((passages[place] for place in places), key=cmp_to_key(_newer_first))
        for place, passage in zip(places, own, strict=True):
            out[place] = passage
    return out


def _newer_first(one: Passage, other: Passage) -> int:
    mine, theirs = (edition_of(some.hit.chunk.metadata) for some in (one, other))
    return mine.order(theirs)
