"""Recognise by rules what is said to whoever answers, and what is asked about the documents rather than of them.

"Hello!", "What can you do?", "How many documents are there?" and "Summarize this file" need no search. The patterns are
data of ``ragstone/language``. Each must match the whole question, so that "Which documents do I need to register?"
stays a question of the documents. A question may be asked in another language than the documents have, so the patterns
of all languages apply, those of its own first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import get_args

from ragstone.core.frozen import frozen
from ragstone.core.kinds import CollectionFact, TalkKind
from ragstone.core.question import Talk
from ragstone.language.files import tried
from ragstone.language.message import message_words, writing
from ragstone.language.talk import talk_words, talking
from ragstone.language.words import any_of
from ragstone.query.diacritics import bare

MAX_WORDS = 30
"""Words of a question that may be talk."""
FIRST: tuple[TalkKind, ...] = ("help", *(one for one in get_args(TalkKind) if one != "help"))
"""The kinds in the order in which they are tried."""
FACTS: tuple[CollectionFact, ...] = get_args(CollectionFact)
_POLITE: tuple[TalkKind, ...] = ("greeting", "thanks", "goodbye")
_WORD = re.compile(r"[\w+#&/@-]+(?:[.:_][\w+#&/@-]+)*")
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
_REPEATED = re.compile(r"\)( ?)\)\*")
_PART = re.compile(
    r"\\.|\[[^\]]*\]"  # one character
    r"|\((?:\?:)?(?P<one_of>[a-z0-9 |]+)\)(?P<repeated>[?*]|\{[^}]*\})?"
    r"|(?P<literal>[a-z0-9 ]+)(?P<last>[?*]|\{[^}]*\})?"
    r"|."
)
"""A part of a pattern; before ``repeated``, the group may lack, before ``last`` the last letter."""


@frozen
class _Pattern:
    """A pattern, compiled when it is first needed. Every match has one of each of the words ``needed``."""

    kind: TalkKind
    fact: CollectionFact | None
    text: str
    needed: tuple[tuple[str, ...], ...]

    def match(self, text: str) -> re.Match[str] | None:
        """Return the match with the whole text."""
        return _compiled(self.text).fullmatch(text)


@frozen
class _Language:
    """The patterns of a language; ``filler`` matches what may stand before or behind a question.

    ``added`` finds words for what was added a moment ago, and ``formats`` those for documents of one kind.
    """

    name: str
    patterns: Sequence[_Pattern]
    filler: str
    added: str
    formats: Mapping[str, str]


@lru_cache  # each turn of a conversation reads the turns before it
def talk_of(question: str, language: str = "") -> Talk | None:
    """Return what a question is if it needs no search, or None.

    Args:
        question: as it was asked.
        language: ISO 639-1 code of the question's likely language, whose patterns are tried first.
    """
    written = _WORD.findall(_APOSTROPHE.sub("", question))
    if not 0 < len(written) <= MAX_WORDS:
        return None
    text = " ".join(bare(word).lower() for word in written)
    known = tried(language, talking())
    return next((found for name in known if (found := _match(text, written, _language(name)))), None)


def language_named(question: str, language: str = "") -> str:
    """Return the code of the language that a question names, "de" for "in German"; empty if it names none.

    Args:
        question: as it was asked.
        language: ISO 639-1 code of the question's likely language.
    """
    text = f" {' '.join(bare(word).lower() for word in _WORD.findall(question))} "
    known = tried(language, writing())
    names = (named for one in known for named in message_words(one).names.items())
    return next((code for name, code in names if f" {name} " in text), "")


def is_talk(question: str) -> bool:
    """Return whether a question needs no search because it names nothing to search for."""
    talk = talk_of(question)
    return talk is not None and not talk.names_something


def _match(text: str, written: Sequence[str], own: _Language) -> Talk | None:
    """Return what the patterns of one language make of a text, without filler at its ends if that is understood."""
    patterns = [*_likely(text, own.patterns)]
    if not patterns:
        return None
    for start, end in _cores(text, _compiled(own.filler)):
        core = text[start:end]
        for pattern in patterns:
            if pattern.kind == "unclear" and core != text:
                continue  # "was" is all that filler leaves of "was kannst du"
            if found := pattern.match(core):
                named = _named(found, start, text, written)
                if pattern.kind == "collection":
                    named["format"] = named["format"].lower() if "format" in named else _format(found, own)
                    if not named.keys() & {"topic", "title", "author"}:
                        named["written_in"] = language_named(core, own.name)
                added = _compiled(own.added).search(core) is not None
                return Talk(kind=pattern.kind, language=own.name, fact=pattern.fact, added=added, **named)
    # "Hello, thanks, bye": several in a row.
    polite = [one for one in patterns if one.kind in _POLITE]
    if polite and (kind := _politeness(text, polite, _compiled(own.filler))):
        return Talk(kind=kind, language=own.name)
    return None


def _format(match: re.Match[str], own: _Language) -> str:
    """Return the kind of the documents that are asked about, "pdf" for "PDFs"; empty if any kind is meant."""
    named = [at for name in match.groupdict() if (at := match.start(name)) >= 0]
    before = match.string[match.start() : min(named, default=match.end())]
    return next((name for name, pattern in own.formats.items() if _compiled(pattern).search(before)), "")


def _likely(text: str, patterns: Sequence[_Pattern]) -> Iterator[_Pattern]:
    """Yield the patterns of which a text has all needed words; most questions have those of few."""
    for one in patterns:
        for some in one.needed:
            for word in some:
                if word in text:
                    break
            else:
                break
        else:
            yield one


def _politeness(text: str, polite: Sequence[_Pattern], filler: re.Pattern[str]) -> TalkKind | None:
    """Return the kind of a text of polite phrases and filler alone, the last of `_POLITE` if several are in it.

    A pattern that repeats all of them would try every way to divide the text, twice as many with each word.
    """
    ends = [*(at for at, one in enumerate(text) if one == " "), len(text)]
    reached = {0: -1}
    """The position in `_POLITE` of the last kind on the way to a character, or -1 if there was only filler."""
    for start in (0, *(end + 1 for end in ends[:-1])):
        if start not in reached:
            continue
        for end in ends:
            if end <= start or (kind := _polite_kind(text, start, end, polite, filler)) is None:
                continue
            reached[end + 1] = max(reached.get(end + 1, -1), reached[start], kind)
    last = reached.get(len(text) + 1, -1)
    return _POLITE[last] if last >= 0 else None


def _polite_kind(text: str, start: int, end: int, polite: Sequence[_Pattern], filler: re.Pattern[str]) -> int | None:
    """Return the position in `_POLITE` of a phrase, -1 if it is filler, None if it is neither."""
    for one in polite:
        if _compiled(one.text).fullmatch(text, start, end):
            return _POLITE.index(one.kind)
    return -1 if filler.fullmatch(f"{text[start:end]} ") else None


def _cores(text: str, filler: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield the ends of a text without the filler before and behind it, and last those of all of it."""
    starts, ends = [0], [len(text)]
    while found := filler.match(text, starts[-1]):
        starts.append(found.end())
    while behind := _words_behind(text[: ends[-1]], filler):
        ends.append(ends[-1] - len(max(behind, key=len)) - 1)
    for end in reversed(ends):
        for start in reversed(starts):
            if start < end:
                yield start, end


