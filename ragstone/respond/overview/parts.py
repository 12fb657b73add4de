"""The parts of a document that a summary tells of: its sections, the small ones joined with their neighbours.

A document has as many headings as its author likes, at levels that a reader of PDF files can only guess. Sections are
therefore joined by how much they say, the smallest first, and not cut off below a level or after a number of headings.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from ragstone.core.frozen import frozen
from ragstone.respond.quote import Quote

ENTRY = 400
"""Characters that can be quoted of a section, below which it says little alone, as an entry of a list does."""


@frozen
class Section:
    """The text from one heading to the next, from character ``start``; ``level`` is 0 before the first heading."""

    title: str
    start: int
    level: int
    quotes: tuple[Quote, ...] = ()
    """The sentences that can be quoted, in order."""

    @property
    def size(self) -> int:
        """Return the number of characters that can be quoted."""
        return sum(one.span.end - one.span.start for one in self.quotes)


@frozen
class Part:
    """Sections that follow one another; ``level`` is the highest of theirs, ``size`` what can be quoted of them."""

    sections: tuple[Section, ...]
    level: int
    size: int

    @property
    def quotes(self) -> tuple[Quote, ...]:
        """Return the sentences that can be quoted, in order."""
        return tuple(one for section in self.sections for one in section.quotes)


def parts_of(sections: Sequence[Section], most: int) -> list[Part]:
    """Return at most ``most`` parts of a document, in order, each with something to quote if any has.

    Args:
        sections: of the document, in order. Text before the first heading counts as one of the highest level.
        most: the number of parts.
    """
    highest = min((one.level for one in sections if one.level), default=1)
    parts = [Part(sections=(one,), level=one.level or highest, size=one.size) for one in sections]
    return _joined(_without_entries(parts, most), most)


def _without_entries(parts: Sequence[Part], most: int) -> list[Part]:
    """Join the sections of the deepest levels with those they belong to while they are many and short.

    A hundred options of a program, each below its own heading, are not what its manual is about.
    """
    kept = [*parts]
    while sum(part.size > 0 for part in kept) > most:
        deepest = max(part.level for part in kept)
        own = [part.size for part in kept if part.level == deepest]
        if kept[0].level == deepest or sum(own) >= ENTRY * len(own):
            break
        joined = list[list[Part]]()
        for part in kept:
            if part.level == deepest:
                joined[-1].append(part)
            else:
                joined.append([part])
        without = [_together(some) for some in joined]
        if 2 * sum(part.size > 0 for part in without) < most:  # the entries are the document
            break
        kept = without
    return kept


def _together(parts: Sequence[Part]) -> Part:
    """Return neighbouring parts as one."""
    return Part(
        sections=tuple(section for part in parts for section in part.sections),
        level=min(part.level for part in parts),
        size=sum(part.size for part in parts),
    )


def _joined(parts: Sequence[Part], most: int) -> list[Part]:
    """Join the smallest part with a neighbour until they are few enough and each has something to quote."""
    kept: list[Part | None] = [*parts]
    before = [*range(-1, len(parts) - 1)]
    after = [*range(1, len(parts)), -1]
    smallest = [(part.size, at) for at, part in enumerate(parts)]
    heapify(smallest)
    count = len(parts)
    while smallest and count > 1 and (count > most or smallest[0][0] == 0):
        size, at = heappop(smallest)
        part = kept[at]
        if part is None or part.size != size:  # it was joined since
            continue
        above = kept[before[at]] if before[at] >= 0 else None
        below = kept[after[at]] if after[at] >= 0 else None
        first, second = (at, after[at]) if _heads(part, above, below) else (before[at], at)
        one, other = kept[first], kept[second]
        assert one is not None
        assert other is not None
        whole = _together((one, other))
        kept[first], kept[second] = whole, None
        after[first] = after[second]
        if after[second] >= 0:
            before[after[second]] = first
        heappush(smallest, (whole.size, first))
        count -= 1
    return [part for part in kept if part is not None]


def _heads(part: Part, above: Part | None, below: Part | None) -> bool:
    """Return whether a part joins the one below it, not the one above it.

    It joins the section that it belongs to, or one beside it. A chapter joins its own first section, not the end of the
    chapter before.
    """
    if above is None or below is None:
        return above is None
    if below.level != part.level:
        return below.level > part.level
    if above.level > part.level or not part.size:  # a heading without text heads what follows
        return True
    return above.level == part.level and below.size < above.size


def shares(parts: Sequence[Part], count: int) -> list[int]:
    """Return for each part how many sentences to quote: one, and more of the longest until they are ``count``."""
    number = [1 for _ in parts]
    while sum(number) < count:
        number[max(range(len(parts)), key=lambda at: parts[at].size / number[at])] += 1
    return number
