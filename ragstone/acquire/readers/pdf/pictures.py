"""Pages of a PDF that are pictures, or whose text says nothing, and pictures with words on pages of text."""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pypdfium2  # pyright: ignore[reportMissingTypeStubs]
import pypdfium2.raw as pdfium  # pyright: ignore[reportMissingTypeStubs]

from ragstone.acquire.ocr.engines import recognizer
from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.parsed import File, Writer
from ragstone.acquire.readers.pdf.words import Line
from ragstone.core.filters import Scalar
from ragstone.core.frozen import frozen
from ragstone.core.reading import with_notice
from ragstone.core.records import Metadata

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.acquire.ocr.reading import Scan
    from ragstone.acquire.ocr.recognizer import Recognizer
    from ragstone.acquire.readers.pdf.characters import Page

    Pixels = NDArray[np.uint8]
    """A picture in shape (height, width) if it is gray, (height, width, 3) if it has colours."""

_RESOLUTION = 200 / 72
"""Pixels for each point of a page that is drawn, not a picture."""
_COARSEST, _FINEST = 100 / 72, 300 / 72
"""Pixels for each point of a page that is a picture: as many as it has, so that nothing is blurred, within bounds."""
_LONGEST_SIDE = 3600
_SMALLEST_SHARE = 0.03
"""Share of a page that a picture covers at least to be read: a logo is smaller."""
_WHOLE_PAGE = 0.5
"""Share of a page that the picture of a scan covers at least."""
_MOST_PICTURES = 20
"""Pictures of a page of text that are read."""
_MOST_OBJECTS = 20_000
_FEW_CHARACTERS = 40
"""A page with fewer characters than this beside its picture is a scan with a stamp or a page number added."""
_MOST_UNNAMED = 0.1
"""Share of characters without a name in a text that can be read: their font does not say what they are."""
_FEWEST_VOWELS, _VOWELS_OF_PROSE = 0.22, 0.3
"""Shares of vowels in the letters: a text with fewer than the first may be one whose letters a font shifted, if letters
that are as many as the second stand for vowels."""
_VOWELS = "aeiouy"
_MOST_WORDS = 0.7
"""Share of the words of a prose that have letters only."""
_ENOUGH_LETTERS = 100
_ENOUGH_CHARACTERS = 3000
_LEAST_OF_TEXT = 0.5
"""Characters that a scan gives at least to replace the text of its page, as a share of those that the text has."""
_UNNAMED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff]")
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ɏ]{2,}[.,;:]?")

_Box = tuple[float, float, float, float]
"""Left, bottom, right and top, in points of the page."""


@frozen
class Seen:
    """What a picture says, if anything, and the JPEG image of it that is to be described; empty if none is."""

    scan: Scan | None
    image: bytes


@frozen
class Scans:
    """What the pictures of a PDF say, and what of them is to be described.

    ``instead`` are the pages whose scan replaces their text; on other pages it comes after the text. ``why_none`` says
    why a PDF without text has none here either.
    """

    pages: Mapping[int, Sequence[Seen]] = field(default_factory=dict[int, "Sequence[Seen]"])
    instead: frozenset[int] = frozenset()
    facts: Metadata = field(default_factory=dict[str, Scalar])
    why_none: str = "no text in it"

    @property
    def has_text(self) -> bool:
        return bool(self.pages)

    def write(self, writer: Writer, number: int) -> None:
        """Write what the pictures of a page say, and their places if they are to be described."""
        if number in self.pages:
            from ragstone.acquire.ocr.reading import write

            for seen in self.pages[number]:
                if seen.scan:
                    write(writer, seen.scan, number if number in self.instead else None)
                if seen.image:
                    writer.picture(seen.image)


@frozen
class Pictures:
    """The pictures of a page.

    ``objects`` counts all that is drawn on it, text included. ``boxes`` are those of pictures that are no logos,
    ``whole`` says whether one of them covers the page, and ``resolution`` is their finest, in pixels for each point.
    """

    objects: int = 0
    boxes: Sequence[_Box] = ()
    whole: bool = False
    resolution: float = _RESOLUTION


@frozen
class _Picture:
    """A picture to read: a page, or the part of one in a box."""

    page: int
    resolution: float
    box: _Box | None = None


