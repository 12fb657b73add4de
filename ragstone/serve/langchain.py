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

from ragstone.access import OWNER, Reader
from ragstone.answers import Answer
from ragstone.conditions import Scalar
from ragstone.contracts import Document, Hit, Mark
from ragstone.errors import MissingExtra
from ragstone.serve import as_json
from ragstone.serve.notebook import Ragstone

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document as Theirs
    from langchain_core.retrievers import BaseRetriever
except ImportError as error:
    raise MissingExtra("langchain-core", extra="langchain") from error

OWN = ("source", "title", "url", "marks")
"""Fields of a `Document` that stand among its metadata where LangChain has it."""


class RagstoneRetriever(BaseRetriever):
    """The chunks of a knowledge base that match best, as LangChain's documents.

    Args:
        kb: the knowledge base.
        k: how many; ``rank.top_k`` if not given. Also an argument of ``invoke``.
        where: which documents may be used, such as ``language = en``.
        reader: who asks; only what this reader may read is found.
    """

    kb: Ragstone
    k: int | None = None
    where: str | None = None
    reader: Reader = OWNER

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Theirs]:
        del run_manager
        hits = self.kb.search(query, self.k if k is None else k, self.where, reader=self.reader)
        return found(hits)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Theirs]:
        del run_manager
        engine = self.kb.engine()
        return found(await engine.search(query, self.k if k is None else k, self.where, reader=self.reader))


def found(hits: Iterable[Hit]) -> list[Theirs]:
    """Hits, best first. The content is the document's text from ``start`` to ``end``; ``score`` and ``rank`` are told.

    Facts of the document stand beside these; of two with the same name ours stands.
    """
    out = []
    for rank, hit in enumerate(hits, start=1):
        told = as_json.hit(hit, rank)
        text, facts = told.pop("text"), told.pop("metadata")
        source = hit.chunk.url or hit.chunk.document_id
        own = {"source": source, "section": hit.chunk.facts.get("section", ""), "page": hit.chunk.facts.get("page", "")}
        out.append(Theirs(page_content=text, id=hit.chunk.id, metadata={**_plain(facts), **own, **told}))
    return out


def cited(answer: Answer) -> list[Theirs]:
    """What an answer cites: the content is the quote, the metadata are all fields of the `Citation`."""
    return [Theirs(page_content=one.quote, metadata=asdict(one)) for one in answer.citations]


def to_langchain(document: Document) -> Theirs:
    """A whole document; `from_langchain` gives it back as it was."""
    own: dict[str, Any] = {name: getattr(document, name) for name in OWN if getattr(document, name)}
    if document.marks:
        own["marks"] = [asdict(mark) for mark in document.marks]
    return Theirs(page_content=document.text, id=document.id, metadata={**_plain(document.metadata), **own})


def from_langchain(documents: Iterable[Theirs]) -> list[Document]:
    """Documents as a loader gives them, to be added.

    The id is that of the document; where it has none, its source, with the page or else a number where several have
    the same; without a source, a hash of its text. What no filter could compare becomes text.
    """
    out: list[Document] = []
    seen: Counter[str] = Counter()
    for one in documents:
        facts = dict(one.metadata)
        own = {name: facts.pop(name) for name in OWN if name in facts}
        source = str(own.get("source") or "")
        id = one.id or _named(source, facts, one.page_content)
        seen[id] += 1
        out.append(
            Document(
                id=id if seen[id] == 1 else f"{id}#{seen[id]}",
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
    """Facts as JSON has them."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in facts.items()}


def _fact(value: Any) -> Scalar | tuple[Scalar, ...] | None:
    """A value as filters know it; nothing for nothing."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, list | tuple | set) and all(isinstance(one, str | int | float | bool) for one in value):
        return tuple(sorted(value, key=str)) if isinstance(value, set) else tuple(value)
    return json.dumps(value, ensure_ascii=False, default=str)
