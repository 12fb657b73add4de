"""What a text itself tells about a document, as metadata to filter by."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

from ragstone.acquire.facts import companies, dates, language, topics
from ragstone.conditions import Scalar
from ragstone.contracts import Document
from ragstone.sections import MetadataSettings


def enrich(document: Document, settings: MetadataSettings) -> Document:
    """The document with facts found in its text. Those it has already, such as a table's columns, stay.

    Everything follows from the document and the settings, so that an unchanged document stays unchanged: when it
    was added is for the catalog to say.
    """
    if not settings.enabled:
        return document
    text = document.text if document.title in document.text else f"{document.title}\n{document.text}"
    found: dict[str, Scalar | tuple[Scalar, ...]] = {
        "publication_id": _publication(document),
        "source": settings.publisher,
        "language": language.detect(document.text),
        "word_count": len(document.text.split()),
        "mentioned_dates": dates.find(text),
        "mentioned_companies": companies.find(text),
        "topics": topics.find(text, settings),
    }
    told = {key: fact for key, fact in found.items() if fact not in ("", ())}
    return replace(document, metadata={**told, **document.metadata})


def _publication(document: Document) -> str:
    """The name of a file without its suffix; of a row, the row's own id."""
    path = document.metadata.get("path")
    if isinstance(path, str) and document.id.startswith(f"{path}#"):
        return document.id.removeprefix(f"{path}#")
    return PurePosixPath(document.id).stem
