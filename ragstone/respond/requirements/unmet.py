"""What a question fixes and the passage that would answer it lacks.

A question about 2030 is not answered by a sentence about 2022, however similar the sentences are. A passage has what
its text, heading, title, metadata or address has, in any form: `FY23` is 2023, "Lenkijoje" is Poland, and 2001 lies
between 1998 and 2005. A name is left alone if so many chunks have it that all documents are about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import exp

from ragstone.core.frozen import frozen
from ragstone.core.protocols import Weigher
from ragstone.core.question import Question, Requirement, RequirementKind
from ragstone.core.records import AS_OF, OF_READING, Chunk, Evidence
from ragstone.core.request import Request
from ragstone.language.facts import Word, alike, initials, words
from ragstone.language.places import places
from ragstone.respond.requirements.periods import Periods, ordinal

Known = Callable[[Sequence[str], Request], Sequence[bool]]
"""Returns for each word whether any document contains it."""

_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_ONE = frozenset({"one", "eins", "vienas", "satu"})
_HALF = 0.5
"""Share of the words of a name that stand for it: "Obama" for "Barack Obama"."""
_COMPOUND = 5
"""Letters of a name from which it is recognised within a longer word, as in a German compound."""
_NEAR = 4
"""Words between the name of a product and its number, as in "Fairphone 4 and 5"."""
_ACRONYM = 3
"""Letters of an acronym from which the words it stands for need no capitals."""
_SUBJECT, _MANY = 0.2, 20
"""A name in this share of the chunks is the subject of all documents, if there are at least so many chunks."""
NOWHERE = "qzxqzxqzx"
"""A word of no document; its weight tells how many chunks there are."""
AGAINST, STRONG = 10.0, 30.0
"""Odds against an answer if the passage lacks something; the second if it lacks a year, a month or several things.

