"""Which document a text is a version of, and which version: from its title, path, front matter and first lines.

All of it depends on the document alone, so adding a document reads no other. Whether two documents of the same title
really are versions is seen when a question finds both.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import PurePosixPath

from ragstone.acquire.metadata import dates
from ragstone.core.editions import OUTDATED, VALID_UNTIL, VERSION, VERSION_OF
from ragstone.core.records import AS_OF, DATE_KEYS, Document, Metadata
from ragstone.language import lexicon, plain
from ragstone.language.days import days_in
from ragstone.language.words import any_of

_HEAD = 2000
"""Characters of a text whose lines may say which version it is."""
_NEAR = 30
"""Characters after a word such as "effective" in which its date stands."""
_LONGEST = 120
"""Characters of what all versions have in common."""
_STATUS = ("status", "state")
_REPLACED = ("superseded_by", "replaced_by", "obsoleted_by")
_EXPIRES = (VALID_UNTIL, "valid_to", "expires", "expiry_date")
_CREATED = ("created", "year")
"""Metadata keys of dates that say less than the title does: a file is made anew without being a new version."""
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_DATE = re.compile(
    r"(?<!\d)(?:(?:19|20)\d\d[-_. ]?(?:0[1-9]|1[0-2])(?:[-_. ]?(?:0[1-9]|[12]\d|3[01]))?"
    r"|\d{1,2}[-_./]\d{1,2}[-_./](?:19|20)\d\d|(?:19|20)\d\d(?:\s?[-/–]\s?(?:(?:19|20)\d\d|\d\d))?)(?!\d)"
)
"""A date in a name: 2024, 2024-05, 20240501, 1.5.2024, 2024/25."""
_WORD = re.compile(r"[^\W_]+")


def edition(document: Document) -> Metadata:
    """Return the metadata that tell which version of which document this is; none for rows of tables."""
    path = str(document.metadata.get("path", "")) or document.id
    if document.id.startswith(f"{path}#"):
        return {}
    place = PurePosixPath(path)
    title = document.title or place.stem
    family = _family(title) or _family(place.stem)
    if not family:
        return {}
    company = str(document.metadata.get("company", ""))
    found: Metadata = {
        VERSION_OF: f"{company} {family}".strip(),
        AS_OF: _as_of(document, place),
        VERSION: _number(title) or _number(place.stem),
        VALID_UNTIL: _until(document),
    }
    facts = {key: fact for key, fact in found.items() if fact}
    return {**facts, OUTDATED: True} if _is_outdated(document, place) else facts


def _family(name: str) -> str:
    """Return the words of a name that all versions have: without dates, the number of a version, and its state."""
    for day in reversed(days_in(name)):
        name = f"{name[: day.span.start]} {name[day.span.end :]}"
    name = _DATE.sub(" ", _numbered().sub(" ", plain(name).replace("_", " ")))
    words = [word for word in _WORD.findall(name) if word not in lexicon().months or len(word) <= 3]
    while len(words) > 1 and (words[-1] in _states(in_names=True) or words[0] in _states(in_names=False)):
        words = words[:-1] if words[-1] in _states(in_names=True) else words[1:]
    return " ".join(words)[:_LONGEST] if any(map(str.isalpha, words)) else ""


def _number(name: str) -> str:
    found = _numbered().search(plain(name).replace("_", " "))
    return ".".join(re.findall(r"\d+", found[0])) if found else ""


def _is_outdated(document: Document, place: PurePosixPath) -> bool:
    facts = document.metadata
    if any(facts.get(key) for key in _REPLACED):
        return True
    said = [_text(facts[key]) for key in _STATUS if key in facts] or re.findall(
        r"[(\[]([^()\[\]]+)[)\]]", document.title
    )
    stem, folders = _WORD.findall(plain(place.stem)), [plain(one) for one in place.parts[:-1]]
    states, names = _states(in_names=False), _states(in_names=True)
    return (
        any(not states.isdisjoint(_WORD.findall(plain(one))) for one in said)
        or (len(stem) > 1 and stem[-1] in names)
        or not names.isdisjoint(folders)
    )


def _as_of(document: Document, place: PurePosixPath) -> str:
    """Return the date from which a document is in force: the surest that it has, empty without one."""
    facts = {plain(key).replace("_", " "): _text(fact) for key, fact in document.metadata.items()}
    surest = [fact for key, fact in facts.items() if _dated().fullmatch(key) or _stamped().fullmatch(key)]
    usual = [facts[key] for one in DATE_KEYS if one not in _CREATED and (key := one.replace("_", " ")) in facts]
    folders = [one for one in reversed(place.parts[:-1]) if _DATE.fullmatch(one) or _YEAR.fullmatch(one)]
    said = [*_after(document, _dated()), *_after(document, _stamped())]
    least = [facts[key] for key in _CREATED if key in facts]
    for text in (*surest, *usual, document.title, place.stem, *said, *folders, *least):
        if date := _date(text):
            return date
    return ""


def _until(document: Document) -> str:
    facts = document.metadata
    said = (*(_text(facts[key]) for key in _EXPIRES if key in facts), *_after(document, _ends()))
    return next((found for text in said if (found := _date(text)[:10])), "")


def _text(fact: object) -> str:
    """Return a text, or a year that is a number, as text; empty for anything else."""
    is_year = isinstance(fact, int) and 1900 <= fact < 2100
    return str(fact) if isinstance(fact, str) or is_year else ""


def _after(document: Document, words: re.Pattern[str]) -> list[str]:
    """Return what stands behind words such as "effective" in the first lines of a text."""
    head = document.text[:_HEAD].lower()
    if len(head) != len(document.text[:_HEAD]):
        return []
    return [document.text[found.end() : found.end() + _NEAR].split("\n")[0] for found in words.finditer(head)]


def _date(text: str) -> str:
    """Return the first date of a text as ISO 8601, or its year; empty if it has none."""
    if found := dates.find(text.replace("_", "-")):
        return found[0]
    if not (stamp := _DATE.search(text)):
        return ""
    digits = re.sub(r"\D", "", stamp[0])
    if stamp[0][:4].isdigit() and len(digits) >= 6 and int(digits[4:6]) <= 12 and not re.search(r"[/–]", stamp[0]):
        return "-".join(filter(None, (digits[:4], digits[4:6], digits[6:8])))
    return _YEAR.findall(stamp[0])[0]


@cache
def _states(*, in_names: bool) -> frozenset[str]:
    """Return the words for versions that are not in force; in names of files and folders, further ones are."""
    words = lexicon().versions
    return frozenset(map(plain, (*words["outdated"], *(words["old"] if in_names else ()))))


@cache
def _numbered() -> re.Pattern[str]:
    """Return a pattern of the number of a version: "v2", "Version 1.2", "rev. 3", "2nd edition", "3. Auflage"."""
    words = any_of(map(plain, lexicon().versions["number"]))
    number = r"\d{1,3}(?:[._]\d+)*"
    return re.compile(
        rf"(?<![^\W_])(?:(?:{words})[\s._-]*{number}|(?<!\d){number}(?:st|nd|rd|th|\.)?\s+(?:{words}))(?![^\W_])"
    )


@cache
def _dated() -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_])(?:{any_of(lexicon().versions['dated'])})(?![^\W_])")


@cache
def _stamped() -> re.Pattern[str]:
    return re.compile(rf"(?:^|[\n.!?])[^\w\n]*(?:{any_of(lexicon().versions['stamped'])})(?![^\W_])")


@cache
def _ends() -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_])(?:{any_of(lexicon().versions['ends'])})(?![^\W_])")