def _words_behind(text: str, filler: re.Pattern[str]) -> list[str]:
    """Return the filler with which a text ends."""
    words = text.split(" ")
    return [
        tail for count in range(1, min(5, len(words))) if filler.fullmatch((tail := " ".join(words[-count:])) + " ")
    ]


def _named(match: re.Match[str], start: int, text: str, written: Sequence[str]) -> dict[str, str]:
    """Return the named groups of a match, in the words of the question."""
    named: dict[str, str] = {}
    for name, value in match.groupdict().items():
        if value:
            first = text.count(" ", 0, start + match.start(name))
            # A pattern can use each name once.
            named["other" if name == "against" else name] = " ".join(written[first : first + value.count(" ") + 1])
    return named


@cache
def _language(name: str) -> _Language:
    talk = talk_words(name)
    words, patterns = talk.words, list[_Pattern]()
    for kind in FIRST:
        if kind == "collection":
            for fact in FACTS:
                patterns += [_pattern(kind, fact, one, words) for one in talk.collection[fact]]
        else:
            patterns += [_pattern(kind, None, one, words) for one in talk.patterns[kind]]
    filler = any_of(talk.filler)
    return _Language(
        name=name,
        patterns=patterns,
        filler=rf"(?:{filler}) ",
        added=rf"\b(?:{words['added']})\b",
        formats={name: rf"\b(?:{one})\b" for name, one in talk.formats.items()},
    )


def _pattern(kind: TalkKind, fact: CollectionFact | None, text: str, words: Mapping[str, str]) -> _Pattern:
    text = filled(text, words)
    return _Pattern(kind=kind, fact=fact, text=text, needed=needed(text))


_compiled = cache(re.compile)


def needed(pattern: str) -> tuple[tuple[str, ...], ...]:
    """Return the parts of a pattern that every match has, each as its alternatives, the longest first.

    Few questions are talk, so that most of some 400 patterns need not be compiled to see that they do not match.
    """
    depth, found = 0, list[tuple[str, ...]]()
    for part in _PART.finditer(pattern):
        if part[0] in "()":
            depth += 1 if part[0] == "(" else -1
        elif depth:
            continue
        elif part[0] == "|":
            return ()
        elif part["one_of"] and not part["repeated"]:
            found.append(tuple(part["one_of"].split("|")))
        elif part["literal"]:
            found.append((part["literal"][:-1] if part["last"] else part["literal"],))
    telling = [words for words in found if all(map(str.strip, words))]
    return tuple(sorted(telling, key=lambda words: -min(map(len, words))))


def filled(text: str, words: Mapping[str, str]) -> str:
    """Return a pattern with the words of its language in place of their names.

    Groups that repeat take whole words and never give one back: if two of their alternatives match the same word, the
    time would double with each repetition.
    """
    if "{" in text:
        for name, some in words.items():
            text = text.replace(f"{{{name}}}", f"(?:{some})")
    text = _REPEATED.sub(r")\\b\1)*", text)
    return _atomic(text) if r")\b" in text else text


def _atomic(text: str) -> str:
    """Return a pattern with each repeated group of words made atomic, so that it never gives a word back.

    A possessive repetition says the same, but misses matches before Python 3.11.5 (cpython issue 106052).
    """
    out, opened = list[str](), list[int]()
    for at, character in enumerate(text):
        if character == "(":
            opened.append(len(out))
        out.append(character)
        if character == ")":
            start = opened.pop()
            if text.startswith("*", at + 1) and text[:at].rstrip(" ").endswith(r")\b"):
                out[start] = f"(?>{out[start]}"
                opened.append(-1)
        elif opened[-1:] == [-1]:  # the asterisk
            opened.pop()
            out.append(")")
    return "".join(out)
