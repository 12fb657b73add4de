"""A question behind a greeting or thanks: "Thanks. Who is the pilot?" asks who the pilot is."""

from __future__ import annotations

import re

from ragstone.language import lexicon
from ragstone.question.talk import talk_of

_OPENING = re.compile(r"\s*(?P<said>[^,.!?;:\n]{2,60})(?P<mark>[,.!]+)\s+(?P<rest>\S.*)", re.DOTALL)
_WORD = re.compile(r"[^\W_]+")


def without_courtesy(question: str, language: str = "") -> str:
    """Return a question without the courtesy before it, which would be searched for too.

    What follows must begin as a question does, so that "Good morning, Vietnam" stays a title.

    Args:
        question: as it was asked.
        language: ISO 639-1 code of the question's likely language, or empty.
    """
    found = _OPENING.match(question)
    if found is None:
        return question
    first = _WORD.match(found["rest"])
    if first is None or not (first[0].islower() or (found["mark"] != "," and _is_stop(first[0], language))):
        return question
    talk = talk_of(found["said"], language)
    return found["rest"] if talk and talk.kind in ("greeting", "thanks") else question


def _is_stop(word: str, language: str) -> bool:
    return word.lower() in lexicon(language).search_stop
