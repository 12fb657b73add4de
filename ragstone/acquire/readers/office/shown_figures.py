"""Figures of .xls and .ods as the sheet shows them: by the formats of the cells, or as the file spells them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import suppress

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.numbers import whole
from ragstone.acquire.readers.office.number_formats import NumberFormat, SheetFormats, format_of
from ragstone.acquire.readers.office.ole import Compound
from ragstone.acquire.readers.office.package import Element

_BOUND_SHEET, _FORMAT, _XF, _END_OF_STREAM = 0x85, 0x41E, 0xE0, 0x0A
_FORMULA, _NUMBER, _RK, _MANY_RK = 0x06, 0x203, 0x27E, 0xBD
_CELLS = (_FORMULA, _NUMBER, _RK, _MANY_RK, 0xFD, 0xD6, 0x204, 0x205)
"""Records of cells, which begin with the row and the column."""
_DIMENSIONS, _PASSWORD = 0x200, 0x2F
_MOST_ROWS, _MOST_COLUMNS = 65_536, 256
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_P = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}p"
_FIGURES = ("float", "percentage", "currency")
_MOST_REPEATED = 1000
"""Cells that one element may fill with a figure."""


def formats_of_xls(book: Compound) -> dict[str, SheetFormats]:
    """Return the formats of the cells of each sheet by its name; what is damaged or older than Excel 97 has none.

    Raises:
        Unreadable: a cell stands outside of its sheet. The library would want memory for all cells before it.
    """
    data = book.bytes("Workbook")
    if not data:
        _refuse_outside(book.bytes("Book"))
        return {}
    codes, styles, sheets = dict[int, str](), list[int](), list[tuple[int, str]]()
    by_sheet = dict[str, SheetFormats]()
    _refuse_outside(data)
    with suppress(struct.error, IndexError):
        for kind, at, length in _records(data, 0):
            if kind == _FORMAT:
                number, count, wide = struct.unpack_from("<HHB", data, at)
                codes[number] = _text(data, at + 5, count, wide)
            elif kind == _XF:
                styles.append(struct.unpack_from("<H", data, at + 2)[0])
            elif kind == _BOUND_SHEET and length > 8:
                (start,) = struct.unpack_from("<I", data, at)
                sheets.append((start, _text(data, at + 8, data[at + 6], data[at + 7])))
        formats = {n: one for n, key in enumerate(styles) if (one := format_of(key, codes.get(key)))}
        for start, name in sheets if formats else ():
            by_sheet[name] = SheetFormats(formats=dict(_formats_in(data, start, formats)))
    return by_sheet


def _refuse_outside(data: bytes) -> None:
    """Refuse a workbook with a cell outside of its sheet, or a sheet that ends before it begins; not if encrypted."""
    starts = list[int]()
    with suppress(struct.error):
        for kind, at, _ in _records(data, 0):
            if kind == _PASSWORD:
                return
            if kind == _BOUND_SHEET:
                starts += struct.unpack_from("<I", data, at)
    for start in starts:
        with suppress(struct.error):
            for kind, at, length in _records(data, start):
                top, bottom, left, right = 0, 0, 0, 0
                if kind in _CELLS:
                    bottom, right = struct.unpack_from("<HH", data, at)
                elif kind == _DIMENSIONS:
                    top, bottom, left, right = struct.unpack_from("<IIHH" if length >= 12 else "<HHHH", data, at)
                if not top <= bottom <= _MOST_ROWS or not left <= right <= _MOST_COLUMNS:
                    raise Unreadable("damaged: a cell stands outside of its sheet")


def _records(data: bytes, at: int) -> Iterator[tuple[int, int, int]]:
    """Yield the kind, the place and the length of each record of a part, up to its end."""
    while at + 4 <= len(data):
        kind, length = struct.unpack_from("<HH", data, at)
        if kind == _END_OF_STREAM:
            return
        yield kind, at + 4, length
        at += 4 + length


def _text(data: bytes, at: int, count: int, wide: int) -> str:
    size = count * 2 if wide & 1 else count
    return data[at : at + size].decode("utf-16-le" if wide & 1 else "latin-1", "replace")


def _formats_in(
    data: bytes, start: int, formats: dict[int, NumberFormat]
) -> Iterator[tuple[tuple[int, int], NumberFormat]]:
    for kind, at, length in _records(data, start):
        if kind in (_NUMBER, _RK, _FORMULA):
            row, column, style = struct.unpack_from("<HHH", data, at)
            if style in formats:
                yield (row, column), formats[style]
        elif kind == _MANY_RK:
            row, column = struct.unpack_from("<HH", data, at)
            for number in range((length - 6) // 6):
                (style,) = struct.unpack_from("<H", data, at + 4 + 6 * number)
                if style in formats:
                    yield (row, column + number), formats[style]


def texts_of_ods(content: Element) -> dict[str, SheetFormats]:
    """Return the figures of the cells of each sheet, by its name, as the program that saved the file showed them."""
    tables = content.iter(f"{_TABLE}table")
    return {one.get(f"{_TABLE}name", ""): SheetFormats(texts=dict(_figures_in(one))) for one in tables}


def _figures_in(table: Element) -> Iterator[tuple[tuple[int, int], str]]:
    row = 0
    for line in table.iter(f"{_TABLE}table-row"):
        rows, column = _repeated(line, "rows"), 0
        for cell in line:
            columns = _repeated(cell, "columns")
            if cell.get(f"{_OFFICE}value-type") in _FIGURES:
                text = " ".join("".join(one.itertext()) for one in cell.iterfind(_P)).strip()
                wide = min(columns, _MOST_REPEATED)
                for down in range(min(rows, _MOST_REPEATED // wide) if text else 0):
                    yield from (((row + down, column + right), text) for right in range(wide))
            column += columns
        row += rows


def _repeated(element: Element, what: str) -> int:
    return max(1, whole(element.get(f"{_TABLE}number-{what}-repeated"), 1, 9_999_999))
