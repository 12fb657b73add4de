"""Ragstone for LangChain: a retriever, and documents both ways.

>>> from ragstone import Ragstone
>>> from ragstone.serve.langchain import RagstoneRetriever
>>> retriever = RagstoneRetriever(kb=Ragstone("kb"), k=3)
>>> retriever.invoke("How do I start?")
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from ragstone.core.access import Reader
from ragstone.core.answers import Answer
from ragstone.core.errors import MissingExtra
from ragstone.core.hits import Hits
from ragstone.core.records import Document, Mark, TextKind
from ragstone.serve import foreign
from ragstone.serve.blocking import Ragstone

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document as Theirs
    from langchain_core.retrievers import BaseRetriever
except ImportError as error:
    raise MissingExtra("langchain-core", extra="langchain") from error


class RagstoneRetriever(BaseRetriever):
    """Retrieves the best chunks of a knowledge base as LangChain documents.

    Args:
        kb: the knowledge base.
        k: the number of chunks; ``rank.top_k`` by default. Also an argument of ``invoke``.
        where: filter on documents, such as ``language = en``.
        reader: the reader who asks, if it is not that of ``kb``.
    """

    kb: Ragstone
    k: int | None = None
    where: str | None = None
    reader: Reader | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Theirs]:
        del run_manager
        return found(self.kb.wait(self._search(query, k)))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Theirs]:
        del run_manager
        return found(await self._search(query, k))

    async def _search(self, query: str, k: int | None) -> Hits:
        return await foreign.search(self.kb, query, self.k if k is None else k, self.where, self.reader)


def found(hits: Hits) -> list[Theirs]:
    """Return hits as LangChain documents, best first; the content is the document's text from ``start`` to ``end``."""
    return [
        Theirs(page_content=hit.chunk.text, id=hit.chunk.id, metadata=metadata)
        for hit, metadata in foreign.with_metadata(hits)
    ]


def cited(answer: Answer) -> list[Theirs]:
    """Return the citations of an answer: the quote is the content, all fields are the metadata."""
    return [Theirs(page_content=one.quote, metadata=asdict(one)) for one in answer.citations]


def to_langchain(document: Document) -> Theirs:
    """Return a document as LangChain's; `from_langchain` restores it exactly."""
    own: dict[str, Any] = {name: getattr(document, name) for name in foreign.OWN if getattr(document, name)}
    if document.marks:
        own["marks"] = [asdict(mark) for mark in document.marks]
    return Theirs(page_content=document.text, id=document.id, metadata={**foreign.plain(document.metadata), **own})


def from_langchain(documents: Iterable[Theirs], kind: TextKind = "") -> list[Document]:
    """Return the documents of a LangChain loader, ready to add. ``kind`` says that their texts are Markdown or HTML.

    A document without an id gets its source as id, with the page or a number if several share it, and with a hash for
    the folder of an absolute path; without a source, a hash of its text. Metadata that filters cannot compare becomes
    text.
    """
    ids, out = foreign.Ids(), list[Document]()
    for document in documents:
        facts = dict(document.metadata)
        own = {name: facts.pop(name) for name in foreign.OWN if name in facts}
        source = str(own.get("source") or "")
        out.append(
            Document(
                id=ids.of(document.id or "", source, facts.get("page"), document.page_content),
                text=document.page_content,
                source=source,
                title=str(own.get("title") or ""),
                url=str(own.get("url") or ""),
                metadata=foreign.facts_of(facts, source),
                marks=tuple(Mark(**mark) for mark in own.get("marks", ())),
                kind="" if own.get("marks") else kind,
            )
        )
    return out
