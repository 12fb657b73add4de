"""The input and output of readers: a file, and its text with marks."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from ragstone.acquire.metadata.groups import NOTHING_GIVEN, Given
from ragstone.acquire.readers.decode import Unreadable, clean
from ragstone.acquire.readers.questions import with_questions
from ragstone.acquire.readers.tables.grid import Box, Cell, Grid, grid
from ragstone.core.filters import Scalar
from ragstone.core.frozen import frozen
from ragstone.core.layout import Placed
from ragstone.core.reading import with_notice
from ragstone.core.records import Document, Mark, Metadata
from ragstone.language.units import is_unit_line
from ragstone.settings import AcquireSettings

_INVISIBLE = str.maketrans("", "", "\u00ad\u200b\u200e\u200f\u2060\ufeff")
"""Soft hyphens and marks without width: they divide words that readers and searches see as one."""
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_DATE = re.compile(r"(\d{4})-?(\d\d)?-?(\d\d)?(?:[T ]?(\d\d):?(\d\d):?(\d\d)?)?", re.ASCII)


_BAR = " | "
_PLACE_OF_PICTURE = "\N{OBJECT REPLACEMENT CHARACTER}"
_MOST_PLACES = 5
"""Places of what was left out that a notice names."""
Place = Callable[[int, int, Box], Placed | None]
"""Makes the record of where characters stand from their span and box; None if a viewer does not see them."""


@dataclass(slots=True, kw_only=True)
class Budget:
    """The bytes and files that an archive, and the archives in it, may still give."""

    bytes_left: int
    files_left: int


@frozen
class Wanted:
    """A page to draw: its number, from 0, and the width of the image in pixels."""

    number: int
    width: int


@frozen
class File:
    """A file to read.

    ``path`` is where its bytes are, ``name`` the id of its document, and ``source`` what people see. ``suffix``, such
    as ``.pdf``, selects the reader. ``given`` is what is known from outside of its readers. For a member of an archive,
    ``path`` is a temporary file, ``depth`` the number of archives around it, and ``budget`` how much they may still
    give. ``charset`` is the character set that the server of a web page declares. A reader that works long calls
    ``at_work`` now and then, at least once for each page or picture, to be given time for the next. ``wanted`` is the
    page to draw, for a function that draws one.
    """

    path: Path
    name: str
    source: str
    suffix: str
    settings: AcquireSettings
    given: Given = NOTHING_GIVEN
    depth: int = 0
    budget: Budget | None = None
    at_work: Callable[[], None] = field(default=lambda: None, repr=False, compare=False)
    wanted: Wanted | None = None
    charset: str = ""


@frozen
class Part:
    """A file inside a file, such as the attachment of an e-mail."""

    name: str
    data: bytes


@frozen
class Parsed:
    """The text of a file. ``facts`` become metadata; ``parts`` are read as files of their own.

    A file of ``entries``, such as a feed, gives a document for each, and none for itself. The ``key`` of an entry
    tells it from the others. ``pictures`` are to be described, as those of a `Document`.
    """

    text: str
    title: str = ""
    url: str = ""
    marks: tuple[Mark, ...] = ()
    placed: tuple[Placed, ...] = ()
    facts: Metadata = field(default_factory=dict[str, "Scalar | tuple[Scalar, ...]"])
    parts: tuple[Part, ...] = ()
    entries: tuple[Parsed, ...] = ()
    key: str = ""
    pictures: tuple[bytes, ...] = field(default=(), repr=False)

    def document(self, file: File) -> Document:
        """Return the document of a file.

        Raises:
            Unreadable: there is no text.
        """
        if not self.text.strip():
            raise Unreadable("empty")
        facts = {key: value for key, value in self.facts.items() if value != ""}
        return Document(
            id=f"{file.name}#{self.key}" if self.key else file.name,
            text=self.text,
            source=f"{file.source}#{self.key}" if self.key else file.source,
            title=self.title or first_heading(self.marks),
            url=self.url,
            metadata={"path": file.name, **facts},
            marks=with_questions(self.text, self.marks),
            placed=self.placed,
            pictures=self.pictures,
        )


def tidy(text: str) -> str:
    """Return text as a reader sees it: without invisible characters, and with letters for ligatures."""
    return clean(text).translate(_INVISIBLE).translate(_LIGATURES)


class Writer:
    """A builder of a text and its marks, block by block.

    A blank line separates blocks. The writer cleans each text that it receives, so that spans are exact.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._gap = ""
        self._marks: list[Mark] = []
        self._pages: list[tuple[str, int]] = []
        self._placed: list[Placed] = []
        self._table: Grid | None = None
        self._pictures: dict[str, bytes] = {}
        self._in_list = False
        self._left_out: Counter[str] = Counter()
        self._places_left_out: dict[str, dict[str, str]] = {}

    @property
    def length(self) -> int:
        """The characters written so far."""
        return self._length

    def left_out(self, what: str, count: int = 1, names: Sequence[str] = ()) -> None:
        """Note what the text lacks, so that nothing is lost in silence.

        Args:
            what: a noun in the singular.
            count: how many there are.
            names: what they are called. Otherwise the page that is being written says where they are, if there is one.
        """
        if count:
            self._left_out[what] += count
            place, here = ("named", names) if names else ("on page", [label for label, _ in self._pages[-1:]])
            self._places_left_out.setdefault(what, {}).update({f"{one}": place for one in here if one})

    def paragraph(self, text: str, placed: Sequence[Placed] = ()) -> None:
        """Add a paragraph.

        Args:
            text: the paragraph, in lines.
            placed: where parts of it stand on their page. Their spans are within ``text``, which is `tidy` then.
        """
        start = self._block(tidy(text).strip())
        if start is not None:
            self._placed += _moved(placed, start)

    def line(self, text: str) -> None:
        """Add a line that follows the one before without a blank line, such as a list item."""
        self._gap = "\n" if self._length else ""
        self._block(tidy(text).rstrip())

    def item(self, mark: str, text: str, placed: Sequence[Placed] = ()) -> None:
        """Add an item of a list, without a blank line after another item or what introduces the list.

        Args:
            mark: what stands before it, with its indentation; empty for the end of the last item.
            text: its words on one line.
            placed: where parts of it stand. Their spans are within ``text``, which is `tidy` then.
        """
        before = self._pieces[-1] if self._pieces else ""
        if not mark:
            self._gap = " " if self._in_list else self._gap
        elif self._in_list or before.endswith(":"):
            self._gap = "\n"
        start = self._block(f"{mark} {text}" if mark else text)
        if start is not None:
            self._placed += _moved(placed, start + (len(mark) + 1 if mark else 0))
            self._in_list = True

    def heading(self, text: str, level: int, placed: Sequence[Placed] = ()) -> None:
        """Add a heading. ``placed`` is where parts of it stand; ``text`` is on one line and `tidy` then."""
        words = " ".join(tidy(text).split())
        start = self._mark("heading", words, level=min(max(level, 1), 9), label=words)
        if start is not None:
            self._placed += _moved(placed, start)

    def code(self, text: str, language: str = "") -> None:
        lines = tidy(text).split("\n")
        while lines and not lines[0].strip():
            lines.pop(0)
        self._mark("code", "\n".join(lines).rstrip(), label=language)

    def table(
        self,
        rows: Sequence[Sequence[str | Cell]],
        caption: str = "",
        header: int | None = None,
        place: Place | None = None,
    ) -> None:
        """Add a table, one row per line, with bars between cells and without empty rows and columns.

        Args:
            rows: the cells of each row.
            caption: what stands above or below the table about all of it.
            header: the number of rows with column headings, including empty ones; None to tell them from the rest.
            place: makes the record of where a cell stands from its span and box.
        """
        made = grid([[_cleaned(cell) for cell in row] for row in rows], header)
        label = " ".join(tidy(caption).split())
        for title in made.titles:
            self.paragraph(title.text, _placed_cells([title.text], [title.box], 0, place))
        corner = made.rows[made.header - 1][0] if made.header else ""
        about = [label, *(title.text for title in made.titles), corner if is_unit_line(corner) else ""]
        text = "\n".join(map(_line_of, made.rows))
        start = self._mark("table", text, label=" ".join(part for part in about if part), header=made.header)
        if start is not None:
            self._place_rows(made, 0, start, place)
            self._table = made

    def more_rows(self, rows: Sequence[Sequence[str | Cell]], header: int | None, place: Place | None) -> bool:
        """Add rows to the table right before, without the column headings if they are repeated.

        Args:
            rows: the cells of each row, as for `table`.
            header: the number of rows with column headings, as for `table`.
            place: makes the records of where cells stand, as for `table`.

        Returns:
            Whether these rows go on with it; if they do not, nothing was added.
        """
        before = self._table
        if before is None or self._marks[-1].end != self._length:
            return False
        made = grid([[_cleaned(cell) for cell in row] for row in rows], header)
        repeated = before.header > 0 and [*made.rows[: before.header]] == [*before.rows[: before.header]]
        if made.titles or not made.rows or len(made.rows[0]) != len(before.rows[0]) or (made.header and not repeated):
            return False
        first = before.header if repeated else 0
        text = "".join(f"\n{_line_of(row)}" for row in made.rows[first:])
        self._pieces.append(text)
        start = self._length + 1
        self._length += len(text)
        self._marks[-1] = replace(self._marks[-1], end=self._length)
        self._place_rows(made, first, start, place)
        return True

    def _place_rows(self, made: Grid, first: int, start: int, place: Place | None) -> None:
        """Keep where the cells of the rows from ``first`` on stand, whose text begins at ``start``."""
        for row, boxes in zip(made.rows[first:], made.boxes[first:], strict=False):
            self._placed += _placed_cells(row, boxes, start, place)
            start += len(_line_of(row)) + 1

    def picture(self, image: bytes) -> None:
        """Mark the place of a picture to be described, a JPEG image; a picture that was there before has no place."""
        name = hashlib.sha256(image).hexdigest()
        if name not in self._pictures:
            self._pictures[name] = image
            self._mark("picture", _PLACE_OF_PICTURE)
            self._table = None  # no rows go on with a table above a picture

    def page(self, label: str) -> None:
        """Begin a page with this label."""
        self._pages.append((label, self._length))

    def marked(self, text: str, marks: Sequence[Mark]) -> None:
        """Add a text with marks of its own, such as a chapter of a book."""
        start = self._block(text)
        if start is not None:
            self._marks += [replace(mark, start=mark.start + start, end=mark.end + start) for mark in marks]

    def parsed(
        self, *, title: str = "", url: str = "", facts: Metadata | None = None, parts: Sequence[Part] = ()
    ) -> Parsed:
        """Return the text with its marks in order."""
        text, marks = "".join(self._pieces), [*self._marks]
        for (label, start), (_, end) in pairwise([*self._pages, ("", self._length)]):
            words = text[start:end].strip()  # The blank line between two pages belongs to neither.
            if words:
                begin = text.index(words, start)
                marks.append(Mark(kind="page", start=begin, end=begin + len(words), label=label))
        marks.sort(key=lambda mark: (mark.start, mark.kind != "page", -mark.end))
        return Parsed(
            text=text,
            title=" ".join(tidy(title).split()),
            url=url,
            marks=tuple(marks),
            placed=tuple(self._placed),
            facts=self._with_notice(facts or {}),
            parts=tuple(parts),
            pictures=tuple(self._pictures.values()),
        )

    def _with_notice(self, facts: Metadata) -> Metadata:
        """Return facts that also say what was left out."""
        if not self._left_out:
            return facts
        counted = [
            f"{count} {what}{'s' if count > 1 else ''}{_listed(self._places_left_out[what])}"
            for what, count in self._left_out.items()
        ]
        listed = " and ".join(part for part in (", ".join(counted[:-1]), counted[-1]) if part)
        notice = f"{listed} {'was' if self._left_out.total() == 1 else 'were'} left out"
        return with_notice(facts, notice)

    def _block(self, text: str) -> int | None:
        """Add a block and return where it begins; None if it is empty."""
        if not text.strip():
            return None
        self._in_list = False
        for piece in (self._gap, text):
            self._pieces.append(piece)
            self._length += len(piece)
        self._gap = "\n\n"
        return self._length - len(text)

    def _mark(self, kind: Any, text: str, *, level: int = 0, label: str = "", header: int = 0) -> int | None:
        """Add a block with a mark and return where it begins; None if it is empty."""
        start = self._block(text)
        if start is not None:
            end = start + len(text)
            self._marks.append(Mark(kind=kind, start=start, end=end, level=level, label=label, header=header))
        return start


