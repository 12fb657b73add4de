"""Spreadsheets (xlsx, xls, ods): each sheet is a table below a heading with its name."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import python_calamine as calamine

from ragstone.acquire.readers.decode import Unreadable
from ragstone.acquire.readers.package import Package, refuse_document_type
from ragstone.acquire.readers.parsed import File, Parsed, Writer
from ragstone.core.filters import Scalar


def parse(file: File) -> Parsed:
    """Return the visible sheets of a workbook in order, one row per line.

    Raises:
        Unreadable: it is encrypted or damaged.
    """
    title, facts = "", dict[str, Scalar]()
    if file.suffix != ".xls":
        with Package(file.path) as package:
            title, facts = package.properties()
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
            rows = book.get_sheet_by_name(sheet.name).to_python(skip_empty_area=True)
        except calamine.CalamineError:
            lost.append(sheet.name)
            continue
        if any(cell not in ("", None) for row in rows for cell in row):
            writer.heading(sheet.name, 1)
            writer.table([[_shown(cell) for cell in row] for row in rows], caption=sheet.name)
    partial = f"sheets that cannot be read: {', '.join(lost)}" if lost else ""
    facts = {"kind": file.suffix.removeprefix("."), "sheets": len(sheets), "partial": partial, **facts}
    # The first heading is no title: it is often "Sheet1".
    return writer.parsed(title=title or Path(file.name).stem, facts=facts)


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
