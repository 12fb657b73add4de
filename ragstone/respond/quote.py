"""Words of the documents, as answers quote them."""

from __future__ import annotations

from ragstone.core.frozen import frozen
from ragstone.core.records import Hit, Span


@frozen
class Quote:
    """Words of one hit, in one piece; ``span`` refers to ``hit.chunk.text``.

    ``place`` is the rank of the hit among the hits, by which quotes are sorted; ``code`` is the code chunk that the
    words introduce.
    """

    hit: Hit
    span: Span
    place: int = 0
    code: Hit | None = None

    @property
    def text(self) -> str:
        return self.span.of(self.hit.chunk.text)

    @property
    def is_code(self) -> bool:
        """Whether it is a complete code chunk."""
        return bool(self.hit.chunk.facts.get("is_code")) and len(self.text) == len(self.hit.chunk.text)

    @property
    def stands(self) -> tuple[int, int]:
        """Its start and end in the document."""
        offset = self.hit.chunk.start
        return offset + self.span.start, offset + self.span.end
