"""Addresses of stored documents, for whoever has no page to open them with: ``ragstone://document/ID?start=0&end=9``."""

from __future__ import annotations

from urllib.parse import parse_qs, quote, unquote

from ragstone.answers import Citation
from ragstone.errors import NotFound

SCHEME = "ragstone://document/"
TEMPLATE = f"{SCHEME}{{document_id}}{{?start,end}}"
"""As RFC 6570 has it."""


def of_document(document_id: str) -> str:
    """The address of a document."""
    return SCHEME + quote(document_id, safe="/")


def of_citation(citation: Citation) -> str:
    """Where the document came from, if that is an address; else the address of the cited characters."""
    return citation.url or f"{of_document(citation.document_id)}?start={citation.start}&end={citation.end}"


def parsed(address: str) -> tuple[str, int, int | None]:
    """The id, the first character, and the one after the last where it is named.

    Raises:
        NotFound: it is no address of a document.
    """
    named, _, query = address.removeprefix(SCHEME).partition("?")
    fields = {name: values[0] for name, values in parse_qs(query).items()}
    start, end = fields.pop("start", "0"), fields.pop("end", None)
    numbers = [start] if end is None else [start, end]
    if not address.startswith(SCHEME) or not named or fields or not all(map(str.isdecimal, numbers)):
        raise NotFound(f"there is no resource {address}; those there are look like {TEMPLATE}")
    return unquote(named), int(start), None if end is None else int(end)
