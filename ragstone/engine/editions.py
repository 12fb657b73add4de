"""Evidence in the versions that a question means: the newest ones, or those of the period that it names.

Versions of a document fill the evidence with passages that say the same but for a value. Each such passage is replaced
by that of the version which is meant, and the passages of the others are kept apart, to say what they said. Documents
with the same title are versions only where their passages have nearly the same words, as minutes of two meetings have
not. If neither title nor path says which version they are, the passages must have no names of their own either, as
contracts with two tenants have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ragstone.core.access import both
from ragstone.core.editions import VERSION_OF, Edition, edition_of
from ragstone.core.filters import Compare, Filter
from ragstone.core.question import Question, Requirement
from ragstone.core.records import Chunk, Evidence, Hit
from ragstone.core.request import Request
from ragstone.engine.components import Components
from ragstone.language import lexicon
from ragstone.language.facts import Vocabulary, Word, words
from ragstone.respond.requirements.unmet import Contents

MOST_CHUNKS = 400
"""Chunks of all documents of a title from which on they are not compared: so many are no versions of one document."""
ALIKE = 0.6
"""Share of the words of the shorter of two passages that both must have."""
_WORD = re.compile(r"[^\W\d_]+")


def in_meant_versions(version: Components, evidence: Evidence, where: Filter | None, request: Request) -> Evidence:
    """Return the evidence with each passage in the version that the question means, and the others in ``versions``.

    Args:
        version: whose catalog has the documents.
        evidence: what the search found.
        where: which documents may be used.
        request: who asks.
    """
    fixed = evidence.question.versions_meant
    if fixed is None:
        return evidence
    families = dict[str, list[_Version]]()
    meant, left = list[Hit](), dict[str, Hit]()
    with version.catalog.snapshot():
        for hit in (*evidence.hits, *evidence.further):
            key = str(hit.chunk.metadata.get(VERSION_OF, ""))
            if key and key not in families:
                families[key] = list(_family(version, key, hit.chunk, both(request.allowed, where), request))
            best, others = _meant(hit, families.get(key, []), evidence.question, fixed)
            left |= {one.chunk.id: one for one in others}
            if best.chunk.id not in {one.chunk.id for one in meant}:
                meant.append(best)
    if not left:
        return evidence
    count, kept = len(evidence.hits), {one.chunk.id for one in meant}
    others = sorted((one for id, one in left.items() if id not in kept), key=lambda one: one.chunk.document_id)
    return replace(evidence, hits=tuple(meant[:count]), further=tuple(meant[count:]), versions=tuple(others))


@dataclass(frozen=True)
class _Version:
    """A chunk of one of the versions of a document."""

    chunk: Chunk

    @cached_property
    def edition(self) -> Edition:
        return edition_of(self.chunk.metadata)

    @cached_property
    def words(self) -> list[Word]:
        return words(self.chunk.text)

    @cached_property
    def content(self) -> frozenset[str]:
        """The words that versions have in common."""
        return frozenset(_WORD.findall(self.chunk.text.lower())) - lexicon().stop

    @cached_property
    def named(self) -> frozenset[str]:
        return frozenset(_WORD.findall(" ".join(word.lower for word in self.words if word.named and not word.value)))

    @cached_property
    def _contents(self) -> Contents:
        return Contents(self.chunk)

    @cached_property
    def says_so(self) -> bool:
        """Whether the title or the path says which version it is."""
        name, edition = f"{self.chunk.title} {self.chunk.path}", self.edition
        number = ".".join(map(str, edition.number))
        return not edition.in_force or any(one in name for one in (edition.date[:4], number) if one)

    def covers(self, asked: Sequence[Word]) -> int:
        """Return how many words of the question it has, in its text, title or path."""
        path = re.sub(r"[_/.-]", " ", self.chunk.path)
        there = Vocabulary([*self.words, *words(f"{self.chunk.context} {self.chunk.title} {path}")])
        return sum(bool(there.forms(word)) for word in asked)

    def meets(self, fixed: Sequence[Requirement]) -> int:
        """Return how many of the periods and versions that a question fixes are its own, or are in its text."""
        return sum(2 * _is_of(self.edition, one) or self._contents.has(one) for one in fixed)

    def is_version_of(self, other: _Version) -> bool:
        """Return whether both say the same but for values."""
        least = min(len(self.content), len(other.content))
        if not least or len(self.content & other.content) < ALIKE * least:
            return False
        if self.says_so and other.says_so:
            return True
        return self.named <= other.content or other.named <= self.content


def _family(
    version: Components, key: str, chunk: Chunk, allowed: Filter | None, request: Request
) -> Iterator[_Version]:
    """Yield the chunks of all documents with a title that the reader may read; none if there is one, or too many."""
    rows = version.catalog.select(_with(allowed, Compare(key=VERSION_OF, op="=", value=key)))
    if not chunk.total < len(rows) <= MOST_CHUNKS:
        return
    for one in version.catalog.chunks(rows.tolist()).values():
        if request.reader.may_read(one.metadata):
            yield _Version(one)


def _with(allowed: Filter | None, part: Filter) -> Filter:
    return both(allowed, part) or part


def _meant(
    hit: Hit, family: Sequence[_Version], question: Question, fixed: Sequence[Requirement]
) -> tuple[Hit, list[Hit]]:
    """Return a hit in the version that the question means, and the same passage in the others."""
    if not family or hit.chunk.is_outside:
        return hit, []
    own = _Version(hit.chunk)
    others = [
        found
        for id in {one.chunk.document_id: None for one in family if one.chunk.document_id != hit.chunk.document_id}
        if (found := _counterpart(own, [one for one in family if one.chunk.document_id == id]))
    ]
    asked = [word for word in question.words if not word.stop]
    best, met, covered = own, own.meets(fixed), own.covers(asked) if others else 0
    for member in others:
        meets = member.meets(fixed)
        is_meant = meets > met or (meets == met and member.edition.is_newer(best.edition))
        if is_meant and member.covers(asked) >= covered:
            best, met = member, meets
    return replace(hit, chunk=best.chunk), [replace(hit, chunk=one.chunk) for one in (own, *others) if one is not best]


def _counterpart(own: _Version, chunks: Sequence[_Version]) -> _Version | None:
    """Return the chunk of another document that says the same as one, if there is one."""
    alike = [one for one in chunks if one.is_version_of(own)]
    return max(alike, key=lambda one: len(one.content & own.content) / len(one.content | own.content), default=None)


def _is_of(edition: Edition, requirement: Requirement) -> bool:
    """Return whether a version is of the period, or has the number, that a question fixes."""
    if requirement.kind == "version":
        return bool(edition.number) and ".".join(map(str, edition.number)).startswith(requirement.value)
    if requirement.period is None or not edition.date:
        return False
    year, _, rest = edition.date.partition("-")
    if requirement.kind == "year":
        return requirement.period.first <= int(year) <= requirement.period.last
    month = int(rest[:2] or 0)
    return (
        month == requirement.period.first
        if requirement.kind == "month"
        else (month + 2) // 3 == requirement.period.first
    )
