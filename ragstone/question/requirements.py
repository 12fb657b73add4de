"""What a question fixes: the years, quarters, months, numbers, versions, places and names that it asks about.

Words that only look like names are left out: those of a title in capitals, German nouns, the first word of a question,
and words such as "TV" that name nothing in particular. "Which Irish cities" fixes nothing, because the answer need not
say that it is Irish.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ragstone.core.question import Requirement, Role
from ragstone.core.span import Span
from ragstone.core.words import Word
from ragstone.language import lexicon, plain
from ragstone.language.days import days_in, is_weekday
from ragstone.language.facts import words
from ragstone.language.message import MessageWords, messages_in
from ragstone.language.places import places
from ragstone.respond.requirements.periods import periods

_GLUED = re.compile(r"(?<![\w/])(?=\w*[^\W\d_])(?=[\w-]*\d)\w+(?:[-.]\w+)*(?![\w/])")
"""Letters and digits in one word: H1N1, COVID-19, GPT-4, python3.10."""
_VERSIONED = re.compile(r"([^\W\d_]{2,}?)[vV]?-?(\d+(?:\.\d+)*)")
_UNIT = re.compile(r"\((?:in|auf)\s[^()]*\)")
_CLAUSE_END = re.compile(r"[.,;!?](?=\s|$)|\n")
_DECADE = re.compile(r"\d0['’]?(?:s|ern?)\b")
_CLASS = re.compile(r"\b(?:what|which|welche[rsmn]?|kok\w*|kuri\w*|apa)(?: other| andere[rsnm]?)?$")
_GERMAN = re.compile(r"(?:welche[rsmn]?|wie|wer|wem|wann|warum|wieso|gibt|darf|muss|kann|ist|sind)\b", re.IGNORECASE)
"""The first word of a German question that may be too short to recognise its language."""
_APPOSITION = re.compile(r"(?<=\s)[A-Z][\w’'-]+, $")
"""What is before a place that only says where another one is: "Surrey, England"."""
_PREPOSITION = re.compile(r"\b(?:in|aus|nach)$")
_COUNT = 12
"""A number up to this without a name counts something, and the answer may list it instead."""
_HEADLINE, _HEADLINE_WORDS = 0.85, 2
"""Share and number of capitalised words from which capitals say nothing."""
_SMALL_VERB = re.compile(r"\b(?:is|are|was|were|does|do|did|has|have|can|will)\b")
"""A verb that headlines begin with a capital."""


def requirements_of(question: str, asked: Sequence[Word], language: str) -> tuple[Requirement, ...]:
    """Return what a question fixes, and what each of it is for.

    Args:
        question: its text.
        asked: its words.
        language: its ISO 639-1 code, or empty.
    """
    known = messages_in(language)
    fixed = _fixed(question, asked, language)
    dated = any(one.kind == "year" for one in fixed)
    return tuple(replace(one, role=_role(one, question, known, dated=dated)) for one in fixed)


def _role(requirement: Requirement, question: str, languages: Sequence[MessageWords], *, dated: bool) -> Role:
    """Return what a requirement is for; a name or a version is always the subject, unless it is a unit.

    Args:
        requirement: the requirement.
        question: its text.
        languages: the words around questions in its language.
        dated: whether the question names a year.
    """
    before = plain(question[: requirement.span.start])
    if any(found.start() <= requirement.span.start < found.end() for found in _UNIT.finditer(question)):
        return "unit"
    ages = (found for some in languages for found in some.age.finditer(plain(question)))
    if any(found.start() <= requirement.span.start < found.end() for found in ages):
        return "case"
    if requirement.kind in ("name", "version", "quarter"):
        return "subject"
    if requirement.kind in ("number", "year") and any(some.threshold.search(before) for some in languages):
        return "threshold"
    clause, asked = _clause(question, requirement.span, languages)
    is_case = not asked and any(some.asker.search(plain(clause)) for some in languages)
    return "case" if is_case or (requirement.kind == "month" and not dated) else "subject"


def _clause(question: str, span: Span, known: Sequence[MessageWords]) -> tuple[str, bool]:
    """Return the clause around a span, and whether it is the one that asks."""
    start = max((found.end() for found in _CLAUSE_END.finditer(question, 0, span.start)), default=0)
    after = _CLAUSE_END.search(question, span.end)
    end = after.start() if after else len(question)
    joins = [found.start() for some in known if (found := some.join.search(question.lower(), span.end, end))]
    if joins:
        return question[start : min(joins)], False
    return question[start:end], after is None or after[0] == "?"


def _fixed(question: str, asked: Sequence[Word], language: str) -> list[Requirement]:
    german = language == "de" or bool(_GERMAN.match(question))
    out, taken = list[Requirement](), list[Span]()
    for period in periods(question, asked):
        out.append(Requirement(kind=period.kind, text=period.text, period=period, span=period.span))
        taken.append(period.span)
    for code, span in places(question).items():
        if not _is_in_name(question, span):
            taken.append(span)
            if not _is_class(question, span) and not _APPOSITION.search(question[: span.start]):
                out.append(Requirement(kind="place", text=span.of(question), value=code, span=span))
    for match in _GLUED.finditer(question):
        span = Span(start=match.start(), end=match.end())
        if _is_free(span, taken) and not _is_count(match[0]):
            taken.append(span)
            out.append(_glued(match[0], span))
    days = [one.span for one in days_in(question)]
    asked = [word for word in asked if _is_free(word.span, days) or not is_weekday(word)]
    free = [word for word in asked if _is_free(word.span, taken)]
    out += _numbers(question, asked, free)
    if not _is_headline(question, asked):
        out += (_german_names if german else _names)(question, free)
    return out


def _names(question: str, free: Sequence[Word]) -> Iterator[Requirement]:
    for group in _groups(question, free):
        yield _name(question, group)


def _german_names(question: str, free: Sequence[Word]) -> Iterator[Requirement]:
    """Yield names of several words, acronyms, and nouns after a preposition, names only if no document has them."""
    for group in _groups(question, free):
        unlike = any(word.span.of(question)[1:].lower() != word.span.of(question)[1:] for word in group)
        before = question[: group[0].span.start].rstrip().lower()
        if len(group) > 1 or unlike or _PREPOSITION.search(before):
            yield _name(question, group, unsure=len(group) == 1 and not unlike)


def _name(question: str, group: Sequence[Word], *, unsure: bool = False) -> Requirement:
    span = Span(start=group[0].span.start, end=group[-1].span.end)
    text = span.of(question).removesuffix("'s").removesuffix("’s")
    return Requirement(kind="name", text=text, span=span, words=tuple(group), unsure=unsure)


def _groups(question: str, free: Sequence[Word]) -> Iterator[list[Word]]:
    """Yield names: words with a capital that stand next to each other."""
    group: list[Word] = []
    for word in free:
        is_name = word.named and not word.value and not _is_general(word)
        if group and not (is_name and question[group[-1].span.end : word.span.start] in (" ", "-")):
            yield group
            group = []
        if is_name:
            group.append(word)
    if group:
        yield group


def _is_general(word: Word) -> bool:
    return word.lower in lexicon().general or word.lower.partition("'")[0] in ("i", "l", "d") or len(word.lower) < 2


def _numbers(question: str, asked: Sequence[Word], free: Sequence[Word]) -> Iterator[Requirement]:
    """Yield numbers: as versions if they follow a name or a word such as "section", else as they are."""
    for word in free:
        shown = word.span.of(question).split(" ")[0]
        if not word.value or not word.lower[:1].isdigit() or _DECADE.match(question, word.span.start):
            continue
        if question[word.span.end : word.span.end + 1] == "/":
            continue  # a date or a path: 1/1/35
        before = next((one for one in reversed(asked) if one.span.end <= word.span.start), None)
        between = question[before.span.end : word.span.start] if before else ""
        joined = between in (" ", " v", " V", " no. ", " No. ") or (between == "/" and before and before.capitals)
        if before and not before.value and _takes_number(before) and joined:
            text = question[_name_start(question, asked, before) : word.span.start] + shown
            yield Requirement(kind="version", text=text, span=word.span, words=(word,), value=shown, anchor=before)
        elif question[word.span.start - 1 : word.span.start] != "/" and not _is_small(word.value):
            yield Requirement(kind="number", text=shown, span=word.span, words=(word,), value=word.value)


def _is_small(value: str) -> bool:
    return value.isdigit() and len(value) <= len(str(_COUNT)) and int(value) <= _COUNT


def _name_start(question: str, asked: Sequence[Word], last: Word) -> int:
    """Return where the name begins that ends with a word: "T Phone" at T."""
    start = last.span.start
    for earlier in reversed([word for word in asked if word.span.end <= start] if last.named else []):
        is_letter = earlier.capitals and len(earlier.lower) == 1 and earlier.lower != "i" and earlier.span.start > 0
        if not (earlier.named or is_letter) or question[earlier.span.end : start] != " ":
            break
        start = earlier.span.start
    return start


def _glued(text: str, span: Span) -> Requirement:
    """Return a word with letters and digits as a version, of its letters if the digits are last: python3.10, GPLv3."""
    parts = _VERSIONED.fullmatch(text)
    if parts is None:
        return Requirement(kind="version", text=text, span=span, value=text)
    return Requirement(kind="version", text=text, span=span, value=parts[2], anchor=words(parts[1])[0])


def _takes_number(word: Word) -> bool:
    return word.named or word.capitals or word.lower in lexicon().parts


def _is_count(glued: str) -> bool:
    """Return whether a word with digits is a number with its unit, an ordinal, or a word stuck to a number."""
    letters = plain(re.sub(r"[\W\d_]", "", glued))
    return (glued[0].isdigit() and (len(letters) <= 3 or "-" in glued)) or letters in lexicon().stop


def _is_free(span: Span, taken: Sequence[Span]) -> bool:
    return not any(span.overlaps(one) for one in taken)


def _is_in_name(question: str, place: Span) -> bool:
    """Return whether a place is part of another name, as in "Bank of America" and "Deutsche Telekom"."""
    before, after = question[: place.start], question[place.end :]
    if not question[place.start].isupper():
        return False
    return bool(re.search(r"(?<=\s)[A-Z]\w+(?: of| of the)? $", before) or re.match(r" [A-Z]", after))


def _is_class(question: str, span: Span) -> bool:
    """Return whether a name only limits what is asked for: "Which Irish cities"."""
    return bool(_CLASS.search(plain(question[: span.start].rstrip()))) and question[span.end : span.end + 1] == " "


def _is_headline(question: str, asked: Sequence[Word]) -> bool:
    if _SMALL_VERB.search(question):
        return False
    later = [word for word in asked[1:] if not word.stop and not word.value]
    raised = sum(question[word.span.start].isupper() for word in later)
    return raised >= _HEADLINE_WORDS and raised > _HEADLINE * len(later)
