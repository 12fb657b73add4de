"""What a question fixes and the passage that would answer it lacks.

A question about 2030 is not answered by a sentence about 2022, however similar the sentences are. A passage has what
its text, heading, title, metadata or address has, in any form: `FY23` is 2023, "Lenkijoje" is Poland, and 2001 lies
between 1998 and 2005. A name is left alone if the evidence also writes it in lower case, or if so many chunks have it
that all documents are about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp

from ragstone.core.protocols import Weigher
from ragstone.core.question import Question, Requirement
from ragstone.core.records import EXTRACTED_AT, Chunk
from ragstone.core.request import Request
from ragstone.language.facts import Word, alike, words
from ragstone.language.places import places
from ragstone.respond.requirements.data_files import is_data, names_data
from ragstone.respond.requirements.names import Names, same_name
from ragstone.respond.requirements.periods import Periods, ordinal

Known = Callable[[Sequence[str], Request], Sequence[bool]]
"""Returns for each word whether any document contains it."""

_DOTTED = re.compile(r"\d+(?:\.\d+)*")
_VERSIONS = re.compile(r"(?<![\w.])\d+(?:\.\d+){2,}")
_BETWEEN = re.compile(r"(?<!\d)(\d+(?:\.\d+)?)\s*(?:[-–—]|to|bis|iki|hingga)\s*(\d+(?:\.\d+)?)")
_ONE = frozenset({"one", "eins", "vienas", "satu"})
_NEAR = 4
"""Words between the name of a product and its number, as in "Fairphone 4 and 5"."""
_HALF = 0.5
"""Share of the words of a name that stand for it: "Obama" for "Barack Obama"."""
_LONG = 3
"""Words of a name from which on another one with the same beginning and end is another name."""
_SUBJECT, _MANY = 0.2, 20
"""A name in this share of the chunks is the subject of all documents, if there are at least so many chunks."""
NOWHERE = "qzxqzxqzx"
"""A word of no document; its weight tells how many chunks there are."""
AGAINST, STRONG = 10.0, 30.0
"""Odds against an answer if the passage lacks something; the second if it lacks a year, or more than one thing.

Of 4,599 right passages of eight sets, 1.8% lacked one thing and 0.1% more; of 3,268 passages that do not answer, 22%
and 5%: odds of 13 and 37, and of 33 for a year. On seven sets left out they were 5, 41 and 21.
"""
CAP = 0.15
"""The most that the probability of an answer can be if the passage lacks something that the question fixes."""
_HIDDEN = frozenset({EXTRACTED_AT, "content_hash"})
"""Metadata that say nothing about the subject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lack:
    """A requirement that the quoted passage does not meet.

    ``found`` says whether another passage of the evidence meets it, ``known`` whether any document has its words.
    """

    requirement: Requirement
    found: bool
    known: bool


