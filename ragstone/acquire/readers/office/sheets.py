"""Spreadsheets (xlsx, xls, ods): the tables of each sheet below a heading with its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path

import python_calamine as calamine

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.office.comments import comments
from ragstone.acquire.readers.office.number_formats import (
    NumberFormat,
    SheetFormats,
    area_of,
    cells_of,
    formats_of,
    place_of,
)
from ragstone.acquire.readers.office.objects import EmbeddedObjects
from ragstone.acquire.readers.office.ole import Compound
from ragstone.acquire.readers.office.opendocument import pictures_of_ods
from ragstone.acquire.readers.office.package import Element, Package, local, pictures_in, refuse_document_type
from ragstone.acquire.readers.office.shown_figures import formats_of_xls, texts_of_ods
from ragstone.acquire.readers.parsed import File, Parsed, Writer
from ragstone.acquire.readers.pictures.embedded import EmbeddedPictures
from ragstone.acquire.readers.tables.fields import shown
from ragstone.acquire.readers.tables.figures import is_value
from ragstone.acquire.readers.tables.grid import Cell
from ragstone.core.filters import Scalar
from ragstone.core.frozen import frozen
from ragstone.core.reading import with_notice

_MOST_CELLS = 10_000_000
"""Cells of a sheet, with the empty ones: the library keeps them all in memory, and ends the process if it is full."""
_MOST_MERGED = 10_000
"""Merged cells to follow in a sheet."""
_MOST_SPLIT = 5000
"""Rows of a sheet in which tables are looked for; a longer one is a single table."""
_LONGEST_ABOUT = 60
"""Characters of the words of a cell that a comment repeats."""
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


@frozen
class _Block:
    """The rows and columns of a table on a sheet; the last ones are not part of it."""

    top: int
    bottom: int
    left: int
    right: int


@frozen
class _Beside:
    """What a file holds beside the values of its cells, by sheet: how figures are shown, and names of pictures."""

    formats: Mapping[str, SheetFormats] = field(default_factory=dict[str, SheetFormats])
    pictures: Mapping[str, Sequence[str]] = field(default_factory=dict[str, "Sequence[str]"])


def parse(file: File) -> Parsed:
    """Return the tables of the visible sheets of a workbook in order, one row per line.

    Raises:
        Unreadable: it is encrypted or damaged.
    """
    if file.suffix == ".xls":
        with Compound(file.path) as book:
            book.refuse_circles()
            return _parse(file, None, _Beside(formats=formats_of_xls(book)))
    with Package(file.path) as package:
        _check(package)
        beside = _Beside()
        if "content.xml" in package.names:
            with suppress(Unreadable):
                content = package.xml("content.xml")
                beside = _Beside(formats=texts_of_ods(content), pictures=pictures_of_ods(content))
        return _parse(file, package, beside)


def _parse(file: File, package: Package | None, beside: _Beside) -> Parsed:
    title, facts = (
        package.properties(file.settings.access.column) if package else ("", dict[str, Scalar | tuple[Scalar, ...]]())
    )
    try:
        book = calamine.CalamineWorkbook.from_path(str(file.path))  # pyright: ignore[reportUnknownMemberType]
    except calamine.PasswordError as error:
        raise Unreadable("encrypted") from error
    except (calamine.CalamineError, OSError) as error:
        raise Unreadable(f"damaged: {error}") from error
    writer, lost, unsolved = Writer(), list[str](), 0
    pictures = EmbeddedPictures(file, package.picture) if package else None
    parts = _Parts(package, pictures) if package and pictures and "xl/workbook.xml" in package.names else None
    sheets = [one for one in book.sheets_metadata if one.visible == calamine.SheetVisibleEnum.Visible]
    if package and not parts:
        writer.left_out("comment", package.bytes("content.xml").count(b"</office:annotation>"))
    hidden = [one.name for one in book.sheets_metadata if one not in sheets]
    writer.left_out("hidden sheet", len(hidden), hidden)
    for sheet in sheets:
        formats = parts.formats(sheet.name) if parts else beside.formats.get(sheet.name, SheetFormats())
        unsolved += len(formats.formulas)
        if parts and parts.area(sheet.name) > _MOST_CELLS:
            lost.append(sheet.name)
            continue
        rows: Sequence[Sequence[str]] = ()
        try:
            # A sheet that is a chart has no cells.
            rows = _write(writer, book.get_sheet_by_name(sheet.name), formats)
        except calamine.CalamineError:
            if not (parts and parts.is_chart(sheet.name)):
                lost.append(sheet.name)
        if pictures:
            for name in beside.pictures.get(sheet.name, ()):
                pictures.write(writer, name)
        if parts:
            parts.write_drawings(writer, sheet.name)
            parts.write_comments(writer, sheet.name, rows)
    notices = [f"sheets that cannot be read: {', '.join(lost)}"] if lost else []
    if lost and len(lost) == len(sheets):
        raise Unreadable(notices[0])
    if unsolved:
        formulas = "1 formula has" if unsolved == 1 else f"{unsolved} formulas have"
        notices.append(f"{formulas} no stored result; open the file in a spreadsheet program and save it")
    kind = file.suffix.removeprefix(".")
    facts = {**(pictures.facts if pictures else {}), "kind": kind, "sheets": len(sheets), **facts}
    # The first heading is no title: it is often "Sheet1".
    embedded = parts.objects.parts if parts else ()
    return writer.parsed(title=title or Path(file.name).stem, facts=with_notice(facts, *notices), parts=embedded)


class _Parts:
    """The parts of a workbook that the library does not read: formats, formulas and drawings."""

    def __init__(self, package: Package, pictures: EmbeddedPictures) -> None:
        self._package, self._pictures, self.objects = package, pictures, EmbeddedObjects(package)
        self._below = package.relations("xl/workbook.xml")
        self._sheets = {
            one.get("name", ""): self._below.get(one.get(f"{_R}id", ""), ("", ""))
            for one in package.xml("xl/workbook.xml").iter()
            if local(one) == "sheet"
        }
        styles = next((name for kind, name in self._below.values() if kind == "styles"), "")
        self._formats: dict[int, NumberFormat] = formats_of(package.xml(styles)) if styles in package.names else {}

    def formats(self, sheet: str) -> SheetFormats:
        """Return the formats of the cells of a sheet."""
        _, name = self._sheets.get(sheet, ("", ""))
        return cells_of(self._package, name, self._formats) if name in self._package.names else SheetFormats()

    def area(self, sheet: str) -> int:
        """Return the number of cells of a sheet, with the empty ones."""
        _, name = self._sheets.get(sheet, ("", ""))
        return area_of(self._package, name) if name in self._package.names else 0

    def is_chart(self, sheet: str) -> bool:
        """Return whether a sheet is a chart."""
        return self._sheets.get(sheet, ("", ""))[0] == "chartsheet"

    def write_drawings(self, writer: Writer, sheet: str) -> None:
        """Write the charts, text boxes and pictures of a sheet."""
        _, name = self._sheets.get(sheet, ("", ""))
        if self.is_chart(sheet):
            writer.heading(sheet, 1)
        for kind, part in self._package.relations(name).values():
            if part not in self._package.names:
                continue
            if kind == "drawing":
                drawing = self._package.xml(part)
                for box in (one for one in drawing.iter() if local(one) == "txBody"):
                    writer.paragraph("\n".join(_words(paragraph) for paragraph in box.iter(f"{_A}p")))
                below = self._package.relations(part)
                for relation in below.values():
                    if relation[0] in ("chart", "chartEx", "diagramData"):
                        self.objects.write_part(writer, relation)
                for picture in pictures_in(drawing, below):
                    self._pictures.write(writer, picture)
            elif kind in ("package", "oleObject"):
                self.objects.write_part(writer, (kind, part))

    def write_comments(self, writer: Writer, sheet: str, rows: Sequence[Sequence[str]]) -> None:
        """Write the comments of a sheet, each with its cell, and what that cell and its row are called."""
        _, name = self._sheets.get(sheet, ("", ""))
        for comment in comments(writer, self._package, self._package.relations(name), self._below):
            row, column = place_of(comment.at)
            cells = rows[row] if 0 <= row < len(rows) else ()
            words = [next(filter(None, cells), ""), cells[column] if column < len(cells) else ""]
            about = ", ".join(" ".join(one.split())[:_LONGEST_ABOUT] for one in dict.fromkeys(filter(None, words)))
            writer.paragraph(comment.written(f"{comment.at} ({about})" if about else comment.at))


def _words(paragraph: Element) -> str:
    return "".join(one.text or "" for one in paragraph.iter(f"{_A}t"))


def _write(writer: Writer, sheet: calamine.CalamineSheet, formats: SheetFormats) -> list[list[str]]:
    """Write the tables of a sheet below its name, and return its cells by row and column."""
    rows = [[shown(cell) for cell in row] for row in sheet.to_python(skip_empty_area=False)]
    for (row, column), one in formats.formats.items():
        if row < len(rows) and column < len(rows[row]) and (number := _as_number(rows[row][column])) is not None:
            rows[row][column] = one.shown(number)
    for (row, column), text in formats.texts.items():
        if row < len(rows) and column < len(rows[row]) and _as_number(rows[row][column]) is not None:
            rows[row][column] = text
    for (row, column), formula in formats.formulas.items():
        if row < len(rows) and column < len(rows[row]) and not rows[row][column]:
            rows[row][column] = formula
    if any(cell for row in rows for cell in row):
        writer.heading(sheet.name, 1)
        spans = _spans(sheet, rows)
        for block in _blocks(rows, spans):
            writer.table(_cells(rows, spans, block), caption=sheet.name)
    return rows


def _spans(sheet: calamine.CalamineSheet, rows: Sequence[Sequence[str]]) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the rows and columns of each cell that spans others, and (0, 0) for the cells that it covers."""
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    for (top, left), (bottom, right) in (sheet.merged_cell_ranges or [])[:_MOST_MERGED]:
        if bottom < len(rows) and left < len(rows[top]) and (right - left) < 1000 and (bottom - top) < 1000:
            spans |= {(row, column): (0, 0) for row in range(top, bottom + 1) for column in range(left, right + 1)}
            spans[top, left] = bottom - top + 1, right - left + 1
    return spans


