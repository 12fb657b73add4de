"""Headings that ask a question, as those of FAQs do: the text below is the answer."""

from __future__ import annotations

from ragstone.core.records import Chunk
from ragstone.core.span import Span

QUESTION_LEVEL = 6
"""The level of a question that is a heading by its look alone: below the headings of its page."""
MESSAGE_LEVEL = 7
"""The level of the line about an earlier message that a message quotes, below the headings of any text."""
_MARKS = ("?", "？", "؟")


def is_question(text: str) -> bool:
    """Return whether a text, such as a heading, ends with a question mark of any script."""
    return text.rstrip().endswith(_MARKS)


def is_earlier_message(chunk: Chunk) -> bool:
    """Return whether a chunk is of an earlier message, quoted by the one that is its document."""
    level = chunk.facts.get("section_level", 0)
    return isinstance(level, int) and level >= MESSAGE_LEVEL


def question_above(chunk: Chunk) -> Span | None:
    """Return where `Chunk.headed` has the question that the nearest heading, or the title, asks; None if neither does.

    >>> chunk = Chunk(
    ...     id="1", document_id="faq", index=0, total=1, start=0, end=7, text="Guests.", title="Who may park?",
    ...     context="help/faq\\nWho may park?",
    ... )
    >>> question_above(chunk)
    Span(start=9, end=22)
    """
    heading, end = chunk.heading or chunk.title, len(chunk.context)
    stands = is_question(heading) and chunk.context.endswith(heading)
    return Span(start=end - len(heading), end=end) if stands else None
