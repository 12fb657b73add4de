"""PowerPoint presentations before 2007 (ppt, pps): each slide is a page, with its title and its notes.

The format is [MS-PPT]: a stream of records, some of which hold others. A slide refers to text of its outline, which
lies in the list of slides, or holds text in its shapes. Each time the file was saved, changed records were added to its
end; a directory says where the last ones are.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.office.ole import MAGIC, Compound
from ragstone.acquire.readers.office.slides import parse as parse_pptx
from ragstone.acquire.readers.parsed import File, Parsed, Writer
from ragstone.acquire.readers.tables.grid import Cell

_DOCUMENT, _SLIDE, _NOTES = 0x03E8, 0x03EE, 0x03F0
_LIST, _PERSIST = 0x0FF0, 0x03F3
_TEXT_TYPE, _WIDE_TEXT, _TEXT, _OUTLINE = 0x0F9F, 0x0FA0, 0x0FA8, 0x0F9E
_SHAPE, _BOX, _PLACEHOLDER, _NOTES_OF = 0xF004, 0xF00D, 0x0BC3, 0x03F1
_GROUP, _ANCHOR, _PROPERTIES, _TABLE = 0xF003, 0xF00F, 0xF122, 0x039F
"""A group of shapes, where a shape in it stands, its further properties, and the one that makes it a table."""
_EDIT, _DIRECTORY = 0x0FF5, 0x1772
_ENCRYPTED = 0xF3D1C4DF
_SLIDES, _NOTES_PAGES = 0, 2
"""Which list of slides a record is."""
_TITLES, _OTHER = (0, 6), 4
"""Types of texts."""
_FURNITURE = range(7, 11)
"""Placeholders for date, number, footer and header."""
_OLDER = "not a presentation of PowerPoint 97 or later; save it as .pptx"
_DEEPEST = 30
_MOST_EDITS = 10_000
_WIDEST = 100
"""Rows and columns of a table; PowerPoint makes at most 75."""
_BREAKS = str.maketrans({"\r": "\n", "\x0b": "\n"})


@dataclass(frozen=True, slots=True)
class _Record:
    """A record: its kind, what its first four bits above the version say, and its content."""

    kind: int
    instance: int
    holds_records: bool
    content: memoryview

    @property
    def number(self) -> int:
        """The first number in the content; 0 if it is too short."""
        return struct.unpack_from("<I", self.content)[0] if len(self.content) >= 4 else 0


@dataclass(slots=True)
class _Text:
    """The words of a shape; those of a table also as its rows."""

    kind: int
    words: str
    rows: Sequence[Sequence[Cell]] = ()


@dataclass(slots=True)
class _Listed:
    """A slide in the list of slides: the number of its record, its own number, and the texts of its outline."""

    record: int
    number: int
    texts: list[_Text] = field(default_factory=list[_Text])


def parse(file: File) -> Parsed:
    """Return the slides of a presentation in order.

    Files of the newer format under this name are read as what they are.

    Raises:
        Unreadable: it is encrypted, damaged, or no presentation of PowerPoint 97 or later.
    """
    with file.path.open("rb") as stream:
        start = stream.read(len(MAGIC))
    if start.startswith(b"PK\x03\x04"):
        return parse_pptx(file)
    if start != MAGIC:
        raise Unreadable(_OLDER)
    with Compound(file.path) as compound:
        title, facts = compound.properties()
        data, current = memoryview(compound.bytes("PowerPoint Document")), compound.bytes("Current User")
    if not data:
        raise Unreadable(_OLDER)
    if len(current) >= 16 and struct.unpack_from("<I", current, 12)[0] == _ENCRYPTED:
        raise Unreadable("encrypted")
    try:
        slides = _slides(data, current)
    except (struct.error, IndexError) as error:
        raise Unreadable(f"damaged: {error}") from error
    writer = Writer()
    for number, (texts, notes) in enumerate(slides, 1):
        writer.page(str(number))
        for text in texts:
            if text.rows:
                writer.table(text.rows)
            elif text.kind in _TITLES:
                writer.heading(text.words, 1)
            else:
                writer.paragraph(text.words)
        writer.paragraph(f"Notes: {notes}" if notes else "")
    return writer.parsed(title=title, facts={"kind": "ppt", "pages": len(slides), **facts})


def _slides(data: memoryview, current: bytes) -> list[tuple[list[_Text], str]]:
    """Return the texts and the notes of each slide."""
    places = _places(data, current)
    document = next((one for one in _at(data, places.values()) if one.kind == _DOCUMENT), None)
    if document is None:  # the directory is damaged
        records = [*_records(data)]
        return [(_texts(one, []), "") for one in records if one.kind == _SLIDE]
    listed, noted = (_listed(document, which) for which in (_SLIDES, _NOTES_PAGES))
    notes: dict[int, str] = {}
    for record in noted:
        for page in _at(data, [places.get(record.record, len(data))]):
            words = "\n".join(text.words for text in _texts(page, record.texts))
            notes[_notes_of(page)] = words
    slides: list[tuple[list[_Text], str]] = []
    for record in listed:
        slide = next(_at(data, [places.get(record.record, len(data))]), None)
        texts = _texts(slide, record.texts) if slide is not None and slide.kind == _SLIDE else record.texts
        slides.append((texts, notes.get(record.number, "")))
    return slides


def _places(data: memoryview, current: bytes) -> dict[int, int]:
    """Return where the last version of each numbered record begins."""
    offsets: dict[int, int] = {}
    edit = struct.unpack_from("<I", current, 16)[0] if len(current) >= 20 else 0
    seen: set[int] = set()
    while edit not in seen and len(seen) < _MOST_EDITS:
        seen.add(edit)
        record = next(_at(data, [edit]), None)
        if record is None or record.kind != _EDIT or len(record.content) < 20:
            break
        before, directory, document = struct.unpack_from("<III", record.content, 8)
        own = next(_at(data, [directory]), None)
        if own is None or own.kind != _DIRECTORY:
            break
        for number, place in _entries(own.content):
            offsets.setdefault(number, place)
        if len(seen) == 1 and document in offsets:
            # The document of the last edit counts, so it comes first.
            offsets = {document: offsets.pop(document), **offsets}
        if not before:
            break
        edit = before
    return offsets


def _entries(content: memoryview) -> Iterator[tuple[int, int]]:
    at = 0
    while at + 4 <= len(content):
        (head,) = struct.unpack_from("<I", content, at)
        first, count = head & 0xFFFFF, head >> 20
        at += 4
        for number in range(count):
            if at + 4 > len(content):
                return
            yield first + number, struct.unpack_from("<I", content, at)[0]
            at += 4


def _at(data: memoryview, places: Iterable[int]) -> Iterator[_Record]:
    """Yield the records that begin at these places, as far as there are any."""
    for place in places:
        if place + 8 <= len(data):
            yield from _records(data[place:], most=1)


def _records(data: memoryview, most: int | None = None) -> Iterator[_Record]:
    """Yield the records in a content, one after the other."""
    at = 0
    while at + 8 <= len(data) and (most is None or most > 0):
        head, kind, length = struct.unpack_from("<HHI", data, at)
        at += 8
        yield _Record(kind, head >> 4, head & 0xF == 0xF, data[at : at + length])
        at += length
        most = None if most is None else most - 1


def _listed(document: _Record, which: int) -> list[_Listed]:
    """Return the slides in one of the lists of a document, with the texts of their outlines."""
    slides: list[_Listed] = []
    kind = 0
    for one in _records(document.content):
        if one.kind != _LIST or one.instance != which:
            continue
        for record in _records(one.content):
            if record.kind == _PERSIST and len(record.content) >= 16:
                slides.append(_Listed(record.number, struct.unpack_from("<I", record.content, 12)[0]))
            elif record.kind == _TEXT_TYPE:
                kind = record.number
                if slides:
                    slides[-1].texts.append(_Text(kind, ""))
            elif slides and slides[-1].texts and record.kind in (_WIDE_TEXT, _TEXT):
                slides[-1].texts[-1].words += _words(record)
    return slides


def _texts(slide: _Record, outline: Sequence[_Text]) -> list[_Text]:
    """Return the texts of a slide in the order of its shapes."""
    texts: list[_Text] = []
    for shape in _shapes(slide, 0):
        if shape.kind == _GROUP:
            texts.append(_table(shape))
            continue
        inside = [*_inner(shape, 0)]
        if any(one.kind == _PLACEHOLDER and len(one.content) > 4 and one.content[4] in _FURNITURE for one in inside):
            continue
        kind = _OTHER
        for record in inside:
            if record.kind == _TEXT_TYPE:
                kind = record.number
            elif record.kind in (_WIDE_TEXT, _TEXT):
                texts.append(_Text(kind, _words(record)))
            elif record.kind == _OUTLINE and record.number < len(outline):
                texts.append(outline[record.number])
    return [one for one in texts if one.words.strip() not in ("", "*")]


def _shapes(record: _Record, depth: int) -> Iterator[_Record]:
    """Yield the tables in a record, and the other shapes, those of groups too."""
    for child in _records(record.content):
        if child.kind == _SHAPE or (child.kind == _GROUP and _is_table(child)):
            yield child
        elif child.holds_records and depth < _DEEPEST:
            yield from _shapes(child, depth + 1)


def _is_table(group: _Record) -> bool:
    """Return whether the first shape in a group says that the others are the cells of a table."""
    first = next(_records(group.content), None)
    properties = [one for one in _records(first.content) if one.kind == _PROPERTIES] if first else []
    ids = (
        struct.unpack_from("<H", one.content, at)[0] & 0x3FFF
        for one in properties
        for at in range(0, min(6 * one.instance, len(one.content) - 1), 6)
    )
    return _TABLE in ids and bool(_table(group).rows)


def _table(group: _Record) -> _Text:
    """Return the cells of a table by where they stand; no rows if it has too many."""
    cells: list[tuple[tuple[int, int, int, int], str]] = []
    for shape in _records(group.content):
        inside = [*_inner(shape, 0)]
        anchor = next((one.content for one in inside if one.kind == _ANCHOR and len(one.content) >= 16), None)
        if anchor is not None and any(one.kind == _TEXT_TYPE for one in inside):
            words = " ".join(_words(one) for one in inside if one.kind in (_WIDE_TEXT, _TEXT))
            cells.append((struct.unpack_from("<4i", anchor), words))
    lefts, tops = (sorted({box[side] for box, _ in cells}) for side in (0, 1))
    if max(len(lefts), len(tops)) > _WIDEST or len(cells) > len(lefts) * len(tops):
        return _Text(_OTHER, "")
    rows: list[list[Cell]] = [[] for _ in tops]
    for (left, top, right, bottom), words in sorted(cells):
        columns, high = bisect_left(lefts, right) - lefts.index(left), bisect_left(tops, bottom) - tops.index(top)
        rows[tops.index(top)].append(Cell(words, columns=max(columns, 1), rows=max(high, 1)))
    return _Text(_OTHER, "\n".join(words for _, words in cells), rows)


def _inner(record: _Record, depth: int) -> Iterator[_Record]:
    """Yield all records in a shape."""
    for child in _records(record.content):
        # The box of text in a shape holds records, whatever its head says.
        if (child.holds_records or child.kind == _BOX) and depth < _DEEPEST:
            yield from _inner(child, depth + 1)
        else:
            yield child


def _notes_of(page: _Record) -> int:
    """Return the number of the slide that a page of notes belongs to; 0 if it says none."""
    return next((one.number for one in _records(page.content) if one.kind == _NOTES_OF), 0)


def _words(record: _Record) -> str:
    text = bytes(record.content).decode("utf-16-le" if record.kind == _WIDE_TEXT else "latin-1", "replace")
    return text.translate(_BREAKS)
