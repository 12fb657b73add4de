"""The words around a question: the ends of a mail, wishes about the answer, and what describes the asker."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from ragstone.core.frozen import frozen
from ragstone.language.files import languages, table
from ragstone.language.money import SIGN


@frozen
class MessageWords:
    """Patterns of one language, for text in lower case without diacritics; ``en.yaml`` shows the entries.

    ``greets`` and ``closes`` begin a line of greeting and the end of a mail, ``wrote`` ends the line before a quoted
    mail. ``wish`` matches a sentence that only says how to answer, in the groups ``language``, ``form``, ``length`` and
    ``sources``; ``names`` maps words for languages to codes. ``about_answer`` matches a question about the last answer,
    ``join`` what stands between two questions of one sentence, and ``joined`` what begins a further question. ``own``
    matches words for the asker, ``threshold`` those before a number that is compared, ``age`` how old somebody is.
    ``codes`` stand before a code, ``means`` ask for its meaning. ``measures`` are the units that answer "how heavy".
    ``links`` are prepositions, and ``asking`` the words that begin a question, in lower case.
    """

    greets: re.Pattern[str]
    closes: re.Pattern[str]
    wrote: re.Pattern[str]
    wish: re.Pattern[str]
    names: Mapping[str, str]
    about_answer: re.Pattern[str]
    join: re.Pattern[str]
    joined: re.Pattern[str]
    own: re.Pattern[str]
    threshold: re.Pattern[str]
    age: re.Pattern[str]
    codes: frozenset[str]
    means: frozenset[str]
    measures: Mapping[str, Sequence[str]]
    links: frozenset[str]
    articles: frozenset[str]
    asking: frozenset[str]


@cache
def writing() -> tuple[str, ...]:
    """Return the languages whose messages are read."""
    return tuple(language for language in languages() if "message" in table(language))


@cache
def message_words(language: str) -> MessageWords:
    """Return the words around questions of a language that has them."""
    own = table(language)["message"]
    names = {word: code for code, words in own["languages"].items() for word in words}
    wish_pattern = (
        rf"{own['in_language']}(?P<language>{_any(names)})|(?P<sources>{own['sources']})"
        rf"|(?P<length>{own['length']})|(?P<form>{own['form']})"
    )
    again = re.sub(r"\?P<\w+>", "?:", wish_pattern)
    joins, asks, polite = _any(own["joins"]), own["asks"], own["polite"]
    return MessageWords(
        greets=re.compile(rf"(?:{_any(own['greets'])})\b"),
        closes=re.compile(rf"(?:{_any(own['closes'])})\b"),
        wrote=re.compile(rf"\b{own['wrote']}\b[^\n]*:$"),
        wish=re.compile(rf"{asks}(?:{wish_pattern})(?:[\s,]+(?:(?:{joins})\s+)?(?:{again}))*(?:[\s,]+{polite})*"),
        names=names,
        about_answer=re.compile(own["about_answer"]),
        join=re.compile(rf"(?:,\s*|;\s*|,?\s+)(?:{joins})\s+(?=(?:{_any(own['again'])})\b)"),
        joined=re.compile(rf"(?:{joins})\s+"),
        own=re.compile(rf"(?<!\w)(?:{_any(own['first_person'])})(?!\w)"),
        threshold=re.compile(rf"(?<!\w)(?:{_any(own['thresholds'])})\s+(?:the\s+)?{SIGN}?\s?$"),
        age=re.compile(rf"\b(?:{own['ages']})\b"),
        codes=frozenset(own["codes"]),
        means=frozenset(own["means"]),
        measures=own["measures"],
        links=frozenset(own["links"]),
        articles=frozenset(own["articles"]),
        asking=frozenset(own["again"]),
    )


def _any(words: Mapping[str, str] | Sequence[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))
