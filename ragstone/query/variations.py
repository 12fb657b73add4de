"""Vary the wording of a question, by rules and word lists, without a model.

The variations are, in order: the question with synonyms from the settings; its content words alone; the names and
identifiers recognised in it, with the names of their lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ragstone.core.question import Question

Synonyms = Mapping[str, Sequence[str]]
"""Maps a word or phrase to its synonyms; a trailing ``*`` matches all endings."""


def variations(text: str, question: Question, synonyms: Synonyms, most: int) -> tuple[str, ...]:
    """Return distinct variations that differ from the question by more than case and punctuation.

    Args:
        text: the corrected question.
        question: what is asked.
        synonyms: from the settings.
        most: the number of variations, at most.
    """
    by_key: dict[str, str] = {}
    if most:
        for one in _all(text, question, synonyms):
            by_key.setdefault(_plain(one), one)
        by_key.pop(_plain(text), None)
        by_key.pop("", None)
    return tuple(by_key.values())[:most]


def _all(text: str, question: Question, synonyms: Synonyms) -> Iterator[str]:
    yield from _with_synonyms(text, synonyms)
    yield " ".join(question.keywords)
    named = [word for entity in question.entities for word in (entity.text, entity.kind)]
    yield " ".join(dict.fromkeys([*named, *question.technical]))


def _with_synonyms(text: str, synonyms: Synonyms) -> Iterator[str]:
    """Yield the question with every word replaced by its first synonym, then by its second, and so on."""
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