def _cells(
    rows: Sequence[Sequence[str]], spans: dict[tuple[int, int], tuple[int, int]], block: _Block
) -> list[list[str | Cell]]:
    """Return the cells of a table. Only those that span others are records, because sheets may be large."""
    if not spans:
        return [[*row[block.left : block.right]] for row in rows[block.top : block.bottom]]
    table: list[list[str | Cell]] = []
    for number in range(block.top, block.bottom):
        cells: list[str | Cell] = []
        for column, text in enumerate(rows[number][block.left : block.right], block.left):
            high, wide = spans.get((number, column), (1, 1))
            if high:
                cells.append(Cell(text, columns=wide, rows=high) if high > 1 or wide > 1 else text)
        table.append(cells)
    return table


def _blocks(rows: Sequence[Sequence[str]], spans: dict[tuple[int, int], tuple[int, int]]) -> Iterator[_Block]:
    """Yield the tables of a sheet: those below each other, with empty rows between them, and those side by side."""
    width = max(map(len, rows))
    if len(rows) > _MOST_SPLIT:
        yield _Block(top=0, bottom=len(rows), left=0, right=width)
        return
    top, end = 0, len(rows)
    for number in range(1, end):
        if not any(rows[number - 1]) and _is_heading(rows[number]) and _is_table(rows[top:number]):
            is_far = number > 1 and not any(rows[number - 2])
            if is_far or not _has_headings_of(rows[top:number], rows[number : number + 3]):
                yield from _side_by_side(rows, spans, _Block(top=top, bottom=number, left=0, right=width))
                top = number
    yield from _side_by_side(rows, spans, _Block(top=top, bottom=end, left=0, right=width))


