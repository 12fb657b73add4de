"""Metadata derived from the text of a document."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePosixPath

from ragstone.acquire.metadata import companies, dates, editions, language, topics
from ragstone.core.filters import Scalar
from ragstone.core.records import CITED_BY_LINE, EXTRACTED_AT, Document
from ragstone.settings import MetadataSettings


def enrich(document: Document, settings: MetadataSettings) -> Document:
    """Return the document with facts found in its text. They replace none that it has, such as the columns of a table.

    The facts depend on nothing but the document and the settings, so that an unchanged document stays unchanged.
    """
    if not settings.enabled:
        return document
    text = document.text if document.title in document.text else f"{document.title}\n{document.text}"
    facts: dict[str, Scalar | tuple[Scalar, ...]] = {
        "publication_id": _publication(document),
        "source": settings.publisher,
        "content_hash": document.content_hash,
        "word_count": len(document.text.split()),
        "mentioned_dates": dates.find(text),
    }
    # The names in code are no companies, and its words are in no language.
    if document.metadata.get("kind") not in CITED_BY_LINE:
        facts |= {
            "language": language.detect(document.text),
            "mentioned_companies": companies.find(text),
            "topics": topics.find(text, settings),
            **editions.edition(document),
        }
    present = {key: fact for key, fact in facts.items() if fact not in ("", ())}
    return replace(document, metadata={**present, **document.metadata})


def stamped(document: Document, settings: MetadataSettings) -> Document:
    """Return the document with the time of extraction, now. It is kept as long as the document stays the same."""
    if not settings.enabled:
        return document
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return replace(document, metadata={EXTRACTED_AT: now, **document.metadata})


def _publication(document: Document) -> str:
    """Return the name of a file without its suffix; for a row of a table, the id of the row."""
    path = document.metadata.get("path")
    if isinstance(path, str) and document.id.startswith(f"{path}#"):
        return document.id.removeprefix(f"{path}#")
    return PurePosixPath(document.id).stem