class Passage:
    """What a chunk has: its text, headings, title, metadata and address."""

    def __init__(self, chunk: Chunk) -> None:
        facts = {**chunk.metadata, **chunk.facts}
        self._described = [str(value) for key, value in facts.items() if key not in _HIDDEN]
        self._address = re.sub(r"[_/]", " ", f"{chunk.url} {chunk.path}")
        self.chunk = chunk
        self.text = "\n".join([chunk.text, chunk.context, chunk.title, *self._described])

    @cached_property
    def words(self) -> list[Word]:
        """The words of the passage."""
        return words(self.text)

    @cached_property
    def _codes(self) -> set[str]:
        return set(places(self.text)) | {value for value in self._described if value.isupper()}

    @cached_property
    def _periods(self) -> Periods:
        return Periods(f"{self.text}\n{self._address}", [*self.words, *words(self._address)])

    @cached_property
    def _names(self) -> Names:
        return Names(self.words, self._address)

    @cached_property
    def _values(self) -> set[str]:
        return {word.value for word in self.words} | {_number(word) for word in self.words}

    @cached_property
    def _ranges(self) -> list[tuple[float, float]]:
        return [(float(low), float(high)) for low, high in _BETWEEN.findall(self.text)]

    @cached_property
    def _solid(self) -> str:
        return _solid(f"{self.text} {self._address}")

    def has(self, one: Requirement) -> bool:
        """Return whether the passage meets a requirement."""
        match one.kind:
            case "place":
                return one.value in self._codes
            case "version":
                return self._spells(_solid(one.text)) or (one.anchor is not None and self._has_version(one, one.anchor))
            case "number":
                return self._has_number(one)
            case "name":
                shared = sum(map(self._names.has, one.words)) / len(one.words)
                return self._names.abbreviates(one.words) or (shared >= _HALF and not self.has_another(one.words))
            case _:
                assert one.period is not None
                return self._periods.has(one.period)

    def names_others(self, one: Requirement) -> bool:
        """Return whether the passage names other periods than the one required."""
        return one.period is not None and self._periods.names_others(one.period)

    def lower_case(self) -> Iterator[str]:
        """Yield the words that the passage writes in lower case."""
        yield from (word.lower for word in self.words if self.text[word.span.start].islower())

    def has_another(self, name: Sequence[Word]) -> bool:
        """Return whether a name differs from one of three words or more in its middle, and this one is nowhere.

        The Chief Financial Officer is not the Chief Executive Officer, although "Executive" may be near.
        """
        size = len(name)
        if size < _LONG:
            return False
        runs = [self.words[n : n + size] for n in range(len(self.words) - size + 1)]
        alike = [run for run in runs if _is_form(name[0], run[0]) and _is_form(name[-1], run[-1])]
        wanted = [word.lower for word in name]
        return bool(alike) and not any([word.lower for word in run] == wanted for run in alike)

    def _has_number(self, one: Requirement) -> bool:
        """Return whether the passage has a number, a range around it, or a longer version: 0.20.0 for 0.20."""
        value = one.value
        if value in self._values or not _DOTTED.fullmatch(value) or value.count(".") > 1:
            return value in self._values
        if any(low <= float(value) <= high for low, high in self._ranges):
            return True
        return "." in one.text and any(version.startswith(f"{one.text}.") for version in _VERSIONS.findall(self.text))

    def _spells(self, solid: str) -> bool:
        """Return whether a name and its number stand there as one word, and not as part of a longer number."""
        return re.search(rf"{re.escape(solid)}(?!\.?\d)", self._solid) is not None

    def _has_version(self, one: Requirement, anchor: Word) -> bool:
        """Return whether the number stands near its name, or a longer or shorter form of it: 12 and 12.1.

        The name may stand anywhere below a heading with the number, or in the name of the file.
        """
        if self._spells(f"{anchor.lower}{one.value}"):
            return True
        wanted, heading = _parts(one.value), f"{self.chunk.context}\n{self.chunk.title}"
        if self._names.has(anchor) and any(_is_version(wanted, _parts(part)) for part in heading.split()):
            return True
        for place, word in enumerate(self.words):
            shown = word.span.of(self.text)
            if _same_version(wanted, _parts(shown) or [_number(word)]):
                after = self.words[place + 1 : place + 4]
                after = after if [word.lower for word in after[:2]] == ["of", "the"] else after[:2]
                around = self.words[max(0, place - _NEAR) : place] + after
                if any(_is_form(anchor, other) for other in around):
                    return True
        return False