def scanned(book: pypdfium2.PdfDocument, pages: Sequence[Page], file: File) -> Scans:
    """Return what the pictures of a PDF say, and what of them is to be described.

    Args:
        book: the open file.
        pages: the lines of text and the pictures of each page.
        file: the settings, and whom to tell that work goes on.
    """
    settings, describes = file.settings, bool(file.settings.captions.model)
    engine: Recognizer | None = None
    missing = ""
    wanted = [one for number, page in enumerate(pages) for one in _wanted(number, page)]
    scans = sum(one.box is None for one in wanted)
    if not wanted:
        return Scans()
    try:
        engine = recognizer(settings.ocr, "a scan: its pages are pictures", file.at_work)
    except Unreadable as error:
        # Pictures on pages of text are not missed: most are photographs.
        missing = f"{scans} of {len(pages)} pages are scans; {str(error).partition('; ')[2]}" if scans else ""
        if not describes:
            return Scans(facts=with_notice({}, missing), why_none=str(error))
        missing = "" if settings.ocr == "off" else missing
    from ragstone.acquire.ocr.reading import Tally, read_all

    read = wanted[: settings.ocr_pages]
    by_page: dict[int, list[Seen]] = {}
    tally, instead = Tally(), set[int]()
    rendered = (_rendered(book, one) for one in read)
    for wish, scan in zip(read, read_all(rendered, engine, settings, file.at_work), strict=True):
        # What is there already is better than a few words of handwriting that were made out.
        characters = sum(len(line.text) for line in pages[wish.page].lines) if wish.box is None else 0
        says_more = scan.characters > _LEAST_OF_TEXT * characters
        if says_more or scan.failure:
            tally.add(scan)
        if says_more and wish.box is None:
            instead.add(wish.page)
        image = _shown_to_model(book, wish) if describes and not scan.is_page else b""
        if says_more or image:
            by_page.setdefault(wish.page, []).append(Seen(scan=scan if says_more else None, image=image))
    left = len(wanted) - len(read)
    of = f"of {len(wanted)} scans and pictures"
    unread = f"{left} {of} were not read (acquire.ocr_pages)" if left else ""
    failed = f"{tally.failed} {of} could not be read: {tally.failure}" if tally.failed else ""
    return Scans(
        pages=by_page,
        instead=frozenset(instead),
        facts=with_notice(tally.facts(engine), missing, unread, failed),
        why_none=tally.failure or "no text in it, and none in its pictures",
    )


def pictures_of(page: pypdfium2.PdfPage) -> Pictures:
    """Return the pictures of an open page."""
    count = pdfium.FPDFPage_CountObjects(page.raw)
    area = max(page.get_width() * page.get_height(), 1.0)
    edges = [ctypes.c_float() for _ in range(4)]
    pointers = [ctypes.byref(edge) for edge in edges]
    boxes: list[_Box] = []
    whole = False
    resolution = 0.0
    wide, high = ctypes.c_uint(), ctypes.c_uint()
    for index in range(min(count, _MOST_OBJECTS)):
        item = pdfium.FPDFPage_GetObject(page.raw, index)
        is_picture = pdfium.FPDFPageObj_GetType(item) == pdfium.FPDF_PAGEOBJ_IMAGE
        if is_picture and pdfium.FPDFPageObj_GetBounds(item, *pointers):
            left, bottom, right, top = (edge.value for edge in edges)
            share = (right - left) * (top - bottom) / area
            whole = whole or share >= _WHOLE_PAGE
            if share >= _SMALLEST_SHARE:
                boxes.append((left, bottom, right, top))
                # A picture may be turned on the page, so its longer side is compared with the longer side of its box.
                pdfium.FPDFImageObj_GetImagePixelSize(item, ctypes.byref(wide), ctypes.byref(high))
                longer = max(right - left, top - bottom, 1.0)
                resolution = max(resolution, max(wide.value, high.value) / longer)
    return Pictures(objects=count, boxes=boxes, whole=whole, resolution=resolution or _RESOLUTION)


