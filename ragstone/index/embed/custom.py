"""An embedder of somebody else: three members are enough, the others have substitutes here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from ragstone.core.import_path import require
from ragstone.core.protocols import Embedder, PlainEmbedder, Role
from ragstone.core.records import Span
from ragstone.core.request import Request

if TYPE_CHECKING:
    from ragstone.core.records import Vector

_TOKEN = re.compile(r"\w+|[^\w\s]")


class CompletedEmbedder:
    """A `PlainEmbedder` with tokens, which are words and punctuation marks, and unknown familiarity."""

    def __init__(self, embedder: PlainEmbedder) -> None:
        self._embedder = embedder

    @property
    def fingerprint(self) -> str:
        """That of the embedder."""
        return self._embedder.fingerprint

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def familiarity(self, text: str) -> float:
        del text
        return 1.0

    def tokens(self, text: str) -> list[Span]:
        """Return words and punctuation marks."""
        return [Span(start=found.start(), end=found.end()) for found in _TOKEN.finditer(text)]

    async def embed(self, texts: Sequence[str], *, role: Role, request: Request) -> Vector:
        return await self._embedder.embed(texts, role=role, request=request)


def completed(embedder: Any, name: str) -> Embedder:
    """Return an embedder that has all methods.

    Raises:
        SettingsError: it lacks what has no substitute.
    """
    require(embedder, name, "index.embedder", ("fingerprint", "dimensions", "embed"))
    if hasattr(embedder, "tokens") and hasattr(embedder, "familiarity"):
        return embedder
    return CompletedEmbedder(cast("PlainEmbedder", embedder))
