"""Cleans documents so that every database can store them."""

from __future__ import annotations

import re
from dataclasses import replace

from ragstone.core.filters import Scalar
from ragstone.core.records import Document, Skipped

LONGEST_ID = 2_000
"""Characters of an id, as many as a URL may name. The work on an id with many slashes grows with their square."""
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def storable(document: Document) -> Document | Skipped:
    """Return the document with storable text, or `Skipped` if it has no usable id, text or metadata.

    Characters that no database stores become U+FFFD. An id with such a character is refused, because replacement could
    make two ids equal.
    """
    if not document.id or _UNSTORABLE.search(document.id):
        return Skipped(
            source=_clean(document.source or document.id),
            reason="its id is empty or has characters that cannot be stored",
        )
    if len(document.id) > LONGEST_ID:
        reason = f"its id is longer than {LONGEST_ID:,} characters"
        return Skipped(source=_clean(document.source or document.id), reason=reason)
    if not document.text.strip():
        return Skipped(source=_clean(document.source or document.id), reason="there is no text in it")
    metadata: dict[str, Scalar | tuple[Scalar, ...]] = {}
    for key, value in document.metadata.items():
        members = tuple(value) if isinstance(value, list | tuple) else (value,)
        for member in members:
            if not _is_storable(member):
                reason = f"metadata '{_clean(key)}' is not text, a number or a boolean that can be stored"
                return Skipped(source=_clean(document.source or document.id), reason=reason)
        clean = tuple(_clean(member) if isinstance(member, str) else member for member in members)
        metadata[_clean(key)] = clean if isinstance(value, list | tuple) else clean[0]
    return replace(
        document,
        text=_clean(document.text),
        source=_clean(document.source),
        title=_clean(document.title),
        url=_clean(document.url),
        metadata=metadata,
    )


def _is_storable(value: object) -> bool:
    return isinstance(value, Scalar) and not (isinstance(value, int) and value.bit_length() > 1000)


def _clean(text: str) -> str:
    return _UNSTORABLE.sub("\ufffd", text)
