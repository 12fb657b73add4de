"""Ragstone for Haystack: a component that retrieves documents.

>>> from ragstone import Ragstone
>>> from ragstone.serve.haystack import RagstoneRetriever
>>> pipeline.add_component("retriever", RagstoneRetriever(Ragstone("kb"), k=3))
"""

from __future__ import annotations

from typing import Any

from ragstone.core.access import Reader
from ragstone.core.errors import MissingExtra
from ragstone.serve import foreign
from ragstone.serve.blocking import Ragstone

try:
    import haystack  # pyright: ignore[reportMissingImports]
except ImportError as error:
    raise MissingExtra("haystack-ai", extra="haystack") from error

_haystack: Any = haystack
Documents = list[_haystack.Document]


@_haystack.component
class RagstoneRetriever:
    """Retrieves the best chunks of a knowledge base as Haystack documents, best first.

    Args:
        kb: the knowledge base.
        k: the number of chunks; ``rank.top_k`` by default.
        where: filter on documents, such as ``language = en``.
        reader: the reader who asks, if it is not that of ``kb``.
    """

    def __init__(
        self, kb: Ragstone, *, k: int | None = None, where: str | None = None, reader: Reader | None = None
    ) -> None:
        self._kb, self._k, self._where, self._reader = kb, k, where, reader

    @_haystack.component.output_types(documents=Documents)
    def run(self, query: str, top_k: int | None = None, where: str | None = None) -> dict[str, Any]:
        """Return the documents for a query; each has the text from ``start`` to ``end`` of the original."""
        k, where = self._k if top_k is None else top_k, self._where if where is None else where
        hits = self._kb.wait(foreign.search(self._kb, query, k, where, self._reader))
        documents = [
            _haystack.Document(id=hit.chunk.id, content=hit.chunk.text, meta=metadata, score=hit.score)
            for hit, metadata in foreign.with_metadata(hits)
        ]
        return {"documents": documents}
