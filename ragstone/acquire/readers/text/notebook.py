"""Jupyter notebooks: Markdown cells as they are, code cells as code, the printed output, and pictures."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import partial

from ragstone.acquire.metadata.head import named_in_head
from ragstone.acquire.readers.decode import Unreadable, clean
from ragstone.acquire.readers.parsed import File, Parsed, Writer
from ragstone.acquire.readers.pictures.embedded import EmbeddedPictures, picture_in_address
from ragstone.acquire.readers.tables.fields import Json
from ragstone.acquire.readers.text import markdown
from ragstone.acquire.readers.text.plain import text_of, without_blobs, without_escapes
from ragstone.core.named_groups import Named, facts_of, named_in, together

MOST_OUTPUT = 1000
"""Characters of a cell's output to keep: enough for a result, too few for a log."""
_OBJECT = re.compile(r"<[\w. ]{1,100}(?: at 0x[0-9a-f]+| size [\w. ]+ with \d+ Axes)?>")
"""What stands for a picture or a widget as text, such as ``<Figure size 640x480 with 1 Axes>``."""


def parse(file: File) -> Parsed:
    """Return the cells of a notebook. Its title comes from its metadata, or else from its first heading.

    Raises:
        Unreadable: the file is no notebook.
    """
    text, facts = text_of(file)
    try:
        book = json.loads(text)
        # Format 3 keeps the cells in worksheets.
        cells: Json = book["cells"] if "cells" in book else book["worksheets"][0]["cells"]
        about: Json = book.get("metadata", {})
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise Unreadable(f"damaged: not a notebook: {error}") from error
    writer, pictures = Writer(), EmbeddedPictures(file, picture_in_address)
    language = _language(about)
    for cell in cells if isinstance(cells, list) else []:
        if isinstance(cell, dict):
            _write(writer, cell, language, partial(pictures.write, writer))
    title = about.get("title", "") if isinstance(about, dict) else ""
    title = title if isinstance(title, str) else ""
    facts = {"kind": "notebook", **facts, **facts_of(_named(about, cells, file)), **pictures.facts}
    return writer.parsed(title=title, facts=facts)


def _named(about: Json, cells: Json, file: File) -> Named | None:
    """Return the groups that the metadata of a notebook or the head of its first cell names."""
    column = file.settings.access.column
    first = cells[0] if isinstance(cells, list) and cells else None
    head = first if isinstance(first, dict) and first.get("cell_type") in ("markdown", "raw") else {}
    return together(
        named_in(about, column) if isinstance(about, dict) else None,
        named_in_head(_joined(head.get("source", "")), column),
    )


def _write(writer: Writer, cell: dict[str, Json], language: str, picture: Callable[[str], None]) -> None:
    source = clean(_joined(cell.get("source", cell.get("input", ""))))
    match cell.get("cell_type"):
        case "markdown":
            text = source.strip("\n")
            writer.marked(text, markdown.find_marks(text))
            files = cell.get("attachments")
            _show(files.values() if isinstance(files, dict) else (), picture)
        case "heading":
            level = cell.get("level")
            writer.heading(source, level if isinstance(level, int) else 1)
        case "code":
            writer.code(source, language)
            found = cell.get("outputs")
            outputs = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
            printed = without_blobs(without_escapes("".join(map(_printed, outputs)))).rstrip()
            cut = printed[:MOST_OUTPUT]
            left = len(printed) - len(cut)
            writer.paragraph(cut + (f"\n[{left:,} more characters of output]" if left else ""))
            _show((one.get("data", one) for one in outputs), picture)
        case "raw":
            writer.paragraph(source)
        case _:
            pass


def _printed(output: dict[str, Json]) -> str:
    """Return the text of an output; empty for pictures and errors."""
    match output.get("output_type"):
        case "stream" if output.get("name") != "stderr":
            return _joined(output.get("text", ""))
        case "execute_result" | "display_data" | "pyout":
            data = output.get("data", output)
            text = _joined(data.get("text/plain", data.get("text", ""))) if isinstance(data, dict) else ""
            return "" if _OBJECT.fullmatch(text.strip()) else text + "\n"
        case _:
            return ""


def _show(forms: Iterable[Json], picture: Callable[[str], None]) -> None:
    """Write the pictures among what is stored in several forms, each by its content type or, in format 3, its kind."""
    for address in filter(None, map(_address, forms)):
        picture(address)


def _address(forms: Json) -> str:
    """Return the first picture as a ``data:`` address; empty without one."""
    known = forms if isinstance(forms, dict) else {}
    encoded = ((kind, _joined(known.get(f"image/{kind}", known.get(kind, "")))) for kind in ("png", "jpeg"))
    return next((f"data:image/{kind};base64,{data}" for kind, data in encoded if data), "")


def _joined(text: Json) -> str:
    """Return a text that may be stored as a list of lines."""
    if isinstance(text, list):
        return "".join(line for line in text if isinstance(line, str))
    return text if isinstance(text, str) else ""


def _language(about: Json) -> str:
    for key in ("language_info", "kernelspec"):
        inner = about.get(key) if isinstance(about, dict) else None
        name = inner.get("name" if key == "language_info" else "language") if isinstance(inner, dict) else None
        if isinstance(name, str):
            return name
    return ""
