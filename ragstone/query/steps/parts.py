"""The parts of a question that compares or joins several things: each is searched for, if the first search lacks one.

"Were both Peter Duffell and Fred Niblo actors?" has two parts, and each is the question with one of the two names. Two
names on both sides of a word such as "and" are parts in any language; other words are only after a word such as
"between". The words are data: ``joins`` and ``between`` in ``ragstone/language``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ragstone.core.frozen import frozen
from ragstone.core.question import Question
from ragstone.language import lexicon
from ragstone.query.steps.names import NAME, Mentions, content, without_stop_words, words

_END = r"(?=\s*(?:[?!.,;:]|$))"
_ARTICLE = r"(?:(?i:the|an?|der|die|das|den|dem)\s+)?"
MAX_QUESTION = 1000
"""Characters of a question that are looked at."""
_LONGEST = 5
"""Words of something compared that is not a name."""


@frozen
class Part:
    """Something that a question names beside others, and the question about it alone."""

    name: str
    question: str

    def is_in(self, text: Mentions) -> bool:
        """Return whether a text has all words of the name, in any form and order."""
        return all(text.has((word,)) for word in content(self.name) or words(self.name))


def parts_of(question: Question) -> tuple[Part, ...]:
    """Return the parts of a question, in order; none if it has only one."""
    text = question.wording.text
    for pattern in _patterns(question.wording.language):
        if match := pattern.search(text, 0, MAX_QUESTION):
            return tuple(_parts(text, match))
    return ()


def _parts(question: str, match: re.Match[str]) -> Iterator[Part]:
    first = without_stop_words(match["one"])  # "Are Sarah Jones, ..."
    start, end = match.end("one") - len(first), match.end("other")
    for name in filter(None, (first, match.groupdict().get("middle"), match["other"])):
        yield Part(name=name.strip(), question=" ".join(f"{question[:start]}{name}{question[end:]}".split()))


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], ...]:
    known = lexicon(language)
    joins = rf"(?:\s*,\s*|\s*,?\s+)(?i:{'|'.join(map(re.escape, known.joins))})\s+{_ARTICLE}"
    between = "|".join(map(re.escape, known.between))
    phrase = rf"\w[\w’'-]*(?:\s+\w[\w’'-]*){{0,{_LONGEST - 1}}}"
    return (
        re.compile(rf"(?<!\w)(?i:{between})\s+(?P<one>{phrase}?){joins}(?P<other>{phrase}){_END}"),
        re.compile(rf"(?:(?P<one>{NAME}),\s+)(?P<middle>{NAME}){joins}(?P<other>{NAME})"),
        re.compile(rf"(?P<one>{NAME}){joins}(?P<other>{NAME})"),
    )
