"""The citations of an answer: checked word for word, located in their documents, and listed as sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from ragstone.catalog.protocol import Catalog
from ragstone.chunk import Outlined
from ragstone.core.answers import Citation, Source
from ragstone.core.errors import RagstoneError, ResponseError
from ragstone.core.records import Evidence, Hit


def refuse_misquotes(citations: Sequence[Citation], evidence: Evidence) -> None:
    """Check that every citation equals the text of a chunk of the evidence at its place, whoever wrote the answer.

    Raises:
        ResponseError: one does not; the answer must be withheld.
    """
    passages = (one.hit for one in evidence.passages)  # last: they have the ids of hits, and more of their text
    hits = (*evidence.hits, *evidence.versions)
    chunks = {hit.chunk.id: hit.chunk for hit in chain(hits, evidence.tables, *evidence.rows, passages)}
    for citation in citations:
        chunk = chunks.get(citation.chunk_id)
        if (
            chunk is None
            or chunk.document_id != citation.document_id
            or not chunk.start <= citation.start < citation.end <= chunk.end
            or chunk.text[citation.start - chunk.start : citation.end - chunk.start] != citation.quote
        ):
            raise ResponseError(
                f"citation [{citation.marker}] is not what {citation.document_id} says at characters"
                f" {citation.start}-{citation.end}; the answer is withheld"
            )


def with_cited(evidence: Evidence, citations: Sequence[Citation]) -> Evidence:
    """Return the evidence with the other versions, tables and further passages that an answer cites below its hits.

    It is the same object if there are none, so that whoever has read it need not read it again.
    """
    wanted = {citation.chunk_id for citation in citations} - {hit.chunk.id for hit in evidence.hits}
    others = chain(evidence.versions, *evidence.rows, evidence.tables, (one.hit for one in evidence.passages))
    cited = {hit.chunk.id: hit for hit in others if hit.chunk.id in wanted}
    return replace(evidence, hits=(*evidence.hits, *cited.values())) if cited else evidence


def sources_of(evidence: Evidence, citations: Sequence[Citation]) -> tuple[Source, ...]:
    """Return the cited documents, each once, in the order of the evidence."""
    cited, sources = {citation.document_id for citation in citations}, dict[str, Source]()
    for hit in evidence.hits:
        if hit.chunk.document_id in cited and hit.chunk.document_id not in sources:
            sources[hit.chunk.document_id] = _source(hit)
    return tuple(sources.values())


def _source(hit: Hit) -> Source:
    facts = hit.chunk.metadata
    author = facts.get("author") or facts.get("authors") or ""
    sentiment = facts.get("sentiment")
    return Source(
        type=hit.chunk.source_type,
        title=hit.chunk.title or None,
        author=(", ".join(map(str, author)) if isinstance(author, tuple) else str(author)) or None,
        url=hit.chunk.url or None,
        document_id=hit.chunk.document_id,
        relevance_score=round(hit.score, 4),
        sentiment=None if isinstance(sentiment, tuple) else sentiment,
    )


class Outlines:
    """The outlines of documents, each read when it is first asked for."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._read = dict[str, Outlined | None]()

    def of(self, id: str) -> Outlined | None:
        """Return the outline of a document; None if it was removed meanwhile."""
        if id not in self._read:
            try:
                self._read[id] = Outlined.of(self._catalog.document(id))
            except RagstoneError:  # removed a moment ago; the answer still stands
                self._read[id] = None
        return self._read[id]


def placed(citation: Citation, document: Outlined | None) -> Citation:
    """Return the citation with its section and page, and with the model if it wrote these words to describe a picture.

    It is unchanged if the document has changed meanwhile.
    """
    if document is None or document.text[citation.start : citation.end] != citation.quote:
        return citation
    return replace(
        citation,
        section=document.section(citation.start),
        page=document.page(citation.start),
        # The last word decides: a quote may begin above the description.
        described_by=document.described_by(citation.end - 1),
    )
