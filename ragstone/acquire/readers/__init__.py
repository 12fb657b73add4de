"""Readers: one module per file format, in folders by family.

To add a format:

1. Write a module in a folder with a function ``parse(file: File) -> Parsed``. `parsed.Writer` builds the text and
   records headings, code, tables and pages as exact spans. Raise `Unreadable`, with the reason, if there is no text.
2. Add one line to `READERS`: the suffix, and the module as `folder.module`.

A reader named in the table is imported and run in a separate process, with limits on time and memory, because the file
may be hostile and the library that parses it may crash. A reader given as a function runs in this process: that is for
formats whose lines we read ourselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ragstone.acquire.readers.names import LANGUAGES, PICTURES, SETTINGS, left_out, suffix_of
from ragstone.acquire.readers.parsed import File, Parsed
from ragstone.acquire.readers.tables import table_files
from ragstone.acquire.readers.text import markdown, restructured
from ragstone.core.records import Document, Skipped

Rows = Iterator[Document | Skipped]
Reader = str | Callable[[File], Parsed] | Callable[[File], Rows] | Callable[[File], Parsed | Rows]
"""The name of a module of this package, or a function that returns the text of a file, or the documents of its rows."""

READERS: dict[str, Reader] = {
    **dict.fromkeys((*LANGUAGES, *SETTINGS), "text.code"),
    ".txt": markdown.parse_any_text,
    ".text": markdown.parse_any_text,
    ".md": markdown.parse,
    ".markdown": markdown.parse,
    ".rst": restructured.parse,
    ".man": "text.manual",
    ".csv": table_files.read_csv,
    ".tsv": table_files.read_csv,
    ".jsonl": table_files.read_jsonl,
    ".ndjson": table_files.read_jsonl,
    ".json": table_files.read_json,
    ".parquet": "tables.parquet",
    ".ipynb": "text.notebook",
    ".html": "web.html",
    ".htm": "web.html",
    ".xhtml": "web.html",
    ".pdf": "pdf.document",
    **dict.fromkeys(PICTURES, "pictures.picture"),
    ".docx": "office.word",
    ".docm": "office.word",
    ".pptx": "office.slides",
    ".pptm": "office.slides",
    **dict.fromkeys((".ppt", ".pps", ".pot"), "office.slides97"),
    ".xlsx": "office.sheets",
    ".xlsm": "office.sheets",
    ".xls": "office.sheets",
    ".ods": "office.sheets",
    ".odt": "office.opendocument",
    ".odp": "office.opendocument",
    **dict.fromkeys((".wpd", ".sxw"), "office.libreoffice"),
    **dict.fromkeys((".pages", ".numbers"), "office.iwork"),
    ".epub": "web.epub",
    ".rtf": "office.rtf",
    ".eml": "mail.eml",
    ".mht": "mail.eml",
    ".mhtml": "mail.eml",
    ".msg": "mail.outlook",
    ".tnef": "mail.tnef",
    ".ics": "mail.calendar",
    ".vcf": "mail.calendar",
    ".doc": "office.word97",
    ".dot": "office.word97",
    ".xml": "web.feed",
    ".rss": "web.feed",
    ".atom": "web.feed",
    ".rdf": "web.feed",
    ".srt": "text.subtitles",
    ".vtt": "text.subtitles",
    ".tex": "text.latex",
    ".bib": "text.bibtex",
    ".sql": "text.sql",
    **dict.fromkeys((".gpx", ".kml"), "web.places"),
    ".confluence": "web.confluence",
}
"""How files of a suffix are read. A file of any other suffix is read as what its first bytes say, or as text."""
ARCHIVES = (".zip", ".kmz", ".gz", ".mbox")
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
