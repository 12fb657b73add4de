"""Whether citation marks are words of their sentence, as in "According to [1]", or stand behind what they prove.

A word of a sentence cannot be taken out of it. A mark is one behind a word such as "according to", behind a preposition
that begins a clause or follows a verb of saying, before such a verb if a clause begins with it, and behind the label of
a list of sources. Marks that "and" or a comma joins are judged together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from ragstone.core.records import Span
from ragstone.language import lexicon, plain
from ragstone.language.words import any_of

_CONTEXT = 80
"""Characters before a mark that decide what it is."""
_SIGNS = re.compile(r"[\W\d]*")
_PAUSE = re.compile(r"[.!?:;,–—(|]\W*$")
_FOLLOWING = re.compile(r"[^\S\n]+([^\W\d_]+)")
_UNSETTLED = re.compile(r"[^\S\n]*[,;&/:]?[^\S\n]*(?:\w{1,30}[^\S\n]+){0,2}\w{0,30}(?:\^?[\[【〔［][^\]】〕］\n]*)?")
MAX_HELD = 300
"""Characters from a mark that wait, at most, for what tells its kind."""


def groups(marks: Sequence[Span], text: str) -> list[list[Span]]:
    """Return the marks of a text in groups that only "and", a comma or nothing joins."""
    out: list[list[Span]] = []
    for mark in marks:
        line = text.find("\n", mark.start, mark.end) >= 0
        if out and not line and _joint().fullmatch(text, out[-1][-1].end, mark.start):
            out[-1].append(mark)
        else:
            out.append([mark])
    return out


def are_words(group: Sequence[Span], text: str, before: str) -> list[bool]:
    """Return which marks of a group are words of the sentence.

    Args:
        group: marks, from `groups`.
        text: that has them.
        before: the text before it.
    """
    prior = plain((before[-_CONTEXT:] + text[: group[0].start])[-_CONTEXT:])
    is_subject = _precedes_verb(text[group[-1].end :])
    introduced = _ends_in("behind").search(prior) or (len(group) > 1 and _ends_in("pairs").search(prior))
    if introduced or (is_subject and _begins_clause(prior)) or (_label().search(prior) and _ends_line(group, text)):
        return [True] * len(group)
    if (opening := _ends_in("opening").search(prior)) is not None:
        left = prior[: opening.start()]
        if is_subject or _begins_clause(left) or _ends_in_saying(left):
            return [True] * len(group)
    joined = len(group) > 1 and text[group[-2].end : group[-1].start].strip() != ""
    return [*[False] * (len(group) - 1), joined and is_subject]


def is_settled(group: Sequence[Span], text: str) -> bool:
    """Return whether enough of a reply follows its last group of marks to tell their kind."""
    return len(text) - group[0].start > MAX_HELD or not _UNSETTLED.fullmatch(text, group[-1].end)


def _ends_line(group: Sequence[Span], text: str) -> bool:
    """Return whether nothing follows in the line, such as the title of a source."""
    return not text[group[-1].end :].partition("\n")[0].strip(" .*_)")


def _begins_clause(prior: str) -> bool:
    """Return whether a clause begins behind this text."""
    line = prior.rpartition("\n")[2]
    return bool(_SIGNS.fullmatch(line) or _PAUSE.search(line) or _ends_in("clauses").search(line))


def _ends_in_saying(prior: str) -> bool:
    words = prior.split()
    return bool(words) and _says(words[-1])


def _precedes_verb(following: str) -> bool:
    """Return whether the next word is a verb whose subject can be a document."""
    found = _FOLLOWING.match(following)
    if found is None or not found[1][0].islower():
        return False
    word = plain(found[1])
    return _says(word) or _verbs().fullmatch(word) is not None


def _says(word: str) -> bool:
    lists = lexicon()
    return any(one.fullmatch(word) for one in (lists.says, lists.absent["tell"], lists.absent["give"]))


@cache
def _verbs() -> re.Pattern[str]:
    return re.compile(any_of(map(plain, lexicon().marks["verbs"])))


@cache
def _label() -> re.Pattern[str]:
    """Return a pattern of the label of a list of sources at the end of a text: "Sources:"."""
    return re.compile(rf"(?:^|\n)\W*(?:{any_of(lexicon().layout['sources'])})[*_]*:[\s*_]*$")


@cache
def _joint() -> re.Pattern[str]:
    """Return a pattern of what joins two marks."""
    words = any_of((*lexicon().either, *lexicon().marks["joining"]))
    return re.compile(rf"[^\S\n]*(?:[,;&/]?[^\S\n]*(?:{words})|[,;&/])?[^\S\n]*", re.IGNORECASE)


@cache
def _ends_in(kind: str) -> re.Pattern[str]:
    """Return a pattern of words of a kind at the end of a text."""
    lists = lexicon()
    words = [*lists.marks[kind], *([*lists.either, *lists.contrasts] if kind == "clauses" else [])]
    return re.compile(rf"(?<!\w)(?:{any_of(map(plain, words))}):?[\s*_]*$")
