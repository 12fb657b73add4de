"""Ragstone for LlamaIndex: a retriever, and documents both ways.

>>> from ragstone import Ragstone
>>> from ragstone.serve.llamaindex import RagstoneRetriever
>>> retriever = RagstoneRetriever(Ragstone("kb"), k=3)
>>> retriever.retrieve("How do I start?")
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from importlib import import_module
from typing import Any

from ragstone.core.access import Reader
from ragstone.core.errors import MissingExtra
from ragstone.core.hits import Hits
from ragstone.core.records import Document, Hit, Mark
from ragstone.serve import foreign
from ragstone.serve.blocking import Ragstone

try:
    _schema: Any = import_module("llama_index.core.schema")
    _Base: Any = import_module("llama_index.core.retrievers").BaseRetriever
except ImportError as error:
    raise MissingExtra("llama-index-core", extra="llamaindex") from error

SHOWN = frozenset({"title", "url", "section", "page"})
"""Metadata that a language model reads before the text of a node."""


class RagstoneRetriever(_Base):
    """Retrieves the best chunks of a knowledge base as nodes with scores.

    Args:
        kb: the knowledge base.
        k: the number of chunks; ``rank.top_k`` by default.
        where: filter on documents, such as ``language = en``.
        reader: the reader who asks, if it is not that of ``kb``.
    """

    def __init__(
        self, kb: Ragstone, *, k: int | None = None, where: str | None = None, reader: Reader | None = None
    ) -> None:
        _Base.__init__(self)
        self._kb, self._k, self._where, self._reader = kb, k, where, reader

    def _retrieve(self, query_bundle: Any) -> list[Any]:
        return found(self._kb.wait(self._search(query_bundle)))

    async def _aretrieve(self, query_bundle: Any) -> list[Any]:
        return found(await self._search(query_bundle))

    async def _search(self, query_bundle: Any) -> Hits:
        return await foreign.search(self._kb, query_bundle.query_str, self._k, self._where, self._reader)


def found(hits: Hits) -> list[Any]:
    """Return hits as nodes with scores, best first; a node's text is the document's from ``start`` to ``end``."""
    return [
        _schema.NodeWithScore(node=_node(hit, metadata), score=hit.score)
        for hit, metadata in foreign.with_metadata(hits)
    ]


def _node(hit: Hit, metadata: dict[str, Any]) -> Any:
    chunk = hit.chunk
    source = _schema.RelatedNodeInfo(node_id=chunk.document_id, node_type=_schema.ObjectType.DOCUMENT)
    return _schema.TextNode(
        id_=chunk.id,
        text=chunk.text,
        metadata=metadata,
        start_char_idx=chunk.start,
        end_char_idx=chunk.end,
        relationships={_schema.NodeRelationship.SOURCE: source},
        excluded_embed_metadata_keys=sorted(metadata),
        excluded_llm_metadata_keys=sorted(name for name in metadata if name not in SHOWN or not metadata[name]),
    )


def to_llamaindex(document: Document) -> Any:
    """Return a document as LlamaIndex's; `from_llamaindex` restores it exactly."""
    own: dict[str, Any] = {name: getattr(document, name) for name in foreign.OWN if getattr(document, name)}
    if document.marks:
        own["marks"] = [asdict(mark) for mark in document.marks]
    metadata = {**foreign.plain(document.metadata), **own, "document_id": document.id}
    return _schema.Document(id_=document.id, text=document.text, metadata=metadata)


def from_llamaindex(documents: Iterable[Any]) -> list[Document]:
    """Return the documents of a LlamaIndex reader, ready to add.

    LlamaIndex draws the ids of documents by chance, so that adding a file again would add it twice: the id is that in
    the metadata, or else the name of the file after a hash of its folder, with the page or a number if several share
    it, or else a hash of the text.
    """
    ids, out = foreign.Ids(), list[Document]()
    for document in documents:
        facts: dict[str, Any] = dict(document.metadata)
        own = {name: facts.pop(name) for name in foreign.OWN if name in facts}
        source = str(own.get("source") or facts.get("file_path") or "")
        out.append(
            Document(
                id=ids.of(str(facts.pop("document_id", "")), source, facts.get("page_label"), document.text),
                text=document.text,
                source=source,
                title=str(own.get("title") or facts.get("file_name") or ""),
                url=str(own.get("url") or ""),
                metadata=foreign.facts_of(facts, source),
                marks=tuple(Mark(**mark) for mark in own.get("marks", ())),
            )
        )
    return out
