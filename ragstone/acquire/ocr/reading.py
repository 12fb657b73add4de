"""Pictures to text: upright, read, in order, with the place of each row on its page."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from ragstone.acquire.ocr.order import Paragraph, paragraphs
from ragstone.acquire.ocr.pictures import SMALLEST_SIDE
from ragstone.acquire.ocr.recognizer import Gray, Recognizer, confidence
from ragstone.acquire.ocr.upright import Box, Turn, turn_of
from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import Writer, tidy
from ragstone.core.filters import Scalar
from ragstone.core.frozen import frozen
from ragstone.core.layout import Placed
from ragstone.settings import AcquireSettings

_FEWEST_LETTERS = 3
"""A picture with fewer letters and digits than this holds a mark or a speck, and no text."""
_PAGE_OF_TEXT = 1000
"""A picture with more characters than this is a page of text; its words say what it shows."""
_LETTER = re.compile(r"[^\W_]")
_DIVIDED = re.compile(r"[^\W\d_]-$")


@frozen
class Row:
    """A row of a paragraph: its text, how surely it is read, and its box in the picture as it came."""

    text: str
    confidence: float
    box: Box


@frozen
class Scan:
    """A picture as text: paragraphs of rows, in reading order. ``failure`` says why an engine could not read it."""

    paragraphs: Sequence[Sequence[Row]] = ()
    confidence: float = 0.0
    characters: int = 0
    failure: str = ""

    @property
    def is_page(self) -> bool:
        """Whether the picture is a page of text, so that a description would add nothing."""
        return self.characters > _PAGE_OF_TEXT


class Tally:
    """What all pictures of a file have in common: the facts of its document.

    ``failed`` counts the pictures that could not be read, and ``failure`` says why the first of them could not.
    """

    def __init__(self) -> None:
        self.characters = 0
        self.failed = 0
        self.failure = ""
        self._sure = 0.0

    def add(self, scan: Scan) -> None:
        self.characters += scan.characters
        self.failed += bool(scan.failure)
        self.failure = self.failure or scan.failure
        self._sure += scan.confidence * scan.characters

    def facts(self, engine: Recognizer | None) -> dict[str, Scalar]:
        """Return the facts ``ocr`` and ``ocr_confidence``; none if no picture has text."""
        if not engine or not self.characters:
            return {}
        return {"ocr": engine.name, "ocr_confidence": round(self._sure / self.characters, 3)}


def read_all(
    pictures: Iterable[Gray], recognizer: Recognizer | None, settings: AcquireSettings, at_work: Callable[[], None]
) -> Iterator[Scan]:
    """Yield what each picture says, in order. As many pictures are in memory as the engine reads at once.

    Args:
        pictures: what to read.
        recognizer: the engine; None if pictures are only described, which says nothing of their words.
        settings: the languages of the pictures, and the time for each.
        at_work: called before each picture and after it.
    """
    if recognizer is None:
        for _ in pictures:
            at_work()
            yield Scan()
            at_work()
        return
    with ThreadPoolExecutor(recognizer.pages_at_once) as pool:
        waiting: deque[Future[Scan]] = deque()
        try:
            for picture in pictures:
                at_work()
                waiting.append(pool.submit(read_one, picture, recognizer, settings))
                if len(waiting) >= recognizer.pages_at_once:
                    yield waiting.popleft().result()
                    at_work()
            while waiting:
                yield waiting.popleft().result()
                at_work()
        finally:
            for one in waiting:
                one.cancel()


def read_one(picture: Gray, recognizer: Recognizer, settings: AcquireSettings) -> Scan:
    """Return what a picture says. A failure costs only this picture, not the file that it is in."""
    if min(picture.shape) < SMALLEST_SIDE:
        return Scan()
    turn = turn_of(picture)
    upright = turn.apply(picture)
    try:
        read = recognizer.read(upright, settings.ocr_languages, settings.ocr_seconds)
    except Unreadable as error:
        return Scan(failure=str(error))
    lines, turn = read.lines, turn.upside_down() if read.upside_down else turn
    shape = (picture.shape[0], picture.shape[1])
    boxed = (upright.shape[0], upright.shape[1])
    rows = [_rows(one, turn, shape, boxed) for one in paragraphs(lines)]
    letters = sum(len(_LETTER.findall(line.text)) for line in lines)
    if letters < _FEWEST_LETTERS:
        return Scan()
    return Scan(paragraphs=rows, confidence=confidence(lines), characters=sum(len(line.text) for line in lines))


def write(writer: Writer, scan: Scan, page: int | None) -> None:
    """Write a scan as paragraphs.

    Args:
        writer: receives them.
        scan: what a picture says.
        page: the number of the page that the picture shows, counted from 0; None if it shows only a part of one.
    """
    for rows in scan.paragraphs:
        text = ""
        placed: list[Placed] = []
        for row in rows:
            # A hyphen at the end of a row divides a word if the next row goes on with a small letter.
            if _DIVIDED.search(text) and row.text[:1].islower():
                text = text[:-1]
                placed = [*placed[:-1], *(replace(one, end=len(text)) for one in placed[-1:])]
            elif text:
                text += "\n"
            start = len(text)
            text += row.text
            if page is not None:
                placed.append(_placed(start, len(text), page, row))
        writer.paragraph(text, placed)


def _placed(start: int, end: int, page: int, row: Row) -> Placed:
    left, top, right, bottom = row.box
    return Placed(
        start=start,
        end=end,
        page=page,
        left=left,
        top=top,
        right=right,
        bottom=bottom,
        confidence=row.confidence,
    )


def _rows(paragraph: Paragraph, turn: Turn, shape: tuple[int, int], upright: tuple[int, int]) -> list[Row]:
    rows: list[Row] = []
    for row in paragraph.rows:
        text = " ".join(tidy(" ".join(line.text for line in row)).split())
        if not text:
            continue
        boxes = [turn.box(line, shape, upright) for line in row]
        box = (
            min(one[0] for one in boxes),
            min(one[1] for one in boxes),
            max(one[2] for one in boxes),
            max(one[3] for one in boxes),
        )
        rows.append(Row(text=text, confidence=confidence(row), box=box))
    return rows
