"""What the first bytes of a file say about its kind, for files whose name says nothing."""

from __future__ import annotations

import re
import zipfile
from contextlib import suppress
from pathlib import Path

_START = 4096
_LARGEST = 50_000_000
_PARTS = {"word/document.xml": ".docx", "ppt/presentation.xml": ".pptx", "xl/workbook.xml": ".xlsx"}
_MIME_TYPES = {
    "application/epub+zip": ".epub",
    "application/vnd.oasis.opendocument.text": ".odt",
    "application/vnd.oasis.opendocument.presentation": ".odp",
    "application/vnd.oasis.opendocument.spreadsheet": ".ods",
}
_STREAMS = {
    "WordDocument": ".doc",
    "PowerPoint Document": ".ppt",
    "Workbook": ".xls",
    "__properties_version1.0": ".msg",
}
_MAGIC = (
    (re.compile(rb"%PDF-"), ".pdf"),
    (re.compile(rb"\{\\rtf1"), ".rtf"),
    (re.compile(rb"\x78\x9f\x3e\x22"), ".tnef"),
    (re.compile(rb"\x89PNG\r\n"), ".png"),
    (re.compile(rb"\xff\xd8\xff"), ".jpg"),
    (re.compile(rb"II\*\x00|MM\x00\*"), ".tif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), ".webp"),
    (re.compile(rb"PK\x03\x04"), ".zip"),
    (re.compile(rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), ".doc"),
    (re.compile(rb"#!.*\b(?:python|pypy)"), ".py"),
    (re.compile(rb"#!.*\b(?:ba|z|k|da)?sh\b"), ".sh"),
    (re.compile(rb"#!.*\b(?:node|deno)\b"), ".js"),
    (re.compile(rb"#!.*\bruby\b"), ".rb"),
    (re.compile(rb"#!.*\bperl\b"), ".pl"),
    (re.compile(rb"From \S+.*\d\d:\d\d.*\r?\n(?:>?[\w-]+:|\s*$)"), ".mbox"),
    (re.compile(rb"\s*\.so[ \t]+\S+\s*$|\s*(?=[.'])(?:.*\n)*?[.'][ \t]*(?:TH|Dd|Dt)[ \t]+\S"), ".man"),
    (re.compile(rb"BEGIN:VCALENDAR", re.IGNORECASE), ".ics"),
    (re.compile(rb"BEGIN:VCARD", re.IGNORECASE), ".vcf"),
    (re.compile(rb"\s*<(?:!doctype html|html)\b", re.IGNORECASE), ".html"),
    (re.compile(rb"(?:\xef\xbb\xbf)?\s*<\?xml\b"), ".xml"),
)


def suffix_from_content(path: Path) -> str:
    """Return the suffix of the kind that a file begins like; ``.txt`` if it begins like nothing known."""
    with path.open("rb") as stream:
        start = stream.read(_START)
    suffix = next((suffix for magic, suffix in _MAGIC if magic.match(start)), ".txt")
    return _of_package(path) if suffix == ".zip" else _of_compound(path) if suffix == ".doc" else suffix


def _of_package(path: Path) -> str:
    """Return the suffix of a zip package: of an office file or an e-book by its parts, or of an archive."""
    with suppress(OSError, zipfile.BadZipFile, ValueError, KeyError), zipfile.ZipFile(path) as package:
        names = package.namelist()
        for name, suffix in _PARTS.items():
            if name in names:
                return suffix
        if "mimetype" in names and package.getinfo("mimetype").file_size < _START:
            return _MIME_TYPES.get(package.read("mimetype").decode("ascii", "replace").strip(), ".zip")
    return ".zip"


def _of_compound(path: Path) -> str:
    """Return the suffix of an older Microsoft format by the name of its stream, which stands in the directory."""
    if path.stat().st_size > _LARGEST:
        return ".doc"
    data = path.read_bytes()
    return next((suffix for name, suffix in _STREAMS.items() if name.encode("utf-16-le") in data), ".doc")
