"""Questions for all documents that fit: "All press releases about 5G in 2023", "Which contracts mention X?"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from ragstone.core.question import Period, Question
from ragstone.language import lexicon
from ragstone.language.files import tried
from ragstone.language.talk import list_words

MAX_QUESTION = 300
"""Characters of a question that may ask for a list."""
_EDGES = " \t,.;:?!\"'“”„«»"


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedList:
    """What a question wants listed.

    ``subject`` are the words that the documents must be about; empty if only the filter limits them. ``noun`` names
    the things as the question does, ``years`` are those of its periods, and ``counts`` says that it asks how many.
    ``language`` is that of the words that ask. ``of_these`` says that it asks for some of the documents before.
    """

    noun: str
    subject: str
    years: tuple[int, ...] = ()
    counts: bool = False
    language: str = "en"
    of_these: bool = False


def wanted_list(question: Question) -> WantedList | None:
    """Return what a question wants listed; None if it wants something else."""
    text = question.wording.typed.strip(_EDGES)
    if not 0 < len(text) <= MAX_QUESTION:
        return None
    for language in tried(question.language):
        for pattern in _patterns(language):
            if (found := pattern.fullmatch(text)) and not _has_function_word(found["noun"] or "", language):
                return _wanted(question, found.groupdict(""), language)
    return None


def _has_function_word(noun: str, language: str) -> bool:
    """Return whether the supposed noun is none: "What is the name of" names nothing to list."""
    return not lexicon(language).search_stop.isdisjoint(noun.lower().split())


def _wanted(question: Question, found: Mapping[str, str], language: str) -> WantedList | None:
    noun, subject = found["noun"], found.get("subject", "")
    periods = [one for one in question.requirements if one.period]
    for one in periods:
        subject, noun = _without(subject, one.text, language), _without(noun, one.text, language)
    words = list_words(language)
    counts = re.fullmatch(words.count, found["head"].strip(), re.IGNORECASE) is not None
    if counts and not subject and not periods:
        return None
    return WantedList(
        noun=noun.strip(_EDGES),
        subject=subject.strip(_EDGES),
        years=tuple(sorted({year for one in periods if one.period for year in _years(one.period)})),
        counts=counts,
        language=language,
        of_these="these" in found,
    )


def _years(period: Period) -> Sequence[int]:
    """Return the years of a period; none of a quarter or month, whose year is a period of its own."""
    return range(period.first, period.last + 1) if period.kind == "year" else ()


def _without(text: str, part: str, language: str) -> str:
    """Return a text without a part and the word that links it: "about 5G in 2023" without "2023"."""
    links = "|".join(map(re.escape, lexicon(language).search_stop))
    return re.sub(rf"(?:\b(?:{links})\s+)*{re.escape(part)}", "", text, flags=re.IGNORECASE).strip(_EDGES)


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], ...]:
    words = list_words(language)
    head = rf"(?:(?P<head>{{}})\s+)(?:(?:{words.articles})\s+)*"
    every, which, count = (head.format(one) for one in (words.every, words.which, words.count))
    documents = rf"(?P<noun>(?:[\w-]+\s+){{0,2}}?(?:{words.nouns}))"
    things = r"(?P<noun>[\w-]+(?:\s+[\w-]+){0,2}?)"
    filler = rf"(?:\s+(?:{words.fillers}))*"
    about = rf"\s+(?:{words.about})\s+(?P<subject>.+)"
    does = rf"\s+(?:{words.verbs})\s+(?P<subject>.+)"
    origin = rf"(?P<subject>(?:{words.origin})\s+.+)"
    some = rf"(?P<head>{words.which}|{words.count}|{words.every})\s+(?P<these>{words.these})(?:\s+(?:{things}))??"
    forms = (
        rf"{some}{filler}{does}",
        rf"{some}{filler}{about}",
        rf"{some}{filler}\s+{origin}",
        rf"{every}{documents}{filler}{about}",
        rf"{every}{things}{filler}{does}",
        rf"{which}{documents}{filler}{about}",
        rf"{count}{documents}{filler}{about}",
        rf"{which}{things}{does}",
        rf"{count}{documents}{does}",
        rf"{every}{documents}{filler}(?:\s+{origin})?",
        rf"{which}{documents}{filler}\s+{origin}",
        rf"{count}{documents}{filler}\s+{origin}",
    )
    return tuple(re.compile(form, re.IGNORECASE) for form in forms)
