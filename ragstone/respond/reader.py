"""What the trained reader says of passages, where it knows the language of question and passages: English."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.core.protocols import PassageReader
from ragstone.core.readings import Reading
from ragstone.core.request import Request

FAMILIAR = 0.7
"""Share of the words of the question, and of the best passage, that the reader must know."""


async def readings(
    reader: PassageReader | None, question: str, passages: Sequence[str], request: Request
) -> Sequence[Reading | None]:
    """Return what the reader says of each passage; None for all if there is no reader, or it knows too few words."""
    if reader is None or not passages or min(map(reader.familiarity, (question, passages[0]))) < FAMILIAR:
        return [None] * len(passages)
    return await reader.read(question, passages, request)