Of 4,599 right passages of eight sets, 1.8% lacked one thing and 0.1% more; of 3,268 passages that do not answer, 22%
and 5%: odds of 13 and 37, and of 33 for a year. On seven sets left out they were 5, 41 and 21.
"""
CAP = 0.15
"""The most that the probability of an answer can be if the passage lacks something that the question fixes."""
_HIDDEN = OF_READING | {"content_hash", "mentioned_dates"}
"""Metadata that say nothing about the subject of a passage, or which dates other passages of the document mention."""


@frozen
class Lack:
    """A requirement that the quoted passage does not meet.

    ``found`` says whether another passage of the evidence meets it, ``known`` whether any document has its words, and
    ``beside`` whether the passage has it, but its quoted sentences are about another year.
    """

    requirement: Requirement
    found: bool
    known: bool
    beside: bool = False


class Contents:
    """What a chunk has: its text, headings, title, metadata and address."""

    def __init__(self, chunk: Chunk) -> None:
        facts = {**chunk.metadata, **chunk.facts}
        # When its file was made says nothing of a document that has a date of its own.
        hidden = _HIDDEN | {"created"} if AS_OF in facts else _HIDDEN
        self._described = [str(value) for key, value in facts.items() if key not in hidden]
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
    def _values(self) -> set[str]:
        return {word.value for word in self.words} | {_number(word) for word in self.words}

    @cached_property
    def _solid(self) -> str:
        return _solid(f"{self.text} {self._address}")

    @cached_property
    def _begin(self) -> Mapping[str, set[str]]:
        """The words by their first letters."""
        begin: dict[str, set[str]] = {}
        for word in [*self.words, *words(self._address)]:
            if word.named or not word.value:
                begin.setdefault(word.lower[:1], set()).add(word.lower)
        return begin

    @cached_property
    def _initials(self) -> str:
        return "".join(word.lower[:1] for word in self.words)

    @cached_property
    def _acronyms(self) -> set[str]:
        return {word.lower for word in self.words if word.capitals and len(word.lower) > 1}

    def has(self, one: Requirement) -> bool:
        """Return whether the passage meets a requirement."""
        return MEETS[one.kind](self, one)

    def has_period(self, one: Requirement) -> bool:
        """Return whether the passage names a year, quarter or month, or a longer period around it."""
        return one.period is not None and self._periods.has(one.period)

    def has_place(self, one: Requirement) -> bool:
        """Return whether the passage names a place, in any language."""
        return one.value in self._codes

    def has_number(self, one: Requirement) -> bool:
        """Return whether the passage has a number, or a longer version: 0.20.0 for 0.20."""
        return one.value in self._values or ("." in one.text and f"{one.text}." in self.text)

    def has_version(self, requirement: Requirement) -> bool:
        """Return whether the passage has a name with its number near, or above; 12.1 and 12 are the same version."""
        if re.search(rf"{re.escape(_solid(requirement.text))}(?!\.?\d)", self._solid):
            return True
        if requirement.anchor is None or not self._has_word(requirement.anchor):
            return False
        if any(_is_version(requirement.value, part) for part in f"{self.chunk.context} {self.chunk.title}".split()):
            return True
        near = (
            other.lower
            for at, word in enumerate(self.words)
            if _is_version(requirement.value, word.span.of(self.text))
            or (not word.value and ordinal(word) == requirement.value)
            for other in self.words[max(0, at - _NEAR) : at + _NEAR]
        )
        return any(alike(requirement.anchor.lower, other) for other in near)

    def has_name(self, requirement: Requirement) -> bool:
        """Return whether the passage has half of a name in any form, or its initials."""
        shared = sum(map(self._has_word, requirement.words)) / len(requirement.words)
        initials = "".join(word.lower[:1] for word in requirement.words)
        return shared >= _HALF or (len(requirement.words) > 1 and initials in self._acronyms)

    def names_others(self, one: Requirement) -> bool:
        """Return whether the passage names other periods than the one required."""
        return one.period is not None and self._periods.names_others(one.period)

    def says_other(self, one: Requirement, said: Sequence[str]) -> bool:
        """Return whether sentences of the passage name other years than the one required, and so does what is above.

        A sentence below the name of another month is of that month unless it names the one required, as minutes do
        when they say when the next meeting is. Of months, only the likeliest sentence counts.
        """
        if one.kind not in ("year", "month") or one.period is None or not said:
            return False
        quoted = " ".join(said) if one.kind == "year" else said[0]
        own = Periods(quoted, words(quoted))
        names_others = own.names_others(one.period) or (one.kind == "month" and self._above.names_others(one.period))
        return names_others and not own.has(one.period) and not self._above.has(one.period)

    @cached_property
    def _above(self) -> Periods:
        """The periods of headings, title, metadata and address."""
        above = "\n".join([self.chunk.context, self.chunk.title, *self._described, self._address])
        return Periods(above, words(above))

    def _has_word(self, name: Word) -> bool:
        """Return whether the passage has a word of a name: inflected, in a compound, or spelled out for an acronym."""
        own = name.lower
        near = self._begin.get(own[:1], set())
        if own in near or any(alike(own, other, name=True) for other in near):
            return True
        if len(own) >= _COMPOUND and any(own in word for some in self._begin.values() for word in some):
            return True
        return initials(name, self.words) or (name.capitals and len(own) >= _ACRONYM and own in self._initials)


MEETS: Mapping[RequirementKind, Callable[[Contents, Requirement], bool]] = {
    "year": Contents.has_period,
    "quarter": Contents.has_period,
    "month": Contents.has_period,
    "number": Contents.has_number,
    "version": Contents.has_version,
    "place": Contents.has_place,
    "name": Contents.has_name,
}
"""How a passage meets requirements of a kind.

