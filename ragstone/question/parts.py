"""The questions of a message that asks several: "When does the gate open? And who has the key?"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragstone.language.message import MessageWords, message_words, writing
from ragstone.question.analysis import keywords_of

MOST = 6
"""Questions of a message that are answered one by one; the last one has the rest."""
LONGEST = 4000
"""Characters of a message that is divided; a longer one is one question."""
_END = re.compile(r"(?<=[?？؟])\s+")
_NUMBER = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.)]|[a-z]\))\s+")
_STOPS = re.compile(r"[.!]\s")


def parts_of(text: str, language: str = "") -> list[str]:
    """Return the questions of a text, in order, each with the statements before it; none if it is one question.

    Args:
        text: without its frame.
        language: ISO 639-1 code, or empty.
    """
    if len(text) > LONGEST:
        return []
    asked, rest = list[str](), ""
    for piece in _END.split(text.strip()):
        if piece.rstrip().endswith(("?", "？", "؟")):
            own = _NUMBER.sub("", piece)
            own = _without_join(own, language) if asked and not rest else own
            asked += _joined_by_words(f"{rest} {own}".strip(), language)
            rest = ""
        else:
            rest = f"{rest} {piece}".strip()
    told = [one for n, one in enumerate(asked) if len(one.split()) > 1 and (n or keywords_of(one, language))]
    if len(told) < 2:
        return []
    if rest:
        told[-1] = f"{told[-1]} {rest}"
    return [*told[: MOST - 1], " ".join(told[MOST - 1 :])] if len(told) > MOST else told


def _joined_by_words(question: str, language: str) -> Iterator[str]:
    """Yield the questions that a word such as "and" joins, if each has content of its own."""
    for one in _known(language):
        if found := one.join.search(question.lower()):
            first, second = question[: found.start()], question[found.end() :]
            if not _STOPS.search(second) and keywords_of(first, language) and keywords_of(second, language):
                yield f"{first.rstrip(' ,;')}?"
                yield from _joined_by_words(_raised(second), language)
                return
    yield question


def _without_join(question: str, language: str) -> str:
    """Return a question without the word that joins it to the one before: "And who has the key?"."""
    for one in _known(language):
        if found := one.joined.match(question.lower()):
            return _raised(question[found.end() :])
    return question


def _raised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _known(language: str) -> list[MessageWords]:
    return [message_words(one) for one in ((language,) if language in writing() else writing())]
