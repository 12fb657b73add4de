"""What is said where the documents do not answer: what was looked for, and what came nearest.

In the language of the question where it has a file in `words`, else in English.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.answers import Draft
from ragstone.contracts import Evidence, Hit, Span
from ragstone.respond.unlinked import unlinked
from ragstone.respond.words import phrases
from ragstone.sections import RespondSettings

LONGEST_ECHO = 300
"""Characters of a question that a refusal repeats."""
LONGEST_QUOTE = 200
"""Characters of a nearest sentence that it shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """A passage that came near without answering, and the sentence of it that came nearest."""

    hit: Hit
    span: Span | None = None


def abstained(
    evidence: Evidence,
    answerability: float,
    nearest: Sequence[Nearest] = (),
    settings: RespondSettings | None = None,
) -> Draft:
    """The draft of an answer that is none; where no nearest passages are given, the best documents are named."""
    said = phrases((settings.language if settings else "") or evidence.language)
    if not nearest:
        titles = {hit.chunk.title or hit.chunk.document_id: hit for hit in reversed(evidence.hits)}
        nearest = [Nearest(hit=hit) for hit in reversed(titles.values())][:3]
    lines = [_line(one) for one in nearest]
    told = [said.nearest, *lines] if lines else [said.nothing]
    text = "\n".join([said.untold.format(question=_cut(evidence.asked or evidence.question, LONGEST_ECHO)), *told])
    return Draft(text=text, citations=(), answerability=answerability, abstained=True)


def _line(one: Nearest) -> str:
    title = unlinked(one.hit.chunk.title or one.hit.chunk.document_id)
    if one.span is None:
        return f"- {title}"
    return f"- {title}: {_cut(unlinked(one.span.of(one.hit.chunk.text)), LONGEST_QUOTE)}"


def _cut(text: str, longest: int) -> str:
    """On one line, and no longer than that."""
    text = " ".join(text.split())
    return text if len(text) <= longest else f"{text[:longest].rstrip()} …"
