"""Readers: one module per file format.

To add a format:

1. Write a module in this folder with a function ``parse(file: File) -> Parsed``. `parsed.Writer` builds the text and
   records headings, code, tables and pages as exact spans. Raise `Unreadable`, with the reason, if there is no text.
2. Add one line to `READERS`: the suffix and the name of the module.

A reader named in the table is imported and run in a separate process, with limits on time and memory, because the file
may be hostile and the library that parses it may crash. A reader given as a function runs in this process: that is for
formats whose lines we read ourselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ragstone.acquire.readers import manual, markdown, notebook, restructured, tables, text
from ragstone.acquire.readers.names import LANGUAGES, SETTINGS, left_out, suffix_of
from ragstone.acquire.readers.parsed import File, Parsed
from ragstone.core.records import Document, Skipped

Rows = Iterator[Document | Skipped]
Reader = str | Callable[[File], Parsed] | Callable[[File], Rows] | Callable[[File], Parsed | Rows]
"""The name of a module of this package, or a function that returns the text of a file, or the documents of its rows."""

READERS: dict[str, Reader] = {
    **dict.fromkeys((*LANGUAGES, *SETTINGS), "code"),
    ".txt": text.parse,
    ".text": text.parse,
    ".md": markdown.parse,
    ".markdown": markdown.parse,
    ".rst": restructured.parse,
    ".man": manual.parse,
    ".csv": tables.read_csv,
    ".tsv": tables.read_csv,
    ".jsonl": tables.read_jsonl,
    ".ndjson": tables.read_jsonl,
    ".json": tables.read_json,
    ".ipynb": notebook.parse,
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".gif"), "picture"),
    ".docx": "word",
    ".docm": "word",
    ".pptx": "slides",
    ".pptm": "slides",
    **dict.fromkeys((".ppt", ".pps", ".pot"), "slides97"),
    ".xlsx": "sheets",
    ".xlsm": "sheets",
    ".xls": "sheets",
    ".ods": "sheets",
    ".odt": "opendocument",
    ".odp": "opendocument",
    **dict.fromkeys((".wpd", ".sxw"), "office"),
    ".epub": "epub",
    ".rtf": "rtf",
    ".eml": "mail",
    ".mht": "mail",
    ".mhtml": "mail",
    ".msg": "outlook",
    ".doc": "word97",
    ".dot": "word97",
    ".xml": "feed",
    ".rss": "feed",
    ".atom": "feed",
    ".rdf": "feed",
    ".srt": "subtitles",
    ".vtt": "subtitles",
    ".tex": "latex",
    ".confluence": "confluence",
}
"""How files of a suffix are read. A file of any other suffix is read as what its first bytes say, or as text."""
ARCHIVES = (".zip", ".gz", ".mbox")
"""Suffixes of files of files; `sources.archives` and `sources.mailbox` take the files out of them."""

SUFFIX_OF_TYPE = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "text/x-rst": ".rst",
    "text/prs.fallenstein.rst": ".rst",
    "text/plain": ".txt",
    "application/pdf": ".pdf",
    "application/rss+xml": ".rss",
    "application/atom+xml": ".atom",
}
"""The content types that web pages are read as."""


__all__ = ["ARCHIVES", "READERS", "SUFFIX_OF_TYPE", "Reader", "Rows", "left_out", "suffix_of"]