The questions of the sets gain little, because they have their passages. The kinds stay for safety: they notice most
questions whose year, version or name was replaced by another one (``python -m benchmarks.required``).
"""


def lacking(
    question: Question,
    quoted: Sequence[Chunk],
    hits: Sequence[Chunk],
    *,
    occurs: Known,
    weigh: Weigher,
    request: Request,
    linked: Sequence[Chunk] = (),
    said: Sequence[str] = (),
) -> list[Lack]:
    """Return what the question fixes and the quoted passage does not have.

    Args:
        question: what is asked.
        quoted: the chunks that would be quoted, best first; several may share what a comparison asks for.
        hits: all chunks of the evidence.
        occurs: says for each word whether any document contains it.
        weigh: weighs words.
        request: who asks.
        linked: chunks that led the search to the first quoted one, or to which it led; what they have is not missing.
        said: what would be quoted of the first chunk, the likeliest first; empty if it is not known.
    """
    if not quoted:
        return []
    wanted = question.must_have
    if not wanted:
        return []
    best = Contents(quoted[0])
    missing = [one for one in wanted if not best.has(one) or best.says_other(one, said)]
    if not missing:
        return []
    others = [Contents(chunk) for chunk in hits if chunk.id != best.chunk.id]
    own = [one for one in others if one.chunk.document_id == best.chunk.document_id]
    led = {chunk.id for chunk in linked}
    beside = [one for one in others if any(one.chunk.id == chunk.id for chunk in quoted[1:])]
    out: list[Lack] = []
    for requirement in missing:
        helpers = beside if any(other.kind == requirement.kind and other not in missing for other in wanted) else []
        helpers = [*helpers, *own] if requirement.kind in ("name", "place") else helpers
        if any(other.has(requirement) for other in (*helpers, *(other for other in others if other.chunk.id in led))):
            continue
        lower = lookup(requirement)
        if (requirement.kind in ("name", "place") or _is_glued(requirement)) and is_subject(lower, weigh, request):
            continue
        elsewhere = any(other.has(requirement) for other in others)
        lack = Lack(
            requirement=requirement,
            found=elsewhere,
            known=elsewhere or any(occurs(lower, request)),
            beside=best.has(requirement),
        )
        if lack.known and (requirement.unsure or (requirement.period and not best.names_others(requirement))):
            continue
        out.append(lack)
    return out


def linked(evidence: Evidence, best: str) -> list[Chunk]:
    """Return the passages that led the search to one, directly or not, and those to which it led directly."""
    steps = [step for step in evidence.steps if step.source]
    found, before = set[str](), {best}
    while before := {step.source for step in steps if step.target in before} - found:
        found |= before
    found |= {step.target for step in steps if step.source == best}
    return [hit.chunk for hit in evidence.hits if hit.chunk.id in found]


def lowered(probability: float, lacks: Sequence[Lack]) -> float:
    """Return the probability of an answer, given what the passage lacks of what the question fixes."""
    if not lacks:
        return probability
    strong = len(lacks) > 1 or any(one.requirement.kind in ("year", "month") for one in lacks)
    against = STRONG if strong else AGAINST
    return min(CAP, probability / (probability + against * (1 - probability)))


def lookup(requirement: Requirement) -> list[str]:
    """Return the words by which the documents are searched for a requirement."""
    if requirement.kind == "name":
        return [word.lower for word in requirement.words]
    return [
        requirement.value if requirement.kind == "version" and not _is_glued(requirement) else requirement.text.lower()
    ]


def _is_glued(one: Requirement) -> bool:
    """Return whether a version is one word with its name, as COVID-19, which documents may all be about."""
    return one.kind == "version" and " " not in one.text


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


def _is_version(wanted: str, shown: str) -> bool:
    """Return whether a word is the number of a version, or a longer or shorter form of it."""
    found = _NUMBER.match(shown)
    one, other = f"{wanted}.", f"{found[0]}." if found else ""
    return bool(found) and (one.startswith(other) or other.startswith(one))


def _solid(text: str) -> str:
    """Return a text in lower case without what may stand between letters and digits, as in COVID-19 and COVID 19."""
    return re.sub(r"(?<=[^\W\d_])[\s-]+(?=\d)|(?<=\d)-(?=[^\W\d_])", "", text.lower())
