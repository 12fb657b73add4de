"""The default that a question asks for: whether a quote says it, and the sentence soon below that does.

Manuals say first what a setting does, which is what the question is most like, and last what holds if it is not set.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ragstone.core.question import Question
from ragstone.core.span import Span
from ragstone.language import lexicon, plain
from ragstone.respond.quoting.entries import next_entry
from ragstone.respond.quoting.passages import Likely, best

_SENTENCE = re.compile(r"\S(?:[^.!?\n]|[.!?](?!\s))*[.!?]?")
_STATED = re.compile(
    r"default\w*(?:\W+\w+){0,6}?(?:\s(?:is|are|was|to|if)\b|\s*[:=])|\b(?:is|are|was|as|by|on) (?:the |a )?default\b"
    r"|(?:voreinstellung|standardwert)\w*(?:\W+\w+){0,6}?(?:\s(?:ist|sind|von|auf)\b|\s*[:=])|standardmassig"
)
"""What a default is, or what is done by default."""
_LOOK_AHEAD = 500
"""Characters below a quote in which the default is looked for."""


def says_default(quote: str) -> bool:
    """Return whether a sentence of a quote says what a default is."""
    return any(_states(found[0]) for found in _SENTENCE.finditer(quote))


def with_default(question: Question, quoted: Sequence[Likely]) -> Sequence[Likely]:
    """Return the quotes, the best of them with what follows up to its default, if the question asks for one.

    They are unchanged if a quote says it, or nothing below the best one does before another setting begins.
    """
    if not quoted or not question.asks.default_value or any(says_default(one.quote.text) for one in quoted):
        return quoted
    main = best(quoted)
    text, end = main.quote.hit.chunk.text, main.quote.span.end
    below = min(end + _LOOK_AHEAD, next_entry(text, end))
    for found in _SENTENCE.finditer(text, end, below):
        if _states(found[0]):
            quote = replace(main.quote, span=Span(start=main.quote.span.start, end=found.end()))
            return [replace(one, quote=quote) if one is main else one for one in quoted]
    return quoted


def _states(sentence: str) -> bool:
    said = plain(sentence)
    is_about = lexicon().asks_default.search(said) is not None
    return is_about and (_STATED.search(said) is not None or any(map(str.isdigit, said)))
