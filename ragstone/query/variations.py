"""Other wordings of a question, that are searched for beside it: by rules and word lists, no model.

First with synonyms in place of words, as the settings give them; then its telling words alone; then what was
recognised in it (names by the settings' lists, identifiers) with the names of the lists they stand in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ragstone.contracts import QueryAnalysis

Synonyms = Mapping[str, Sequence[str]]
"""A word or several, and what else they are called; an ending ``*`` stands for all endings of what is replaced."""


def variations(text: str, analysis: QueryAnalysis, synonyms: Synonyms, most: int) -> tuple[str, ...]:
    """At most so many other wordings, each once, none the same as the question but for case and punctuation.

    Args:
        text: the question as it was meant.
        analysis: what it is after.
        synonyms: from the settings.
        most: how many.
    """
    found: dict[str, str] = {}
    if most:
        for one in _all(text, analysis, synonyms):
            found.setdefault(_plain(one), one)
        found.pop(_plain(text), None)
        found.pop("", None)
    return tuple(found.values())[:most]


def _all(text: str, analysis: QueryAnalysis, synonyms: Synonyms) -> Iterator[str]:
    yield from _with_synonyms(text, synonyms)
    yield " ".join(analysis.keywords)
    named = [word for entity in analysis.entities for word in (entity.text, entity.kind)]
    yield " ".join(dict.fromkeys([*named, *analysis.technical]))


def _with_synonyms(text: str, synonyms: Synonyms) -> Iterator[str]:
    """The question with every word that has one replaced by its first synonym, then by its second, and so on."""
    patterns = {_pattern(word): others for word, others in synonyms.items() if others}
    for number in range(max(map(len, patterns.values()), default=0)):
        varied = text
        for pattern, others in patterns.items():
            if number < len(others):
                varied = pattern.sub(lambda _, other=others[number]: other, varied)
        yield varied


def _pattern(word: str) -> re.Pattern[str]:
    end = r"\w*" if word.endswith("*") else ""
    return re.compile(rf"(?<!\w){re.escape(word.rstrip('*'))}{end}(?!\w)", re.IGNORECASE)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