def _listed(places: Mapping[str, str]) -> str:
    """Return where something is, or what it is called; empty if that is not known."""
    names = [*places]
    shown = ", ".join(names[:_MOST_PLACES]) + (", ..." if len(names) > _MOST_PLACES else "")
    return f" {places[names[0]]} {shown}" if names else ""


def _moved(placed: Sequence[Placed], by: int) -> list[Placed]:
    # Not `replace`, which takes three times as long.
    return [
        Placed(
            start=one.start + by,
            end=one.end + by,
            page=one.page,
            left=one.left,
            top=one.top,
            right=one.right,
            bottom=one.bottom,
            confidence=one.confidence,
        )
        for one in placed
    ]


def _line_of(row: Sequence[str]) -> str:
    return _BAR.join(row).rstrip(" |")


def _placed_cells(row: Sequence[str], boxes: Sequence[Box | None], start: int, place: Place | None) -> list[Placed]:
    """Return where the cells of a row stand, whose line begins at ``start``."""
    out: list[Placed] = []
    for text, box in zip(row, boxes, strict=True):
        if place and text and box and (one := place(start, start + len(text), box)):
            out.append(one)
        start += len(text) + len(_BAR)
    return out


def _cleaned(cell: str | Cell) -> Cell:
    """Return a cell on one line, without what would divide it."""
    cell = Cell(cell) if isinstance(cell, str) else cell
    return replace(cell, text=" ".join(tidy(cell.text).replace("|", "¦").split()))


def first_heading(marks: Sequence[Mark]) -> str:
    """Return the words of the first heading; empty if there is none, or if it only begins a series.

    "Version 3.1.3" above "Version 3.1.2", of the same level, is no title.
    """
    headings = [mark for mark in marks if mark.kind == "heading" and mark.label]
    if not headings:
        return ""
    first, *others = headings
    form = _form(first.label)
    is_one_of_many = any(one.level == first.level and form and _form(one.label) == form for one in others)
    return "" if is_one_of_many else first.label


def _form(heading: str) -> str:
    """Return the first two words of a heading, any number as 0: "Version 0.0.0"; empty if they have no number."""
    form = re.sub(r"\d+", "0", " ".join(heading.split()[:2]))
    return form if "0" in form else ""


def iso_date(written: str) -> str:
    """Return a date from document properties as ISO 8601; empty if it is no date. PDF writes ``D:20240506...``."""
    found = _DATE.match(written.strip().removeprefix("D:"))
    if not found:
        return ""
    year, month, day, *clock = found.groups()
    date = "-".join(part for part in (year, month, day) if part)
    # A time may lack its seconds, but not its day.
    return f"{date}T{':'.join(part or '00' for part in clock)}" if day and clock[0] else date
