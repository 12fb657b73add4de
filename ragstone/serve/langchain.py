"""Ragstone for LangChain: a retriever, and documents both ways.

>>> from ragstone import Ragstone
>>> from ragstone.serve.langchain import RagstoneRetriever
>>> retriever = RagstoneRetriever(kb=Ragstone("kb"), k=3)
>>> retriever.invoke("How do I start?")
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from ragstone.core.access import Reader
from ragstone.core.answers import Answer
from ragstone.core.errors import MissingExtra
from ragstone.core.filters import Scalar
from ragstone.core.records import Document, Hit, Mark
from ragstone.serve import as_json
from ragstone.serve.notebook import Ragstone

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document as Theirs
    from langchain_core.retrievers import BaseRetriever
except ImportError as error:
    raise MissingExtra("langchain-core", extra="langchain") from error

OWN = ("source", "title", "url", "marks")
"""Fields of a `Document` that LangChain keeps in the metadata."""


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

    async def _search(self, query: str, k: int | None) -> list[Hit]:
        reader = self.kb.reader if self.reader is None else self.reader
        kb = self.kb.knowledge_base()
        return await kb.search(query, self.k if k is None else k, self.where, reader=reader)


def found(hits: Iterable[Hit]) -> list[Theirs]:
    """Return hits as LangChain documents, best first.

    The content is the document's text from ``start`` to ``end``. The metadata is that of the document and the facts of
    the chunk, with ``score``, ``rank`` and the place; the later replace fields of the same name.
    """
    out: list[Theirs] = []
    for rank, hit in enumerate(hits, start=1):
        fields = as_json.hit(hit, rank)
        text, metadata = fields.pop("text"), fields.pop("metadata")
        source = hit.chunk.url or hit.chunk.document_id
        own = {"source": source, "section": hit.chunk.facts.get("section", ""), "page": hit.chunk.facts.get("page", "")}
        out.append(Theirs(page_content=text, id=hit.chunk.id, metadata={**_plain(metadata), **own, **fields}))
    return out


def cited(answer: Answer) -> list[Theirs]:
    """Return the citations of an answer: the quote is the content, all fields are the metadata."""
    return [Theirs(page_content=one.quote, metadata=asdict(one)) for one in answer.citations]


def to_langchain(document: Document) -> Theirs:
    """Return a document as LangChain's; `from_langchain` restores it exactly."""
    own: dict[str, Any] = {name: getattr(document, name) for name in OWN if getattr(document, name)}
    if document.marks:
        own["marks"] = [asdict(mark) for mark in document.marks]
    return Theirs(page_content=document.text, id=document.id, metadata={**_plain(document.metadata), **own})


def from_langchain(documents: Iterable[Theirs]) -> list[Document]:
    """Return the documents of a LangChain loader, ready to add.

    A document without an id gets its source as id, with the page or a number if several share it; without a source, a
    hash of its text. Metadata that filters cannot compare becomes text.
    """
    out: list[Document] = []
    used: Counter[str] = Counter()
    for one in documents:
        facts = dict(one.metadata)
        own = {name: facts.pop(name) for name in OWN if name in facts}
        source = str(own.get("source") or "")
        id = one.id or _named(source, facts, one.page_content)
        used[id] += 1
        out.append(
            Document(
                id=id if used[id] == 1 else f"{id}#{used[id]}",
                text=one.page_content,
                source=source,
                title=str(own.get("title") or ""),
                url=str(own.get("url") or ""),
                metadata={name: value for name, raw in facts.items() if (value := _fact(raw)) is not None},
                marks=tuple(Mark(**mark) for mark in own.get("marks", ())),
            )
        )
    return out


def _named(source: str, facts: Mapping[str, Any], text: str) -> str:
    if not source:
        return hashlib.sha256(text.encode()).hexdigest()[:32]
    return f"{source}#page={facts['page']}" if "page" in facts else source


def _plain(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata as JSON has it."""
    return {name: [*value] if isinstance(value, tuple) else value for name, value in facts.items()}


def _fact(value: Any) -> Scalar | tuple[Scalar, ...] | None:
    """Return a value as filters know it, or None."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, list | tuple | set):
        items: list[Any] = [*value]
        if isinstance(value, set):
            items.sort(key=str)
        if all(isinstance(one, str | int | float | bool) for one in items):
            return tuple(items)
    return json.dumps(value, ensure_ascii=False, default=str)
