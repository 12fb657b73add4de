"""The sections and pages of a document."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from operator import attrgetter

from ragstone.core.frozen import frozen
from ragstone.core.headings import MESSAGE_LEVEL, is_question
from ragstone.core.records import Document, Mark, Span

_start = attrgetter("start")


@frozen
class Section:
    """The text from one heading to the next, of any level. The text before the first heading has level 0."""

    start: int
    end: int
    level: int = 0
    titles: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self.titles[-1] if self.titles else ""

    @property
    def path(self) -> str:
        """The headings above the section, and its own: "Installation > Linux"."""
        return " > ".join(self.titles)

    @property
    def question(self) -> tuple[str, ...]:
        """The headings down to the first one that asks a question, which the section answers; empty without one."""
        asked = next((number for number, title in enumerate(self.titles, start=1) if is_question(title)), 0)
        return self.titles[:asked]


def questions_apart(text: str, outline: Sequence[Section], start: int, end: int) -> Iterator[tuple[Span, Section]]:
    """Yield the parts of a text from ``start`` to ``end``, each with its first section that is more than a heading.

    What answers the question of a heading is one part, with headings right above that have no text of their own; so is
    each message of a mail.
    """
    if start == end:
        return
    first = max(bisect_right(outline, start, key=_start) - 1, 0)
    begin, own, headings = start, outline[first], None
    for before, section in pairwise(outline[first : bisect_left(outline, end, key=_start)]):
        headings = (headings or before) if _is_bare(text, before) else None
        if section.question == before.question and section.level < MESSAGE_LEVEL:
            continue
        cut = (headings or section).start
        if cut > begin:
            yield Span(start=begin, end=cut), own
            begin = cut
        own = section
    yield Span(start=begin, end=end), own


def _is_bare(text: str, section: Section) -> bool:
    """Return whether a section has no words besides its heading."""
    written, title = (filter(str.isalnum, one) for one in (text[section.start : section.end], section.title))
    return all(one == other for one, other in zip_longest(written, title))


def sections(length: int, marks: Sequence[Mark]) -> list[Section]:
    """Return the sections of a text of ``length`` characters, in order and without gaps."""
    headings = [mark for mark in marks if mark.kind == "heading"]
    out = [Section(start=0, end=headings[0].start if headings else length)]
    above: list[Mark] = []
    for heading, after in zip_longest(headings, headings[1:]):
        while above and above[-1].level >= heading.level:
            above.pop()
        above.append(heading)
        titles = tuple(" ".join(mark.label.split()) for mark in above)
        end = after.start if after else length
        out.append(Section(start=heading.start, end=end, level=heading.level, titles=titles))
    return [section for section in out if section.end > section.start]


def section_at(outline: Sequence[Section], position: int) -> Section:
    """Return the section at a position of the text."""
    return outline[max(bisect_right(outline, position, key=_start) - 1, 0)]


def label_at(marks: Sequence[Mark], position: int) -> str:
    """Return the label of the page or picture at a position of the text; empty if none is there, or it has no label.

    Args:
        marks: of one of these kinds, which do not overlap.
        position: a character of the text.
    """
    at = bisect_right(marks, position, key=lambda mark: mark.start) - 1
    return marks[at].label if at >= 0 and position < marks[at].end else ""


@frozen
class Outlined:
    """A text with the section and page of each position, and with the descriptions of pictures."""

    text: str
    sections: Sequence[Section]
    pages: Sequence[Mark]
    pictures: Sequence[Mark]

    @staticmethod
    def of(document: Document) -> Outlined:
        pages, pictures = ([mark for mark in document.marks if mark.kind == kind] for kind in ("page", "picture"))
        outline = sections(len(document.text), document.marks)
        return Outlined(text=document.text, sections=outline, pages=pages, pictures=pictures)

    def section_span(self, position: int) -> Span:
        """Return the characters of the section at a position, with its heading."""
        found = section_at(self.sections, position)
        return Span(start=found.start, end=found.end)

    def section(self, position: int) -> str:
        """Return the path of headings at a position."""
        return section_at(self.sections, position).path

    def page(self, position: int) -> str:
        """Return the label of the page at a position."""
        return label_at(self.pages, position)

    def described_by(self, position: int) -> str:
        """Return the model that describes a picture at a position; empty if the words stand in the original."""
        return label_at(self.pictures, position)