def lacking(
    question: Question,
    quoted: Sequence[Chunk],
    hits: Sequence[Chunk],
    *,
    known: Known,
    weigh: Weigher,
    request: Request,
    linked: Sequence[Chunk] = (),
) -> list[Lack]:
    """Return what the question fixes and the quoted passage does not have.

    Args:
        question: what is asked.
        quoted: the chunks that would be quoted, best first; several may share what a comparison asks for.
        hits: all chunks of the evidence.
        known: says for each word whether any document contains it.
        weigh: weighs words.
        request: who asks.
        linked: chunks that led the search to the first quoted one, or to which it led; what they have is not missing.
    """
    if not quoted:
        return []
    if is_data(quoted[0]) and not names_data(question, quoted[0]):
        return [Lack(requirement=Requirement(kind="prose", text=""), found=True, known=True)]
    wanted = question.must_have
    if not wanted:
        return []
    best = Passage(quoted[0])
    missing = [one for one in wanted if not best.has(one)]
    if not missing:
        return []
    others = [Passage(chunk) for chunk in hits if chunk.id != best.chunk.id]
    own = [one for one in others if one.chunk.document_id == best.chunk.document_id]
    led = {chunk.id for chunk in linked}
    beside = [one for one in others if any(one.chunk.id == chunk.id for chunk in quoted[1:])]
    named = any(one.kind == "name" for one in missing)
    everyday = {word for one in (best, *others) for word in one.lower_case()} if named else set[str]()
    out: list[Lack] = []
    for one in missing:
        if not (one.kind == "name" and best.has_another(one.words)):
            helpers = beside if any(other.kind == one.kind and other not in missing for other in wanted) else []
            helpers = [*helpers, *own] if one.kind in ("name", "place") else helpers
            helpers = [*helpers, *(other for other in others if other.chunk.id in led)]
            if any(other.has(one) for other in helpers):
                continue
            if one.kind == "name" and all(_is_everyday(word, everyday) for word in one.words):
                continue
        lower = lookup(one)
        if (one.kind in ("name", "place") or _is_glued(one)) and is_subject(lower, weigh, request):
            continue
        found = any(other.has(one) for other in others)
        lack = Lack(requirement=one, found=found, known=found or any(known(lower, request)))
        if lack.known and (one.unsure or (one.period and not best.names_others(one))):
            continue
        out.append(lack)
    return out


def lowered(probability: float, lacks: Sequence[Lack]) -> float:
    """Return the probability of an answer, given what the passage lacks of what the question fixes."""
    if not lacks:
        return probability
    strong = len(lacks) > 1 or any(one.requirement.kind == "year" for one in lacks)
    against = STRONG if strong else AGAINST
    return min(CAP, probability / (probability + against * (1 - probability)))


def of_one_step(probability: float) -> float:
    """Return the probability of an answer that rests on the passage that led on, and not on what it led to."""
    return probability / (probability + AGAINST * (1 - probability))


def lookup(one: Requirement) -> list[str]:
    """Return the words by which the documents are searched for a requirement."""
    if one.kind == "name":
        return [word.lower for word in one.words]
    return [one.value if one.kind == "version" and not _is_glued(one) else one.text.lower()]


def _is_glued(one: Requirement) -> bool:
    """Return whether a version is one word with its name, as COVID-19, which documents may all be about."""
    return one.kind == "version" and " " not in one.text


def _is_everyday(name: Word, everyday: set[str]) -> bool:
    return any(other in everyday for other in (name.lower, f"{name.lower}s", name.lower.removesuffix("s")))


def is_subject(lower: Sequence[str], weigh: Weigher, request: Request) -> bool:
    """Return whether words in lower case are in so many chunks that the documents need not repeat them."""
    *weights, unseen = weigh([*lower, NOWHERE], request)
    # The weight is the logarithm of chunks / chunks with the word, so of 2 * chunks for a word that none has.
    return exp(unseen) / 2 >= _MANY and min(weights) > 0 and exp(-min(weights)) >= _SUBJECT


def _number(word: Word) -> str:
    """Return the value of an ordinal number, a Roman one, or one; of any other word its own value."""
    if word.value or word.lower in _ONE:
        return word.value or "1"
    return ordinal(word)


def _solid(text: str) -> str:
    """Return a text in lower case without what may stand between letters and digits, as in COVID-19 and COVID 19."""
    return re.sub(r"(?<=[^\W\d_])[\s-]+(?=\d)|(?<=\d)-(?=[^\W\d_])", "", text.lower())


def _parts(version: str) -> list[str]:
    match = _DOTTED.match(version.replace(",", "."))
    return match.group().split(".") if match else []


def _same_version(one: Sequence[str], other: Sequence[str]) -> bool:
    shared = min(len(one), len(other))
    return shared > 0 and list(one[:shared]) == list(other[:shared])


def _is_version(wanted: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether numbers of a heading are a version, and not those of a chapter: 2.0 is not in chapter 2."""
    return (len(other) > 1 or len(wanted) == 1) and _same_version(wanted, other)


def _is_form(anchor: Word, other: Word) -> bool:
    return not other.value and (alike(anchor.lower, other.lower) or same_name(anchor.lower, other.lower))
