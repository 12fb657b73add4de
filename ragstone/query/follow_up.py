"""A question that leans on the ones before it, made to stand alone by rules.

"And in winter?" says nothing to a search. What it leans on is the topic of the conversation: the words that told
something in the last question that stood alone. They are put after it, in brackets; nothing is taken away, so a
question that was wrongly taken for a follow-up is still found.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.query.analysis import analyse
from ragstone.query.words import lexicon

TELLING = 2
"""A question with more words that tell something names its topic itself, whatever pronouns it has."""


def leans(question: str, language: str = "") -> bool:
    """Whether a question cannot be understood without the ones before it."""
    words, lower = lexicon(language), question.lower()
    told = analyse(question, language).keywords
    return len(told) <= TELLING and (not told or bool(words.follows.search(lower)) or bool(words.refers.search(lower)))


def standalone(question: str, before: Sequence[str], language: str = "") -> str:
    """The question with the topic it leans on; as it is where it stands alone, or nothing came before.

    Args:
        question: as it was asked.
        before: the questions of the conversation, the first one first.
        language: of the question, as for `analyse`.
    """
    if not leans(question, language):
        return question
    topic = next((one for one in reversed(before) if not leans(one, language)), None)
    if topic is None:
        return question
    known = analyse(question, language).keywords
    missing = [word for word in analyse(topic, language).keywords if word not in known]
    return f"{question} ({' '.join(missing)})" if missing else question
