"""Jupyter notebooks: Markdown cells as they are, code cells as code, and what they printed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ragstone.acquire.readers import markdown
from ragstone.acquire.readers.decode import Unreadable, clean
from ragstone.acquire.readers.parsed import File, Writer
from ragstone.acquire.readers.text import text_of
from ragstone.contracts import Document

MOST_OUTPUT = 1000
"""Characters of a cell's output that are kept: enough for a result, too little for a log."""


def read_notebook(file: File) -> Iterator[Document]:
    """A notebook as a document; its first heading is its title.

    Raises:
        Unreadable: it is no notebook, or holds no text.
    """
    text, facts = text_of(file)
    try:
        book = json.loads(text)
        # Format 3 kept the cells in worksheets.
        cells = book["cells"] if "cells" in book else book["worksheets"][0]["cells"]
        about = book.get("metadata", {})
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise Unreadable(f"damaged: no notebook in it: {error}") from error
    writer = Writer()
    language = _language(about)
    for cell in cells if isinstance(cells, list) else []:
        if isinstance(cell, dict):
            _write(writer, cell, language)
    title = about.get("title", "") if isinstance(about, dict) else ""
    facts = {"kind": "notebook", **facts}
    yield writer.parsed(title=title if isinstance(title, str) else "", facts=facts).document(file)


def _write(writer: Writer, cell: dict[str, Any], language: str) -> None:
    source = clean(_joined(cell.get("source", cell.get("input", ""))))
    match cell.get("cell_type"):
        case "markdown":
            text = source.strip("\n")
            writer.marked(text, markdown.find_marks(text))
        case "heading":
            level = cell.get("level")
            writer.heading(source, level if isinstance(level, int) else 1)
        case "code":
            writer.code(source, language)
            outputs = cell.get("outputs")
            printed = (
                "".join(_printed(one) for one in outputs if isinstance(one, dict)) if isinstance(outputs, list) else ""
            )
            cut = printed.rstrip()[:MOST_OUTPUT]
            writer.paragraph(cut + ("\n..." if len(printed.rstrip()) > len(cut) else ""))
        case "raw":
            writer.paragraph(source)


def _printed(output: dict[str, Any]) -> str:
    """The text of an output; pictures and errors are none."""
    match output.get("output_type"):
        case "stream" if output.get("name") != "stderr":
            return _joined(output.get("text", ""))
        case "execute_result" | "display_data" | "pyout":
            data = output.get("data", output)
            return _joined(data.get("text/plain", data.get("text", ""))) + "\n" if isinstance(data, dict) else ""
        case _:
            return ""


def _joined(text: Any) -> str:
    """A text that may be kept as a list of lines."""
    if isinstance(text, list):
        return "".join(line for line in text if isinstance(line, str))
    return text if isinstance(text, str) else ""


def _language(about: Any) -> str:
    for key in ("language_info", "kernelspec"):
        inner = about.get(key) if isinstance(about, dict) else None
        name = inner.get("name" if key == "language_info" else "language") if isinstance(inner, dict) else None
        if isinstance(name, str):
            return name
    return ""
