"""What people add to a PDF: values of forms, typed notes and attached files."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, cast

import pypdfium2  # pyright: ignore[reportMissingTypeStubs]
import pypdfium2.raw as pdfium  # pyright: ignore[reportMissingTypeStubs]

from ragstone.acquire.readers.parsed import Part, tidy
from ragstone.acquire.readers.tables.grid import Box

Typed = tuple[str, Box]
"""Words that people typed, and their box on the page."""

_MOST_ANNOTATIONS = 2000
_MOST_ATTACHED = 100
_LONGEST = 20_000
_TICKED, _FREE = "☒", "☐"
_TICKS = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)
_VALUES = (pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX)
_NOTES = (pdfium.FPDF_ANNOT_TEXT, pdfium.FPDF_ANNOT_HIGHLIGHT, pdfium.FPDF_ANNOT_UNDERLINE, pdfium.FPDF_ANNOT_STRIKEOUT)


def typed_on(book: pypdfium2.PdfDocument, page: pypdfium2.PdfPage) -> list[Typed]:
    """Return the values of the form on a page, and the notes that are typed on it."""
    count = min(pdfium.FPDFPage_GetAnnotCount(page.raw), _MOST_ANNOTATIONS)
    return [one for index in range(count) if (one := _typed(book, page, index))]


def notes_on(page: pypdfium2.PdfPage) -> int:
    """Return how many comments a page has that are only shown when one points at them."""
    count = min(pdfium.FPDFPage_GetAnnotCount(page.raw), _MOST_ANNOTATIONS)
    comments = 0
    for index in range(count):
        note = pdfium.FPDFPage_GetAnnot(page.raw, index)
        if note:
            comments += pdfium.FPDFAnnot_GetSubtype(note) in _NOTES and bool(_string(note, b"Contents").strip())
            pdfium.FPDFPage_CloseAnnot(note)
    return comments


def attached_to(book: pypdfium2.PdfDocument) -> Iterator[Part]:
    """Yield the files that are attached to a PDF."""
    for index in range(min(book.count_attachments(), _MOST_ATTACHED)):
        with suppress(pypdfium2.PdfiumError):  # A damaged one does not cost the others.
            attachment = cast("Any", book).get_attachment(index)
            yield Part(name=tidy(attachment.get_name()) or f"attachment {index + 1}", data=bytes(attachment.get_data()))


def _typed(book: pypdfium2.PdfDocument, page: pypdfium2.PdfPage, index: int) -> Typed | None:
    note = pdfium.FPDFPage_GetAnnot(page.raw, index)
    if not note:
        return None
    try:
        kind, text = pdfium.FPDFAnnot_GetSubtype(note), ""
        if kind == pdfium.FPDF_ANNOT_FREETEXT:
            text = _string(note, b"Contents")
        elif kind == pdfium.FPDF_ANNOT_WIDGET and book.formenv:
            text = _value(cast("Any", book.formenv).raw, note)
        rectangle = cast("Any", pdfium.FS_RECTF())
        words = " ".join(tidy(text).split())
        if not words or not pdfium.FPDFAnnot_GetRect(note, ctypes.byref(rectangle)):
            return None
        low, high = sorted((rectangle.bottom, rectangle.top))
        return words, (rectangle.left, low, rectangle.right, high)
    finally:
        pdfium.FPDFPage_CloseAnnot(note)


def _value(form: object, field: object) -> str:
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, field)
    if kind in _TICKS:
        return _TICKED if pdfium.FPDFAnnot_IsChecked(form, field) else _FREE
    if kind not in _VALUES:
        return ""
    length = pdfium.FPDFAnnot_GetFormFieldValue(form, field, None, 0)
    return _read(partial(pdfium.FPDFAnnot_GetFormFieldValue, form, field), length)


def _string(note: object, key: bytes) -> str:
    length = pdfium.FPDFAnnot_GetStringValue(note, key, None, 0)
    return _read(partial(pdfium.FPDFAnnot_GetStringValue, note, key), length)


def _read(fill: Callable[[object, int], object], length: int) -> str:
    """Return a text of so many bytes in UTF-16, which a function of PDFium writes into a buffer."""
    if not 2 < length <= _LONGEST:
        return ""
    buffer = ctypes.create_string_buffer(length)
    fill(ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), length)
    return buffer.raw[: length - 2].decode("utf-16-le", "replace")
