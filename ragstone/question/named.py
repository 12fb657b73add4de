"""The names of documents in a question: files, titles in quotes, and phrases such as "in the 2022 report"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from ragstone.core.frozen import frozen
from ragstone.core.question import MAX_QUESTION, Question
from ragstone.core.words import Word
from ragstone.language import lexicon
from ragstone.language.talk import talk_words
from ragstone.question.analysis import keywords_of

MOST_BETWEEN = 5
"""Words of a name before the word for a document."""
_BESIDE = 2
"""Words beside a month that may name a document together with it."""
_FILE = re.compile(r"(?<![\w./@-])[\w][\w.-]*\.[A-Za-z][A-Za-z0-9]{1,4}(?![\w/@])")
_INSIDE = r"\b(?:in|from|according to|im|laut|aus|pagal|iš|dalam|menurut)\s+"
_INSIDE_AT_END = re.compile(_INSIDE + r"(?:the (?:file )?)?$", re.IGNORECASE)
_QUOTED = re.compile(_INSIDE + r"[\"“„«]([^\"“”„«»]{3,120})[\"”“»]")
"""A title in quotes behind a word for being inside; elsewhere it may be what is asked about, a film or a song."""


_WORD = re.compile(r"[^\W_]+")
_BEFORE_MARK = re.compile(r"\s+(?=[?!.,;:])")


@frozen
class NamedDocument:
    """What may be the name of a document; one that is ``described`` has its words in any order in the title.

    ``phrase`` is the place it names, such as "in menu.txt"; it is empty if the name is part of what is asked.
    """

    name: str
    phrase: str = ""
    described: bool = False


def without_name(question: str, phrase: str, language: str = "") -> str:
    """Return a question without the place it names, which is what is searched for inside; all of it if little is left.

    Args:
        question: as it was asked.
        phrase: of the `NamedDocument`.
        language: ISO 639-1 code of the likely language, or empty.
    """
    rest = " ".join(question.replace(phrase, " ", 1).split()) if phrase else question
    rest = _BEFORE_MARK.sub("", rest).lstrip(" ,;:")
    return rest if keywords_of(rest, language) else question


def naming_words(name: str, language: str = "") -> list[str]:
    """Return the words of a name without those that any document could have: "the 2022 report" is named by 2022."""
    doc = talk_words(language).words["doc"]
    stop = lexicon(language).search_stop
    return [word for word in _WORD.findall(name) if word.lower() not in stop and not re.fullmatch(doc, word.lower())]


def named_documents(question: str, language: str = "") -> Iterator[NamedDocument]:
    """Yield what may be names of documents, the surest first.

    Args:
        question: as it was asked.
        language: ISO 639-1 code of the likely language; if it has no word list, that of English is used.
    """
    question = question[:MAX_QUESTION]
    for match in _FILE.finditer(question):
        before = _INSIDE_AT_END.search(question[: match.start()])
        yield NamedDocument(name=match.group(), phrase=f"{before[0]}{match[0]}" if before else "")
    for match in _QUOTED.finditer(question):
        yield NamedDocument(name=match[1].strip(), phrase=match[0])
    words = talk_words(language).words
    inside, doc = words["inside"], words["doc"]
    pattern = rf"\b(?:{inside})\s+((?:[\w.&/-]+\s+){{1,{MOST_BETWEEN}}}?(?:{doc})(?:\s+(?:19|20)\d\d)?)\b"
    for match in re.finditer(pattern, question, re.IGNORECASE):
        yield NamedDocument(name=" ".join(match[1].split()), described=True)


@frozen
class DatedName:
    """What the title of a document may have: a month or quarter, and words beside it in the question.

    ``text`` has both as they are written, ``words`` the same as words. It is ``sure`` unless the month may be another
    word, as "may" in lower case.
    """

    text: str
    words: tuple[Word, ...]
    beside: tuple[Word, ...]
    sure: bool = True


def dated_names(question: Question) -> Iterator[DatedName]:
    """Yield what a title may have of words beside a month or quarter: "board meeting May 2026", the longest first.

    A question that names several of them means no single document.
    """
    periods = [one for one in question.requirements if one.period]
    kinds = [one.kind for one in periods]
    if not {"month", "quarter"} & {*kinds}:
        yield from _unsure_names(question)
        return
    if len({*kinds}) < len(kinds):
        return
    start, end = min(one.span.start for one in periods), max(one.span.end for one in periods)
    behind = [word for word in question.words if word.span.start >= end]
    before = [word for word in reversed(question.words) if word.span.end <= start]
    while before and before[0].stop:  # "meeting in the"
        before.pop(0)
    date = [word for one in periods for word in question.words if one.span.start <= word.span.start < one.span.end]
    shown = " ".join(one.text for one in periods)
    for some in (behind, before):
        yield from _dated(question, shown, date, some, sure=True)


def _unsure_names(question: Question) -> Iterator[DatedName]:
    """Yield the same for a word that may be a month, as in "may meeting actions", and the words behind it."""
    months = lexicon().months
    for n, word in enumerate(question.words):
        if word.lower in lexicon().full_months and not word.value:
            date = [replace(word, value=months[word.lower], stop=False)]
            yield from _dated(question, word.span.of(question.text), date, question.words[n + 1 :], sure=False)


def _dated(
    question: Question, shown: str, date: Sequence[Word], some: Sequence[Word], *, sure: bool
) -> Iterator[DatedName]:
    beside = [*takewhile(lambda word: not word.stop, some[:_BESIDE])]
    for count in range(len(beside), 0, -1):
        own = tuple(beside[:count])
        text = " ".join([shown, *(word.span.of(question.text) for word in own)])
        yield DatedName(text=text, words=(*date, *own), beside=own, sure=sure)
