"""Headings that ask a question, as those of FAQs do: the text below is the answer."""

from __future__ import annotations

from ragstone.core.records import Chunk
from ragstone.core.span import Span

_MARKS = ("?", "？", "؟")
_BETWEEN = " > "
"""What stands between two headings in the context of a chunk."""


def is_question(heading: str) -> bool:
    """Return whether a heading asks a question."""
    return heading.rstrip().endswith(_MARKS)


def question_above(chunk: Chunk) -> Span | None:
    """Return where `Chunk.headed` has the question that the nearest heading, or the title, asks; None if neither does.

    >>> chunk = Chunk(
    ...     id="1", document_id="faq", index=0, total=1, start=0, end=12, text="At the gate.", context="Who may park?"
    ... )
    >>> question_above(chunk)
    Span(start=0, end=13)
    """
    if not is_question(chunk.context):
        return None
    line = chunk.context.rfind("\n") + 1
    below = chunk.context.rfind(_BETWEEN, line)
    return Span(start=line if below < 0 else below + len(_BETWEEN), end=len(chunk.context))
