"""What a question is after, from its words alone: rules and word lists, no model.

The lists are data, a file a language, in ``words``. They decide which chunks are preferred and which leg of the
search gets more room, never which documents may answer; a wrong guess costs little.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import get_args

from ragstone.contracts import Entity, Intent, QueryAnalysis
from ragstone.query.words import Lexicon, lexicon

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
_QUESTION_MARKS = ("?", "？", "؟")
LOOKED_AT, LONGEST = 2000, 80
"""Characters of a question that are looked at, and of a word in it: what is longer is no question, and no word."""
KINDS = (*(intent for intent in get_args(Intent) if intent != "other"), "question", "keywords", "statement")
"""What `kind` may say."""
SHORT = 3
"""A question of up to so many words is searched for as keywords."""


def analyse(question: str, language: str = "", lists: Mapping[str, Sequence[str]] | None = None) -> QueryAnalysis:
    """What a question is after.

    Args:
        question: as it was asked.
        language: its language as an ISO 639-1 code; empty where it is not known: the words of all are tried.
        lists: names, terms, places and the like to be recognised, by kind; a word that ends in ``*`` stands
            for all its endings.
    """
    question = " ".join(word for word in question[:LOOKED_AT].split() if len(word) <= LONGEST)
    words, lower = lexicon(language), question.lower()
    technical = tuple(dict.fromkeys(match.group() for match in _IDENTIFIER.finditer(question)))
    told = (token for token in _TOKEN.findall(lower) if len(token) > 1 and token not in words.stop)
    return QueryAnalysis(
        intent=_intent(lower, words),
        keywords=tuple(dict.fromkeys(told)),
        technical=technical,
        entities=_entities(lower, lists or {}),
        wants_code=bool(words.code.search(lower)) or bool(re.search(r"\(\)|::|`", question)),
        difficulty=_difficulty(lower, words),
        recent=bool(words.recent.search(lower)),
        keyword_like=_keyword_like(question),
    )


def kind(question: str, language: str = "") -> str:
    """What kind of question one is: its intent; where no word tells that, ``question``, ``keywords`` or ``statement``.

    Args:
        question: as it was asked.
        language: its ISO 639-1 code; empty where it is not known.
    """
    analysis = analyse(question, language)
    if analysis.intent != "other":
        return analysis.intent
    if question.rstrip().endswith(_QUESTION_MARKS):
        return "question"
    return "keywords" if analysis.keyword_like else "statement"


def _intent(lower: str, words: Lexicon) -> Intent:
    found = next((name for name, pattern in words.intents if pattern.search(lower)), "other")
    return next(intent for intent in get_args(Intent) if intent == found)


def _difficulty(lower: str, words: Lexicon) -> str:
    if words.advanced.search(lower):
        return "advanced"
    return "beginner" if words.beginner.search(lower) else ""


def _keyword_like(question: str) -> bool:
    """Up to three words, or characters that no sentence has, such as those of a file name or an error code."""
    inner = question.strip(_CLOSING)
    special = any(not (char.isalnum() or char.isspace() or char in ",'’-") for char in inner)
    return len(question.split()) <= SHORT or special


def _entities(lower: str, lists: Mapping[str, Sequence[str]]) -> tuple[Entity, ...]:
    found: dict[tuple[str, str], None] = {}
    for kind, names in lists.items():
        for name in names:
            bare = name.rstrip("*").lower()
            if bare not in lower:
                continue  # most: to make a pattern of each would take longer than the rest of a search
            end = r"\w*" if name.endswith("*") else ""
            for match in re.finditer(rf"(?<!\w){re.escape(bare)}{end}(?!\w)", lower):
                found[kind, match.group()] = None
    return tuple(Entity(kind=kind, text=text) for kind, text in found)
