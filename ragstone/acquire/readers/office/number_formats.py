"""Numbers of a workbook as the sheet shows them: 12.5%, code 0007, €1,234.50."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import field

from ragstone.acquire.readers.numbers import whole
from ragstone.acquire.readers.office.package import Element, Package
from ragstone.core.frozen import frozen
from ragstone.language.money import SIGN

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_BUILT_IN = {9: "0%", 10: "0.00%"}
_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]\-]*)[^\]]*\]|\[[^\]]*\]|_.|\*.')
"""Text in a format, characters in it, its currency, its colours and conditions, and padding."""
_DIGITS = re.compile(r"[#0?][#0?,]*(?:\.[#0?]+)?")
_LARGE = 1_000_000
"""Cells of a sheet from which on it matters which ones are empty."""
_MOST_LITERALS = 50
_PADDED = re.compile(r"0{2,}")
_SIGNS = re.compile(rf"[^\W\d_]|{SIGN}|%")
_CELL = re.compile(rb"<c\b([^>]*?)(?:/>|>(.*?)</c>)", re.DOTALL)
_NAME = re.compile(r"([A-Z]{1,3})(\d{1,7})", re.ASCII)
_PLACE = re.compile(rb'\br="([A-Z]{1,3})(\d{1,7})"')
_ANY_PLACE = re.compile(rb'\br="([A-Za-z]{1,9})(\d{1,20})"')
"""The place of a cell, also of one outside of its sheet."""
_STYLE = re.compile(rb'\bs="(\d{1,6})"')
_FORMULA = re.compile(rb"<f\b[^>]*?(?:/>|>(.*?)</f>)", re.DOTALL)
_VALUE = re.compile(rb"<v>[^<]+|<is>")


@frozen
class NumberFormat:
    """How a format shows a number: with so many decimals or digits, between these signs."""

    before: str = ""
    after: str = ""
    decimals: int = 0
    digits: int = 0
    thousands: bool = False

    def shown(self, number: float) -> str:
        """Return a number as a sheet shows it."""
        if self.digits:
            written = f"{abs(number):0{self.digits}.0f}"
        else:
            scaled = abs(number) * 100 if "%" in self.after else abs(number)
            written = f"{scaled:{',' if self.thousands else ''}.{self.decimals}f}"
        return f"{'-' if number < 0 else ''}{self.before}{written}{self.after}"


@frozen
class SheetFormats:
    """What cells show that their values do not say, by row and column from 0.

    That is their formats, their figures as the file spells them, and the formulas of those without a stored result.
    """

    formats: Mapping[tuple[int, int], NumberFormat] = field(default_factory=dict[tuple[int, int], NumberFormat])
    texts: Mapping[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    formulas: Mapping[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])


def formats_of(styles: Element) -> dict[int, NumberFormat]:
    """Return the formats that add to the digits of a number, by the number of their style."""
    codes = {whole(one.get("numFmtId"), -1, 999_999): one.get("formatCode", "") for one in styles.iter(f"{_S}numFmt")}
    formats: dict[int, NumberFormat] = {}
    for number, style in enumerate(styles.iterfind(f"{_S}cellXfs/{_S}xf")):
        key = whole(style.get("numFmtId"), -1, 999_999)
        if shown := format_of(key, codes.get(key)):
            formats[number] = shown
    return formats


def cells_of(package: Package, sheet: str, formats: Mapping[int, NumberFormat]) -> SheetFormats:
    """Return the formats and unsolved formulas of the cells of a sheet, given as the name of its part."""
    data = package.bytes(sheet)
    if not formats and b"<f" not in data:
        return SheetFormats()
    shown, formulas = dict[tuple[int, int], NumberFormat](), dict[tuple[int, int], str]()
    for cell in _CELL.finditer(data):
        attributes, inside = cell.groups()
        style = _STYLE.search(attributes)
        own = formats.get(int(style[1])) if style else None
        formula = _FORMULA.search(inside) if inside and b"<f" in inside else None
        is_unsolved = formula is not None and not _VALUE.search(inside)
        if (own or is_unsolved) and (place := _PLACE.search(attributes)):
            at = int(place[2]) - 1, _column(place[1])
            if own:
                shown[at] = own
            if formula and is_unsolved:
                formulas[at] = "=" + html.unescape((formula[1] or b"").decode("utf-8", "replace"))
    return SheetFormats(formats=shown, formulas=formulas)


def area_of(package: Package, sheet: str) -> int:
    """Return the number of cells from the first to the last row and column with a value, given the part of a sheet."""
    data = package.bytes(sheet)
    area = _area(_ANY_PLACE.findall(data))
    if area < _LARGE:  # most sheets, without a look into every cell
        return area
    filled = (cell[1] for cell in _CELL.finditer(data) if cell[2] and _VALUE.search(cell[2]))
    return _area([place.groups() for attributes in filled if (place := _ANY_PLACE.search(attributes))])


def _area(places: Iterable[tuple[bytes, ...]]) -> int:
    distinct = set(places)
    columns = {letters for letters, _ in distinct}
    return max((int(row) for _, row in distinct), default=0) * (1 + max(map(_column, columns), default=-1))


def format_of(number: int, code: str | None) -> NumberFormat | None:
    """Return what a format adds to the digits; None if it adds nothing, or shows a date, a fraction or a power.

    Args:
        number: of the format; the first ones are built in.
        code: of the format, if the file has one for the number.
    """
    code = _BUILT_IN.get(number, "") if code is None else code
    section = code.split(";", maxsplit=1)[0]
    if _PADDED.fullmatch(section):
        return NumberFormat(digits=len(section))
    literals: list[str] = []

    def taken(found: re.Match[str]) -> str:
        literals.append(found[1] or found[2] or found[3] or "")
        return chr(0xE000 + len(literals) - 1)

    bare = _LITERAL.sub(taken, section)
    digits = _DIGITS.search(bare)
    if digits is None or len(literals) > _MOST_LITERALS:
        return None
    before, after = bare[: digits.start()], bare[digits.end() :]
    if re.search(r"[a-zA-Z@#0?/,]", before + after):
        return None
    for number, literal in enumerate(literals):
        before, after = (part.replace(chr(0xE000 + number), literal) for part in (before, after))
    if not _SIGNS.search(before + after):
        return None
    decimals = len(digits[0].partition(".")[2])
    return NumberFormat(before=before.lstrip(), after=after.rstrip(), decimals=decimals, thousands="," in digits[0])


def place_of(name: str) -> tuple[int, int]:
    """Return the row and the column of a cell from its name, such as B12, from 0; (-1, -1) if it is none."""
    found = _NAME.fullmatch(name)
    return (int(found[2]) - 1, _column(found[1].encode())) if found else (-1, -1)


def _column(letters: bytes) -> int:
    column = 0
    for letter in letters:
        column = 26 * column + letter - 64
    return column - 1
