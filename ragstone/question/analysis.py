"""Analyse what a question asks for, by rules and word lists, without a model.

The lists are data of ``ragstone/language``. The result decides which chunks are preferred and which leg returns more,
never which documents may answer, so a wrong guess costs little.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

from ragstone.core.headings import is_question
from ragstone.core.kinds import Difficulty, Kind
from ragstone.core.question import MAX_QUESTION, Entity, Question, Talk
from ragstone.language import Words, lexicon
from ragstone.question.talk import talk_of

_TOKEN = re.compile(r"[^\W_](?:[\w.:+#/@-]*[\w+#])?")
_IDENTIFIER = re.compile(
    r"""
      \w+(?:::\w+)+ | \w+(?:\.\w+)+\(?\)? | \.\w+\(\) | \w+\(\)        # a::b, a.b, .b(), b()
    | [a-z]+[a-z0-9]*(?:[A-Z]\w*)+ | \w*[a-z0-9]_\w+ | \w*[A-Za-z]\d\w* # camelCase, snake_case, fp32
    | [A-Z][a-z]+(?:[A-Z][a-z]+)+ | [A-Z]{2,}[\w-]* | --?[a-z][\w-]+    # CamelCase, ACRONYM, --option
    | \w+\+\+                                                           # c++
    """,
    re.VERBOSE,
)
_CLOSING = " \t\n?!.,;:…\"'“”„»«()"
MAX_WORD = 80
"""Characters of a word that is analysed; longer words are ignored."""
KINDS: tuple[Kind, ...] = get_args(Kind)
"""All kinds of question."""
MOST_KEYWORDS = 3
"""Words of a question up to which it counts as keywords."""
MAX_KEYWORDS = 2
"""A question with more content words names its topic itself, whatever pronouns it has."""


def analysed(question: Question, lists: Mapping[str, Sequence[str]]) -> Question:
    """Return a question with its kind, its content words, and what it names.

    Args:
        question: with its own text, before anything that a conversation adds.
        lists: names, terms and places to recognise, by kind; a word that ends in ``*`` matches all its endings.
    """
    text = " ".join(word for word in question.text[:MAX_QUESTION].split() if len(word) <= MAX_WORD)
    words, lower = lexicon(question.language), text.lower()
    asked_for = _kind(question.text[:MAX_QUESTION], question.talk, question.language)
    keywords = keywords_of(text, question.language)
    refers = bool(words.refers.search(lower))
    follows = refers or bool(words.follows.search(lower))
    return replace(
        question,
        kind=asked_for,
        keywords=_besides_example(keywords, lower, words) if asked_for == "example" else keywords,
        technical=tuple(dict.fromkeys(match.group() for match in _IDENTIFIER.finditer(text))),
        entities=_entities(lower, lists),
        wants_code=asked_for == "example" or bool(words.code.search(lower)) or bool(re.search(r"\(\)|::|`", text)),
        difficulty=_difficulty(lower, words),
        recent=bool(words.recent.search(lower)),
        keyword_like=_keyword_like(text),
        depends=(follows or not keywords) and _TOKEN.search(text) is not None,
        refers=refers and len(keywords) < MAX_KEYWORDS,
    )


def keywords_of(text: str, language: str = "") -> tuple[str, ...]:
    """Return the content words of a question in lower case, each once."""
    stop = lexicon(language).search_stop
    found = (token for token in _TOKEN.findall(text.lower()) if len(token) > 1 and token not in stop)
    return tuple(dict.fromkeys(found))


def kind(question: str, language: str = "") -> Kind:
    """Return the kind of a question, by rules.

    Args:
        question: as it was asked.
        language: ISO 639-1 code, or empty.
    """
    return _kind(question, talk_of(question, language), language)


def _kind(question: str, talk: Talk | None, language: str) -> Kind:
    if talk and not talk.title:  # whether a document has this title, only the catalog knows
        return talk.kind
    lower = question.lower()
    for name, pattern in lexicon(language).kinds:
        if pattern.search(lower):
            return name
    if is_question(question):
        return "question"
    return "keywords" if _keyword_like(question) else "statement"


def _difficulty(lower: str, words: Words) -> Difficulty:
    if words.advanced.search(lower):
        return "advanced"
    return "beginner" if words.beginner.search(lower) else "intermediate"


def _besides_example(keywords: Sequence[str], lower: str, words: Words) -> tuple[str, ...]:
    """Return keywords without the words that only say that an example is wanted."""
    asking = {word for match in dict(words.kinds)["example"].finditer(lower) for word in _TOKEN.findall(match.group())}
    return tuple(word for word in keywords if word not in asking)


def _keyword_like(question: str) -> bool:
    """Return whether a question has at most three words, or characters of a file name or an error code."""
    inner = question.strip(_CLOSING)
    special = any(not (char.isalnum() or char.isspace() or char in ",'’-") for char in inner)
    return len(question.split()) <= MOST_KEYWORDS or special


def _entities(lower: str, lists: Mapping[str, Sequence[str]]) -> tuple[Entity, ...]:
    entities: dict[tuple[str, str], None] = {}
    for kind, names in lists.items():
        for name in names:
            bare = name.rstrip("*").lower()
            if bare not in lower:
                continue  # true for most names; compiling a pattern for each would be slower than the search
            end = r"\w*" if name.endswith("*") else ""
            for match in re.finditer(rf"(?<!\w){re.escape(bare)}{end}(?!\w)", lower):
                entities[kind, match.group()] = None
    return tuple(Entity(kind=kind, text=text) for kind, text in entities)
