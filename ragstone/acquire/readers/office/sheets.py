"""Spreadsheets (xlsx, xls, ods): each sheet is a table below a heading with its name."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import python_calamine as calamine

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.office.package import Package, refuse_document_type
from ragstone.acquire.readers.parsed import File, Parsed, Writer
from ragstone.acquire.readers.tables.grid import Cell
from ragstone.core.filters import Scalar

_MOST_MERGED = 10_000
"""Merged cells to follow in a sheet."""


def parse(file: File) -> Parsed:
    """Return the visible sheets of a workbook in order, one row per line.

    Raises:
        Unreadable: it is encrypted or damaged.
    """
    title, facts = "", dict[str, Scalar | tuple[Scalar, ...]]()
    if file.suffix != ".xls":
        with Package(file.path) as package:
            title, facts = package.properties(file.settings.access.column)
            _check(package)
    try:
        book = calamine.CalamineWorkbook.from_path(str(file.path))  # pyright: ignore[reportUnknownMemberType]
    except calamine.PasswordError as error:
        raise Unreadable("encrypted") from error
    except (calamine.CalamineError, OSError) as error:
        raise Unreadable(f"damaged: {error}") from error
    writer, lost = Writer(), list[str]()
    sheets = [one for one in book.sheets_metadata if one.visible == calamine.SheetVisibleEnum.Visible]
    for sheet in sheets:
        try:
            opened = book.get_sheet_by_name(sheet.name)
            rows = _rows(opened)
        except calamine.CalamineError:
            lost.append(sheet.name)
            continue
        if any(cell.text if isinstance(cell, Cell) else cell for row in rows for cell in row):
            writer.heading(sheet.name, 1)
            writer.table(rows, caption=sheet.name)
    partial = f"sheets that cannot be read: {', '.join(lost)}" if lost else ""
    facts = {"kind": file.suffix.removeprefix("."), "sheets": len(sheets), "partial": partial, **facts}
    # The first heading is no title: it is often "Sheet1".
    return writer.parsed(title=title or Path(file.name).stem, facts=facts)


def _rows(sheet: calamine.CalamineSheet) -> list[list[str | Cell]]:
    """Return the cells of a sheet. Only those that span others are records, because sheets may be large."""
    rows: list[list[str | Cell]] = [[_shown(cell) for cell in row] for row in sheet.to_python(skip_empty_area=False)]
    merged = sheet.merged_cell_ranges or []
    covered: set[tuple[int, int]] = set()
    for (top, left), (bottom, right) in merged[:_MOST_MERGED]:
        if bottom < len(rows) and left < len(rows[top]) and (right - left) < 1000 and (bottom - top) < 1000:
            rows[top][left] = Cell(str(rows[top][left]), columns=right - left + 1, rows=bottom - top + 1)
            covered |= {(row, column) for row in range(top, bottom + 1) for column in range(left, right + 1)}
            covered.discard((top, left))
    if covered:
        rows = [[cell for n, cell in enumerate(row) if (number, n) not in covered] for number, row in enumerate(rows)]
    return rows


def _check(package: Package) -> None:
    """Check every part first, because the library trusts them."""
    for name in package.names:
        if name.endswith((".xml", ".rels")):
            refuse_document_type(package.bytes(name))


def _shown(cell: Any) -> str:
    """Return a cell as a spreadsheet shows it by default."""
    match cell:
        case None:
            return ""
        case bool():
            return "TRUE" if cell else "FALSE"
        case float() if cell.is_integer() and abs(cell) < 1e15:
            return str(int(cell))
        case dt.datetime() if cell.time() == dt.time():
            return cell.date().isoformat()
        case dt.datetime() | dt.date() | dt.time():
            return cell.isoformat()
        case _:
            return str(cell)
