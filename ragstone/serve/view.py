"""What a reader is shown of a record: no path or service of the server, and no group that is not their own.

The owner of the files and administrators are shown everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragstone.core.access import ATTACHED, EVERYONE, READERS, Reader
from ragstone.core.answers import Answered, Event, EvidenceFound
from ragstone.core.catalog import Listing
from ragstone.core.filters import Filter
from ragstone.core.frozen import frozen
from ragstone.core.hits import Hits
from ragstone.core.naming import is_path
from ragstone.core.records import Document, Hit, Metadata
from ragstone.core.research import ActionTaken, Forecast, Researched, ResearchEvent
from ragstone.query.where import parse, refuse_paths
from ragstone.serve.plain_notices import plain_notice


@frozen
class View:
    """What one reader is shown. Records that they may not read at all never get here."""

    reader: Reader
    is_admin: bool = False

    @property
    def is_full(self) -> bool:
        return self.is_admin or self.reader.is_owner

    def source(self, source: str, document_id: str) -> str:
        """Return a source without the folders of the server above it; addresses stay as they are."""
        if self.is_full or not is_path(source):
            return source
        path = source.removeprefix("file://").replace("\\", "/")
        return document_id if path.endswith(f"/{document_id}") else path.rpartition("/")[2]

    def metadata(self, metadata: Metadata) -> Metadata:
        """Return metadata with only those groups that the reader is in; those of a conversation say nothing to them."""
        if ATTACHED in metadata:
            return {key: fact for key, fact in metadata.items() if key not in (ATTACHED, READERS)}
        named = metadata.get(READERS)
        if self.is_full or self.reader.groups is None or named is None:
            return metadata
        own = {EVERYONE, *self.reader.groups}
        groups = tuple(group for group in (named if isinstance(named, tuple) else (named,)) if group in own)
        return {**metadata, READERS: groups}

    def document(self, document: Document) -> Document:
        """Return a document as it is shown."""
        source = self.source(document.source, document.id)
        return replace(document, source=source, metadata=self.metadata(document.metadata))

    def listing(self, page: Listing) -> Listing:
        """Return a page of documents as it is shown."""
        documents = tuple(
            replace(one, source=self.source(one.source, one.document_id), metadata=self.metadata(one.metadata))
            for one in page.documents
        )
        return replace(page, documents=documents)

    def where(self, where: Filter | str | None) -> Filter | None:
        """Return a filter, parsed.

        Raises:
            UsageError: it cannot be read, or it compares what the reader is not shown.
        """
        parsed = parse(where) if isinstance(where, str) else where
        if parsed is not None and not self.is_full:
            refuse_paths(parsed)
        return parsed

    def hits(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """Return hits as they are shown."""
        if self.is_full:
            return tuple(hits)
        return tuple(replace(hit, chunk=replace(hit.chunk, metadata=self.metadata(hit.chunk.metadata))) for hit in hits)

    def notices(self, notices: Sequence[str]) -> tuple[str, ...]:
        """Return notices as they are shown, each once."""
        return tuple(notices if self.is_full else dict.fromkeys(map(plain_notice, notices)))

    def stored(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """Return the JSON of a stored answer as it is shown."""
        shown = {**answer, "notices": list(self.notices(answer["notices"]))}
        return shown if self.is_full else shown | {"sent": []}

    def found(self, hits: Hits) -> Hits:
        """Return the hits of a search as they are shown."""
        return replace(hits, hits=self.hits(hits), notices=self.notices(hits.notices))

    def research(self, event: ResearchEvent) -> ResearchEvent:
        """Return an event of research as it is shown."""
        match event:
            case Forecast():
                return event
            case ActionTaken():
                return replace(event, note="; ".join(self.notices((event.note,)))) if event.note else event
            case Researched():
                return Researched(notebooks=tuple(replace(one, hits=self.hits(one.hits)) for one in event.notebooks))
            case _:
                return self.event(event)

    def event(self, event: Event) -> Event:
        """Return an event of a stream as it is shown."""
        match event:
            case EvidenceFound(evidence=evidence):
                shown = replace(
                    evidence,
                    hits=self.hits(evidence.hits),
                    missing=self.notices(evidence.missing),
                    notices=self.notices(evidence.notices),
                )
                return replace(event, evidence=shown)
            case Answered(answer=answer):
                sent = answer.sent if self.is_full else ()  # the addresses are those of internal services
                shown = replace(answer, hits=self.hits(answer.hits), notices=self.notices(answer.notices), sent=sent)
                return replace(event, answer=shown)
            case _:
                return event