def is_readable(text: str) -> bool:
    """Return whether the text of a page is one, and not what a font without names of its characters left of it."""
    text = text[:_ENOUGH_CHARACTERS]
    if len(_UNNAMED.findall(text)) > _MOST_UNNAMED * len(text):
        return False
    return not _is_shifted(text)


def _is_shifted(text: str) -> bool:
    """Return whether a font shifted each letter of a prose by the same number, so that it says nothing.

    Part numbers and abbreviations have few vowels, too. Only letters that become a language by a shift prove it.
    """
    words = text.split()
    prose = [word for word in words if _LATIN_WORD.fullmatch(word)]
    counts = Counter("".join(prose).lower())
    letters = counts.total()
    if letters < _ENOUGH_LETTERS or len(prose) < _MOST_WORDS * len(words):
        return False
    if sum(map(counts.__getitem__, _VOWELS)) >= _FEWEST_VOWELS * letters or any(one > "z" for one in counts):
        return False
    shifts = (sum(counts[chr((ord(one) - 97 + by) % 26 + 97)] for one in _VOWELS[:5]) for by in range(1, 26))
    return max(shifts) >= _VOWELS_OF_PROSE * letters


def _wanted(number: int, page: Page) -> list[_Picture]:
    """Return what is to be read of a page: all of it if it is a scan, or else its pictures."""
    lines, pictures = page.lines, page.pictures
    text = " ".join(line.text for line in lines)
    resolution = min(max(pictures.resolution, _COARSEST), _FINEST)
    whole = _Picture(page=number, resolution=resolution)
    if not text:
        return [whole] if pictures.objects else []
    if (len(text) < _FEW_CHARACTERS and pictures.whole) or not is_readable(text):
        return [whole]
    # A picture with text of the page on it is a background, or a scan that has been read already.
    free = (box for box in pictures.boxes if not any(_is_inside(line, page.frame.turned(*box)) for line in lines))
    return [_Picture(page=number, resolution=resolution, box=box) for box in islice(free, _MOST_PICTURES)]


def _is_inside(line: Line, box: _Box) -> bool:
    left, bottom, right, top = box
    return left <= (line.left + line.right) / 2 <= right and bottom <= (line.bottom + line.top) / 2 <= top


def _shown_to_model(book: pypdfium2.PdfDocument, picture: _Picture) -> bytes:
    """Return a picture as a JPEG image; empty if it shows nothing."""
    from ragstone.acquire.ocr.pictures import SHOWN_SIDE, jpeg

    left, bottom, right, top = picture.box or (0.0, 0.0, *book[picture.page].get_size())
    resolution = min(picture.resolution, SHOWN_SIDE / max(right - left, top - bottom, 1.0))
    with suppress(Unreadable):
        return jpeg(_rendered(book, replace(picture, resolution=resolution), gray=False))
    return b""


def _rendered(book: pypdfium2.PdfDocument, picture: _Picture, *, gray: bool = True) -> Pixels:
    """Return a page as it is shown, or the part of it that a picture covers."""
    page = book[picture.page]
    width, height = page.get_size()
    scale = min(picture.resolution, _LONGEST_SIDE / max(width, height, 1.0))
    bitmap = cast("Any", page).render(scale=scale, grayscale=gray, rev_byteorder=True)
    pixels = np.array(bitmap.to_numpy(), np.uint8)  # a copy: the next line frees the pixels
    bitmap.close()
    pixels = pixels.reshape(pixels.shape[:2]) if gray else pixels[:, :, :3]
    if picture.box is not None:
        left, bottom, right, top = picture.box
        corners = [_shown(page, pixels.shape, x, y) for x in (left, right) for y in (bottom, top)]
        across, down = sorted(x for x, _ in corners), sorted(y for _, y in corners)
        pixels = pixels[max(down[0], 0) : max(down[-1], 1), max(across[0], 0) : max(across[-1], 1)]
    page.close()
    return np.ascontiguousarray(pixels)


def _shown(page: pypdfium2.PdfPage, shape: tuple[int, ...], x: float, y: float) -> tuple[int, int]:
    """Return the pixel that shows a point of a page, which may be turned."""
    across, down = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDF_PageToDevice(page.raw, 0, 0, shape[1], shape[0], 0, x, y, ctypes.byref(across), ctypes.byref(down))
    return across.value, down.value