def _side_by_side(
    rows: Sequence[Sequence[str]], spans: dict[tuple[int, int], tuple[int, int]], block: _Block
) -> Iterator[_Block]:
    inside = [row for row in rows[block.top : block.bottom] if any(row)]
    left = block.left
    for column in range(block.left + 1, block.right - 1):
        is_gap = not any(row[column] for row in inside) and not any(
            (number, column) in spans for number in range(block.top, block.bottom)
        )
        if is_gap and _is_own([row[left:column] for row in inside], [row[column + 1 :] for row in inside]):
            yield _Block(top=block.top, bottom=block.bottom, left=left, right=column)
            left = column + 1
    yield _Block(top=block.top, bottom=block.bottom, left=left, right=block.right)


def _is_own(before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]) -> bool:
    """Return whether two groups of columns are two tables: each has headings, and words that name its rows."""
    return all(
        _is_table(part)
        and _is_heading(next((row for row in part if any(row)), ()))
        and sum(bool(row[0]) and not is_value(row[0]) for row in part) > len(part) / 2
        for part in ([*before], [_from_first(row, after) for row in after])
    )


def _from_first(row: Sequence[str], rows: Sequence[Sequence[str]]) -> Sequence[str]:
    """Return a row from the first column on that is not empty."""
    first = next((n for n in range(len(row)) if any(one[n] for one in rows)), 0)
    return row[first:]


def _is_heading(row: Sequence[str]) -> bool:
    """Return whether a row may hold the headings of columns: several words, and no figures."""
    filled = [cell for cell in row if cell]
    return len(filled) > 1 and not any(is_value(cell) for cell in filled)


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether some rows are a table, and not the lines above one."""
    return sum(sum(map(bool, row)) > 1 for row in rows) > 1


def _has_headings_of(before: Sequence[Sequence[str]], following: Sequence[Sequence[str]]) -> bool:
    """Return whether rows after one empty row go on with a table: as wide, and words where it has words."""
    last = next((row for row in reversed(before) if any(row)), ())
    first = following[0] if following else ()
    same = [bool(one) == bool(other) for one, other in zip(last, first, strict=False)]
    return all(same) and not any(is_value(cell) for cell in last if cell)


def _check(package: Package) -> None:
    """Check every part first, because the library trusts them."""
    for name in package.names:
        if name.endswith((".xml", ".rels")):
            refuse_document_type(package.bytes(name))


def _as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
