"""Questions for more than one answer: rows of a table, documents, or a comparison, each read once into a record.

"Which bikes cost more than 4000?" wants rows, "All press releases about 5G in 2023" documents, and "Compare the revenue
of Alpha and Beta in 2022 and 2023" a comparison.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Literal

from ragstone.core.frozen import frozen
from ragstone.core.question import Comparison, Question
from ragstone.language import lexicon
from ragstone.language.files import tried
from ragstone.language.talk import compare_words, list_words
from ragstone.question.asks import listed_rows

MAX_QUESTION = 300
"""Characters of a question that is looked at."""
MOST_THINGS, MOST_ASPECTS = 8, 12
"""Things and aspects of a comparison."""
_EDGES = " \t,.;:?!\"'“”„«»"


@frozen
class WantedDocuments:
    """Documents that a question wants listed.

    ``subject`` are the words that the documents must be about; empty if only the filter limits them. ``noun`` names
    the things as the question does, and ``years`` are those of its periods. ``language`` is that of the words that ask.
    ``of_these`` says that it asks for some of the documents before.
    """

    noun: str
    subject: str
    years: tuple[int, ...] = ()
    language: str = "en"
    of_these: bool = False


@frozen
class WantedRows:
    """Rows of a table that a question wants listed, and the documents that it may want otherwise."""

    rows: Comparison
    otherwise: WantedDocuments | None

    @property
    def of_these(self) -> bool:
        """Whether the question asks for some of the documents before."""
        return self.otherwise is not None and self.otherwise.of_these


@frozen
class Thing:
    """Something to compare: its name, its period, or both."""

    name: str = ""
    period: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.name, self.period)))


@frozen
class WantedComparison:
    """What a question wants compared, and in which aspects; it may name none.

    ``head`` is what the things are of, if it may be an aspect or a part of their names: "revenue" or "travel policy" of
    "the travel policy of 2023 and 2024". ``language`` is that of the words that ask.
    """

    things: tuple[Thing, ...]
    aspects: tuple[str, ...] = ()
    head: str = ""
    language: str = "en"


@frozen
class _Segment:
    """An enumeration, and what stands before it; ``periods`` are those of its items, if all have one."""

    behind: Literal["", "of", "within"]
    items: tuple[str, ...]
    periods: tuple[str, ...]

    @property
    def several(self) -> bool:
        return len(self.items) > 1


def wanted_of(question: Question) -> WantedRows | WantedDocuments | WantedComparison | None:
    """Return what a question wants besides one answer; None if it wants nothing of this kind."""
    text = question.wording.typed.strip(_EDGES)
    if not 0 < len(text) <= MAX_QUESTION:
        return None
    languages = tried(question.language)
    if compared := next(filter(None, (_comparison(question, text, one) for one in languages)), None):
        return compared
    documents = next(filter(None, (_documents(question, text, one) for one in languages)), None)
    rows = listed_rows(text, question.language)
    return WantedRows(rows=rows, otherwise=documents) if rows else documents


def value_question(aspect: str, thing: Thing, language: str) -> str:
    """Return the question for the value of one aspect of a thing; without a name, as it is asked of a document."""
    words = compare_words(language)
    owner = words.owner.format(name=thing.name) if thing.name else ""
    period = words.period.format(period=thing.period) if thing.period else ""
    return f"{words.aspect.format(aspect=aspect)}{owner}{period}?"


# ---------------------------------------------------------------- rows and documents


def _documents(question: Question, text: str, language: str) -> WantedDocuments | None:
    for pattern in _patterns(language):
        found = pattern.fullmatch(text)
        # "What is the name of" names nothing to list.
        if found and lexicon(language).search_stop.isdisjoint((found["noun"] or "").lower().split()):
            return _listed(question, found.groupdict(""), language)
    return None


def _listed(question: Question, found: Mapping[str, str], language: str) -> WantedDocuments | None:
    noun, subject = found["noun"], found.get("subject", "")
    periods = [(one.text, one.period) for one in question.requirements if one.period]
    for text, _ in periods:
        subject, noun = _without(subject, text, language), _without(noun, text, language)
    counts = re.fullmatch(list_words(language).count, found["head"].strip(), re.IGNORECASE)
    if counts and not subject and not periods:
        return None
    # The year of a quarter or month is a period of its own.
    years = {year for _, one in periods if one.kind == "year" for year in range(one.first, one.last + 1)}
    return WantedDocuments(
        noun=noun.strip(_EDGES),
        subject=subject.strip(_EDGES),
        years=tuple(sorted(years)),
        language=language,
        of_these="these" in found,
    )


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


# ---------------------------------------------------------------- comparisons


def _comparison(question: Question, text: str, language: str) -> WantedComparison | None:
    """Return what a question compares, read as segments: each an enumeration behind "of", "in" or nothing.

    One of them names the things, another one periods, and what is left the aspects.
    """
    found = _beginning(language).match(text)
    periods = [one.text for one in question.requirements if one.period]
    return _read([*_segments(text[found.end() :], language, periods)], language) if found else None


def _segments(text: str, language: str, periods: Sequence[str]) -> Iterator[_Segment]:
    words = compare_words(language)
    text = re.sub(rf"\b(?:{words.differ})(?!\w)", " ", text, flags=re.IGNORECASE)
    behind, at = "", 0
    links = re.compile(rf"(?:^|\s)\s*(?:(?P<within>{words.within})|(?P<of>{words.of}))(?=\s)", re.IGNORECASE)
    has_things = False
    for link in [*links.finditer(text), None]:
        if link and link["of"] and behind == "within" and has_things:
            continue  # "in number of bikes"
        if segment := _segment(behind, text[at : link.start() if link else len(text)], language, periods):
            has_things = has_things or segment.several
            yield segment
        if link:
            behind, at = link.lastgroup or "", link.end()


def _segment(behind: str, text: str, language: str, periods: Sequence[str]) -> _Segment | None:
    words = compare_words(language)
    parts = re.split(
        rf"\s*[,;]\s*(?:(?:{words.joins})\s+)?|(?:^|\s+)(?:{words.joins})(?:\s+|$)", text, flags=re.IGNORECASE
    )
    bare = (re.sub(rf"^(?:(?:{words.articles})\s+)+", "", part.strip(_EDGES), flags=re.IGNORECASE) for part in parts)
    items = tuple(part for part in bare if part)
    any_period = rf"(?<![\w.-])(?:{'|'.join(map(re.escape, periods))})(?![\w.-])"  # and no part of the name of a file
    found = [" ".join(re.findall(any_period, item)) for item in items] if periods else [""] * len(items)
    kind: Literal["", "of", "within"] = "of" if behind == "of" else "within" if behind else ""
    return _Segment(behind=kind, items=items, periods=tuple(found) if items and all(found) else ()) if items else None


def _read(segments: Sequence[_Segment], language: str) -> WantedComparison | None:
    """Return what the segments of a question compare; None if they name fewer than two things."""
    first = next((one for one in segments if not one.behind), None)
    dated = next((one for one in segments if one.several and one.periods), None)
    owners = [one for one in segments if one.behind == "of" and not one.periods]
    within = [one for one in segments if one.behind == "within" and not one.periods]
    names = next((one for one in owners if one.several), None)
    if names is None and first and first.several and not first.periods and not (dated and _are_aspects(first, owners)):
        names = first
    if names is None and dated is None and first and not first.several:
        names = next((one for one in within if one.several), None)
    if names is None and dated is None:
        return None
    aspects = [item for one in (first, *within) if one and one not in (names, dated) for item in one.items]
    owner = " ".join(item for one in owners if one is not names for item in one.items)
    head = ""
    if names is None and not owner and first and not first.several and first is not dated:
        head, aspects = aspects[0], aspects[1:]
    lone = next((one.periods[0] for one in segments if one.periods and not one.several), "")
    things = [*dict.fromkeys(_things(names, dated, owner, lone))]
    if dated and dated is first and (shared := {one.name for one in things}) and len(shared) == 1 and not names:
        head, things = shared.pop(), [Thing(period=one.period) for one in things]
    if len(aspects) == 1 and not head and not any(one.name for one in things):  # "from 2024 to 2026 in the policy"
        head, aspects = aspects[0], []
    if not 1 < len(things) <= MOST_THINGS or {str(one).casefold() for one in things} & {*map(str.casefold, aspects)}:
        return None
    return WantedComparison(
        things=tuple(things), aspects=tuple(dict.fromkeys(aspects))[:MOST_ASPECTS], head=head, language=language
    )


def _are_aspects(first: _Segment, owners: Sequence[_Segment]) -> bool:
    """Return whether an enumeration before periods names aspects: of one owner, or in small letters."""
    return bool(owners) or not any(item[0].isupper() or item[-1].isdigit() for item in first.items)


def _things(names: _Segment | None, dated: _Segment | None, owner: str, lone: str) -> Iterator[Thing]:
    own = [" ".join(filter(None, (owner, item))) for item in names.items] if names else [owner]
    if dated is None:
        yield from (Thing(name=one, period=lone) for one in own)
        return
    rests = [
        " ".join(word for word in item.split() if word not in period.split())
        for item, period in zip(dated.items, dated.periods, strict=True)
    ]
    shared = next(iter(named), "") if len(named := {*filter(None, rests)}) == 1 else ""
    for name in own:
        for period, rest in zip(dated.periods, rests, strict=True):
            yield Thing(name=" ".join(filter(None, (name, rest or shared))), period=period)


@cache
def _beginning(language: str) -> re.Pattern[str]:
    words = compare_words(language)
    return re.compile(rf"(?:(?:{words.fillers})[ ,]+)*(?:{words.begins})(?!\w)", re.IGNORECASE)
