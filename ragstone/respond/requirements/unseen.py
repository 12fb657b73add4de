"""What a question names in words that no document has, and the passage that would answer says in no other words.

"Does the shop sell umbrellas?" is not answered by what the shop sells, if no document mentions umbrellas. A word of no
document may still be meant: "permitted" is near to "allowed", and "umbrellas" is near to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.core.question import Question, Requirement
from ragstone.core.request import Request
from ragstone.core.span import Span
from ragstone.core.words import Word
from ragstone.language import lexicon
from ragstone.respond.requirements.unmet import Known, Lack

NEAR = 0.45
"""Similarity of a word to the most similar one of a passage below which the passage says nothing of it."""
_SHORTEST = 3
"""Letters of a word that names something."""


def unseen(question: Question, near: Sequence[float], occurs: Known, request: Request) -> Lack | None:
    """Return what a question ends with, if no document has these words and a passage has nothing like them.

    The last words of a question are what it asks about; those before them may only put it into words.

    Args:
        question: as it was understood.
        near: how similar the most similar word of the passage is to each word of the question.
        occurs: says for each word whether any document contains it.
        request: until when, and who pays.
    """
    named = [n for n, word in enumerate(question.words) if _names(word)]
    group = list[Word]()
    for n in reversed(named):
        word = question.words[n]
        is_beside = not group or not question.text[word.span.end : group[0].span.start].strip()
        if not is_beside or near[n] >= NEAR or any(occurs([word.lower], request)):
            break
        group.insert(0, word)
    if not group:
        return None
    span = Span(start=group[0].span.start, end=group[-1].span.end)
    requirement = Requirement(kind="name", text=span.of(question.text), span=span, words=tuple(group))
    return Lack(requirement=requirement, found=False, known=False)


def _names(word: Word) -> bool:
    lists = lexicon()
    others = (lists.first_person, lists.agrees, lists.disagrees)
    return not (word.stop or word.value or any(word.lower in some for some in others)) and len(word.lower) >= _SHORTEST
