"""Addresses of stored documents for clients without a page to open them: ``ragstone://document/ID?start=0&end=9``."""

from __future__ import annotations

from urllib.parse import parse_qs, quote, unquote

from ragstone.core.answers import Citation
from ragstone.core.errors import NotFound

SCHEME = "ragstone://document/"
TEMPLATE = f"{SCHEME}{{document_id}}{{?start,end}}"
"""The template of RFC 6570."""


def of_document(document_id: str) -> str:
    """Return the address of a document."""
    return SCHEME + quote(document_id, safe="/")


def on_page(citation: Citation, base: str) -> str:
    """Return an address that a browser opens: that of the document on the web, or the cited words on Ragstone's page.

    Args:
        citation: what is cited.
        base: the address of the server, which ends in a slash.
    """
    if citation.url.startswith(("http://", "https://")):
        return citation.url
    return f"{base}#/d/{quote(citation.document_id, safe='')}?start={citation.start}&end={citation.end}"


def parsed(address: str) -> tuple[str, int, int | None]:
    """Return the document id, the start, and the end if the address has one.

    Raises:
        NotFound: it is not the address of a document.
    """
    path, _, query = address.removeprefix(SCHEME).partition("?")
    fields = {name: values[0] for name, values in parse_qs(query).items()}
    start, end = fields.pop("start", "0"), fields.pop("end", None)
    numbers = [start] if end is None else [start, end]
    if not address.startswith(SCHEME) or not path or fields or not all(map(str.isdecimal, numbers)):
        raise NotFound(f"there is no resource {address}; addresses have the form {TEMPLATE}")
    return unquote(path), int(start), None if end is None else int(end)
